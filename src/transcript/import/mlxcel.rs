//! The debug log of an mlxcel server: one `round transcript` line a round, one burst a request.
//!
//! Of the summary lines the diagnostics line counts what the rounds did, so it gives the counters. The last line of
//! a burst prints zeros for the same counts and is no source. The log has no prompt, no cache lengths and no
//! stream; those stay unknown unless somebody else knows them.

use super::error::ImportError;
use super::openai::Answer;
use super::record::{Extras, Imported, Recorded, number};
use crate::transcript::format::{ArmKind, Counters, Drafter, Usage};
use crate::transcript::{Footer, Prefill, Round};
use std::borrow::Cow;
use std::str::FromStr;

const ROUND: &str = "round transcript ";
const DIAGNOSTICS: &str = "DFlash diagnostics ";
const COMPLETED: &str = "Speculative burst completed ";

/// One request of the log.
#[derive(Debug, Clone, Default)]
pub struct Burst {
    rounds: Vec<Round>,
    lines: [usize; 2],
    width: Option<i64>,
    counters: Option<Counters>,
    usage: Option<Usage>,
}

/// Reads the bursts of one log.
///
/// # Errors
/// When a round line lacks a field, or there is no round line at all.
pub fn parse(log: &str) -> Result<Vec<Burst>, ImportError> {
    let mut bursts: Vec<Burst> = Vec::new();
    let mut open = false;
    for (index, line) in log.lines().enumerate() {
        let line = Line { number: index + 1, text: plain(line) };
        if let Some(fields) = line.after(ROUND) {
            let round = line.round(fields)?;
            if !open || starts_anew(bursts.last(), &round) {
                bursts.push(Burst { lines: [line.number; 2], ..Burst::default() });
                open = true;
            }
            if let Some(burst) = bursts.last_mut() {
                burst.lines[1] = line.number;
                burst.rounds.push(round);
            }
        } else if let (Some(burst), Some(fields)) = (bursts.last_mut(), line.after(DIAGNOSTICS)) {
            burst.diagnose(&line, fields)?;
            open = false;
        } else if let (Some(burst), Some(fields)) = (bursts.last_mut(), line.after(COMPLETED)) {
            burst.complete(&line, fields)?;
            open = false;
        }
    }
    if bursts.is_empty() {
        return Err(ImportError::Nothing(
            "no `round transcript` line in the log; was the server's log level debug?",
        ));
    }
    Ok(bursts)
}

/// One transcript with a sequence a burst; `answers` are those to the same requests, where a client kept them.
///
/// # Errors
/// When an answer is of another length than its burst.
pub fn import(bursts: Vec<Burst>, extras: &Extras, answers: &[Answer]) -> Result<Imported, ImportError> {
    extras.check(bursts.len())?;
    let widest = || bursts.iter().flat_map(|burst| &burst.rounds).map(|round| round.width).max();
    let width = extras.width.or_else(|| bursts.iter().find_map(|burst| burst.width)).or_else(widest);
    let label = width.map_or_else(|| "imported".to_owned(), |width| format!("w{width}"));
    let mut header = Extras { width, ..extras.clone() }.header(&label, ArmKind::Speculative, bursts.len());
    header.drafter = Some(Drafter { name: Some("dflash".to_owned()), cache: None });
    if let (Some(source), [only]) = (&mut header.source, bursts.as_slice()) {
        source.lines = Some(only.lines.map(number));
    }
    let sequences = bursts.into_iter().enumerate();
    let sequences: Result<_, _> =
        sequences.map(|(index, burst)| burst.record(index, answers.get(index))).collect();
    Ok(Imported { header, sequences: sequences? })
}

/// A round 0 starts a burst, unless it is the same line twice: a doubled line is a finding, not a request.
fn starts_anew(burst: Option<&Burst>, round: &Round) -> bool {
    let doubled = burst.is_some_and(|burst| burst.rounds.as_slice() == std::slice::from_ref(round));
    round.round == 0 && !doubled
}

impl Burst {
    fn diagnose(&mut self, line: &Line<'_>, fields: &str) -> Result<(), ImportError> {
        self.lines[1] = line.number;
        self.width = line.known(fields, "block_size")?;
        self.counters = Some(Counters {
            rounds: line.known(fields, "rounds")?,
            drafted: line.known(fields, "proposed_tokens")?,
            accepted: line.known(fields, "accepted_tokens")?,
            per_position: None,
        });
        Ok(())
    }

    fn complete(&mut self, line: &Line<'_>, fields: &str) -> Result<(), ImportError> {
        self.lines[1] = line.number;
        self.usage = Some(Usage {
            prompt_tokens: line.known(fields, "prompt_tokens")?,
            completion_tokens: line.known(fields, "generated_tokens")?,
            ..Usage::default()
        });
        Ok(())
    }

    /// The burst as a sequence; without a summary line its end was never seen, and it gets no footer.
    fn record(mut self, index: usize, answer: Option<&Answer>) -> Result<Recorded, ImportError> {
        let sequence = number(index);
        self.rounds.iter_mut().for_each(|round| round.sequence = sequence);
        // Round 0 is fed the token that the prompt's last row chose; a log that lost round 0 does not know it.
        let first = self.rounds.first().filter(|round| round.round == 0);
        let prefill = first.map(|round| Prefill {
            sequence,
            token: round.bonus,
            cache_len: None,
            row: None,
            state_sha256: None,
        });
        let ended = self.counters.is_some() || self.usage.is_some() || answer.is_some();
        let mut footer = Footer { sequence, complete: true, ..Footer::default() };
        if let Some(answer) = answer {
            answer.check_length(self.stream_length())?;
            answer.fill(&mut footer);
        }
        footer.counters = self.counters;
        footer.usage = footer.usage.or(self.usage);
        Ok(Recorded { prefill, rounds: self.rounds, footer: ended.then_some(footer) })
    }

    fn stream_length(&self) -> Option<usize> {
        self.rounds.first().filter(|round| round.round == 0)?;
        Some(1 + self.rounds.iter().map(|round| round.emitted.len()).sum::<usize>())
    }
}

/// One line of the log, without colours.
struct Line<'a> {
    number: usize,
    text: Cow<'a, str>,
}

impl Line<'_> {
    fn after(&self, marker: &str) -> Option<&str> {
        self.text.split_once(marker).map(|(_, fields)| fields)
    }

    fn round(&self, fields: &str) -> Result<Round, ImportError> {
        let round = Round {
            sequence: 0,
            round: self.needed(fields, "round")?,
            width: self.needed(fields, "bs")?,
            bonus: self.needed(fields, "bonus")?,
            draft: self.ids(fields, "draft_tokens")?,
            target: self.ids(fields, "target_tokens")?,
            accepted: self.needed(fields, "accepted")?,
            emitted: self.ids(fields, "new_tokens")?,
            ..Round::default()
        };
        Ok(round)
    }

    fn fault(&self, field: &'static str, says: impl Into<String>) -> ImportError {
        ImportError::Field { line: self.number, field, says: says.into() }
    }

    fn known<T: FromStr>(&self, fields: &str, name: &'static str) -> Result<Option<T>, ImportError> {
        let Some(text) = value(fields, name) else { return Ok(None) };
        let word = text.split_whitespace().next().unwrap_or_default();
        word.parse().map(Some).map_err(|_| self.fault(name, format!("`{word}` is no whole number")))
    }

    fn needed<T: FromStr>(&self, fields: &str, name: &'static str) -> Result<T, ImportError> {
        self.known(fields, name)?.ok_or_else(|| self.fault(name, "missing"))
    }

    fn ids(&self, fields: &str, name: &'static str) -> Result<Vec<i64>, ImportError> {
        let text = value(fields, name).ok_or_else(|| self.fault(name, "missing"))?;
        let inside = text.strip_prefix('[').and_then(|text| text.split_once(']'));
        let (list, _) = inside.ok_or_else(|| self.fault(name, "no list in brackets; was the line cut?"))?;
        let words = list.split(',').map(str::trim).filter(|word| !word.is_empty());
        words.map(|word| word.parse().map_err(|_| self.fault(name, format!("`{word}` is no id")))).collect()
    }
}

/// What follows `name=`; the name has to stand at the start or after a space, since `round=` also ends others.
fn value<'a>(fields: &'a str, name: &str) -> Option<&'a str> {
    let mut from = 0;
    while let Some(found) = fields.get(from..)?.find(name) {
        let start = from + found;
        let rest = &fields[start + name.len()..];
        let fresh = start == 0 || fields.as_bytes()[start - 1] == b' ';
        match rest.strip_prefix('=') {
            Some(value) if fresh => return Some(value),
            _ => from = start + name.len(),
        }
    }
    None
}

/// A log written to a terminal carries colour codes between names and values.
fn plain(line: &str) -> Cow<'_, str> {
    if !line.contains('\u{1b}') {
        return Cow::Borrowed(line);
    }
    let mut text = String::with_capacity(line.len());
    let mut pieces = line.split('\u{1b}');
    text.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        text.push_str(piece.split_once('m').map_or("", |(_, rest)| rest));
    }
    Cow::Owned(text)
}

#[cfg(test)]
mod tests {
    use super::{import, parse, plain};
    use crate::transcript::import::{Extras, ImportError};

    const LINE: &str = "x DEBUG y: DFlash round transcript round=0 bs=3 bonus=5 draft_tokens=[6, 9] \
                        target_tokens=[6, 7, 1] accepted=1 new_tokens=[6, 7]";

    #[test]
    fn a_round_line_reads_and_colours_do_not_matter() {
        let coloured = LINE.replace("round=0", "\u{1b}[3mround\u{1b}[0m\u{1b}[2m=\u{1b}[0m0");
        assert_eq!(plain(&coloured), LINE);
        let found = parse(&coloured).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].rounds[0].round, found[0].rounds[0].emitted.as_slice()), (0, [6, 7].as_slice()));
    }

    #[test]
    fn a_missing_field_is_named_with_its_line() {
        let text = format!("noise\n{}", LINE.replace("bonus=5 ", ""));
        let expected = ImportError::Field { line: 2, field: "bonus", says: "missing".to_owned() };
        assert_eq!(parse(&text).unwrap_err(), expected);
        let cut = &LINE[..LINE.len() - 4];
        assert!(parse(cut).unwrap_err().to_string().contains("new_tokens"));
    }

    #[test]
    fn a_new_round_0_is_a_new_burst_but_a_doubled_line_is_not() {
        let other = LINE.replace("bonus=5", "bonus=8");
        assert_eq!(parse(&format!("{LINE}\n{other}")).unwrap().len(), 2);
        let doubled = parse(&format!("{LINE}\n{LINE}")).unwrap();
        assert_eq!((doubled.len(), doubled[0].rounds.len()), (1, 2));
    }

    #[test]
    fn a_burst_without_a_summary_has_no_footer_and_unknown_stays_unknown() {
        let imported = import(parse(LINE).unwrap(), &Extras::default(), &[]).unwrap();
        assert!(imported.sequences[0].footer.is_none());
        assert_eq!((imported.header.max_tokens, imported.header.vocab_size), (None, None));
        assert!(imported.header.prompts[0].ids.is_none());
        assert_eq!(imported.sequences[0].rounds[0].cache_before, None);
    }
}
