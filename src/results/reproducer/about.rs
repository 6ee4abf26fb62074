//! What a reproducer is about: enough to find the place in the model again.

use crate::transcript::format::{Backend, Model};
use serde::{Deserialize, Serialize};
use std::fmt;

/// One of the two ways in which the rows are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Which {
    /// One row at a time.
    Chain,
    /// The block's rows.
    Block,
}

impl Which {
    /// Both, in the order of every table.
    pub const BOTH: [Self; 2] = [Self::Chain, Self::Block];

    /// As files and keys are named.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Chain => "chain",
            Self::Block => "block",
        }
    }

    /// The file that has its function.
    #[must_use]
    pub const fn function(self) -> &'static str {
        match self {
            Self::Chain => "chain.mlxfn",
            Self::Block => "block.mlxfn",
        }
    }
}

impl fmt::Display for Which {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// Where the two calls were made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// Such as `layer.5.attn.rope_q`.
    pub site: String,
    /// The operation.
    pub op: String,
    /// Its route in plain decoding.
    pub route_chain: String,
    /// Its route in the block.
    pub route_block: String,
    /// The checkpoint, the dtype of its activations, its quantization.
    pub model: Model,
    /// The library that computed, and on what.
    pub backend: Backend,
    /// The position of the row that differs.
    pub position: u64,
    /// That row's number in the block.
    pub row: u64,
    /// The command line that found it.
    pub command: Vec<String>,
}
