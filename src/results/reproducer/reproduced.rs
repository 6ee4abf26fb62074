//! What running a reproducer gave.

use super::{About, Difference, Which};
use crate::results::Word;
use crate::transcript::format::Backend;
use serde::Serialize;

/// Version of the JSON that [`Reproduced`] makes.
pub const REPRODUCED_VERSION: u32 = 1;

/// One side's run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Side {
    /// Which.
    pub side: Which,
    /// The function's file.
    pub function: String,
    /// The route that it was exported from.
    pub route: String,
    /// Rows of the output.
    pub rows: i32,
    /// The row that is compared.
    pub row: i32,
    /// Digest of its bytes.
    pub sha256: String,
    /// True when these are the bytes that were recorded when the folder was made.
    pub as_recorded: bool,
    /// True when these are the bytes that the model had.
    pub as_in_model: bool,
    /// True when a second run gave the same bytes.
    pub repeats: bool,
}

/// What `reproduce` found.
#[derive(Debug, Clone, Serialize)]
pub struct Reproduced {
    /// [`REPRODUCED_VERSION`].
    pub version: u32,
    /// How it ended: not run where a side does not repeat itself.
    pub verdict: Word,
    /// Where the calls were made.
    pub about: About,
    /// The library that computed now, and on what.
    pub backend: Backend,
    /// Chain, then block.
    pub sides: Vec<Side>,
    /// Chain against block, now.
    pub difference: Difference,
    /// Chain against block when the folder was made.
    pub recorded: Difference,
    /// What the folder says of itself where it does not show what the model showed.
    pub caveat: Option<String>,
    /// The command line.
    pub command: Vec<String>,
}

impl Reproduced {
    /// The verdict over these sides.
    #[must_use]
    pub fn judged(sides: &[Side], difference: &Difference) -> Word {
        match (sides.iter().all(|side| side.repeats), difference.identical()) {
            (false, _) => Word::NotRun,
            (true, true) => Word::Identical,
            (true, false) => Word::Differs,
        }
    }
}
