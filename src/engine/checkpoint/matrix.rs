//! A linear map's weights, whichever way they are stored, with all shapes checked together.

use super::error::{CheckpointError, Result};
use super::open::Checkpoint;
use super::quantization::Quantization;
use super::tensor::{Kind, TensorView};

/// The tensors of one matrix `[outputs, inputs]`, or of a stack of them, whose number then leads every shape.
#[derive(Debug, Clone, Copy)]
pub enum Matrix<'a> {
    /// Plain numbers.
    Dense(&'a TensorView),
    /// Affine codes: `scales * code + biases`.
    Quantized {
        /// Bits and group.
        quantization: Quantization,
        /// Codes packed into 32-bit words, `[outputs, inputs * bits / 32]`, U32.
        codes: &'a TensorView,
        /// `[outputs, inputs / group]`, floating point.
        scales: &'a TensorView,
        /// As `scales`, in the same type.
        biases: &'a TensorView,
    },
}

impl<'a> Matrix<'a> {
    /// `shape` is `[…, outputs, inputs]`.
    pub(super) fn find(checkpoint: &'a Checkpoint, module: &str, shape: &[usize]) -> Result<Self> {
        let weight = format!("{module}.weight");
        let (rows, inputs) = shape.split_at(shape.len() - 1);
        let (inputs, with) = (inputs[0], |columns: usize| [rows, &[columns]].concat());
        let Some(quantization) = checkpoint.quantization(module)? else {
            return checkpoint.expect_tensor(&weight, shape, Kind::Float).map(Self::Dense);
        };
        let (bits, group) = (usize::from(quantization.bits), usize::from(quantization.group));
        let groups = with(inputs / group);
        let scales = checkpoint.expect_tensor(&format!("{module}.scales"), &groups, Kind::Float)?;
        if !inputs.is_multiple_of(group) {
            return Err(CheckpointError::Tensor {
                file: scales.file.to_string(),
                tensor: scales.name_in_file.clone(),
                says: format!("groups of {group} do not divide the module's {inputs} inputs"),
            });
        }
        let biases = checkpoint.expect_tensor(&format!("{module}.biases"), &groups, Kind::Float)?;
        if biases.dtype != scales.dtype {
            return Err(CheckpointError::Dtype {
                file: biases.file.to_string(),
                tensor: biases.name_in_file.clone(),
                expected: "the type of its scales",
                found: biases.dtype.to_string(),
            });
        }
        // Groups are multiples of 32 inputs, so the codes of a row fill whole words at every width.
        let codes = checkpoint.expect_tensor(&weight, &with(inputs * bits / 32), Kind::Codes)?;
        Ok(Self::Quantized { quantization, codes, scales, biases })
    }

    /// Its tensors: one, or codes, scales and biases.
    pub fn tensors(&self) -> impl Iterator<Item = &'a TensorView> + use<'a> {
        let list = match *self {
            Self::Dense(weight) => [Some(weight), None, None],
            Self::Quantized { codes, scales, biases, .. } => [Some(codes), Some(scales), Some(biases)],
        };
        list.into_iter().flatten()
    }
}
