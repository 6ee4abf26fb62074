//! What a verdict is about: change any of it and the verdict is about something else.

use serde::{Deserialize, Serialize};

/// Everything that decides which kernels run on which numbers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Key {
    /// The checkpoint's digest.
    pub model: String,
    /// Rows of a block.
    pub width: u64,
    /// How sequences verified together share their accepted length, as in a transcript's header.
    pub window: String,
    /// How blocks compute, defaults included, and how states go back.
    pub routes: String,
    /// Dtype of activations.
    pub dtype: String,
    /// The library.
    pub backend: String,
    /// Its version.
    pub version: String,
    /// What it computes on, driver included.
    pub device: String,
    /// Version of this program: the engine is part of what is measured.
    pub program: String,
}
