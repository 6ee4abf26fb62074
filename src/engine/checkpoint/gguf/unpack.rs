//! Quantized blocks into MLX's affine parts: codes in words, and a scale and a bias for each 32.
//!
//! A block is 32 numbers of a row: a scale, for one type a bias, and the codes. Codes of 4 bits lie in halves, the
//! first 16 numbers in the low ends of the bytes; MLX has neighbours in one byte. Where the format counts codes from
//! a middle, the bias is the middle times the scale; a power of two, so no bit is lost.

use super::kinds::{BLOCK, Kind};
use half::f16;

/// A matrix in parts; scales and biases are f16.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Parts {
    pub(super) codes: Vec<u8>,
    pub(super) scales: Vec<u8>,
    pub(super) biases: Vec<u8>,
}

impl Parts {
    /// Appends rows, as many whole blocks as `bytes` holds.
    pub(super) fn extend(&mut self, kind: Kind, bytes: &[u8]) {
        for block in bytes.chunks_exact(kind.block().1) {
            self.block(kind, block);
        }
    }

    fn block(&mut self, kind: Kind, block: &[u8]) {
        let scale = f16::from_le_bytes([block[0], block[1]]);
        self.scales.extend(&block[..2]);
        match kind {
            Kind::Plain(_) => {} // has no blocks
            Kind::Q4Zero => {
                self.bias(scale, -8.0);
                self.halves(&block[2..]);
            }
            Kind::Q4One => {
                self.biases.extend(&block[2..4]);
                self.halves(&block[4..]);
            }
            Kind::Q8Zero => {
                self.bias(scale, -128.0);
                // A signed byte from -128 on is an unsigned one from 0 on with the highest bit turned.
                self.codes.extend(block[2..].iter().map(|code| code ^ 0x80));
            }
        }
    }

    fn bias(&mut self, scale: f16, middle: f32) {
        self.biases.extend(f16::from_f32(scale.to_f32() * middle).to_le_bytes());
    }

    /// 16 bytes with numbers 0 to 15 in their low ends and 16 to 31 in their high ends.
    fn halves(&mut self, bytes: &[u8]) {
        let code = |number: usize| match number.checked_sub(BLOCK / 2) {
            None => bytes[number] & 0xF,
            Some(number) => bytes[number] >> 4,
        };
        self.codes.extend((0..BLOCK / 2).map(|pair| code(2 * pair) | code(2 * pair + 1) << 4));
    }
}

#[cfg(test)]
mod tests {
    use super::{Kind, Parts};
    use half::f16;

    fn number(bytes: &[u8]) -> f32 {
        f16::from_le_bytes([bytes[0], bytes[1]]).to_f32()
    }

    /// The numbers that the parts of one block stand for, by MLX's rule.
    fn read(parts: &Parts, width: usize) -> Vec<f32> {
        let (scale, bias) = (number(&parts.scales), number(&parts.biases));
        let (per_byte, highest) = (8 / width, u8::MAX >> (8 - width));
        let code = |index: usize| parts.codes[index / per_byte] >> (index % per_byte * width) & highest;
        (0..32).map(|index| scale * f32::from(code(index)) + bias).collect()
    }

    /// Every number of a block is what the format's own rule makes of it.
    #[test]
    fn blocks_keep_their_numbers() {
        let codes: Vec<u8> = (0..32_u8).map(|index| index.wrapping_mul(83) ^ 0x5A).collect();
        let scale = f16::from_f32(0.125).to_le_bytes();
        let bias = f16::from_f32(-0.75).to_le_bytes();
        let mut four = Parts::default();
        four.extend(Kind::Q4One, &[&scale[..], &bias, &codes[..16]].concat());
        let mut middle = Parts::default();
        middle.extend(Kind::Q4Zero, &[&scale[..], &codes[..16]].concat());
        let mut eight = Parts::default();
        eight.extend(Kind::Q8Zero, &[&scale[..], &codes].concat());
        let (four, middle, eight) = (read(&four, 4), read(&middle, 4), read(&eight, 8));
        for index in 0..32 {
            let byte = codes[index % 16];
            let nibble = f32::from(if index < 16 { byte & 15 } else { byte >> 4 });
            let signed = f32::from(codes[index].cast_signed());
            let expected = [0.125 * nibble - 0.75, 0.125 * (nibble - 8.0), 0.125 * signed];
            for (found, expected) in [four[index], middle[index], eight[index]].into_iter().zip(expected) {
                assert_eq!(found.to_bits(), expected.to_bits(), "number {index}");
            }
        }
    }
}
