//! What every family is built of: weights by their checkpoint names, linear layers, norms, activations.

mod columns;
mod linear;
mod norm;
mod weights;

pub use columns::Columns;
pub use linear::{Embedding, Linear};
pub use norm::RmsNorm;
pub use weights::Weights;
pub(crate) use weights::dim;

use crate::engine::error::Result;
use mlx_rs::{Array, ops};

/// `x · sigmoid(x)`.
///
/// # Errors
/// When MLX refuses.
pub fn silu(x: &Array) -> Result<Array> {
    Ok(x.multiply(ops::sigmoid(x)?)?)
}
