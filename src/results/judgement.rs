//! What the judge found, as it is printed and stored: the JSON contract of `check-algebra` and `compare`.
//!
//! The part about one arm is made by `algebra`; a command adds the arms up here.

use crate::algebra::Verdict;
pub use crate::algebra::judgement::{ArmJudgement, Breach, Compared, NotCheckable, SequenceJudgement};
use serde::Serialize;

/// The version of the JSON that these structs make.
pub const JUDGEMENT_VERSION: u32 = 1;

/// Everything that one command judged.
#[derive(Debug, Clone, Serialize)]
pub struct Judgement {
    /// [`JUDGEMENT_VERSION`].
    pub version: u32,
    /// The worst verdict of all arms.
    pub verdict: Verdict,
    /// One entry a file, in the order of the command line.
    pub arms: Vec<ArmJudgement>,
    /// What several arms say together.
    pub patterns: Vec<Pattern>,
}

/// A reading over several arms, with its evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Pattern {
    /// The reading.
    pub pattern: String,
    /// One sentence for people.
    pub says: String,
    /// What it rests on.
    pub evidence: Vec<String>,
}
