//! One decoder layer: a mixer and a feed-forward, each behind a norm and added to the residual stream.

use super::mlp::Mlp;
use crate::engine::attention::{DeltaNet, FullAttention};
use crate::engine::blocks::{RmsNorm, Weights};
use crate::engine::cache::{LayerCache, Rewind};
use crate::engine::checkpoint::{self, Config, FeedForward};
use crate::engine::error::{Error, Result};
use crate::engine::op::Op;
use crate::engine::pass::Pass;
use mlx_rs::Array;

#[derive(Debug)]
enum Mixer {
    Full(FullAttention),
    Delta(DeltaNet),
}

/// One decoder layer.
#[derive(Debug)]
pub(super) struct Layer {
    input_norm: RmsNorm,
    mixer: Mixer,
    post_norm: RmsNorm,
    mlp: Mlp,
}

impl Layer {
    pub(super) fn load(weights: &Weights<'_>, index: usize, config: &Config) -> Result<Self> {
        let prefix = format!("model.layers.{index}");
        let norm =
            |name: &str| weights.norm(&format!("{prefix}.{name}"), config.hidden_size, config.rms_norm_eps);
        let mixer = match config.layers[index] {
            checkpoint::Mixer::Attention(sizes) => {
                Mixer::Full(FullAttention::load(weights, &format!("{prefix}.self_attn"), config, &sizes)?)
            }
            checkpoint::Mixer::DeltaNet(sizes) => {
                Mixer::Delta(DeltaNet::load(weights, &format!("{prefix}.linear_attn"), config, &sizes)?)
            }
        };
        let FeedForward::Dense { inner } = config.feed_forward;
        Ok(Self {
            input_norm: norm("input_layernorm")?,
            mixer,
            post_norm: norm("post_attention_layernorm")?,
            mlp: Mlp::load(weights, &format!("{prefix}.mlp"), config.hidden_size, inner)?,
        })
    }

    /// `x` `[B, T, h]` to `[B, T, h]`.
    pub(super) fn forward(
        &self,
        pass: &mut Pass<'_>,
        x: &Array,
        cache: &mut LayerCache,
        record: Option<Rewind>,
    ) -> Result<Array> {
        let normed = self.input_norm.forward(pass, Op::InputNorm, x)?;
        let mixed = match (&self.mixer, cache) {
            (Mixer::Full(mixer), LayerCache::Kv(cache)) => mixer.forward(pass, &normed, cache)?,
            (Mixer::Delta(mixer), LayerCache::Delta(cache)) => mixer.forward(pass, &normed, cache, record)?,
            _ => return Err(Error::Request("use caches that were made for another model".to_owned())),
        };
        let x = add(pass, Op::MixerResidual, x, &mixed)?;
        let normed = self.post_norm.forward(pass, Op::PostNorm, &x)?;
        let mixed = self.mlp.forward(pass, &normed)?;
        add(pass, Op::MlpResidual, &x, &mixed)
    }
}

fn add(pass: &mut Pass<'_>, op: Op, stream: &Array, update: &Array) -> Result<Array> {
    pass.rows(op, 1, &[stream, update], |part, _| Ok(part[0].add(part[1])?))
}
