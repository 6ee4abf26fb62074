//! All layers' caches of one sequence, moved and compared together.

use super::{DeltaCache, KvCache};
use crate::engine::error::Result;
use crate::engine::raw;
use crate::transcript::digest::{Digester, sha256};
use mlx_rs::Array;
use mlx_rs::transforms::eval;

/// How a recurrent state goes back to an earlier row. Both give the chain's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rewind {
    /// Keep the state after each row of a block and pick one.
    KeepStates,
    /// Keep the state before the block, and run the accepted rows' recurrence again.
    Replay,
}

/// The cache of one layer.
#[derive(Debug, Clone)]
pub enum LayerCache {
    /// Full attention.
    Kv(KvCache),
    /// Gated delta net.
    Delta(DeltaCache),
}

/// How many of a block's rows are kept. The two numbers are the same unless somebody plants a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kept {
    /// In keys and values.
    pub keys: i32,
    /// In recurrent states and convolution windows.
    pub states: i32,
}

impl Kept {
    /// The same rows everywhere.
    #[must_use]
    pub const fn same(rows: i32) -> Self {
        Self { keys: rows, states: rows }
    }
}

/// The caches of one sequence. Cloning takes a snapshot: arrays are shared until one side writes.
#[derive(Debug, Clone)]
pub struct Caches {
    /// One a layer.
    pub layers: Vec<LayerCache>,
    /// How recurrent states go back.
    pub rewind: Rewind,
    length: i32,
}

/// Digests of what the caches hold, layer by layer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateDigest {
    /// Name (`layer.3.keys`) and SHA-256 of the bytes.
    pub parts: Vec<(String, String)>,
}

impl StateDigest {
    /// One digest over all parts.
    #[must_use]
    pub fn total(&self) -> String {
        let mut digester = Digester::default();
        for (name, digest) in &self.parts {
            digester.update(name.as_bytes());
            digester.update(digest.as_bytes());
        }
        digester.finish()
    }
}

impl Caches {
    /// Empty caches; `attention` says for each layer whether it is full attention.
    #[must_use]
    pub fn new(attention: impl IntoIterator<Item = bool>, rewind: Rewind) -> Self {
        let empty = |full| {
            if full { LayerCache::Kv(KvCache::default()) } else { LayerCache::Delta(DeltaCache::default()) }
        };
        Self { layers: attention.into_iter().map(empty).collect(), rewind, length: 0 }
    }

    /// Committed positions, and in a block the block's rows too.
    #[must_use]
    pub fn length(&self) -> i32 {
        self.length
    }

    /// Rows that went into the recurrent states and stayed; `None` for a model without any.
    #[must_use]
    pub fn state_length(&self) -> Option<i32> {
        self.layers.iter().find_map(|layer| match layer {
            LayerCache::Kv(_) => None,
            LayerCache::Delta(cache) => Some(cache.length()),
        })
    }

    /// Counts the rows of a forward that went through all layers.
    pub fn advance(&mut self, rows: i32) {
        self.length += rows;
    }

    /// Keeps `kept` of the last block's `rows` rows in every layer; positions go by keys and values.
    ///
    /// # Errors
    /// When a layer recorded no such block, or MLX refuses.
    pub fn commit(&mut self, rows: i32, kept: Kept) -> Result<()> {
        self.length -= rows - kept.keys;
        for layer in &mut self.layers {
            match layer {
                LayerCache::Kv(cache) => cache.truncate(self.length),
                LayerCache::Delta(cache) => cache.commit(kept.states)?,
            }
        }
        Ok(())
    }

    /// Computes everything held, so that no graph grows from step to step.
    ///
    /// # Errors
    /// When MLX refuses.
    pub fn evaluate(&self) -> Result<()> {
        let arrays = self.layers.iter().flat_map(|layer| -> Vec<&Array> {
            match layer {
                LayerCache::Kv(cache) => cache.arrays().collect(),
                LayerCache::Delta(cache) => cache.arrays().collect(),
            }
        });
        Ok(eval(arrays)?)
    }

    /// Digests of all keys, values, windows and states.
    ///
    /// # Errors
    /// When MLX refuses.
    pub fn digest(&self) -> Result<StateDigest> {
        let mut parts = Vec::new();
        for (index, layer) in self.layers.iter().enumerate() {
            for (name, array) in layer.named()? {
                parts.push((format!("layer.{index}.{name}"), sha256(&raw::bytes_of(&array)?)));
            }
        }
        Ok(StateDigest { parts })
    }
}

impl LayerCache {
    /// The arrays that the next row will read, by name.
    ///
    /// # Errors
    /// When MLX refuses.
    pub fn named(&self) -> Result<Vec<(&'static str, Array)>> {
        Ok(match self {
            Self::Kv(cache) => match cache.contents()? {
                Some((keys, values)) => vec![("keys", keys), ("values", values)],
                None => Vec::new(),
            },
            Self::Delta(cache) => {
                let window = cache.window.iter().map(|array| ("window", array.clone()));
                window.chain(cache.state.iter().map(|array| ("state", array.clone()))).collect()
            }
        })
    }
}
