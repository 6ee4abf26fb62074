//! Full attention over grouped key heads, with a rotary embedding on each head or on a part of it.
//!
//! Two things are options of the family: norms on each query and key head, and a sigmoid gate on the output that
//! comes out of the query projection.

use super::frequencies;
use super::scores::attend;
use crate::engine::blocks::{Linear, RmsNorm, Weights, dim};
use crate::engine::cache::KvCache;
use crate::engine::checkpoint::{self, Config};
use crate::engine::error::Result;
use crate::engine::op::Op;
use crate::engine::pass::Pass;
use mlx_rs::{Array, fast, ops};

/// One full-attention mixer.
#[derive(Debug)]
pub struct FullAttention {
    q_proj: Linear,
    k_proj: Linear,
    v_proj: Linear,
    o_proj: Linear,
    /// Of queries and of keys.
    head_norms: Option<(RmsNorm, RmsNorm)>,
    output_gate: bool,
    heads: i32,
    key_heads: i32,
    head_dim: i32,
    rotary_dims: i32,
    rope_theta: f32,
    /// In the place of the base, where the rope is stretched; f32 `[rotary_dims / 2]`.
    frequencies: Option<Array>,
}

impl FullAttention {
    /// Reads the mixer at `prefix`, as in `model.layers.3.self_attn`.
    ///
    /// # Errors
    /// When a tensor is missing or has another shape.
    pub fn load(
        weights: &Weights<'_>,
        prefix: &str,
        config: &Config,
        sizes: &checkpoint::Attention,
    ) -> Result<Self> {
        let (hidden, size) = (config.hidden_size, sizes.head_dim);
        let (heads, key_heads) = (sizes.heads, sizes.kv_heads);
        let linear =
            |name: &str, outputs, inputs| weights.linear(&format!("{prefix}.{name}"), outputs, inputs);
        let norm = |name: &str| weights.norm(&format!("{prefix}.{name}"), size, config.rms_norm_eps);
        let gated = if sizes.output_gate { 2 } else { 1 };
        Ok(Self {
            q_proj: linear("q_proj", heads * gated * size, hidden)?,
            k_proj: linear("k_proj", key_heads * size, hidden)?,
            v_proj: linear("v_proj", key_heads * size, hidden)?,
            o_proj: linear("o_proj", hidden, heads * size)?,
            head_norms: if sizes.head_norms { Some((norm("q_norm")?, norm("k_norm")?)) } else { None },
            output_gate: sizes.output_gate,
            heads: dim(heads),
            key_heads: dim(key_heads),
            head_dim: dim(size),
            rotary_dims: dim(sizes.rotary_dims),
            rope_theta: sizes.rope_theta,
            frequencies: frequencies::stretched(sizes)?,
        })
    }

    /// `x` `[B, T, h]` to `[B, T, h]`; the cache grows by T positions.
    ///
    /// # Errors
    /// When MLX refuses.
    pub fn forward(&self, pass: &mut Pass<'_>, x: &Array, cache: &mut KvCache) -> Result<Array> {
        let (batch, rows, offset) = (x.dim(0), x.dim(1), cache.length());
        let (queries, gate) = self.queries(pass, x)?; // [B, T, H, D], [B, T, H · D]
        let keys = self.k_proj.forward(pass, Op::KProj, x)?;
        let values = self.v_proj.forward(pass, Op::VProj, x)?;
        let split_heads = |array: &Array| array.reshape(&[batch, rows, self.key_heads, self.head_dim]);
        let (queries, keys) = match &self.head_norms {
            Some((q_norm, k_norm)) => (
                q_norm.forward(pass, Op::QNorm, &queries)?,
                k_norm.forward(pass, Op::KNorm, &split_heads(&keys)?)?,
            ),
            None => (queries, split_heads(&keys)?),
        };
        let (queries, keys) = (queries.swap_axes(1, 2)?, keys.swap_axes(1, 2)?); // [B, H, T, D], [B, Hkv, T, D]
        let values = split_heads(&values)?.swap_axes(1, 2)?; // [B, Hkv, T, D]
        let queries = self.rope(pass, Op::RopeQ, &queries, offset)?;
        let keys = self.rope(pass, Op::RopeK, &keys, offset)?;
        let (keys, values) = cache.append(&keys, &values)?; // [B, Hkv, P + T, D]
        let attended = attend(pass, &queries, &keys, &values, scale(self.head_dim))?;
        let attended = attended.swap_axes(1, 2)?.reshape(&[batch, rows, self.heads * self.head_dim])?;
        let attended = match &gate {
            Some(gate) => pass.rows(Op::AttnGate, 1, &[&attended, gate], |part, _| {
                Ok(part[0].multiply(ops::sigmoid(part[1])?)?)
            })?,
            None => attended,
        };
        self.o_proj.forward(pass, Op::OProj, &attended)
    }

    /// Queries `[B, T, H, D]`, and the output's gate `[B, T, H · D]` where the family has one.
    fn queries(&self, pass: &mut Pass<'_>, x: &Array) -> Result<(Array, Option<Array>)> {
        let (batch, rows) = (x.dim(0), x.dim(1));
        let projected = self.q_proj.forward(pass, Op::QProj, x)?; // [B, T, H · D], or with a gate [B, T, H · 2D]
        if !self.output_gate {
            return Ok((projected.reshape(&[batch, rows, self.heads, self.head_dim])?, None));
        }
        let per_head = projected.reshape(&[batch, rows, self.heads, 2 * self.head_dim])?;
        let mut halves = ops::split_equal(&per_head, 2, -1)?; // 2 × [B, T, H, D]
        let gate = halves[1].reshape(&[batch, rows, self.heads * self.head_dim])?;
        Ok((halves.swap_remove(0), Some(gate)))
    }

    /// Rotates the first dimensions of each head, pairs half apart; `x` `[B, H, T, D]`.
    fn rope(&self, pass: &mut Pass<'_>, op: Op, x: &Array, offset: i32) -> Result<Array> {
        pass.rows(op, 2, &[x], |part, start| {
            let position = offset + start;
            let (dims, frequencies) = (self.rotary_dims, self.frequencies.as_ref());
            let base = frequencies.is_none().then_some(self.rope_theta);
            Ok(fast::rope(part[0], dims, false, base, 1.0, position, frequencies)?)
        })
    }
}

/// What scores are multiplied by for heads of so many dimensions.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "a head size is far below 2²⁴")]
pub fn scale(head_dim: i32) -> f32 {
    (head_dim as f32).powf(-0.5)
}
