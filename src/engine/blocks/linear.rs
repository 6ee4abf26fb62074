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
    /// Its transpose, a view `[in, out]`.
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
            Self::Dense(transposed) => Ok(part[0].matmul(transposed)?),
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
        let take = |array: &Array| array.take_axis(ids, 0);
        Ok(match self {
            Self::Dense(matrix) => take(matrix)?,
            Self::Quantized(matrix) => {
                let rows = Quantized {
                    codes: take(&matrix.codes)?,
                    scales: take(&matrix.scales)?,
                    biases: matrix.biases.as_ref().map(take).transpose()?,
                    ..matrix.clone()
                };
                rows.dequantize()?
            }
        })
    }

    /// The same matrix as an output layer.
    ///
    /// # Errors
    /// When MLX refuses.
    pub fn as_head(&self) -> Result<Linear> {
        Ok(match self {
            Self::Dense(matrix) => Linear::Dense(matrix.t()),
            Self::Quantized(matrix) => Linear::Quantized(Columns::new(matrix)?),
        })
    }
}
