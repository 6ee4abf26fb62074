//! A feed-forward of many experts: a router chooses some for each row, and one more serves every row.
//!
//! The choice has a defined order: ascending probability, and among equal ones ascending number, so that a tie at the
//! border goes to the higher number. A row's experts and the order of their sum depend on that row alone.

use super::mlp::{self, Mlp};
use crate::engine::blocks::{Experts, Linear, Weights, dim, silu};
use crate::engine::checkpoint;
use crate::engine::error::Result;
use crate::engine::op::Op;
use crate::engine::pass::Pass;
use crate::engine::raw::rows_of;
use mlx_rs::Array;
use mlx_rs::ops::{argsort_axis, expand_dims, sigmoid, softmax_axis};

/// `Σ weightₑ · expertₑ(x) + sigmoid(shared_gate(x)) · shared(x)` over the chosen experts e.
#[derive(Debug)]
pub(super) struct Moe {
    router: Linear,
    gate_proj: Experts,
    up_proj: Experts,
    down_proj: Experts,
    shared: Mlp,
    shared_gate: Linear,
    chosen: i32,
    renormalise: bool,
}

impl Moe {
    pub(super) fn load(
        weights: &Weights<'_>,
        prefix: &str,
        hidden: usize,
        sizes: &checkpoint::Experts,
    ) -> Result<Self> {
        let path = |name: &str| format!("{prefix}.{name}");
        let experts = |name: &str, outputs, inputs| {
            Experts::load(weights, &path(&format!("switch_mlp.{name}")), [sizes.count, outputs, inputs])
        };
        Ok(Self {
            router: weights.linear(&path("gate"), sizes.count, hidden)?,
            gate_proj: experts("gate_proj", sizes.inner, hidden)?,
            up_proj: experts("up_proj", sizes.inner, hidden)?,
            down_proj: experts("down_proj", hidden, sizes.inner)?,
            shared: Mlp::load(weights, &path("shared_expert"), (hidden, sizes.shared), mlp::SHARED)?,
            shared_gate: weights.linear(&path("shared_expert_gate"), 1, hidden)?,
            chosen: dim(sizes.chosen),
            renormalise: sizes.renormalise,
        })
    }

    /// `x` `[B, T, h]` to `[B, T, h]`.
    pub(super) fn forward(&self, pass: &mut Pass<'_>, x: &Array) -> Result<Array> {
        let (experts, weights) = self.choose(pass, x)?; // each [B, T, k]
        let mixed = self.mixed(pass, x, &experts, &weights)?; // [B, T, h]
        let shared = self.shared.forward(pass, x)?; // [B, T, h]
        let gate = self.shared_gate.forward(pass, Op::SharedGate, x)?; // [B, T, 1]
        pass.rows(Op::SharedMix, 1, &[&mixed, &gate, &shared], |part, _| {
            Ok(part[0].add(sigmoid(part[1])?.multiply(part[2])?)?)
        })
    }

    /// The chosen experts' numbers and weights, each `[B, T, k]`.
    fn choose(&self, pass: &mut Pass<'_>, x: &Array) -> Result<(Array, Array)> {
        let logits = self.router.forward(pass, Op::Router, x)?; // [B, T, E]
        let shares =
            pass.rows(Op::RouterSoftmax, 1, &[&logits], |part, _| Ok(softmax_axis(part[0], -1, true)?))?; // [B, T, E]
        let experts = pass.rows(Op::ExpertChoice, 1, &[&shares], |part, _| {
            let ascending = argsort_axis(part[0], -1)?;
            let count = ascending.dim(2);
            rows_of(&ascending, 2, count - self.chosen, count)
        })?;
        // Not among the kernels, because MLX exports no such copy.
        let experts = experts.contiguous()?; // [B, T, k]
        let weights = pass.rows(Op::ExpertWeights, 1, &[&shares, &experts], |part, _| {
            let chosen = part[0].take_along_axis(part[1], -1)?;
            Ok(if self.renormalise { chosen.divide(chosen.sum_axis(-1, true)?)? } else { chosen })
        })?;
        Ok((experts, weights))
    }

    /// The chosen experts' outputs, weighted and summed: `[B, T, h]`.
    fn mixed(&self, pass: &mut Pass<'_>, x: &Array, experts: &Array, weights: &Array) -> Result<Array> {
        let one = x.expand_dims_axes(&[2, 3])?; // [B, T, 1, 1, h]
        let gate = pass.rows(Op::ExpertGateProj, 1, &[&one, experts], |part, _| {
            self.gate_proj.forward(part[0], part[1]) // [B, T, k, 1, I]
        })?;
        let up = pass.rows(Op::ExpertUpProj, 1, &[&one, experts], |part, _| {
            self.up_proj.forward(part[0], part[1]) // [B, T, k, 1, I]
        })?;
        let inner =
            pass.rows(Op::ExpertSwiGlu, 1, &[&gate, &up], |part, _| Ok(silu(part[0])?.multiply(part[1])?))?;
        let down = pass.rows(Op::ExpertDownProj, 1, &[&inner, experts], |part, _| {
            Ok(self.down_proj.forward(part[0], part[1])?.squeeze_axes(&[3])?) // [B, T, k, h]
        })?;
        pass.rows(Op::ExpertMix, 1, &[&down, weights], |part, _| {
            Ok(part[0].multiply(expand_dims(part[1], -1)?)?.sum_axis(2, false)?)
        })
    }
}
