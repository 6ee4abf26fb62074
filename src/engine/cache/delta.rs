//! The convolution window and the recurrent state of one gated-delta layer, and what it takes to go back.
//!
//! Neither has a sequence axis, so rejected rows cannot be cut off. A block therefore records, beside its last
//! state, either the state after each row or the inputs of its recurrence.

use crate::engine::delta_rule::{self, Recurrence};
use crate::engine::error::{Error, Result};
use crate::engine::raw::rows_of;
use mlx_rs::Array;

/// What a block left behind, beside its end state.
#[derive(Debug, Clone)]
pub struct DeltaBlock {
    /// The window before the block followed by the block's rows, f32 `[B, K − 1 + T, C]`.
    pub window: Array,
    /// How to reach the state after fewer rows.
    pub states: BlockStates,
}

/// How to reach the state after fewer rows.
#[derive(Debug, Clone)]
pub enum BlockStates {
    /// The state after each row.
    PerRow(Vec<Array>),
    /// The state before the block and the inputs to run it again.
    Replay {
        /// State before the block, f32 `[B, Hv, Dv, Dk]`.
        before: Array,
        /// The block's inputs.
        inputs: Recurrence,
        /// The block ran in the chunked form, so the replay does too.
        chunked: bool,
    },
}

/// The cache of one gated-delta layer.
#[derive(Debug, Clone, Default)]
pub struct DeltaCache {
    /// The last K − 1 rows that went into the convolution, f32 `[B, K − 1, C]`.
    pub window: Option<Array>,
    /// Recurrent state, f32 `[B, Hv, Dv, Dk]`.
    pub state: Option<Array>,
    /// Set by a block, taken by its commit.
    pub block: Option<DeltaBlock>,
    length: i32,
}

impl DeltaCache {
    /// Rows that went in.
    #[must_use]
    pub fn length(&self) -> i32 {
        self.length
    }

    /// Counts `rows` more rows.
    pub fn advance(&mut self, rows: i32) {
        self.length += rows;
    }

    /// Keeps `kept` rows of the last block.
    ///
    /// # Errors
    /// When there was no block of at least `kept` rows, or MLX refuses.
    pub fn commit(&mut self, kept: i32) -> Result<()> {
        let Some(block) = self.block.take() else {
            return Err(Error::Request("rewind a recurrent state that no block recorded".to_owned()));
        };
        let window_rows = self.window.as_ref().map_or(0, |window| window.dim(1));
        let rows = block.window.dim(1) - window_rows;
        self.length -= rows - kept;
        if kept == rows {
            return Ok(());
        }
        self.window = Some(rows_of(&block.window, 1, kept, kept + window_rows)?.contiguous()?);
        self.state = Some(match &block.states {
            BlockStates::PerRow(states) => after_row(states, kept)?,
            BlockStates::Replay { before, inputs, chunked } => {
                delta_rule::replay(before, &inputs.part(0, kept)?, *chunked)?
            }
        });
        Ok(())
    }

    /// The arrays held, for evaluation.
    pub fn arrays(&self) -> impl Iterator<Item = &Array> {
        self.window.iter().chain(self.state.iter())
    }
}

fn after_row(states: &[Array], kept: i32) -> Result<Array> {
    let index = usize::try_from(kept).unwrap_or(0).checked_sub(1);
    let state = index.and_then(|index| states.get(index));
    state.cloned().ok_or_else(|| Error::Request(format!("keep {kept} rows of a block of {}", states.len())))
}
