//! From logits to tokens, and to what a transcript says about each row.
//!
//! The token is chosen on the device, as an engine does it. What the transcript says of the row is computed here
//! on the host from the row's raw bytes, so that the two can be held against each other.

use super::blocks::dim;
use super::error::{Error, Result};
use super::raw;
use crate::transcript::digest::sha256;
use crate::transcript::{Row, TokenId};
use half::{bf16, f16};
use mlx_rs::ops::indexing::argmax_axis;
use mlx_rs::ops::select;
use mlx_rs::{Array, Dtype};

/// How many of a row's best entries a transcript lists.
const TOP: usize = 4;

/// How much a transcript says about each row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowDetail {
    /// Nothing.
    None,
    /// Digest and best entries.
    Digest,
    /// Digest and best entries, and the bytes go to the side file.
    Bytes,
}

/// Chooses tokens greedily: the best logit, the lowest id on a tie.
#[derive(Debug)]
pub struct Chooser {
    /// Ids that are never chosen, as a mask `[vocabulary]`, true where banned.
    mask: Option<Array>,
    banned: Vec<TokenId>,
}

impl Chooser {
    /// A chooser over `vocabulary` ids that never gives one of `banned`.
    #[must_use]
    pub fn new(vocabulary: usize, banned: &[TokenId]) -> Self {
        let mask = (!banned.is_empty()).then(|| {
            let ids = 0..i64::from(dim(vocabulary));
            let flags: Vec<bool> = ids.map(|id| banned.contains(&id)).collect();
            Array::from_slice(&flags, &[dim(vocabulary)])
        });
        Self { mask, banned: banned.to_vec() }
    }

    /// Logits `[T, vocabulary]` with minus infinity for what is never chosen.
    ///
    /// # Errors
    /// When MLX refuses.
    pub fn allowed(&self, logits: &Array) -> Result<Array> {
        match &self.mask {
            Some(mask) => without(mask, logits),
            None => Ok(logits.clone()),
        }
    }

    /// One id a row of logits `[T, vocabulary]`, still on the device, `[T]`.
    ///
    /// # Errors
    /// When MLX refuses.
    pub fn choose(&self, logits: &Array) -> Result<Array> {
        best(&self.allowed(logits)?)
    }

    /// What a transcript says about each row of logits `[T, vocabulary]`, with the row's bytes.
    ///
    /// # Errors
    /// When MLX refuses.
    pub fn describe(&self, logits: &Array) -> Result<Vec<(Row, Vec<u8>)>> {
        let dtype = logits.dtype();
        let bytes = raw::bytes_of(logits)?;
        let length = bytes.len() / usize::try_from(logits.dim(0)).unwrap_or(1).max(1);
        let rows = bytes.chunks_exact(length.max(1)).map(|row| (self.row(row, dtype), row.to_vec()));
        Ok(rows.collect())
    }

    fn row(&self, bytes: &[u8], dtype: Dtype) -> Row {
        let best = top(bytes, dtype, &self.banned);
        Row {
            sha256: Some(sha256(bytes)),
            dtype: Some(dtype_name(dtype).to_owned()),
            top: Some(best),
            ..Row::default()
        }
    }
}

/// Logits `[T, vocabulary]` with minus infinity where the mask, of a shape that spreads to theirs, is true.
///
/// # Errors
/// When MLX refuses.
pub fn without(mask: &Array, logits: &Array) -> Result<Array> {
    Ok(select(mask, Array::from_f32(f32::NEG_INFINITY).as_dtype(logits.dtype())?, logits)?)
}

/// The best id of each row of `[T, vocabulary]`, the lowest on a tie, `[T]`.
///
/// # Errors
/// When MLX refuses.
pub fn best(logits: &Array) -> Result<Array> {
    Ok(argmax_axis(logits, -1, false)?)
}

/// The ids of `[T]` on the host; this is where a forward is waited for.
///
/// # Errors
/// When MLX refuses.
pub fn tokens(chosen: &Array) -> Result<Vec<TokenId>> {
    let ids =
        chosen.to_vec_exact::<u32>().map_err(|error| Error::Request(format!("read chosen ids: {error}")))?;
    Ok(ids.into_iter().map(TokenId::from).collect())
}

/// The dtype's name in transcripts.
#[must_use]
pub fn dtype_name(dtype: Dtype) -> &'static str {
    match dtype {
        Dtype::Float32 => "f32",
        Dtype::Float16 => "f16",
        Dtype::Bfloat16 => "bf16",
        _ => "other",
    }
}

/// The best entries of a row, best first, the lower id first among equals; NaN is never best.
fn top(bytes: &[u8], dtype: Dtype, banned: &[TokenId]) -> Vec<(TokenId, Option<f64>)> {
    let mut best: Vec<(TokenId, f32)> = Vec::with_capacity(TOP + 1);
    for (id, value) in (0..).zip(values(bytes, dtype)) {
        let beaten = best.len() == TOP && best.last().is_some_and(|last| last.1 >= value);
        if value.is_nan() || beaten || banned.contains(&id) {
            continue;
        }
        let place = best.partition_point(|entry| entry.1 >= value);
        best.insert(place, (id, value));
        best.truncate(TOP);
    }
    let finite = |value: f32| value.is_finite().then_some(f64::from(value));
    best.into_iter().map(|(id, value)| (id, finite(value))).collect()
}

fn values(bytes: &[u8], dtype: Dtype) -> Box<dyn Iterator<Item = f32> + '_> {
    let pairs = || bytes.chunks_exact(2).map(|pair| [pair[0], pair[1]]);
    match dtype {
        Dtype::Float16 => Box::new(pairs().map(|pair| f16::from_le_bytes(pair).to_f32())),
        Dtype::Bfloat16 => Box::new(pairs().map(|pair| bf16::from_le_bytes(pair).to_f32())),
        _ => Box::new(
            bytes.chunks_exact(4).map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]])),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::top;
    use mlx_rs::Dtype;

    fn bytes(values: &[f32]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    #[test]
    fn lowest_id_first_among_equals_and_nan_never() {
        let row = bytes(&[1.0, f32::NAN, 3.0, 3.0, -1.0, f32::INFINITY, 2.0]);
        let best = top(&row, Dtype::Float32, &[]);
        assert_eq!(best, vec![(5, None), (2, Some(3.0)), (3, Some(3.0)), (6, Some(2.0))]);
    }

    #[test]
    fn banned_ids_are_passed_over() {
        let best = top(&bytes(&[1.0, 2.0, 3.0]), Dtype::Float32, &[2]);
        assert_eq!(best, vec![(1, Some(2.0)), (0, Some(1.0))]);
    }
}
