//! Judgement: laws, divergence, statistics and verdicts. Pure functions over transcripts, no files, no clock.

pub mod judgement;
pub mod verdict;

pub use verdict::{Difference, Verdict};
