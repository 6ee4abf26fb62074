//! A linear map's weights, whichever way they are stored, with all shapes checked together.

use super::error::{CheckpointError, Result};
use super::open::Checkpoint;
use super::quantization::{Mode, Quantization};
use super::tensor::{Kind, TensorView};

/// The tensors of one matrix `[outputs, inputs]`, or of a stack of them, whose number then leads every shape.
#[derive(Debug, Clone, Copy)]
pub enum Matrix<'a> {
    /// Plain numbers.
    Dense(&'a TensorView),
    /// Codes that a scale for each group, and in one mode a bias, turn into numbers.
    Quantized {
        /// Mode, bits and group.
        quantization: Quantization,
        /// Codes packed into 32-bit words, `[outputs, inputs * bits / 32]`, U32.
        codes: &'a TensorView,
        /// `[outputs, inputs / group]`, floating point in the affine mode, U8 in the others.
        scales: &'a TensorView,
        /// As `scales`, in the same type, where the mode has them.
        biases: Option<&'a TensorView>,
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
        let kind = if quantization.mode.has_biases() { Kind::Float } else { Kind::Byte };
        let scales = checkpoint.expect_tensor(&format!("{module}.scales"), &groups, kind)?;
        if !inputs.is_multiple_of(group) {
            return Err(wrong(
                scales,
                format!("groups of {group} do not divide the module's {inputs} inputs"),
            ));
        }
        let biases = biases(checkpoint, module, (quantization.mode, scales))?;
        // A group's codes, 32 or more of any width or 16 of 4 bits, fill whole words.
        let codes = checkpoint.expect_tensor(&weight, &with(inputs * bits / 32), Kind::Codes)?;
        Ok(Self::Quantized { quantization, codes, scales, biases })
    }

    /// Its tensors: one, or codes, scales and biases.
    pub fn tensors(&self) -> impl Iterator<Item = &'a TensorView> + use<'a> {
        let list = match *self {
            Self::Dense(weight) => [Some(weight), None, None],
            Self::Quantized { codes, scales, biases, .. } => [Some(codes), Some(scales), biases],
        };
        list.into_iter().flatten()
    }
}

/// The biases of a module, of its scales' shape and type; none in a mode without them.
fn biases<'a>(
    checkpoint: &'a Checkpoint,
    module: &str,
    (mode, scales): (Mode, &TensorView),
) -> Result<Option<&'a TensorView>> {
    let name = format!("{module}.biases");
    if !mode.has_biases() {
        let surplus = checkpoint.tensor(&name);
        return surplus.map_or(Ok(None), |tensor| {
            Err(wrong(tensor, format!("the mode {} of this module has no biases", mode.name())))
        });
    }
    let biases = checkpoint.expect_tensor(&name, &scales.shape, Kind::Float)?;
    if biases.dtype == scales.dtype {
        return Ok(Some(biases));
    }
    Err(CheckpointError::Dtype {
        file: biases.file.to_string(),
        tensor: biases.name_in_file.clone(),
        expected: "the type of its scales",
        found: biases.dtype.to_string(),
    })
}

fn wrong(tensor: &TensorView, says: String) -> CheckpointError {
    CheckpointError::Tensor { file: tensor.file.to_string(), tensor: tensor.name_in_file.clone(), says }
}
