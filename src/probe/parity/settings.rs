//! What is measured: which operations, at how many rows, on which inputs, after how many positions.

use crate::engine::op::Op;
use crate::engine::plant::Plant;
use crate::engine::routes::{RouteError, Routes, operations};
use std::collections::BTreeSet;
use std::str::FromStr;

/// Rows up to which every number is tried; past it the first look is coarser.
const DENSE: u32 = 16;
/// Numbers of rows that are tried past it: quarters between the powers of two that kernels are cut by, and those.
const COARSE: [u32; 8] = [20, 24, 28, 32, 33, 40, 48, 64];

/// The name of greedy choice, which is not an operation of the model.
pub(super) const ARGMAX: &str = "argmax";

/// The operations asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    ops: BTreeSet<Op>,
    argmax: bool,
}

impl Default for Wanted {
    fn default() -> Self {
        Self { ops: Op::all().collect(), argmax: true }
    }
}

impl Wanted {
    /// True when `op` is asked for.
    #[must_use]
    pub fn has(&self, op: Op) -> bool {
        self.ops.contains(&op)
    }

    /// True when greedy choice is asked for.
    #[must_use]
    pub const fn argmax(&self) -> bool {
        self.argmax
    }

    /// Those whose numbers depend on how the checkpoint stores its matrices; `None` when there are none.
    #[must_use]
    pub fn of_matrices(&self) -> Option<Self> {
        let ops: BTreeSet<Op> = self.ops.iter().copied().filter(|op| op.has_matrix()).collect();
        (!ops.is_empty()).then_some(Self { ops, argmax: false })
    }
}

impl FromStr for Wanted {
    type Err = RouteError;

    /// Operations and groups, as in `linear,attention,argmax`.
    fn from_str(text: &str) -> Result<Self, RouteError> {
        let mut wanted = Self { ops: BTreeSet::new(), argmax: false };
        for word in text.split(',').map(str::trim) {
            if word == ARGMAX {
                wanted.argmax = true;
            } else {
                wanted.ops.extend(operations(word)?);
            }
        }
        Ok(wanted)
    }
}

/// How one subject is measured.
#[derive(Debug, Clone)]
pub struct Settings {
    /// What.
    pub wanted: Wanted,
    /// Most rows of a block.
    pub most_rows: u32,
    /// Every number of rows, or a list that is made finer where something changes.
    pub exhaustive: bool,
    /// Draws of the inputs; what differs in one of them differs.
    pub seeds: Vec<u64>,
    /// Positions before the block. Operations that do not read them are measured at the first alone.
    pub positions: Vec<usize>,
    /// Routes of the block beyond the measured ones.
    pub routes: Routes,
    /// Routes of the rows that it is held against.
    pub plain: Routes,
    /// Faults to put into the block.
    pub plants: Vec<Plant>,
}

impl Settings {
    /// The numbers of rows of the first look.
    #[must_use]
    pub fn first_look(&self) -> Vec<u32> {
        let every = if self.exhaustive { self.most_rows } else { DENSE.min(self.most_rows) };
        let past = COARSE
            .into_iter()
            .chain([self.most_rows])
            .filter(|rows| (every + 1..=self.most_rows).contains(rows));
        let mut rows: Vec<u32> = (1..=every).chain(past).collect();
        rows.sort_unstable();
        rows.dedup();
        rows
    }
}
