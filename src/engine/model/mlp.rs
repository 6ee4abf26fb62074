//! The gated feed-forward.

use crate::engine::blocks::{Linear, Weights, silu};
use crate::engine::error::Result;
use crate::engine::op::Op;
use crate::engine::pass::Pass;
use mlx_rs::Array;

/// The operations of a layer's only feed-forward: gate, up, activation and product, down.
pub(super) const DENSE: [Op; 4] = [Op::GateProj, Op::UpProj, Op::SwiGlu, Op::DownProj];
/// Those of the expert that serves every row.
pub(super) const SHARED: [Op; 4] =
    [Op::SharedGateProj, Op::SharedUpProj, Op::SharedSwiGlu, Op::SharedDownProj];

/// `down(silu(gate(x)) · up(x))`.
#[derive(Debug)]
pub(super) struct Mlp {
    gate_proj: Linear,
    up_proj: Linear,
    down_proj: Linear,
    ops: [Op; 4],
}

impl Mlp {
    pub(super) fn load(
        weights: &Weights<'_>,
        prefix: &str,
        (hidden, inner): (usize, usize),
        ops: [Op; 4],
    ) -> Result<Self> {
        let linear =
            |name: &str, outputs, inputs| weights.linear(&format!("{prefix}.{name}"), outputs, inputs);
        Ok(Self {
            gate_proj: linear("gate_proj", inner, hidden)?,
            up_proj: linear("up_proj", inner, hidden)?,
            down_proj: linear("down_proj", hidden, inner)?,
            ops,
        })
    }

    /// `x` `[B, T, h]` to `[B, T, h]`.
    pub(super) fn forward(&self, pass: &mut Pass<'_>, x: &Array) -> Result<Array> {
        let [gate_op, up_op, swiglu_op, down_op] = self.ops;
        let gate = self.gate_proj.forward(pass, gate_op, x)?; // [B, T, I]
        let up = self.up_proj.forward(pass, up_op, x)?; // [B, T, I]
        let inner =
            pass.rows(swiglu_op, 1, &[&gate, &up], |part, _| Ok(silu(part[0])?.multiply(part[1])?))?;
        self.down_proj.forward(pass, down_op, &inner)
    }
}
