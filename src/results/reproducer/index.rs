//! The index of a reproducer's folder: what each file is and holds, and what the two calls gave.
//!
//! A function's file goes to MLX's own reader, which trusts the sizes in it; the digests here are what keeps a damaged
//! one away from it.

use super::{About, Difference, Which};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The name of the format.
pub const FORMAT: &str = "exactness.reproducer";
/// Its version.
pub const VERSION: u32 = 1;
/// The index's own file.
pub const INDEX: &str = "reproducer.json";
/// The file of the inputs of both sides.
pub const INPUTS: &str = "inputs.safetensors";

/// A text that is no index of a reproducer.
#[derive(Debug, thiserror::Error)]
pub enum IndexFault {
    /// It is no JSON, or a key is missing or of another type.
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    /// It is something else.
    #[error("its format is {found:?}, expected \"{FORMAT}\"")]
    Format {
        /// What it says of itself.
        found: String,
    },
    /// A newer release wrote it.
    #[error(
        "its version is {found}, this release reads up to {VERSION}: use a release that reads version {found}"
    )]
    Newer {
        /// The version.
        found: u32,
    },
    /// No release wrote it.
    #[error("its version is 0, and versions count from 1")]
    Zero,
    /// A file that both sides need has no entry.
    #[error("it has no digest of {name}")]
    Unlisted {
        /// The file.
        name: String,
    },
    /// A file is named by a path.
    #[error("it names {name:?}, which is no plain file name")]
    Name {
        /// The name.
        name: String,
    },
}

/// A file of the folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRecord {
    /// Its length.
    pub bytes: u64,
    /// Its digest.
    pub sha256: String,
}

/// An input of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Input {
    /// Its name; with the side before it, its key in the file of inputs.
    pub name: String,
    /// Dtype of its values.
    pub dtype: String,
    /// Its sides.
    pub shape: Vec<i32>,
}

/// One side's call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SideRecord {
    /// In the order in which the function takes them.
    pub inputs: Vec<Input>,
    /// Sides of the output.
    pub output: Vec<i32>,
    /// Dtype of the output.
    pub dtype: String,
    /// The axis of the output that has the rows.
    pub axis: i32,
    /// The row that is compared.
    pub row: i32,
    /// Digest of its bytes as the model had them.
    pub row_in_model: String,
    /// Digest of its bytes as the exported function gives them over the kept inputs.
    pub row_outside: String,
}

/// The whole index.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Index {
    /// [`FORMAT`].
    pub format: String,
    /// [`VERSION`].
    pub version: u32,
    /// Where the calls were made.
    pub about: About,
    /// Plain decoding's call.
    pub chain: SideRecord,
    /// The block's call.
    pub block: SideRecord,
    /// Chain against block as the model had them.
    pub in_model: Difference,
    /// Chain against block as the folder gives them.
    pub outside: Difference,
    /// Every other file of the folder by its name.
    pub files: BTreeMap<String, FileRecord>,
}

/// The keys that say whether the rest can be read at all.
#[derive(Deserialize)]
struct Claim {
    format: String,
    version: u32,
}

impl Index {
    /// Reads an index.
    ///
    /// # Errors
    /// With what is wrong with it; a newer version is refused before its other keys are read.
    pub fn parse(bytes: &[u8]) -> Result<Self, IndexFault> {
        let claim: Claim = serde_json::from_slice(bytes)?;
        if claim.format != FORMAT {
            return Err(IndexFault::Format { found: claim.format });
        }
        if claim.version == 0 {
            return Err(IndexFault::Zero);
        }
        if claim.version > VERSION {
            return Err(IndexFault::Newer { found: claim.version });
        }
        let index: Self = serde_json::from_slice(bytes)?;
        if let Some(name) = index.files.keys().find(|name| !plain(name)) {
            return Err(IndexFault::Name { name: name.clone() });
        }
        let needed = [INPUTS, Which::Chain.function(), Which::Block.function()];
        match needed.into_iter().find(|name| !index.files.contains_key(*name)) {
            Some(name) => Err(IndexFault::Unlisted { name: name.to_owned() }),
            None => Ok(index),
        }
    }

    /// One side's call.
    #[must_use]
    pub const fn side(&self, which: Which) -> &SideRecord {
        match which {
            Which::Chain => &self.chain,
            Which::Block => &self.block,
        }
    }

    /// Why the folder does not show what the model showed, where it does not.
    #[must_use]
    pub fn caveat(&self) -> Option<&'static str> {
        match (self.in_model.identical(), self.outside.identical()) {
            (false, true) => Some(
                "The two calls differ in the model and are equal here: their cause is outside of the kernels: a planted \
                 fault, how the inputs lie in memory, or what ran beside them. This folder does not reproduce the difference.",
            ),
            (true, true) => Some("The two calls gave equal bytes in the model, and they do here."),
            (true, false) => Some(
                "The two calls gave equal bytes in the model and differ here, where the inputs lie row by row in memory: \
                 this folder shows another difference than the one that was looked for.",
            ),
            (false, false) => None,
        }
    }
}

impl SideRecord {
    /// Rows of the output; 0 where the axis is none of its own.
    #[must_use]
    pub fn rows(&self) -> i32 {
        usize::try_from(self.axis).ok().and_then(|axis| self.output.get(axis).copied()).unwrap_or(0)
    }
}

fn plain(name: &str) -> bool {
    !name.is_empty() && name != ".." && name != "." && !name.contains(['/', '\\', ':'])
}
