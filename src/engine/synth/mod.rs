//! Synthetic checkpoints: random weights at the released models' shapes, or tiny ones of every family.
//!
//! Which kernel computes a matrix depends on its shape, so speed and exactness have to be tried at real sizes, and
//! that must not need a download. The weights mean nothing, but they are drawn so that activations, decay and
//! logits have the spread of a trained model's. There is no tokenizer: prompts are ids.

mod config;
mod geometry;
mod packed;
mod plan;
mod random;
mod sample;
mod values;
mod write;

pub use geometry::{Geometry, Storage, UnknownName};
pub use sample::{resized, sample};
pub use write::{SynthError, Written, write};

/// What to make. The same value gives the same bytes on every machine of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Synth {
    /// The shapes.
    pub geometry: Geometry,
    /// The storage of matrices.
    pub storage: Storage,
    /// Chooses the weights.
    pub seed: u64,
}
