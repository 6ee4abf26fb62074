//! What an importer hands over, and how it becomes a file.
//!
//! The writer is the same as the engine's, so an imported transcript cannot have a shape that a recorded one has
//! not.

use super::error::ImportError;
use crate::transcript::counted::counted;
use crate::transcript::files::WriteError;
use crate::transcript::format::{ArmKind, FORMAT, Prompt, Source, VERSION};
use crate::transcript::{Footer, Header, Line, Prefill, Round, TokenId, Writer};
use std::path::{Path, PathBuf};

/// What the person who imports knows and the source does not say.
#[derive(Debug, Clone, Default)]
pub struct Extras {
    /// The arm's label.
    pub arm: Option<String>,
    /// Block width; 1 is plain decoding.
    pub width: Option<i64>,
    /// Token budget.
    pub max_tokens: Option<i64>,
    /// End ids did not end the run.
    pub ignore_eos: Option<bool>,
    /// Prompt ids, one list a sequence; a single list serves every sequence.
    pub prompts: Vec<Vec<TokenId>>,
    /// Stream ids, one list a sequence.
    pub tokens: Vec<Vec<TokenId>>,
    /// The source's file name.
    pub log: Option<String>,
}

/// One sequence of an import.
#[derive(Debug, Clone, Default)]
pub struct Recorded {
    /// The prompt's last row.
    pub prefill: Option<Prefill>,
    /// Rounds.
    pub rounds: Vec<Round>,
    /// The end; without it the run is cut.
    pub footer: Option<Footer>,
}

/// One transcript.
#[derive(Debug, Clone)]
pub struct Imported {
    /// Its first line.
    pub header: Header,
    /// Its sequences.
    pub sequences: Vec<Recorded>,
}

impl Extras {
    /// The prompt of a sequence, as far as it is known.
    #[must_use]
    pub fn prompt(&self, sequence: usize) -> Prompt {
        let only = || self.prompts.first().filter(|_| self.prompts.len() == 1);
        let ids = self.prompts.get(sequence).or_else(only).cloned();
        Prompt { sequence: number(sequence), ids, text: None }
    }

    /// Holds the lists given beside a source against its sequences: a list too many or too few would give a sequence
    /// ids that are not its own.
    ///
    /// # Errors
    /// When their numbers differ.
    pub fn check(&self, sequences: usize) -> Result<(), ImportError> {
        let single = self.prompts.len() == 1;
        for (lists, what, fits) in [(&self.prompts, "prompt", single), (&self.tokens, "stream", false)] {
            if !lists.is_empty() && !fits && lists.len() != sequences {
                let (left, right) = (counted(lists.len(), what), counted(sequences, "sequence"));
                return Err(ImportError::Mismatch { left, right });
            }
        }
        Ok(())
    }

    /// A header with what is known and nothing else.
    #[must_use]
    pub fn header(&self, label: &str, kind: ArmKind, sequences: usize) -> Header {
        Header {
            format: FORMAT.to_owned(),
            version: VERSION,
            arm: self.arm.clone().unwrap_or_else(|| label.to_owned()),
            kind,
            prompts: (0..sequences).map(|sequence| self.prompt(sequence)).collect(),
            width: self.width,
            drafter: None,
            window: None,
            max_tokens: self.max_tokens,
            eos_ids: None,
            ignore_eos: self.ignore_eos,
            stop: None,
            vocab_size: None,
            model: None,
            routes: None,
            host: None,
            backend: None,
            program: None,
            command: None,
            started: None,
            seed: None,
            repeat: None,
            source: Some(Source { log: self.log.clone(), lines: None }),
        }
    }
}

impl Imported {
    /// Every line, in the order of the format.
    #[must_use]
    pub fn lines(self) -> Vec<Line> {
        let mut lines = vec![Line::Header(Box::new(self.header))];
        for sequence in self.sequences {
            lines.extend(sequence.prefill.map(Line::Prefill));
            lines.extend(sequence.rounds.into_iter().map(|round| Line::Round(Box::new(round))));
            lines.extend(sequence.footer.map(|footer| Line::Footer(Box::new(footer))));
        }
        lines
    }

    /// What it holds, and what it does not, in one line.
    #[must_use]
    pub fn summary(&self) -> String {
        let rounds: usize = self.sequences.iter().map(|sequence| sequence.rounds.len()).sum();
        let footers = || self.sequences.iter().filter_map(|sequence| sequence.footer.as_ref());
        let mut known = vec![counted(self.sequences.len(), "sequence"), counted(rounds, "round")];
        let ids: usize = footers().filter_map(|footer| footer.tokens.as_ref()).map(Vec::len).sum();
        let strings: usize = footers().filter_map(|footer| footer.token_strings.as_ref()).map(Vec::len).sum();
        known.extend([counted(ids, "stream id"), counted(strings, "token string")]);
        if self.header.prompts.iter().any(|prompt| prompt.ids.is_none()) {
            known.push("prompt ids not known".to_owned());
        }
        known.join(", ")
    }

    /// Writes the transcript.
    ///
    /// # Errors
    /// When the file is already there or cannot be written.
    pub fn write(self, path: &Path) -> Result<(), WriteError> {
        let mut writer = Writer::create(path, false)?;
        self.lines().iter().try_for_each(|line| writer.line(line))
    }
}

/// Where the n-th repeat of an arm goes: `w4.jsonl`, `w4.repeat1.jsonl`, …
#[must_use]
pub fn repeat_path(path: &Path, repeat: usize) -> PathBuf {
    if repeat == 0 { path.to_owned() } else { path.with_extension(format!("repeat{repeat}.jsonl")) }
}

/// A count as the signed number of the format.
pub(super) fn number(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
