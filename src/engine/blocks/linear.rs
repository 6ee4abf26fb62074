//! Linear layers and the embedding, dense or quantized.

use super::columns::Columns;
use crate::engine::error::Result;
use crate::engine::op::Op;
use crate::engine::pass::Pass;
use crate::engine::raw::Quantized;
use mlx_rs::Array;

/// A matrix `[out, in]` applied as `x · Wᵀ`.
#[derive(Debug, Clone)]
pub enum Linear {
    /// The matrix itself, transposed at each call: an exported function reads its constants in the order of memory.
    Dense(Array),
    /// Packed codes.
    Quantized(Columns),
}

impl Linear {
    /// `x` `[B, T, in]` to `[B, T, out]`, in as many calls as the route of `op` says.
    ///
    /// # Errors
    /// When MLX refuses.
    pub fn forward(&self, pass: &mut Pass<'_>, op: Op, x: &Array) -> Result<Array> {
        pass.rows(op, 1, &[x], |part, _| match self {
            Self::Dense(matrix) => Ok(part[0].matmul(matrix.transpose()?)?),
            Self::Quantized(matrix) => matrix.matmul(part[0]),
        })
    }
}

/// Token embedding; its matrix may serve as the head, too.
#[derive(Debug)]
pub enum Embedding {
    /// `[vocabulary, h]`.
    Dense(Array),
    /// Packed codes of `[vocabulary, h]`.
    Quantized(Quantized),
}

impl Embedding {
    /// Ids `[B, T]` to `[B, T, h]`.
    ///
    /// # Errors
    /// When MLX refuses.
    pub fn forward(&self, pass: &mut Pass<'_>, ids: &Array) -> Result<Array> {
        pass.rows(Op::Embed, 1, &[ids], |part, _| self.look_up(part[0]))
    }

    fn look_up(&self, ids: &Array) -> Result<Array> {
        match self.rows(ids)? {
            Self::Dense(rows) => Ok(rows),
            Self::Quantized(rows) => rows.dequantize(),
        }
    }

    /// The rows of these numbers, as they are stored.
    pub(super) fn rows(&self, numbers: &Array) -> Result<Self> {
        let take = |array: &Array| array.take_axis(numbers, 0);
        Ok(match self {
            Self::Dense(matrix) => Self::Dense(take(matrix)?),
            Self::Quantized(matrix) => Self::Quantized(Quantized {
                codes: take(&matrix.codes)?,
                scales: take(&matrix.scales)?,
                biases: matrix.biases.as_ref().map(take).transpose()?,
                ..matrix.clone()
            }),
        })
    }

    /// The same matrix as an output layer.
    ///
    /// # Errors
    /// When MLX refuses.
    pub fn as_head(&self) -> Result<Linear> {
        Ok(match self {
            Self::Dense(matrix) => Linear::Dense(matrix.clone()),
            Self::Quantized(matrix) => Linear::Quantized(Columns::new(matrix)?),
        })
    }
}
