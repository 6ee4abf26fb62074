//! Judgement: laws, divergence, statistics and verdicts. Pure functions over transcripts, no files, no clock.

pub mod between;
pub mod bits;
pub mod divergence;
pub mod judge;
pub mod judgement;
pub mod laws;
pub mod ledger;
pub mod near_tie;
pub mod outcome;
pub mod pairing;
pub mod quantum;
pub mod readings;
pub mod rows;
pub mod sequence;
pub mod side;
pub mod states;
pub mod verdict;
pub mod window;

pub use judge::{Judge, judge_arm};
pub use pairing::Pairing;
pub use side::Side;
pub use verdict::{Difference, Verdict};
