//! What the laws said about one arm: the part of the JSON contract that is made where the judging is done.
//!
//! `results::judgement` puts arms together; both halves are printed as they stand, so that the human text, the
//! markdown and the JSON cannot disagree.

use super::Verdict;
use crate::transcript::{Cut, Round};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One arm judged.
#[derive(Debug, Clone, Serialize)]
pub struct ArmJudgement {
    /// The header's label.
    pub arm: String,
    /// The file.
    pub file: String,
    /// How it ended.
    pub verdict: Verdict,
    /// Why it is no finished run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut: Option<String>,
    /// How much was looked at.
    pub compared: Compared,
    /// Laws that could be judged somewhere.
    pub checked: Vec<&'static str>,
    /// Laws that could not be judged somewhere, and what was missing there.
    pub not_checkable: Vec<NotCheckable>,
    /// Every sequence, by id.
    pub sequences: Vec<SequenceJudgement>,
}

impl ArmJudgement {
    /// Of a file that ends before its header does: there is nothing to judge.
    #[must_use]
    pub fn headless(file: &str, cut: Cut, bytes: u64) -> Self {
        Self {
            arm: String::new(),
            file: file.to_owned(),
            verdict: Verdict::CutRun,
            cut: Some(cut.to_string()),
            compared: Compared { bytes, ..Compared::default() },
            checked: Vec::new(),
            not_checkable: Vec::new(),
            sequences: Vec::new(),
        }
    }

    /// Findings and later breaches, warnings apart.
    #[must_use]
    pub fn counts(&self) -> (usize, usize) {
        let broken =
            |sequence: &SequenceJudgement| usize::from(sequence.finding.is_some()) + sequence.later.len();
        let warnings = self.sequences.iter().map(|sequence| sequence.warnings.len()).sum();
        (self.sequences.iter().map(broken).sum(), warnings)
    }
}

/// How much of an arm was looked at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compared {
    /// Sequences.
    pub sequences: u64,
    /// Stream tokens.
    pub tokens: u64,
    /// Speculative rounds.
    pub rounds: u64,
    /// Rounds that rejected a proposal.
    pub rewinds: u64,
    /// Proposals.
    pub proposed: u64,
    /// Proposals that the rounds say they accepted.
    pub accepted: u64,
    /// Steps of plain decoding.
    pub steps: u64,
    /// Recorded rows.
    pub rows: u64,
    /// Bytes of the transcript, where a file was read.
    pub bytes: u64,
}

impl Compared {
    /// Nothing was looked at that a law could have found wrong.
    #[must_use]
    pub const fn is_nothing(&self) -> bool {
        self.tokens == 0 && self.rounds == 0 && self.steps == 0
    }
}

/// A law that could not be judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NotCheckable {
    /// Its name.
    pub law: &'static str,
    /// The keys that were absent.
    pub missing: Vec<&'static str>,
    /// In how many places.
    pub places: u64,
}

/// One sequence judged.
#[derive(Debug, Clone, Default, Serialize)]
pub struct SequenceJudgement {
    /// Its id.
    pub sequence: i64,
    /// The first broken law.
    pub finding: Option<Breach>,
    /// The laws broken after it, one entry a law; they may be its consequences.
    pub later: Vec<Breach>,
    /// Broken laws that do not change the verdict.
    pub warnings: Vec<Breach>,
    /// Against the reference, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against: Option<Box<super::Pairing>>,
}

/// A place where a law does not hold.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Breach {
    /// The law's name.
    pub law: &'static str,
    /// The round, where a round broke it.
    pub round: Option<i64>,
    /// The row of the block, where one row can be named.
    pub row: Option<i64>,
    /// What the law asks for.
    pub expected: Value,
    /// What the transcript says.
    pub found: Value,
    /// One sentence for people.
    pub says: String,
    /// The line of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// How often this law is broken in this sequence from here on.
    pub times: u64,
    /// The round itself, without its rows, for drawing.
    #[serde(skip)]
    pub scene: Option<Box<Round>>,
}

/// A round without its rows and digest, small enough to keep.
pub(super) fn scene(round: &Round) -> Box<Round> {
    Box::new(Round {
        rows: None,
        state_sha256: None,
        draft: round.draft.clone(),
        target: round.target.clone(),
        emitted: round.emitted.clone(),
        ..*round
    })
}
