//! Keys and values of one full-attention layer, in a buffer that grows by 256 positions.
//!
//! Taking rows back is a matter of the length alone: rows past it are never read and are overwritten by the
//! next append.

use crate::engine::error::Result;
use crate::engine::raw;
use mlx_rs::{Array, ops};

/// Positions by which the buffer grows.
const STEP: i32 = 256;

/// The cache of one full-attention layer.
#[derive(Debug, Clone, Default)]
pub struct KvCache {
    /// Keys and values, each `[B, Hkv, capacity, D]`.
    buffers: Option<(Array, Array)>,
    length: i32,
}

impl KvCache {
    /// Positions held.
    #[must_use]
    pub fn length(&self) -> i32 {
        self.length
    }

    /// Adds rows `[B, Hkv, T, D]` and gives all keys and values `[B, Hkv, length, D]`, views of the buffer.
    ///
    /// # Errors
    /// When MLX refuses.
    pub fn append(&mut self, keys: &Array, values: &Array) -> Result<(Array, Array)> {
        let stop = self.length + keys.dim(2);
        let (key_buffer, value_buffer) = self.with_room(keys, values, stop)?;
        let key_buffer = write(&key_buffer, keys, self.length)?;
        let value_buffer = write(&value_buffer, values, self.length)?;
        let views = (head(&key_buffer, stop)?, head(&value_buffer, stop)?);
        self.buffers = Some((key_buffer, value_buffer));
        self.length = stop;
        Ok(views)
    }

    /// Takes the buffers out, grown to hold `stop` positions.
    fn with_room(&mut self, keys: &Array, values: &Array, stop: i32) -> Result<(Array, Array)> {
        let capacity = (stop + STEP - 1) / STEP * STEP;
        match self.buffers.take() {
            Some(buffers) if buffers.0.dim(2) >= stop => Ok(buffers),
            Some((old_keys, old_values)) => Ok((grown(&old_keys, capacity)?, grown(&old_values, capacity)?)),
            None => Ok((empty_like(keys, capacity)?, empty_like(values, capacity)?)),
        }
    }

    /// Forgets everything past `length` positions.
    pub fn truncate(&mut self, length: i32) {
        self.length = self.length.min(length);
    }

    /// The keys and values held, `[B, Hkv, length, D]`, or `None` before the first append.
    ///
    /// # Errors
    /// When MLX refuses.
    pub fn contents(&self) -> Result<Option<(Array, Array)>> {
        let Some((keys, values)) = &self.buffers else { return Ok(None) };
        Ok(Some((head(keys, self.length)?, head(values, self.length)?)))
    }

    /// The buffers themselves, for evaluation.
    pub fn arrays(&self) -> impl Iterator<Item = &Array> {
        self.buffers.iter().flat_map(|(keys, values)| [keys, values])
    }
}

fn empty_like(rows: &Array, capacity: i32) -> Result<Array> {
    let shape = rows.shape();
    Ok(ops::zeros_dtype(&[shape[0], shape[1], capacity, shape[3]], rows.dtype())?)
}

fn grown(old: &Array, capacity: i32) -> Result<Array> {
    let room = empty_like(old, capacity - old.dim(2))?;
    Ok(ops::concatenate(&[old, &room], 2)?)
}

fn write(buffer: &Array, rows: &Array, at: i32) -> Result<Array> {
    let mut stop = buffer.shape().to_vec();
    stop[2] = at + rows.dim(2);
    raw::slice_update(buffer, rows, &[0, 0, at, 0], &stop)
}

fn head(buffer: &Array, length: i32) -> Result<Array> {
    let mut stop = buffer.shape().to_vec();
    stop[2] = length;
    raw::slice(buffer, &[0, 0, 0, 0], &stop)
}
