//! Codes and scales of the modes without biases, made by MLX's own quantization of bell-shaped numbers.
//!
//! Codes of an 8-bit float drawn evenly would be not-a-number now and then and mostly far from a weight, so these
//! modes start from numbers. Codes and scales are two tensors of a file, written one after the other; each draws
//! the same numbers again.

use super::plan::Stored;
use super::values::Values;
use crate::engine::checkpoint::Quantization;
use crate::engine::error::Result;
use crate::engine::raw;
use mlx_rs::{Array, Dtype};

/// Which of the two tensors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Codes,
    Scales,
}

/// What is written for blocks that were drawn; a block holds whole groups.
pub(super) fn written(stored: &Stored, drawn: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>> {
    match stored.values {
        Values::Packed { how, part, .. } => drawn.into_iter().map(|bytes| packed(bytes, how, part)).collect(),
        _ => Ok(drawn),
    }
}

fn packed(numbers: Vec<u8>, how: Quantization, part: Part) -> Result<Vec<u8>> {
    let group = i32::from(how.group);
    let groups = i32::try_from(numbers.len() / 4).unwrap_or(i32::MAX) / group;
    let numbers: Array = raw::from_bytes(numbers, &[groups, group], Dtype::Float32)?; // [groups, group]
    let parts = raw::quantize(&numbers, how)?;
    raw::bytes_of(&parts[usize::from(part == Part::Scales)])
}

#[cfg(test)]
mod tests {
    use super::{Part, written};
    use crate::engine::checkpoint::Dtype as FileDtype;
    use crate::engine::raw::{self, Quantized};
    use crate::engine::synth::Storage;
    use crate::engine::synth::plan::Stored;
    use crate::engine::synth::values::{Values, block};
    use mlx_rs::Dtype;

    /// One part of a matrix `[8, 64]` as it is written.
    fn part(storage: Storage, part: Part) -> Vec<u8> {
        let how = storage.quantization(64).unwrap();
        let per_element = match part {
            Part::Codes => 32 / usize::from(how.bits),
            Part::Scales => usize::from(how.group),
        };
        let stored = Stored {
            name: "m".to_owned(),
            dtype: if part == Part::Codes { FileDtype::U32 } else { FileDtype::U8 },
            shape: vec![8, 64 / per_element],
            values: Values::Packed { deviation: 0.3, how, part, per_element },
            stream: "m".to_owned(),
        };
        let bytes = written(&stored, vec![block(&stored, 5, 0)]).unwrap().concat();
        assert_eq!(bytes.len(), stored.count() * stored.width());
        bytes
    }

    #[test]
    fn codes_and_scales_belong_together() {
        // A 4-bit float is off by a quarter of itself at most, an 8-bit one by a sixteenth; each has a smallest step.
        for (storage, relative) in [(Storage::Mxfp4, 0.26), (Storage::Nvfp4, 0.26), (Storage::Mxfp8, 0.07)] {
            let how = storage.quantization(64).unwrap();
            let codes =
                raw::from_bytes(part(storage, Part::Codes), &[8, 2 * i32::from(how.bits)], Dtype::Uint32);
            let scales =
                raw::from_bytes(part(storage, Part::Scales), &[8, 64 / i32::from(how.group)], Dtype::Uint8);
            let matrix = Quantized {
                codes: codes.unwrap(),
                scales: scales.unwrap(),
                biases: None,
                group: i32::from(how.group),
                bits: i32::from(how.bits),
                mode: raw::mode_name(how.mode),
                dtype: Dtype::Float32,
            };
            let read = raw::bytes_of(&matrix.dequantize().unwrap()).unwrap();
            let values = Values::Bell { mean: 0.0, deviation: 0.3 };
            let (shape, stream) = (vec![8, 64], "m".to_owned());
            let plain = Stored { name: "m".to_owned(), dtype: FileDtype::F32, shape, values, stream };
            let drawn = block(&plain, 5, 0);
            assert_eq!((read.len(), drawn.len()), (2048, 2048));
            let number = |four: &[u8]| f32::from_le_bytes(four.try_into().unwrap());
            for (found, asked) in read.chunks_exact(4).zip(drawn.chunks_exact(4)) {
                let (found, asked) = (number(found), number(asked));
                assert!((found - asked).abs() <= relative * asked.abs() + 0.06, "{found} for {asked}");
            }
        }
    }
}
