//! One projection of many experts: each row is multiplied by the matrices of the experts chosen for it.

use super::{Embedding, Weights, dim};
use crate::engine::checkpoint::Stack;
use crate::engine::error::Result;
use crate::engine::raw::{self, Quantized};
use mlx_rs::{Array, ops};

/// Matrices `[E, out, in]`, applied as `x · Wᵀ` by the number of the expert.
#[derive(Debug)]
pub enum Experts {
    /// The matrices themselves, transposed at each call as those of a [`super::Linear`].
    Dense(Array),
    /// Packed codes.
    Quantized(Quantized),
}

impl Experts {
    /// Reads the stack at `module`, as in `model.layers.0.mlp.switch_mlp.up_proj`.
    ///
    /// # Errors
    /// When a tensor is missing or has another shape.
    pub fn load(weights: &Weights<'_>, module: &str, shape: [usize; 3]) -> Result<Self> {
        let dense = match weights.checkpoint().experts(module, shape)? {
            Stack::Whole(matrix) => match weights.stored(matrix)? {
                Embedding::Quantized(matrix) => return Ok(Self::Quantized(matrix)),
                Embedding::Dense(matrix) => matrix,
            },
            Stack::Half(both, start) => {
                let (start, outputs) = (dim(start), dim(shape[1]));
                let half = raw::rows_of(&weights.cast(both)?, 1, start, start + outputs)?;
                weights.keep(half.contiguous()?)
            }
            Stack::Each(tensors) => {
                let single = tensors.into_iter().map(|tensor| weights.cast(tensor));
                weights.keep(ops::stack(&single.collect::<Result<Vec<_>>>()?, 0)?)
            }
        };
        Ok(Self::Dense(dense))
    }

    /// `x` `[B, T, 1 or k, 1, in]` and expert numbers `[B, T, k]` to `[B, T, k, 1, out]`.
    ///
    /// # Errors
    /// When MLX refuses.
    pub fn forward(&self, x: &Array, experts: &Array) -> Result<Array> {
        match self {
            Self::Dense(matrices) => {
                let transposed = matrices.swap_axes(-1, -2)?; // [E, in, out]
                Ok(ops::gather_mm(x, transposed, None, experts, false)?)
            }
            Self::Quantized(matrix) => matrix.gather_matmul(x, experts),
        }
    }
}
