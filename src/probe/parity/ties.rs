//! Greedy choice over rows whose best logits are tied: the lowest id wins, however many rows are asked about at once.

use super::settings::ARGMAX;
use crate::algebra::bits::{Dtype as Bits, RowBits, argmax};
use crate::engine::Result;
use crate::engine::raw::{bytes_of, rows_of};
use crate::engine::rows::{Chooser, dtype_name, tokens};
use crate::results::parity::{Agreement, Found, Line, Predicted};
use crate::transcript::TokenId;
use mlx_rs::{Array, Dtype};

/// Different logits in a row: so few that every row has its best one many times.
const LEVELS: u64 = 5;

/// Measures choice over `vocabulary` ids.
pub(super) fn measure(vocabulary: usize, dtype: Dtype, rows: &[u32], seeds: &[u64]) -> Result<Line> {
    let chooser = Chooser::new(vocabulary, &[]);
    let most = rows.iter().copied().max().unwrap_or(1);
    let mut found = Found::default();
    for seed in seeds {
        let logits = drawn(vocabulary, most, *seed, dtype)?;
        let lowest = lowest(&logits, dtype)?;
        for &count in rows {
            let part = rows_of(&logits, 0, 0, i32::try_from(count).unwrap_or(1))?;
            for (chosen, lowest) in tokens(&chooser.choose(&part)?)?.iter().zip(&lowest) {
                found.add(count, &told(chosen == lowest));
            }
        }
    }
    // The same rule on every backend: of equal logits the lowest id.
    let predicted = Predicted::Equal { kernel: "lowest id".to_owned(), source: "S".to_owned() };
    let agreement = Agreement::of(&found, &predicted);
    Ok(Line {
        op: ARGMAX.to_owned(),
        route: "whole".to_owned(),
        dtype: dtype_name(dtype).to_owned(),
        mode: None,
        shape: format!("{vocabulary}, tied"),
        position: None,
        found,
        predicted,
        agreement,
    })
}

/// Logits `[most, vocabulary]` of few levels.
fn drawn(vocabulary: usize, most: u32, seed: u64, dtype: Dtype) -> Result<Array> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut level = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        [0.0f32, 1.0, 2.0, 3.0, 4.0][usize::try_from(state % LEVELS).unwrap_or(0)]
    };
    let count = vocabulary * usize::try_from(most).unwrap_or(1);
    let values: Vec<f32> = (0..count).map(|_| level()).collect();
    let shape = [i32::try_from(most).unwrap_or(1), i32::try_from(vocabulary).unwrap_or(i32::MAX)];
    Ok(Array::from_slice(&values, &shape).as_dtype(dtype)?)
}

/// The lowest of each row's best ids, found on the host.
fn lowest(logits: &Array, dtype: Dtype) -> Result<Vec<TokenId>> {
    let kind = Bits::parse(dtype_name(dtype)).unwrap_or(Bits::F32);
    let bytes = bytes_of(logits)?;
    let length = bytes.len() / usize::try_from(logits.dim(0)).unwrap_or(1).max(1);
    Ok(bytes.chunks_exact(length.max(1)).map(|row| argmax(kind, row).unwrap_or(-1)).collect())
}

/// One chosen id, as a row of one value.
fn told(same: bool) -> RowBits {
    let other = u64::from(!same);
    RowBits { bytes: 4, values: 1, differing_bytes: other, differing_values: other, ..RowBits::default() }
}
