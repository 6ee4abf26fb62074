//! One tensor as a file holds it: where it came from, its type and shape, and its lent bytes.

use super::bytes::Bytes;
use super::error::{CheckpointError, Result};
pub use safetensors::Dtype;
use std::sync::Arc;

/// A tensor of a checkpoint: row-major, little endian, not copied. Cloning is cheap.
#[derive(Debug, Clone)]
pub struct TensorView {
    /// The file, as messages name it.
    pub file: Arc<str>,
    /// Its name in that file.
    pub name_in_file: String,
    /// Element type.
    pub dtype: Dtype,
    /// Sides, outermost first; empty for a scalar.
    pub shape: Vec<usize>,
    /// The elements. Not always aligned to them, see [`Bytes::is_aligned`].
    pub bytes: Bytes,
}

/// What a tensor is for, which bounds its element type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Numbers to compute with: F32, F16 or BF16.
    Float,
    /// Packed codes of a quantized matrix: U32.
    Codes,
    /// Scales of a mode that has no biases, an exponent or an 8-bit float each: U8.
    Byte,
}

impl TensorView {
    /// Number of elements.
    #[must_use]
    pub fn elements(&self) -> usize {
        self.shape.iter().product()
    }

    /// Checks shape and element type.
    ///
    /// # Errors
    /// [`CheckpointError::Shape`] or [`CheckpointError::Dtype`].
    pub fn check(&self, shape: &[usize], kind: Kind) -> Result<()> {
        let (file, tensor) = (self.file.to_string(), self.name_in_file.clone());
        if self.shape != shape {
            let (expected, found) = (shape.to_vec(), self.shape.clone());
            return Err(CheckpointError::Shape { file, tensor, expected, found });
        }
        let (fits, expected) = match kind {
            Kind::Float => (matches!(self.dtype, Dtype::F32 | Dtype::F16 | Dtype::BF16), "F32, F16 or BF16"),
            Kind::Codes => (self.dtype == Dtype::U32, "U32"),
            Kind::Byte => (self.dtype == Dtype::U8, "U8"),
        };
        if fits {
            return Ok(());
        }
        Err(CheckpointError::Dtype { file, tensor, expected, found: self.dtype.to_string() })
    }
}
