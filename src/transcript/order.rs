//! The order of lines that every reader of a transcript relies on: header first and once, one prefill and one
//! footer a sequence, nothing after a footer.
//!
//! It is checked in one place, apart from the laws: two runs in one file would otherwise be judged as one strange
//! run. A lost or doubled *round* is not checked here, because that is a finding about the run.

use super::fault::LineFault;
use super::format::Line;
use std::collections::BTreeMap;

/// What has been seen so far.
#[derive(Debug, Default)]
pub struct Order {
    header: Option<u64>,
    sequences: BTreeMap<i64, Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    prefill: Option<u64>,
    footer: Option<u64>,
}

impl Order {
    /// The order of a file whose header, its first line, was taken elsewhere.
    #[must_use]
    pub fn after_header() -> Self {
        Self { header: Some(1), sequences: BTreeMap::new() }
    }

    /// Takes the next line of the file.
    ///
    /// # Errors
    /// When the line may not stand here.
    pub fn check(&mut self, number: u64, line: &Line) -> Result<(), LineFault> {
        let sequence = match (line, self.header) {
            (Line::Header(_), None) => {
                self.header = Some(number);
                return Ok(());
            }
            (Line::Header(_), Some(first)) => {
                return Err(LineFault::Twice { what: "header".to_owned(), first });
            }
            (_, None) => return Err(LineFault::HeaderMissing { found: line.kind() }),
            (Line::Prefill(prefill), _) => prefill.sequence,
            (Line::Step(step), _) => step.sequence,
            (Line::Round(round), _) => round.sequence,
            (Line::Footer(footer), _) => footer.sequence,
        };
        self.sequences.entry(sequence).or_default().check(number, sequence, line)
    }
}

impl Seen {
    fn check(&mut self, number: u64, sequence: i64, line: &Line) -> Result<(), LineFault> {
        let twice =
            |what: &str, first| LineFault::Twice { what: format!("{what} of sequence {sequence}"), first };
        match (line, self.footer) {
            (Line::Footer(_), Some(first)) => return Err(twice("footer", first)),
            (_, Some(footer)) => return Err(LineFault::AfterFooter { what: line.kind(), sequence, footer }),
            (Line::Footer(_), None) => self.footer = Some(number),
            (Line::Prefill(_), None) => match self.prefill {
                Some(first) => return Err(twice("prefill", first)),
                None => self.prefill = Some(number),
            },
            _ => {}
        }
        Ok(())
    }
}
