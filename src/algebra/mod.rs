//! Judgement: laws, divergence, statistics and verdicts. Pure functions over transcripts, no files, no clock.

pub mod between;
pub mod bits;
pub mod divergence;
pub mod judgement;
pub mod near_tie;
pub mod outcome;
pub mod pairing;
pub mod quantum;
pub mod readings;
pub mod rows;
pub mod side;
pub mod verdict;

pub use pairing::Pairing;
pub use side::Side;
pub use verdict::{Difference, Verdict};
