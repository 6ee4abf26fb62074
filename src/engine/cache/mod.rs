//! What a sequence leaves behind for its next rows: keys and values, convolution windows, recurrent states.
//!
//! Caches live outside the layers. A verify block advances them by all its rows; [`Caches::commit`] takes back
//! the rows that were not accepted.

mod delta;
mod kv;
mod stack;

pub use delta::{BlockStates, DeltaBlock, DeltaCache};
pub use kv::{KvCache, capacity};
pub use stack::{Caches, Kept, LayerCache, Rewind, StateDigest};
