//! How a probe ended, and the first place where a block and the chain part.

use crate::results::part_of;
use serde::{Deserialize, Serialize};
use std::fmt;

/// How a probe ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Outcome {
    /// No byte differs on any input.
    Equal {
        /// Independent inputs.
        inputs: u64,
        /// Rows of logits compared.
        rows: u64,
        /// Their bytes.
        bytes: u64,
        /// States compared.
        states: u64,
    },
    /// Some byte differs.
    Differs {
        /// Seed of the input.
        seed: u64,
        /// Where.
        first: First,
    },
    /// Nothing can be said.
    NotRun {
        /// Why.
        reason: Reason,
    },
}

/// Why a probe says nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Reason {
    /// The chain did not repeat itself: the null arm failed.
    NotComparable {
        /// Seed of the input.
        seed: u64,
    },
    /// A known hazard of this machine that equal bytes do not rule out.
    Hazard {
        /// What it is.
        hazard: String,
        /// Where that was read.
        source: String,
    },
    /// The walk was empty.
    NothingCompared,
}

/// The first place where a block and the chain part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct First {
    /// Position of the row, or of the last row that went into the state.
    pub position: u64,
    /// Which of the walks through the same positions.
    pub pass: String,
    /// Round of that walk, from 0.
    pub round: u64,
    /// What parted.
    pub place: Place,
}

/// What parted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Place {
    /// A row of logits.
    Row {
        /// Row of the block, from 0.
        row: u64,
        /// Bytes that differ.
        differing: u64,
        /// Bytes of the row.
        bytes: u64,
    },
    /// The state left behind, under equal rows.
    State {
        /// Such as `layer.3.keys`.
        part: String,
    },
}

impl fmt::Display for First {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { position, pass, round, place } = self;
        match place {
            Place::Row { row, differing, bytes } => write!(
                formatter,
                "{} of the row at position {position} (row {row} of round {round}, {pass})",
                part_of(*differing, *bytes, "byte")
            ),
            Place::State { part } => {
                write!(formatter, "{part} after position {position} (round {round}, {pass})")
            }
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotComparable { seed } => {
                write!(formatter, "not comparable: plain decoding did not repeat itself on input {seed}")
            }
            Self::Hazard { hazard, source } => {
                write!(formatter, "equal bytes do not rule out {hazard} [{source}]")
            }
            Self::NothingCompared => formatter.write_str("nothing was compared: the walk has no tokens"),
        }
    }
}

impl Outcome {
    /// The word that tables and JSON carry.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Equal { .. } => "equal",
            Self::Differs { .. } => "differs",
            Self::NotRun { .. } => "not run",
        }
    }

    /// The exit code that belongs to it.
    #[must_use]
    pub const fn exit_code(&self) -> u8 {
        match self {
            Self::Equal { .. } => 0,
            Self::Differs { .. } => 1,
            Self::NotRun { .. } => 3,
        }
    }
}
