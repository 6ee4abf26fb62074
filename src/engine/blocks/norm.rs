//! Root-mean-square norm with a factor a channel.

use crate::engine::error::Result;
use crate::engine::op::Op;
use crate::engine::pass::Pass;
use mlx_rs::{Array, fast};

/// `x / sqrt(mean(x²) + eps) · weight` over the last axis.
#[derive(Debug)]
pub struct RmsNorm {
    /// `[D]`, with the 1 already added where the checkpoint stores it zero-centred.
    pub(super) weight: Array,
    pub(super) eps: f32,
}

impl RmsNorm {
    /// `x` `[B, T, …, D]` to the same shape.
    ///
    /// # Errors
    /// When MLX refuses.
    pub fn forward(&self, pass: &mut Pass<'_>, op: Op, x: &Array) -> Result<Array> {
        pass.rows(op, 1, &[x], |part, _| Ok(fast::rms_norm(part[0], Some(&self.weight), self.eps)?))
    }
}
