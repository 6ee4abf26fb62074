//! Weights by their checkpoint names, turned into device arrays of the activations' dtype.
//!
//! Matrices' codes, and scales of one byte, are lent from the mapped file as they are. Float tensors are cast; a
//! cast may work in place on memory that nobody else holds, and a mapped file cannot be written, so every lent
//! array is held here until all casts have run: a layer's at a time, so that a model is not in memory twice.

use super::{Embedding, Linear, RmsNorm};
use crate::engine::checkpoint::{Checkpoint, Dtype as StoredDtype, Form, Kind, Lent, Matrix, TensorView};
use crate::engine::error::{Error, Result};
use crate::engine::raw::{self, Quantized};
use mlx_rs::{Array, Dtype};
use std::cell::RefCell;

/// A checkpoint on its way onto the device.
pub struct Weights<'a> {
    checkpoint: &'a Checkpoint,
    dtype: Dtype,
    /// Lent arrays, and what was computed from them.
    held: RefCell<Vec<Array>>,
    loaded: RefCell<Vec<Array>>,
}

impl<'a> Weights<'a> {
    /// Weights of `checkpoint` with float tensors in `dtype`.
    #[must_use]
    pub fn new(checkpoint: &'a Checkpoint, dtype: Dtype) -> Self {
        Self { checkpoint, dtype, held: RefCell::default(), loaded: RefCell::default() }
    }

    /// Computes everything that was asked for since the last time, and lets go of what it was computed from.
    ///
    /// # Errors
    /// When MLX refuses.
    pub fn settle(&self) -> Result<()> {
        mlx_rs::transforms::eval(self.loaded.borrow().iter())?;
        self.loaded.borrow_mut().clear();
        self.held.borrow_mut().clear();
        Ok(())
    }

    /// What a module computed from its tensors, to be computed before they go.
    #[must_use]
    pub fn derived(&self, array: Array) -> Array {
        self.keep(array)
    }

    /// The matrix of `module`, `[outputs, inputs]`.
    ///
    /// # Errors
    /// When a tensor is missing or has another shape.
    pub fn linear(&self, module: &str, outputs: usize, inputs: usize) -> Result<Linear> {
        self.matrix(module, outputs, inputs)?.as_head()
    }

    /// The embedding of `module`, `[vocabulary, hidden]`.
    ///
    /// # Errors
    /// When a tensor is missing or has another shape.
    pub fn matrix(&self, module: &str, rows: usize, columns: usize) -> Result<Embedding> {
        self.stored(self.checkpoint.matrix(module, rows, columns)?)
    }

    /// A matrix, or a stack of them, on the device.
    pub(super) fn stored(&self, matrix: Matrix<'_>) -> Result<Embedding> {
        Ok(match matrix {
            Matrix::Dense(view) => Embedding::Dense(self.float(view, self.dtype)?),
            Matrix::Quantized { quantization, codes, scales, biases } => Embedding::Quantized(Quantized {
                codes: self.keep(self.lent(codes)?),
                scales: match biases {
                    Some(_) => self.float(scales, self.dtype)?,
                    None => self.keep(self.lent(scales)?),
                },
                biases: biases.map(|biases| self.float(biases, self.dtype)).transpose()?,
                group: i32::from(quantization.group),
                bits: i32::from(quantization.bits),
                mode: raw::mode_name(quantization.mode),
                dtype: self.dtype,
            }),
        })
    }

    /// A norm over `size` channels; the 1 that Hugging Face files leave out is added in f32.
    ///
    /// # Errors
    /// When the tensor is missing or has another shape.
    pub fn norm(&self, module: &str, size: usize, eps: f32) -> Result<RmsNorm> {
        let view = self.view(&format!("{module}.weight"), &[size])?;
        let weight = match self.checkpoint.form() {
            Form::Mlx | Form::Plain => self.float(view, self.dtype)?,
            Form::HuggingFace => {
                let shifted = self.float(view, Dtype::Float32)?.add(Array::from_f32(1.0))?;
                self.keep(shifted.as_dtype(self.dtype)?)
            }
        };
        Ok(RmsNorm { weight, eps })
    }

    /// A vector in the activations' dtype.
    ///
    /// # Errors
    /// When the tensor is missing or has another shape.
    pub fn vector(&self, name: &str, shape: &[usize]) -> Result<Array> {
        self.float(self.view(name, shape)?, self.dtype)
    }

    /// A vector in f32, whatever the activations.
    ///
    /// # Errors
    /// When the tensor is missing or has another shape.
    pub fn vector_f32(&self, name: &str, shape: &[usize]) -> Result<Array> {
        self.float(self.view(name, shape)?, Dtype::Float32)
    }

    /// The taps of a depthwise convolution, oldest row first: `count` arrays f32 `[1, 1, channels]`.
    ///
    /// # Errors
    /// When the tensor is missing or has another shape.
    pub fn taps(&self, name: &str, channels: usize, count: usize) -> Result<Vec<Array>> {
        // The axis of size 1 moves between the two forms; the order in memory does not.
        let shape = match self.checkpoint.form() {
            Form::HuggingFace => [channels, 1, count],
            Form::Mlx | Form::Plain => [channels, count, 1],
        };
        let weight = self.vector_f32(name, &shape)?.reshape(&[dim(channels), dim(count)])?;
        let taps = (0..dim(count)).map(|tap| {
            let column = raw::slice(&weight, &[0, tap], &[dim(channels), tap + 1])?;
            Ok(self.keep(column.reshape(&[1, 1, dim(channels)])?.contiguous()?))
        });
        taps.collect()
    }

    pub(super) fn checkpoint(&self) -> &'a Checkpoint {
        self.checkpoint
    }

    /// A tensor in the activations' dtype, perhaps still lent.
    pub(super) fn cast(&self, view: &TensorView) -> Result<Array> {
        Ok(self.lent(view)?.as_dtype(self.dtype)?)
    }

    fn view(&self, name: &str, shape: &[usize]) -> Result<&'a TensorView> {
        Ok(self.checkpoint.expect_tensor(name, shape, Kind::Float)?)
    }

    fn float(&self, view: &TensorView, dtype: Dtype) -> Result<Array> {
        Ok(self.keep(self.lent(view)?.as_dtype(dtype)?))
    }

    /// The tensor's own bytes as an array; copied only where they are not aligned.
    fn lent(&self, view: &TensorView) -> Result<Array> {
        let shape: Vec<i32> = view.shape.iter().map(|&side| dim(side)).collect();
        let dtype = stored(view)?;
        let bytes = Lent(view.bytes.clone());
        let array = if bytes.0.is_aligned(raw::size_of_dtype(dtype)) {
            raw::from_bytes(bytes, &shape, dtype)?
        } else {
            raw::from_bytes(bytes.to_vec(), &shape, dtype)?
        };
        self.held.borrow_mut().push(array.clone());
        Ok(array)
    }

    /// Has `array` computed with everything else.
    pub(super) fn keep(&self, array: Array) -> Array {
        self.loaded.borrow_mut().push(array.clone());
        array
    }
}

fn stored(view: &TensorView) -> Result<Dtype> {
    Ok(match view.dtype {
        StoredDtype::F32 => Dtype::Float32,
        StoredDtype::F16 => Dtype::Float16,
        StoredDtype::BF16 => Dtype::Bfloat16,
        StoredDtype::U32 => Dtype::Uint32,
        StoredDtype::U8 => Dtype::Uint8,
        other => return Err(Error::Request(format!("load {}: no use for dtype {other}", view.name_in_file))),
    })
}

/// A size as MLX wants it. Sizes of a checkpoint were checked against its file, which is far below 2³¹ rows.
pub(crate) fn dim(size: usize) -> i32 {
    i32::try_from(size).unwrap_or(i32::MAX)
}
