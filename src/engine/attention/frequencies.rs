//! Wave lengths of a stretched rope, in MLX's convention: the reciprocals of the angles a position turns by.
//!
//! They are computed once, by MLX's own arithmetic in f32, because a rotation at a far position multiplies every
//! rounding by that position.

use crate::engine::blocks::dim;
use crate::engine::checkpoint::{Attention, Llama3};
use crate::engine::error::Result;
use crate::engine::raw::bytes_of;
use mlx_rs::{Array, ops};
use std::f32::consts::PI;

/// f32 `[rotary_dims / 2]`, or `None` where the plain base says it all.
pub(super) fn stretched(sizes: &Attention) -> Result<Option<Array>> {
    let Some(scaling) = &sizes.rope_scaling else { return Ok(None) };
    let dims = dim(sizes.rotary_dims);
    let steps = ops::arange::<i32, f32>(0, dims, 2)?; // [dims / 2]
    let exponents = steps.divide(Array::from_int(dims).as_type::<f32>()?)?;
    let plain = bytes_of(&Array::from_f32(sizes.rope_theta).power(&exponents)?)?;
    let plain = plain.chunks_exact(4).map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]]));
    let stretched: Vec<f32> = plain.map(|frequency| llama3(scaling, frequency)).collect();
    Ok(Some(Array::from_slice(&stretched, &[dims / 2])))
}

fn llama3(scaling: &Llama3, frequency: f32) -> f32 {
    let Llama3 { factor, low, high, positions } = *scaling;
    let length = 2.0 * PI * frequency;
    if length > positions / low {
        return frequency * factor;
    }
    if length <= positions / high {
        return frequency;
    }
    let blend = (positions / length - low) / (high - low);
    frequency / ((1.0 - blend) / factor + blend)
}

#[cfg(test)]
mod tests {
    use super::llama3;
    use crate::engine::checkpoint::Llama3;

    #[test]
    fn slow_waves_are_stretched_fast_ones_kept_and_the_two_ends_meet() {
        let scaling = Llama3 { factor: 8.0, low: 1.0, high: 4.0, positions: 8192.0 };
        let of_length = |length: f32| llama3(&scaling, length / (2.0 * std::f32::consts::PI));
        let factor = |length: f32| of_length(length) * 2.0 * std::f32::consts::PI / length;
        for (length, expected) in [(100.0, 1.0), (2048.0, 1.0), (2049.0, 1.0), (8191.0, 8.0), (9000.0, 8.0)] {
            assert!((factor(length) - expected).abs() < 0.02, "{length}: {}", factor(length));
        }
        assert!((factor(4096.0) - 1.0 / (2.0 / 3.0 / 8.0 + 1.0 / 3.0)).abs() < 1e-4);
    }
}
