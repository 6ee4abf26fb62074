//! One projection of all experts of a layer, whichever of three ways a file stores it.
//!
//! MLX programs stack the experts in one tensor. Hugging Face files have a tensor for each expert, or a stack whose
//! rows are those of two projections, gate first. Everything behind this module asks for the first of these by its
//! name, as in `model.layers.0.mlp.switch_mlp.up_proj`.

use super::error::{CheckpointError, Result};
use super::matrix::Matrix;
use super::open::Checkpoint;
use super::tensor::{Kind, TensorView};

/// The tensors of one projection `[experts, outputs, inputs]`.
#[derive(Debug, Clone)]
pub enum Stack<'a> {
    /// One tensor, or its codes, scales and biases.
    Whole(Matrix<'a>),
    /// Rows `start..start + outputs` of `[experts, 2 * outputs, inputs]`.
    Half(&'a TensorView, usize),
    /// A tensor `[outputs, inputs]` for each expert.
    Each(Vec<&'a TensorView>),
}

impl<'a> Stack<'a> {
    pub(super) fn find(checkpoint: &'a Checkpoint, module: &str, shape: [usize; 3]) -> Result<Self> {
        let [experts, outputs, inputs] = shape;
        let Some((mlp, name)) = module.split_once("switch_mlp.") else {
            return Matrix::find(checkpoint, module, &shape).map(Self::Whole);
        };
        let (both, down) = (format!("{mlp}experts.gate_up_proj"), format!("{mlp}experts.down_proj"));
        if name == "down_proj" && checkpoint.tensor(&down).is_some() {
            return checkpoint.expect_tensor(&down, &shape, Kind::Float).map(Matrix::Dense).map(Self::Whole);
        }
        if name != "down_proj" && checkpoint.tensor(&both).is_some() {
            let tensor = checkpoint.expect_tensor(&both, &[experts, 2 * outputs, inputs], Kind::Float)?;
            return Ok(Self::Half(tensor, if name == "gate_proj" { 0 } else { outputs }));
        }
        let single = |expert: usize| format!("{mlp}experts.{expert}.{name}");
        if checkpoint.tensor(&format!("{}.weight", single(0))).is_none() {
            return Matrix::find(checkpoint, module, &shape).map(Self::Whole);
        }
        let dense = |expert| match Matrix::find(checkpoint, &single(expert), &[outputs, inputs])? {
            Matrix::Dense(tensor) => Ok(tensor),
            Matrix::Quantized { codes, .. } => Err(CheckpointError::Tensor {
                file: codes.file.to_string(),
                tensor: codes.name_in_file.clone(),
                says: "codes of single experts are not supported, only stacked ones".to_owned(),
            }),
        };
        (0..experts).map(dense).collect::<Result<_>>().map(Self::Each)
    }

    /// All its tensors.
    #[must_use]
    pub fn tensors(&self) -> Vec<&'a TensorView> {
        match self {
            Self::Whole(matrix) => matrix.tensors().collect(),
            Self::Half(tensor, _) => vec![tensor],
            Self::Each(tensors) => tensors.clone(),
        }
    }
}
