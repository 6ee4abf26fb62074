//! How a measurement of bytes ended, where there is no text to judge.

use serde::{Deserialize, Serialize};
use std::fmt;

/// How a measurement of bytes ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Word {
    /// What was asked for was compared, and no byte differs.
    Identical,
    /// Some byte differs.
    Differs,
    /// Something asked for was not compared, or a control was not found.
    NotRun,
}

impl Word {
    /// The exit code that belongs to it.
    #[must_use]
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::Identical => 0,
            Self::Differs => 1,
            Self::NotRun => 3,
        }
    }
}

impl fmt::Display for Word {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Identical => "identical",
            Self::Differs => "differs",
            Self::NotRun => "not run",
        })
    }
}
