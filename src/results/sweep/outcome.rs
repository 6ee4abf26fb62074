//! How a cell of a sweep ended, width by width.

use serde::{Deserialize, Serialize};

/// How a cell ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// One outcome a width, in the definition's order.
    Measured(Vec<WidthOutcome>),
    /// Its process went away without an answer; how, as in `signal 6`.
    Crashed(String),
}

/// The outcome of one width.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WidthOutcome {
    /// Rows of a block.
    pub width: usize,
    /// What came out.
    pub outcome: Outcome,
}

/// Block against chain at one width.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Outcome {
    /// Every byte of every row is the chain's.
    Equal {
        /// Independent inputs that agreed.
        inputs: u64,
        /// Rows compared.
        rows: u64,
        /// Bytes compared.
        bytes: u64,
        /// The first position compared.
        first: u64,
        /// The last position compared; nothing is said of later ones.
        last: u64,
    },
    /// Some byte is not; the walk ends there.
    Differs {
        /// The first position whose row, or the state after it, differs.
        position: u64,
        /// The row in its block, from 0; absent where a state differs under equal rows.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        row: Option<u64>,
        /// Bytes of that row that differ.
        bytes: u64,
        /// The part of the state that differs, as in `layer.3.keys`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        state: Option<String>,
        /// Rows compared.
        rows: u64,
    },
    /// Nothing was compared.
    NotRun {
        /// Why.
        reason: String,
    },
}
