//! One decoder layer: a mixer and a feed-forward, each behind a norm and added to the residual stream.

use super::mlp::{self, Mlp};
use super::moe::Moe;
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

#[derive(Debug)]
enum Forward {
    Dense(Box<Mlp>),
    Experts(Box<Moe>),
}

/// One decoder layer.
#[derive(Debug)]
pub(super) struct Layer {
    input_norm: RmsNorm,
    mixer: Mixer,
    post_norm: RmsNorm,
    feed_forward: Forward,
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
        let (mlp, hidden) = (format!("{prefix}.mlp"), config.hidden_size);
        let feed_forward = match &config.feed_forward {
            FeedForward::Dense { inner } => {
                Forward::Dense(Box::new(Mlp::load(weights, &mlp, (hidden, *inner), mlp::DENSE)?))
            }
            FeedForward::Experts(sizes) => {
                Forward::Experts(Box::new(Moe::load(weights, &mlp, hidden, sizes)?))
            }
        };
        Ok(Self {
            input_norm: norm("input_layernorm")?,
            mixer,
            post_norm: norm("post_attention_layernorm")?,
            feed_forward,
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
        let mixed = match &self.feed_forward {
            Forward::Dense(mlp) => mlp.forward(pass, &normed)?,
            Forward::Experts(moe) => moe.forward(pass, &normed)?,
        };
        add(pass, Op::MlpResidual, &x, &mixed)
    }
}

fn add(pass: &mut Pass<'_>, op: Op, stream: &Array, update: &Array) -> Result<Array> {
    pass.rows(op, 1, &[stream, update], |part, _| Ok(part[0].add(part[1])?))
}
