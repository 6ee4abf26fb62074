//! Stored results as somebody else's program reads them back.
//!
//! What a command prints as JSON is a contract; these are its reading forms. Records are made of them alone, whether
//! the comparison was stored or has just been made, so that nothing reaches a record that the contract does not carry.

use super::bench::{ArmSpeed, Speed};
use super::probe::Probed;
use crate::algebra::Verdict;
use crate::algebra::judgement::Compared;
use crate::algebra::near_tie::Judged;
use crate::algebra::quantum::Drift;
use crate::algebra::rows::RowsCompared;
use crate::algebra::states::StatesCompared;
use serde::Deserialize;

/// What `compare` and `check-algebra` print.
#[derive(Debug, Clone, Deserialize)]
pub struct Judgement {
    /// Of the contract.
    pub version: u32,
    /// The strongest verdict.
    pub verdict: Verdict,
    /// One entry a file.
    pub arms: Vec<Arm>,
    /// What several arms say together.
    pub patterns: Vec<Pattern>,
}

/// What a file is for in a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Plain decoding that others were compared with.
    Reference,
    /// A repeat of it.
    NullArm,
    /// Compared, or judged by itself.
    Arm,
}

impl Judgement {
    /// What a file is for, told from its counts: a stored comparison does not say which file repeats which, and an older
    /// one holds a repeat of plain decoding against it as if it were an arm.
    #[must_use]
    pub fn part(&self, arm: &Arm) -> Part {
        let of_arms = self.arms.iter().any(|one| one.is_compared() && one.compared.rounds > 0);
        if !of_arms || arm.compared.rounds > 0 || arm.compared.steps == 0 {
            return Part::Arm;
        }
        let repeats = |one: &&Arm| one.arm == arm.arm && one.file != arm.file && !one.is_compared();
        match (arm.is_compared(), self.arms.iter().find(repeats)) {
            (true, Some(_)) => Part::NullArm,
            (true, None) => Part::Arm,
            // A repeat among the references is judged by its own laws alone; its run answers for both.
            (false, Some(run)) if run.names_null_arm() && !arm.names_null_arm() => Part::NullArm,
            (false, _) => Part::Reference,
        }
    }

    /// Every sequence of an arm that was held against its reference; null arms are none.
    pub fn pairings(&self) -> impl Iterator<Item = (&Arm, i64, &Pairing)> {
        let arms = self.arms.iter().filter(|arm| self.part(arm) == Part::Arm);
        arms.flat_map(|arm| {
            arm.sequences.iter().filter_map(move |one| Some((arm, one.sequence, one.against.as_ref()?)))
        })
    }
}

impl Arm {
    fn is_compared(&self) -> bool {
        self.sequences.iter().any(|one| one.against.is_some())
    }

    /// The law of null arms was asked of it, or could not be.
    fn names_null_arm(&self) -> bool {
        let law = "null-arm";
        self.checked.iter().any(|one| one == law) || self.not_checkable.iter().any(|one| one.law == law)
    }
}

/// One file's judgement.
#[derive(Debug, Clone, Deserialize)]
pub struct Arm {
    /// The header's label.
    pub arm: String,
    /// The file.
    pub file: String,
    /// How it ended.
    pub verdict: Verdict,
    /// Why it is no finished run.
    pub cut: Option<String>,
    /// How much was looked at.
    pub compared: Compared,
    /// Laws that could be judged.
    pub checked: Vec<String>,
    /// Laws that could not.
    pub not_checkable: Vec<Lack>,
    /// Every sequence.
    pub sequences: Vec<Sequence>,
}

/// A law that could not be judged.
#[derive(Debug, Clone, Deserialize)]
pub struct Lack {
    /// Its name.
    pub law: String,
    /// The keys that were absent.
    pub missing: Vec<String>,
}

/// One sequence's judgement.
#[derive(Debug, Clone, Deserialize)]
pub struct Sequence {
    /// Its id.
    pub sequence: i64,
    /// The first broken law.
    pub finding: Option<Breach>,
    /// The laws broken after it.
    pub later: Vec<Breach>,
    /// Broken laws that do not change the verdict.
    pub warnings: Vec<Breach>,
    /// Against its reference.
    pub against: Option<Pairing>,
}

/// A broken law.
#[derive(Debug, Clone, Deserialize)]
pub struct Breach {
    /// Its name.
    pub law: String,
    /// The round.
    pub round: Option<i64>,
    /// The row.
    pub row: Option<i64>,
    /// One sentence.
    pub says: String,
}

/// One sequence against its reference.
#[derive(Debug, Clone, Deserialize)]
pub struct Pairing {
    /// How it ended.
    pub verdict: Verdict,
    /// `ids`, `strings` or `bytes`.
    pub unit: Option<String>,
    /// Equal from the start.
    pub equal: usize,
    /// Tokens compared.
    pub past_prompt: usize,
    /// Length of the arm's stream.
    pub arm: usize,
    /// Length of the reference's.
    pub reference: usize,
    /// Where they part.
    pub first: Option<First>,
    /// The rows.
    pub rows: Option<RowsCompared>,
    /// The states after steps and rounds.
    pub states: Option<StatesCompared>,
    /// Reported log-probabilities before the difference.
    pub drift: Option<Drift>,
    /// The flip.
    pub flip: Option<Judged>,
    /// The state entering round 0.
    pub entering_state_differs: Option<bool>,
    /// Remarks.
    #[serde(default)]
    pub notes: Vec<String>,
}

impl Pairing {
    /// Something was held against the reference.
    #[must_use]
    pub const fn compared(&self) -> bool {
        !matches!(self.verdict, Verdict::Vacuous | Verdict::NotComparable)
    }
}

/// The first difference of two streams.
#[derive(Debug, Clone, Deserialize)]
pub struct First {
    /// Stream index.
    pub index: usize,
    /// Absolute position of the row.
    pub position: Option<i64>,
    /// Its round.
    pub round: Option<i64>,
    /// Its row.
    pub row: Option<i64>,
    /// The reference's token.
    pub expected: Option<String>,
    /// The arm's token.
    pub found: Option<String>,
}

/// A reading over several arms.
#[derive(Debug, Clone, Deserialize)]
pub struct Pattern {
    /// The reading.
    pub pattern: String,
    /// One sentence.
    pub says: String,
    /// What it rests on.
    pub evidence: Vec<String>,
}

/// What `bench` stores.
#[derive(Debug, Clone, Deserialize)]
pub struct Bench {
    /// Of the contract.
    pub version: u32,
    /// About the text.
    pub verdict: Verdict,
    /// Plain decoding.
    pub classic: Speed,
    /// The resolution floor.
    pub floor: f64,
    /// Last against first runs of plain decoding, less one.
    pub drift: f64,
    /// One entry a width.
    pub arms: Vec<ArmSpeed>,
    /// The runs behind them.
    pub experiment: Runs,
}

impl Bench {
    /// The first thing that the rest does not bear out.
    #[must_use]
    pub fn contradiction(&self) -> Option<String> {
        if self.arms.is_empty() || self.classic.tokens_per_second.is_empty() {
            return Some("nothing was timed".to_owned());
        }
        let worse = self.arms.iter().find(|arm| arm.verdict.exit_code() > self.verdict.exit_code())?;
        Some(format!("it ended {}, and {} ended {}", self.verdict, worse.arm, worse.verdict))
    }
}

/// The runs behind a measurement.
#[derive(Debug, Clone, Deserialize)]
pub struct Runs {
    /// In their order.
    pub runs: Vec<Run>,
}

/// One run behind a measurement.
#[derive(Debug, Clone, Deserialize)]
pub struct Run {
    /// `classic`, `w4`.
    pub arm: String,
    /// Which run of its arm.
    pub repeat: u32,
    /// Block width; absent for plain decoding.
    pub width: Option<usize>,
    /// The transcript.
    pub file: String,
    /// Tokens decoded.
    pub tokens: u64,
    /// Proposals.
    pub drafted: u64,
    /// Proposals accepted.
    pub accepted: u64,
    /// Seconds after each prompt's first token.
    pub decode_seconds: f64,
}

/// What `probe` prints.
#[derive(Debug, Clone, Deserialize)]
pub struct Probe {
    /// Of the contract.
    pub version: u32,
    /// `equal`, `differs` or `not run`.
    pub verdict: String,
    /// The checkpoint.
    pub model: String,
    /// Faults that were put in.
    pub planted: Vec<String>,
    /// One entry a width.
    pub widths: Vec<ProbedWidth>,
    /// The command line.
    pub command: Vec<String>,
}

/// One width of a probe.
#[derive(Debug, Clone, Deserialize)]
pub struct ProbedWidth {
    /// What the verdict is about.
    pub key: super::probe::Key,
    /// What was found.
    pub probed: Probed,
}

/// Takes a judgement through its own contract.
///
/// # Errors
/// Never in practice: what was judged can be written and read.
pub fn of(judgement: &super::Judgement) -> serde_json::Result<Judgement> {
    serde_json::from_value(serde_json::to_value(judgement)?)
}

#[cfg(test)]
mod tests {
    use super::of;
    use crate::algebra::Verdict;

    #[test]
    fn every_verdict_reads_back_as_it_was_written() {
        for verdict in Verdict::ALL {
            let judgement = super::super::Judgement { version: 1, verdict, arms: vec![], patterns: vec![] };
            assert_eq!(of(&judgement).unwrap().verdict, verdict);
        }
        let words: std::collections::BTreeSet<&str> = Verdict::ALL.iter().map(|one| one.word()).collect();
        assert_eq!(words.len(), Verdict::ALL.len());
    }
}
