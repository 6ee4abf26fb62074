//! Where texts and rows part, drawn and listed, and how the flips are judged.

use super::document::{Block, Document, Section};
use crate::algebra::near_tie::Judged;
use crate::records::explore;
use crate::records::gather::{BEHIND, Gathered};
use crate::records::pictures::{flip, rounds, rows};
use crate::records::timeline::Timeline;
use crate::results::stored::{Arm, Judgement, Pairing};
use crate::results::{Table, agreed, counted};

/// Rounds of the picture that is a file of its own.
const ROUNDS: usize = 42;
const DASH: &str = "–";
/// The most remarks of one kind.
const MOST_NOTES: usize = 40;

/// Every pairing of a record, with its arm and sequence.
fn pairings(all: &Gathered) -> impl Iterator<Item = (&Arm, i64, &Pairing)> {
    let judgements =
        all.experiments.iter().map(|one| &one.judgement).chain(all.judgements.iter().map(|one| &one.result));
    judgements.flat_map(Judgement::pairings)
}

/// Where texts and rows part.
#[must_use]
pub fn section(all: &Gathered, document: &mut Document) -> Section {
    let mut blocks: Vec<Block> = Vec::new();
    let mut table =
        Table::new().text("arm").text("file").number("seq").number("equal").number("of").number("first ≠");
    table = table
        .number("round")
        .number("row")
        .number("position")
        .text("plain")
        .text("arm's")
        .number("rows ≠ bytes")
        .number("rows ≠ choice");
    for (arm, sequence, pairing) in pairings(all).filter(|(_, _, pairing)| parts(pairing)) {
        table.row(row(arm, sequence, pairing));
    }
    let compared = pairings(all).filter(|(_, _, pairing)| pairing.compared()).count();
    blocks.push(match (compared, table.is_empty()) {
        (0, _) => Block::absent(
            "a comparison with plain decoding, and the judging of flips: nothing was compared (exactness compare)",
        ),
        (_, true) => Block::text(format!(
            "None of {} parts, neither in its text nor in a recorded row or state.",
            counted(compared, "compared sequence")
        )),
        _ => Block::named(table),
    });
    if let Some(grid) = rows::grid(&all.experiments) {
        let explored = explore::grid(&grid);
        blocks.push(document.picture(grid.draw(), Some(explored)));
    } else if compared > 0 {
        blocks.push(Block::missing(
            "rows: no arm and its reference both recorded digests of their rows (--rows digest)",
        ));
    }
    let notes: Vec<String> = notes(all);
    if !notes.is_empty() {
        blocks.push(Block::List { items: notes });
    }
    Section::new("divergence", "Where texts and rows part", blocks)
}

/// Something differs: the text, or a row under equal text.
fn parts(pairing: &Pairing) -> bool {
    pairing.first.is_some()
        || pairing.rows.as_ref().is_some_and(|rows| rows.bytes_differ > 0)
        || pairing.states.as_ref().is_some_and(|states| states.differ() > 0)
}

fn row(arm: &Arm, sequence: i64, pairing: &Pairing) -> Vec<String> {
    let first = pairing.first.as_ref();
    let number = |number: Option<i64>| number.map_or_else(|| DASH.to_owned(), |number| number.to_string());
    let token = |token: Option<&String>| token.cloned().unwrap_or_else(|| DASH.to_owned());
    let rows = |part: fn(&crate::algebra::rows::RowsCompared) -> usize| {
        pairing
            .rows
            .as_ref()
            .map_or_else(|| DASH.to_owned(), |rows| format!("{} of {}", part(rows), rows.recorded()))
    };
    vec![
        arm.arm.clone(),
        arm.file.clone(),
        sequence.to_string(),
        pairing.equal.to_string(),
        pairing.arm.max(pairing.reference).to_string(),
        first.map_or_else(|| DASH.to_owned(), |first| first.index.to_string()),
        number(first.and_then(|first| first.round)),
        number(first.and_then(|first| first.row)),
        number(first.and_then(|first| first.position)),
        token(first.and_then(|first| first.expected.as_ref())),
        token(first.and_then(|first| first.found.as_ref())),
        rows(|rows| rows.bytes_differ),
        rows(|rows| rows.argmax_differ),
    ]
}

/// The judge's remarks, each once.
fn notes(all: &Gathered) -> Vec<String> {
    let mut told: Vec<String> = Vec::new();
    for (arm, _, pairing) in pairings(all) {
        for note in &pairing.notes {
            let note = format!("{}: {note}.", arm.file);
            if !told.contains(&note) && told.len() < MOST_NOTES {
                told.push(note);
            }
        }
    }
    told
}

/// The rounds around the first difference.
#[must_use]
pub fn timeline(all: &Gathered, document: &mut Document) -> Section {
    let mut all_arms: Vec<&Timeline> = all.experiments.iter().flat_map(|one| &one.timelines).collect();
    // What parted is shown first; of the others the widest blocks show most.
    all_arms.sort_by_key(|one| (one.flip.is_none(), std::cmp::Reverse(widest(one))));
    let Some(shown) = all_arms.first() else {
        let says = format!("rounds: {}", all.no_rounds());
        return Section::new("rounds", "Rounds", vec![Block::absent(says)]);
    };
    let window = rounds::Window::of(shown, ROUNDS);
    let canvas = rounds::draw(shown, "rounds", window);
    let explored = explore::rounds(shown, window);
    let told = format!("From {}.", shown.file);
    let blocks = vec![document.picture(canvas, Some(explored)), Block::text(told)];
    Section::new("rounds", "Rounds", blocks)
}

fn widest(timeline: &Timeline) -> usize {
    timeline.beats.iter().map(|beat| beat.draft.len()).max().unwrap_or(0)
}

/// How flips are judged.
#[must_use]
pub fn flips(all: &Gathered, document: &mut Document) -> Section {
    let flips: Vec<(&Arm, i64, &Judged)> = pairings(all)
        .filter_map(|(arm, sequence, pairing)| Some((arm, sequence, pairing.flip.as_ref()?)))
        .collect();
    if flips.is_empty() {
        // Where nothing was compared, that is said once, as missing.
        let says = Block::text("No token flipped, so that there is nothing to judge.");
        let blocks = if pairings(all).count() == 0 { Vec::new() } else { vec![says] };
        return Section::new("flips", "The flips judged", blocks);
    }
    let mut table = Table::new()
        .text("arm")
        .text("file")
        .number("seq")
        .text("verdict")
        .number("gap")
        .number("ulps")
        .number("quanta");
    table = table.number("scale").number("rows").number("ratio").text("why");
    for (arm, sequence, flip) in &flips {
        table.row(flip_row(arm, *sequence, flip));
    }
    let mut blocks = vec![Block::named(table)];
    let name = |arm: &Arm, sequence: i64| {
        let several = all.experiments.len() + all.judgements.len() > 1;
        let place = if several { format!("{} ", short_place(&arm.file)) } else { String::new() };
        format!("{place}{}, seq {sequence}", arm.arm)
    };
    let named: Vec<flip::Flip<'_>> =
        flips.iter().map(|(arm, sequence, flip)| (name(arm, *sequence), *flip)).collect();
    let drifts: Vec<String> = pairings(all).filter_map(drift).take(MOST_NOTES).collect();
    if !drifts.is_empty() {
        blocks.push(Block::List { items: drifts });
    }
    blocks.push(match flip::draw(&named) {
        Some(canvas) => document.picture(canvas, None),
        None => Block::missing(
            "a picture of the gaps against the measured perturbation: none of these flips has a scale",
        ),
    });
    Section::new("flips", "The flips judged", blocks)
}

/// The folder of a transcript, or the comparison that names it.
fn short_place(file: &str) -> &str {
    let last = |path: &'_ str| path.rsplit('/').next().map_or(0, str::len);
    match file.split_once(BEHIND) {
        Some((holder, _)) => holder[holder.len() - last(holder)..].trim_end_matches(".json"),
        None => file.rsplit('/').nth(1).unwrap_or_default(),
    }
}

/// What log-probabilities that a server reported did before the first difference.
fn drift((arm, sequence, pairing): (&Arm, i64, &Pairing)) -> Option<String> {
    let drift = pairing.drift.as_ref()?;
    let quantum = pairing.flip.as_ref().and_then(|flip| flip.quantum);
    let by = quantum.map_or_else(String::new, |quantum| {
        format!(", {} of them by one quantum of {quantum}", drift.by_one_quantum)
    });
    let at: Vec<String> = drift.indices.iter().map(ToString::to_string).collect();
    let tokens = agreed(at.len(), "token", "tokens");
    let at = if at.is_empty() { String::new() } else { format!(", at {tokens} {}", at.join(", ")) };
    Some(format!(
        "{}, sequence {sequence}: of {} before the first difference {} {}{by}{at}.",
        arm.file,
        counted(drift.compared, "reported log-probability"),
        drift.differing,
        agreed(drift.differing, "differs", "differ")
    ))
}

fn flip_row(arm: &Arm, sequence: i64, flip: &Judged) -> Vec<String> {
    let number = |number: Option<f64>| number.map_or_else(|| DASH.to_owned(), |number| number.to_string());
    let short = |number: Option<f64>| {
        let text = number.map(|number| format!("{number:.2}"));
        text.map_or_else(|| DASH.to_owned(), |text| text.trim_end_matches(".00").to_owned())
    };
    vec![
        arm.arm.clone(),
        arm.file.clone(),
        sequence.to_string(),
        flip.verdict.to_string(),
        number(flip.gap.or(flip.reported_gap)),
        short(flip.ulps),
        short(flip.quanta),
        number(flip.scale.map(|scale| scale.largest)),
        flip.scale.map_or(0, |scale| scale.rows).to_string(),
        short(flip.ratio),
        flip.says.clone(),
    ]
}
