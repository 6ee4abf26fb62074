//! Judgement: laws, divergence, statistics and verdicts. Pure functions over transcripts, no files, no clock.

pub mod judge;
pub mod judgement;
pub mod laws;
pub mod ledger;
pub mod sequence;
pub mod verdict;
pub mod window;

pub use judge::{Judge, judge_arm};
pub use verdict::{Difference, Verdict};
