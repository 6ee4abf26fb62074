//! The answers of a bisect, one struct a question, as they are written to the trail.

use super::kernels::Kernels;
use crate::algebra::bits::RowBits;
use serde::{Deserialize, Serialize};

/// A run held against its own repeat, or an observed one against one that nobody looks at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Control {
    /// Which two runs, as in `chain against chain`.
    pub name: String,
    /// Rows compared.
    pub rows: u64,
    /// States compared.
    pub states: u64,
    /// Where they part, which they must not.
    pub parts: Option<String>,
}

/// Where a state differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StateSeen {
    /// The round after whose rewind it was seen; absent for the state after the prompt.
    pub round: Option<u64>,
    /// Such as `layer.3.keys`.
    pub part: String,
    /// The first position whose keys or values differ.
    pub position: Option<u64>,
    /// Positions that each side holds, where the counts differ: chain, block.
    pub lengths: Option<(u64, u64)>,
    /// Parts that differ, of how many.
    pub differing: (u64, u64),
}

/// The state that round 0 starts from, as each side's prompt left it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrefillAnswer {
    /// The first difference.
    pub state: Option<StateSeen>,
    /// Tokens that the prompt's last row chose: chain, block.
    pub tokens: (i64, i64),
}

/// A row of logits that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RowSeen {
    /// Round, from 0.
    pub round: u64,
    /// Row of the block, from 0.
    pub row: u64,
    /// Stream index of the token that the row chooses.
    pub index: u64,
    /// Absolute position.
    pub position: u64,
    /// Bytes that differ.
    pub differing: u64,
    /// Bytes of the row.
    pub bytes: u64,
    /// Tokens that the row chooses: chain, block.
    pub chosen: (i64, i64),
}

impl RowSeen {
    /// True when both sides choose the same token from it.
    #[must_use]
    pub const fn same_choice(&self) -> bool {
        self.chosen.0 == self.chosen.1
    }
}

/// All kept rows, chain against block.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RowWalk {
    /// Rounds driven.
    pub rounds: u64,
    /// Rows compared.
    pub rows: u64,
    /// Their bytes.
    pub bytes: u64,
    /// States compared.
    pub states: u64,
    /// Rows that differ.
    pub differing: Vec<RowSeen>,
    /// The first state that differs.
    pub state: Option<StateSeen>,
    /// The first row whose token is not what equal rows choose: the arm chose otherwise.
    pub selection: Option<RowSeen>,
    /// Rows whose block bytes are not those that were recorded, of how many recorded ones.
    pub unlike_recorded: Option<(u64, u64)>,
}

impl RowWalk {
    /// The first round in which a row or the state left behind differs.
    #[must_use]
    pub fn root(&self) -> Option<u64> {
        let row = self.differing.first().map(|row| row.round);
        let state = self.state.as_ref().and_then(|state| state.round);
        row.into_iter().chain(state).min()
    }
}

/// Whether an input of an operation differs, row by row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InputRows {
    /// Its name.
    pub name: String,
    /// One entry a kept row.
    pub differs: Vec<bool>,
}

/// Whether an operation's inputs and what it gave differ, row by row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SiteRows {
    /// As in `layer.5.attn.o_proj`.
    pub site: String,
    /// The layer, or none outside the layers.
    pub layer: Option<u64>,
    /// The operation.
    pub op: String,
    /// What it read.
    pub inputs: Vec<InputRows>,
    /// One entry a kept row.
    pub output: Vec<bool>,
    /// The recurrent state that it left after each kept row; empty for other operations, false where the block does
    /// not say.
    pub state: Vec<bool>,
}

/// The operations of the round in which something first differs, in the order of computation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SiteWalk {
    /// The round.
    pub round: u64,
    /// Kept rows.
    pub rows: u64,
    /// The looked-at round gave the bytes of the row walk on both sides; otherwise nothing else here counts.
    pub valid: bool,
    /// All operations.
    pub sites: Vec<SiteRows>,
}

/// A layer on the row of the frontier.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LayerLine {
    /// Which.
    pub layer: u64,
    /// `attention` or `delta net`.
    pub mixer: String,
    /// The residual stream that went in differs.
    pub input: bool,
    /// What earlier rows left for it differs.
    pub state: bool,
    /// What came out, or what it left for later rows, differs.
    pub output: bool,
}

/// An operation on the row of the frontier.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpLine {
    /// As in `layer.5.attn.o_proj`.
    pub site: String,
    /// Inputs of the row that differ.
    pub inputs: Vec<String>,
    /// What it gave differs.
    pub output: bool,
    /// The recurrent state that it left differs.
    pub state: bool,
}

/// An input, or the output, of the named operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Argument {
    /// Its name.
    pub name: String,
    /// Dtype.
    pub dtype: String,
    /// Shape and strides on the chain's side.
    pub chain: (Vec<i32>, Vec<u64>),
    /// Shape and strides on the block's side.
    pub block: (Vec<i32>, Vec<u64>),
}

/// By how much an operation's row differs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Amplitude {
    /// Bytes that differ, of how many.
    pub bytes: (u64, u64),
    /// Numbers that differ, of how many.
    pub values: (u64, u64),
    /// Largest distance in representable steps.
    pub max_ulps: u64,
    /// Largest distance.
    pub max_abs: f64,
    /// The first number that differs.
    pub first: Option<u64>,
}

impl Amplitude {
    /// Of two rows' bits.
    #[must_use]
    pub fn of(bits: &RowBits) -> Self {
        Self {
            bytes: (bits.differing_bytes, bits.bytes),
            values: (bits.differing_values + bits.signed_zeros + bits.nans, bits.values),
            max_ulps: bits.max_ulps,
            max_abs: bits.max_abs,
            first: bits.first,
        }
    }
}

/// The first operation with equal inputs and another output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Operation {
    /// As in `layer.5.attn.o_proj`.
    pub site: String,
    /// The layer, or none outside the layers.
    pub layer: Option<u64>,
    /// The operation.
    pub op: String,
    /// Round, from 0.
    pub round: u64,
    /// Row of the block, from 0.
    pub row: u64,
    /// Absolute position.
    pub position: u64,
    /// It is the state left behind that differs and not the output.
    pub in_state: bool,
    /// What it read; bytes that the row depends on are equal.
    pub inputs: Vec<Argument>,
    /// What it gave.
    pub output: Argument,
    /// By how much.
    pub amplitude: Amplitude,
    /// Routes: chain, block.
    pub routes: (String, String),
    /// Rows of each call of its kernels: chain (for the one row), block.
    pub calls: (Vec<u64>, Vec<u64>),
}

/// How an intervention was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Handled {
    /// The operation alone took the chain's route in the block.
    Route {
        /// In the grammar of routes.
        routes: String,
    },
    /// The chain's output went on in the place of the block's own.
    Output,
    /// The rewind was done as it should be.
    Rewind,
    /// Both sides started from plain decoding's state.
    State,
}

/// What an intervention did to the frontier.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Confirmation {
    /// How the named place was treated.
    pub handled: Handled,
    /// Where the frontier lay before.
    pub before: String,
    /// Where it lies now; none when block and chain are identical.
    pub after: Option<String>,
    /// It lies further on, or is gone.
    pub moved: bool,
    /// Interventions that did not move it, tried before.
    pub tried: Vec<Handled>,
    /// The operation that was treated likewise to see that it does not move the frontier.
    pub control: Option<String>,
    /// Whether that moved it.
    pub control_moved: Option<bool>,
}

impl Confirmation {
    /// The named place moved the frontier and the other one did not.
    #[must_use]
    pub fn confirmed(&self) -> bool {
        self.moved && self.control_moved != Some(true)
    }
}

/// What a dispatch table says of the named operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Predicted {
    /// The chain's kernel.
    pub chain: Option<String>,
    /// The block's kernel.
    pub block: Option<String>,
    /// The table says that bytes may change between them.
    pub changes: Option<bool>,
    /// Where that was read.
    pub source: Option<String>,
}

/// What the rewind left, where nothing that was computed differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RewindAnswer {
    /// The round.
    pub round: u64,
    /// Rows of the block, and those of them that should stay.
    pub rows: (u64, u64),
    /// Rows that stayed in keys and values; none where the model has none.
    pub kept_in_cache: Option<i64>,
    /// Rows that the recurrent states are of; none where the model has none, or where they are of no row of the block.
    pub kept_in_state: Option<i64>,
    /// The model has recurrent states.
    pub recurrent: bool,
}

/// An operation that differs on equal inputs, found with all inputs made equal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// As in `layer.5.attn.o_proj`.
    pub site: String,
    /// The first round.
    pub round: u64,
    /// The first row.
    pub row: u64,
    /// Its position.
    pub position: u64,
    /// Rows in which it differs.
    pub rows: u64,
    /// How it is cured.
    pub handled: Handled,
    /// What it launched at its first place, where that was traced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernels: Option<Kernels>,
}

/// All sources of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sources {
    /// In the order in which they begin.
    pub sources: Vec<Source>,
    /// With all of them treated, block and chain are identical: rows and states compared.
    pub identical: Option<(u64, u64)>,
    /// Where they part still.
    pub rest: Option<String>,
}

/// A smaller run that still parts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reduced {
    /// Ids of the prompt before and after; its last ones are kept.
    pub prompt: (u64, u64),
    /// Tokens past the prompt before and after.
    pub tokens: (u64, u64),
    /// The ids that are left.
    pub ids: Vec<i64>,
    /// Lengths that could not be judged.
    pub unknown: Vec<u64>,
    /// Runs that were made for it.
    pub questions: u64,
    /// The smaller run was made once more and parts in the same way: at this place.
    pub parts: Option<String>,
}

/// What the answers cost.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cost {
    /// Passes over the tokens for the divergence: chain, block.
    pub walk: (f64, f64),
    /// Passes for null arms and observer.
    pub controls: f64,
    /// Passes for interventions and all sources.
    pub confirmation: f64,
    /// Peak of the memory that MLX held, in bytes.
    pub peak_bytes: Option<u64>,
    /// What the weights take of it.
    pub weight_bytes: u64,
}
