//! How a record ends: the worst of what its inputs say, in the order of the exit codes.

use crate::algebra::Verdict;
use crate::algebra::outcome::weight;
use crate::algebra::states::StatesCompared;
use crate::records::gather::Gathered;
use crate::results::sweep::Reading;
use crate::results::{Word, agreed, counted, part_of};

/// What one input says.
#[derive(Debug, Clone)]
pub struct Ending {
    /// The input.
    pub of: String,
    /// The word.
    pub word: String,
    /// What was compared.
    pub extent: String,
    /// How strongly it speaks.
    weight: u8,
}

impl Ending {
    fn of_verdict(of: &str, verdict: Verdict, extent: String) -> Self {
        Self { of: of.to_owned(), word: verdict.to_string(), extent, weight: weight(verdict) }
    }

    fn of_word(of: &str, word: Word, extent: String) -> Self {
        Self { of: of.to_owned(), word: word.to_string(), extent, weight: by_code(word.exit_code()) }
    }
}

/// How strongly a result speaks that ends with one of the three exit codes of a comparison.
const fn by_code(code: u8) -> u8 {
    match code {
        0 => 1,
        1 => 11,
        _ => 20,
    }
}

/// What every input says.
#[must_use]
pub fn endings(all: &Gathered) -> Vec<Ending> {
    let mut found = Vec::new();
    for one in &all.experiments {
        found.push(Ending::of_verdict(&one.folder, one.judgement.verdict, extent(&one.judgement)));
    }
    for one in &all.judgements {
        found.push(Ending::of_verdict(&one.file, one.result.verdict, extent(&one.result)));
    }
    for one in &all.benches {
        let extent = format!("{} timed", counted(one.result.arms.len(), "width"));
        found.push(Ending::of_verdict(&one.file, one.result.verdict, extent));
    }
    for one in &all.sweeps {
        let reading = Reading::new(&one.result);
        let extent = format!("{} of a sweep", counted(one.result.cells().len(), "cell"));
        found.push(Ending::of_word(&one.file, reading.verdict, extent));
    }
    found.extend(all.parities.iter().map(|one| {
        let parted = one.result.lines.iter().filter(|line| line.parts_at().is_some()).count();
        let told = if parted > 0 { Word::Differs } else { Word::Identical };
        let all = one.result.lines.len();
        let verb = agreed(parted, "parts", "part");
        let extent = format!("{} {verb}", part_of(parted, all, "operation"));
        let word =
            one.result.verdict.unwrap_or(if one.result.lines.is_empty() { Word::NotRun } else { told });
        Ending::of_word(&one.file, word, extent)
    }));
    found.extend(
        all.bisects
            .iter()
            .map(|one| Ending::of_word(&one.file, one.result.class.word(), within(&one.result.summary()))),
    );
    found.extend(all.probes.iter().map(|one| {
        let weight = match one.result.verdict.as_str() {
            "equal" => 1,
            "differs" => 11,
            _ => 20,
        };
        let extent = format!("{} probed", counted(one.result.widths.len(), "width"));
        Ending { of: one.file.clone(), word: one.result.verdict.clone(), extent, weight }
    }));
    found.extend(all.remedies.iter().map(|one| {
        let (word, weight) = (one.result.ending.to_string(), by_code(one.result.exit_code()));
        Ending { of: one.file.clone(), word, extent: within(&one.result.summary()), weight }
    }));
    found.extend(all.interrupted.iter().map(|one| Ending::of_word(&one.file, Word::NotRun, one.extent())));
    found.extend(all.unreadable.iter().map(|one| {
        let (runs, verb) = (counted(one.runs, "transcript"), agreed(one.runs, "is", "are"));
        let extent = format!("a remedy whose trail cannot be read; {runs} beside it {verb} not judged");
        Ending::of_word(&one.file, Word::NotRun, extent)
    }));
    found
}

/// The word of the title line; the first of equals. A broken law stands there too where something else weighs more.
#[must_use]
pub fn worst(endings: &[Ending]) -> String {
    let strongest = endings.iter().reduce(|best, next| if next.weight > best.weight { next } else { best });
    let word = strongest.map_or_else(|| Verdict::NotRun.to_string(), |ending| ending.word.clone());
    let broken = Verdict::Inconsistent.to_string();
    if word != broken && endings.iter().any(|ending| ending.word == broken) {
        return format!("{word}, {broken}");
    }
    word
}

/// What stands in the parentheses of a summary.
fn within(summary: &str) -> String {
    let inside = summary.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')'));
    inside.unwrap_or(summary).to_owned()
}

/// How much was compared, and how many rows have other bytes whatever the text says.
fn extent(judgement: &crate::results::stored::Judgement) -> String {
    let pairings =
        || judgement.pairings().map(|(_, _, pairing)| pairing).filter(|pairing| pairing.compared());
    let rows = || pairings().filter_map(|pairing| pairing.rows.as_ref());
    let tokens = total(pairings().map(|pairing| pairing.past_prompt));
    let (compared, differ) =
        (total(rows().map(|rows| rows.rows)), total(rows().map(|rows| rows.bytes_differ)));
    let states = || pairings().filter_map(|pairing| pairing.states.as_ref());
    let kept = match total(states().map(|states| states.states)) {
        0 => String::new(),
        kept => format!(
            "; {} compared after rounds, {} with other bytes",
            counted(kept, "state"),
            total(states().map(StatesCompared::differ))
        ),
    };
    if judgement.pairings().next().is_none() && judgement.arms.iter().all(|arm| arm.compared.rounds == 0) {
        return match judgement.arms.len() {
            1 => "one run of plain decoding, with nothing to hold it against".to_owned(),
            runs => format!("{runs} runs of plain decoding alone, held against each other"),
        };
    }
    let unknown = match total(rows().map(|rows| rows.unknown)) {
        0 => String::new(),
        unknown => format!("; {} without digest", counted(unknown, "more row")),
    };
    let rounds = judgement.arms.iter().fold(0, |sum: u64, arm| sum.saturating_add(arm.compared.rounds));
    format!(
        "{}; {}, {} and {} compared with plain decoding, {differ} of those rows with other bytes{unknown}{kept}; {} judged",
        counted(judgement.arms.len(), "run"),
        counted(pairings().count(), "sequence"),
        counted(tokens, "token"),
        counted(compared, "row"),
        counted(rounds, "round"),
    )
}

/// A sum of counts from files, which may be anything.
fn total(counts: impl Iterator<Item = usize>) -> usize {
    counts.fold(0, usize::saturating_add)
}
