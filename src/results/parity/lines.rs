//! All lines of a measurement, and how it ended.

use super::{Agreement, Found, Predicted};
use crate::results::Word;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Version of the JSON form.
pub const PARITY_VERSION: u32 = 1;

/// All operations that were measured.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Parity {
    /// [`PARITY_VERSION`].
    pub version: u32,
    /// How it ended.
    pub verdict: Word,
    /// Whose shapes.
    pub subject: String,
    /// The library, its version and the device.
    pub backend: String,
    /// Routes of the block beyond the defaults.
    pub routes: String,
    /// Draws of the inputs.
    pub seeds: Vec<u64>,
    /// Faults that were asked for.
    pub planted: Vec<String>,
    /// Those of them that some call met.
    pub struck: BTreeSet<String>,
    /// One line an operation, dtype, storage, shape and position.
    pub lines: Vec<Line>,
    /// Planted faults, which must be found at every number of rows; they are in no table.
    pub controls: Vec<Line>,
    /// The command line.
    pub command: Vec<String>,
}

/// One operation.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Line {
    /// Its name.
    pub op: String,
    /// How the block computed it.
    pub route: String,
    /// Dtype of activations.
    pub dtype: String,
    /// Storage of its matrix, where it has one.
    pub mode: Option<String>,
    /// Its shape without rows.
    pub shape: String,
    /// Positions before the block, where the operation reads them.
    pub position: Option<usize>,
    /// What was found.
    pub found: Found,
    /// What was to be expected.
    pub predicted: Predicted,
    /// Whether that was found.
    pub agreement: Agreement,
}

impl Parity {
    /// Judges the lines: a control that was not found means that nothing was seen, whatever the lines say, and a
    /// fault that no call met has tried nothing.
    pub fn judge(&mut self) {
        let missed = self.planted.iter().any(|plant| !self.struck.contains(plant));
        let blind = missed || self.controls.iter().any(|line| line.found.boundary() != Some(1));
        let compared: u64 = self.lines.iter().map(|line| line.found.bytes).sum();
        let differs = self.lines.iter().any(|line| line.found.boundary().is_some());
        self.verdict = match (compared == 0, differs, blind) {
            (true, _, _) | (_, false, true) => Word::NotRun,
            (_, true, _) => Word::Differs,
            (_, false, false) => Word::Identical,
        };
    }
}
