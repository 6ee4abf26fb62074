//! Inputs in a safetensors file: the arrays of both sides by `chain.x`, `block.x`, each in its own dtype.

use super::{Error, Result, Which};
use crate::engine::raw;
use crate::results::reproducer::Input;
use mlx_rs::{Array, Dtype};
use safetensors::tensor::TensorView;
use safetensors::{Dtype as Stored, SafeTensors, serialize};

/// An input with its bytes.
#[derive(Debug, Clone)]
pub(super) struct Tensor {
    key: String,
    dtype: Stored,
    shape: Vec<i32>,
    bytes: Vec<u8>,
}

/// The key of a side's input.
fn key(side: Which, name: &str) -> String {
    format!("{side}.{name}")
}

fn stored(dtype: Dtype) -> Option<Stored> {
    Some(match dtype {
        Dtype::Bool => Stored::BOOL,
        Dtype::Uint8 => Stored::U8,
        Dtype::Uint16 => Stored::U16,
        Dtype::Uint32 => Stored::U32,
        Dtype::Uint64 => Stored::U64,
        Dtype::Int8 => Stored::I8,
        Dtype::Int16 => Stored::I16,
        Dtype::Int32 => Stored::I32,
        Dtype::Int64 => Stored::I64,
        Dtype::Float16 => Stored::F16,
        Dtype::Bfloat16 => Stored::BF16,
        Dtype::Float32 => Stored::F32,
        Dtype::Float64 => Stored::F64,
        Dtype::Complex64 => return None,
    })
}

fn computed(dtype: Stored) -> Option<Dtype> {
    const ALL: [Dtype; 13] = [
        Dtype::Bool,
        Dtype::Uint8,
        Dtype::Uint16,
        Dtype::Uint32,
        Dtype::Uint64,
        Dtype::Int8,
        Dtype::Int16,
        Dtype::Int32,
        Dtype::Int64,
        Dtype::Float16,
        Dtype::Bfloat16,
        Dtype::Float32,
        Dtype::Float64,
    ];
    ALL.into_iter().find(|one| stored(*one) == Some(dtype))
}

/// A dtype as the index names it: `f32`, `bf16`, `u32`.
pub(super) fn name(dtype: Dtype) -> String {
    stored(dtype).map_or_else(|| "complex".to_owned(), |dtype| dtype.to_string().to_lowercase())
}

impl Tensor {
    /// The bytes of a side's input.
    pub(super) fn of(side: Which, name: &str, array: &Array) -> Result<Self> {
        let refused = |says: String| Error::Call { side, says };
        let dtype = stored(array.dtype())
            .ok_or_else(|| refused(format!("input {name} has a dtype that safetensors files do not have")))?;
        if array.size() == 0 {
            return Err(refused(format!("input {name} is empty, {:?}", array.shape())));
        }
        let (key, shape) = (key(side, name), array.shape().to_vec());
        Ok(Self { key, dtype, shape, bytes: raw::bytes_of(array)? })
    }

    /// The array again, row by row in memory.
    pub(super) fn array(&self) -> Result<Array> {
        let dtype = computed(self.dtype).unwrap_or(Dtype::Float32); // every stored dtype came from one
        Ok(raw::from_bytes(self.bytes.clone(), &self.shape, dtype)?)
    }
}

/// The whole file.
pub(super) fn file(tensors: &[&Tensor]) -> std::result::Result<Vec<u8>, safetensors::SafeTensorError> {
    let views = tensors.iter().map(|tensor| {
        let sides = tensor.shape.iter().map(|side| usize::try_from(*side).unwrap_or(0)).collect();
        Ok((tensor.key.as_str(), TensorView::new(tensor.dtype, sides, &tensor.bytes)?))
    });
    serialize(views.collect::<std::result::Result<Vec<_>, safetensors::SafeTensorError>>()?, None)
}

/// A side's inputs out of the file.
pub(super) fn read(bytes: &[u8], side: Which, inputs: &[Input]) -> Result<Vec<Array>> {
    let unfit = |says: String| Error::Unfit { side, says };
    let file = SafeTensors::deserialize(bytes).map_err(|error| unfit(format!("its inputs: {error}")))?;
    let one = |input: &Input| {
        let key = key(side, &input.name);
        let view = file.tensor(&key).map_err(|_| unfit(format!("there is no input {key}")))?;
        let dtype = computed(view.dtype()).filter(|dtype| name(*dtype) == input.dtype);
        let shape: Vec<i32> = view.shape().iter().filter_map(|side| i32::try_from(*side).ok()).collect();
        match dtype {
            Some(dtype) if shape == input.shape => Ok(raw::from_bytes(view.data().to_vec(), &shape, dtype)?),
            _ => Err(unfit(format!("input {key} is {} {:?}", view.dtype(), view.shape()))),
        }
    };
    inputs.iter().map(one).collect()
}
