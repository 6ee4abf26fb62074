//! Keys and values of one full-attention layer, in a buffer that grows by 256 positions.
//!
//! Taking rows back is a matter of the length alone: rows past it are never read and are overwritten by the
//! next append. The room of the buffer follows from the length, so that it does not tell whether rows were taken back:
//! on a GPU one row's kernel is chosen by the room of the keys that it is given.

use crate::engine::error::Result;
use crate::engine::raw;
use mlx_rs::{Array, ops};

/// Positions by which the buffer grows.
const STEP: i32 = 256;

/// The room that plain decoding has for so many positions.
#[must_use]
pub const fn capacity(length: i32) -> i32 {
    (length + STEP - 1) / STEP * STEP
}

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

    /// Takes the buffers out, with the room for `stop` positions.
    fn with_room(&mut self, keys: &Array, values: &Array, stop: i32) -> Result<(Array, Array)> {
        let room = capacity(stop);
        match self.buffers.take() {
            Some((keys, values)) => Ok((resized(keys, room)?, resized(values, room)?)),
            None => Ok((empty_like(keys, room)?, empty_like(values, room)?)),
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

fn resized(buffer: Array, room: i32) -> Result<Array> {
    let more = room - buffer.dim(2);
    Ok(match more {
        0 => buffer,
        1.. => ops::concatenate(&[&buffer, &empty_like(&buffer, more)?], 2)?,
        _ => head(&buffer, room)?.contiguous()?,
    })
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

#[cfg(test)]
mod tests {
    use super::{KvCache, capacity};
    use crate::engine::raw::bytes_of;
    use mlx_rs::Array;

    /// Rows `[1, 1, T, 2]` that hold their positions.
    fn rows(from: u16, count: u16) -> Array {
        let values: Vec<f32> = (from..from + count).flat_map(|position| [f32::from(position); 2]).collect();
        Array::from_slice(&values, &[1, 1, i32::from(count), 2])
    }

    #[test]
    fn the_room_follows_from_the_length_whatever_was_taken_back() {
        let mut cache = KvCache::default();
        // (rows added, length kept): over the first boundary, back, and over two at once.
        for (add, keep) in
            [(253, 253), (8, 254), (1, 255), (4, 257), (1, 258), (300, 400), (90, 450), (70, 520)]
        {
            let from = cache.length().try_into().unwrap();
            let (keys, values) = cache.append(&rows(from, add), &rows(from, add)).unwrap();
            let all = rows(0, from + add);
            assert_eq!(bytes_of(&keys).unwrap(), bytes_of(&all).unwrap());
            assert_eq!(bytes_of(&values).unwrap(), bytes_of(&all).unwrap());
            let room = capacity(cache.length());
            assert!(cache.arrays().all(|buffer| buffer.dim(2) == room), "{add} rows from {from}");
            cache.truncate(keep);
        }
        assert_eq!((capacity(256), capacity(257)), (256, 512));
    }
}
