//! The architecture as a checkpoint's configuration states it.
//!
//! A layer carries its mixer's own sizes, so families whose layers differ in more than kind fit the same struct.
//! A family is one parser (`family`) chosen by `model_type`; the struct has no field that only one of them knows.

use super::error::{CheckpointError, Result};
use super::family;
use super::fields::{Fields, parse};
use crate::transcript::TokenId;
use serde_json::Value;
use std::collections::BTreeSet;

/// The architectures that this build can compute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// Llama: full attention, dense feed-forward.
    Llama,
    /// Qwen 3: full attention with head norms, dense feed-forward.
    Qwen3,
    /// Qwen 3.5 text models: gated full attention and gated delta net layers, dense feed-forward.
    Qwen35,
}

/// A text model's architecture. All sizes are in elements.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// Which equations hold.
    pub family: Family,
    /// `model_type` at the top of the file, as found.
    pub model_type: String,
    /// Rows of the embedding; ids run from 0 to one less.
    pub vocab_size: usize,
    /// Width of the residual stream, `h`.
    pub hidden_size: usize,
    /// The feed-forward of every layer.
    pub feed_forward: FeedForward,
    /// Added to the mean square in every norm.
    pub rms_norm_eps: f32,
    /// The layers in order.
    pub layers: Vec<Mixer>,
    /// The output matrix is the embedding.
    pub tie_word_embeddings: bool,
    /// The whole end-of-text set, ascending: `eos_token_id` of `generation_config.json`, `config.json` and
    /// `text_config` united. Empty when no file names one.
    pub end_ids: Vec<TokenId>,
    /// Positions that the model was made for, when stated. Not part of the arithmetic.
    pub max_positions: Option<usize>,
}

/// What mixes positions in one layer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Mixer {
    /// Softmax attention over all earlier positions.
    Attention(Attention),
    /// The gated delta rule.
    DeltaNet(DeltaNet),
}

/// What follows the mixer in a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeedForward {
    /// One gated feed-forward for every row.
    Dense {
        /// Its width, `I`.
        inner: usize,
    },
}

/// Grouped-query attention.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Attention {
    /// Query heads, `Hq`.
    pub heads: usize,
    /// Key and value heads, `Hkv`; divides `heads`.
    pub kv_heads: usize,
    /// Width of a head, `D`.
    pub head_dim: usize,
    /// `q_proj` also gives a gate, `[Hq, 2 * D]`, query first.
    pub output_gate: bool,
    /// Queries and keys are normed, each head by itself.
    pub head_norms: bool,
    /// Leading dimensions of a head that are rotated; even, at most `head_dim`.
    pub rotary_dims: usize,
    /// Base of the rotation's frequencies.
    pub rope_theta: f32,
    /// How the rotation is slowed down for long texts, when it is.
    pub rope_scaling: Option<Llama3>,
}

/// Llama 3's stretching of the rope: slow rotations are slowed by `factor`, fast ones kept, those between blended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Llama3 {
    /// How much the slow ones are slowed.
    pub factor: f32,
    /// Wave lengths above `positions / low` are slow.
    pub low: f32,
    /// Wave lengths below `positions / high` are fast.
    pub high: f32,
    /// Positions that the model was first made for.
    pub positions: f32,
}

/// A gated delta net.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeltaNet {
    /// Key heads, `Hk`.
    pub key_heads: usize,
    /// Value heads, `Hv`; a multiple of `key_heads`.
    pub value_heads: usize,
    /// Width of a key head, `Dk`.
    pub key_dim: usize,
    /// Width of a value head, `Dv`.
    pub value_dim: usize,
    /// Taps of the causal convolution.
    pub conv_kernel: usize,
    /// Stored as `in_proj_qkvz` and `in_proj_ba`, whose rows are grouped by key head.
    pub fused: bool,
}

impl DeltaNet {
    /// All key heads together, `Hk * Dk`.
    #[must_use]
    pub fn keys(&self) -> usize {
        self.key_heads * self.key_dim
    }

    /// All value heads together, `Hv * Dv`.
    #[must_use]
    pub fn values(&self) -> usize {
        self.value_heads * self.value_dim
    }

    /// Channels of the convolution: queries, keys, values.
    #[must_use]
    pub fn conv_channels(&self) -> usize {
        2 * self.keys() + self.values()
    }
}

impl Config {
    /// Reads `config.json` and, when there is one, `generation_config.json`. Each file is a name for messages and
    /// its bytes.
    ///
    /// # Errors
    /// When a file is not JSON, the model type is unknown, or a field is missing, wrong-typed or asks for
    /// arithmetic that this build does not have.
    pub fn parse(config: (&str, &[u8]), generation: Option<(&str, &[u8])>) -> Result<Self> {
        let value = parse(config.0, config.1)?;
        let top = Fields::top(config.0, &value)?;
        let mut read = family::parse(&top)?;
        let mut ends = BTreeSet::new();
        collect_end_ids(&top, read.vocab_size, &mut ends)?;
        if let Some(text) = top.nested("text_config")? {
            collect_end_ids(&text, read.vocab_size, &mut ends)?;
        }
        if let Some((file, bytes)) = generation {
            let value = parse(file, bytes)?;
            collect_end_ids(&Fields::top(file, &value)?, read.vocab_size, &mut ends)?;
        }
        read.end_ids = ends.into_iter().collect();
        Ok(read)
    }
}

/// Adds the ids of one object's `eos_token_id`: a number, a list, or nothing.
fn collect_end_ids(fields: &Fields<'_>, vocab_size: usize, into: &mut BTreeSet<TokenId>) -> Result<()> {
    let one = |value: &Value| {
        let id = value.as_i64().filter(|id| usize::try_from(*id).is_ok_and(|id| id < vocab_size));
        id.ok_or_else(|| wrong_end_id(fields, vocab_size))
    };
    match fields.get("eos_token_id") {
        None => {}
        Some(Value::Array(ids)) => {
            for id in ids {
                into.insert(one(id)?);
            }
        }
        Some(id) => {
            into.insert(one(id)?);
        }
    }
    Ok(())
}

fn wrong_end_id(fields: &Fields<'_>, vocab_size: usize) -> CheckpointError {
    fields.wrong("eos_token_id", &format!("an id or a list of ids from 0 to {}", vocab_size - 1))
}
