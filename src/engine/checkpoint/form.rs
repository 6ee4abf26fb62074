//! The two forms that a checkpoint with gated delta nets comes in, and how to tell them apart.
//!
//! MLX programs store a checkpoint with the convolution's axes moved and with one added to the zero-centred norm
//! weights. No field says so: the convolution's shape alone decides, for both changes.
//! Families without a convolution store their norms' factors as they are, whatever program wrote them.

use super::error::{CheckpointError, Result};
use super::tensor::TensorView;
use std::collections::BTreeMap;
use std::fmt;

/// How convolutions and norms are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// `conv1d.weight` is `[channels, 1, taps]`, norm weights are stored less one.
    HuggingFace,
    /// `conv1d.weight` is `[channels, taps, 1]`, norm weights are the factors.
    Mlx,
    /// There is no convolution, norm weights are the factors.
    Plain,
}

impl fmt::Display for Form {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::HuggingFace => "Hugging Face",
            Self::Mlx => "MLX",
            Self::Plain => "plain",
        })
    }
}

/// Decides the form: Hugging Face when a convolution's last side is not 1, as mlx-lm's rule has it.
///
/// Layers whose convolution is missing are reported by the inventory, not here.
pub(super) fn decide(tensors: &BTreeMap<String, TensorView>) -> Result<Form> {
    let mut raw = tensors.iter().filter(|(name, _)| name.ends_with("conv1d.weight")).map(|(_, tensor)| {
        let form = if tensor.shape.last() == Some(&1) { Form::Mlx } else { Form::HuggingFace };
        (form, tensor)
    });
    let Some((form, first)) = raw.next() else { return Ok(Form::Plain) };
    if let Some((_, other)) = raw.find(|(other, _)| *other != form) {
        return Err(CheckpointError::Tensor {
            file: other.file.to_string(),
            tensor: other.name_in_file.clone(),
            says: format!("shape {:?} contradicts {:?} of {}", other.shape, first.shape, first.name_in_file),
        });
    }
    Ok(form)
}
