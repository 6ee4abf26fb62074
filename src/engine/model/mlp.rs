//! The gated feed-forward.

use crate::engine::blocks::{Linear, Weights, silu};
use crate::engine::error::Result;
use crate::engine::op::Op;
use crate::engine::pass::Pass;
use mlx_rs::Array;

/// `down(silu(gate(x)) · up(x))`.
#[derive(Debug)]
#[expect(clippy::struct_field_names, reason = "the checkpoint's own names")]
pub(super) struct Mlp {
    gate_proj: Linear,
    up_proj: Linear,
    down_proj: Linear,
}

impl Mlp {
    pub(super) fn load(weights: &Weights<'_>, prefix: &str, hidden: usize, inner: usize) -> Result<Self> {
        let linear =
            |name: &str, outputs, inputs| weights.linear(&format!("{prefix}.{name}"), outputs, inputs);
        Ok(Self {
            gate_proj: linear("gate_proj", inner, hidden)?,
            up_proj: linear("up_proj", inner, hidden)?,
            down_proj: linear("down_proj", hidden, inner)?,
        })
    }

    /// `x` `[B, T, h]` to `[B, T, h]`.
    pub(super) fn forward(&self, pass: &mut Pass<'_>, x: &Array) -> Result<Array> {
        let gate = self.gate_proj.forward(pass, Op::GateProj, x)?; // [B, T, I]
        let up = self.up_proj.forward(pass, Op::UpProj, x)?; // [B, T, I]
        let inner =
            pass.rows(Op::SwiGlu, 1, &[&gate, &up], |part, _| Ok(silu(part[0])?.multiply(part[1])?))?;
        self.down_proj.forward(pass, Op::DownProj, &inner)
    }
}
