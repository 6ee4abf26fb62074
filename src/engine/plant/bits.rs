//! Moves a number by an exact count of representable steps, or by an amount, in the bits of its own dtype.

use half::{bf16, f16};
use mlx_rs::Dtype;

/// The layout of a float dtype.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Float {
    F32,
    F16,
    Bf16,
}

impl Float {
    /// `None` for what is not a float: ids, codes.
    pub(super) fn of(dtype: Dtype) -> Option<Self> {
        match dtype {
            Dtype::Float32 => Some(Self::F32),
            Dtype::Float16 => Some(Self::F16),
            Dtype::Bfloat16 => Some(Self::Bf16),
            _ => None,
        }
    }

    /// Bytes of a number.
    pub(super) const fn size(self) -> usize {
        match self {
            Self::F32 => 4,
            Self::F16 | Self::Bf16 => 2,
        }
    }

    /// Everything but the sign.
    const fn magnitude(self) -> u32 {
        match self {
            Self::F32 => 0x7fff_ffff,
            Self::F16 | Self::Bf16 => 0x7fff,
        }
    }

    /// The bits of infinity: magnitudes below are finite.
    const fn infinity(self) -> u32 {
        match self {
            Self::F32 => 0x7f80_0000,
            Self::F16 => 0x7c00,
            Self::Bf16 => 0x7f80,
        }
    }

    /// `steps` representable numbers further from zero; towards zero where there are not so many finite ones left.
    /// What is not finite stays.
    pub(super) fn moved(self, bits: u32, steps: u32) -> u32 {
        let size = bits & self.magnitude();
        if size >= self.infinity() {
            return bits;
        }
        let sign = bits & !self.magnitude();
        let further = if size + steps < self.infinity() { size + steps } else { size - steps };
        sign | further
    }

    /// The number plus `amount`, and the next number where the sum is rounded to where it began: a plant that
    /// changes nothing proves nothing.
    pub(super) fn raised(self, bits: u32, amount: f32) -> u32 {
        let sum = match self {
            Self::F32 => (f32::from_bits(bits) + amount).to_bits(),
            Self::F16 => u32::from(f16::from_f32(f16::from_bits(low(bits)).to_f32() + amount).to_bits()),
            Self::Bf16 => u32::from(bf16::from_f32(bf16::from_bits(low(bits)).to_f32() + amount).to_bits()),
        };
        if sum == bits { self.moved(bits, 1) } else { sum }
    }

    /// Applies `change` to one number of little-endian bytes.
    pub(super) fn change(self, number: &mut [u8], change: impl Fn(u32) -> u32) {
        let bits = number.iter().rev().fold(0, |bits, byte| bits << 8 | u32::from(*byte));
        let changed = change(bits).to_le_bytes();
        number.copy_from_slice(&changed[..self.size()]);
    }
}

fn low(bits: u32) -> u16 {
    (bits & 0xffff) as u16
}

#[cfg(test)]
mod tests {
    use super::Float;
    use half::{bf16, f16};
    use proptest::prelude::*;

    #[test]
    fn the_largest_finite_number_moves_down() {
        assert_eq!(Float::F16.moved(0x7bff, 2), 0x7bfd);
        assert_eq!(Float::Bf16.moved(0xff7f, 1), 0xff7e);
        assert_eq!(Float::F32.moved(0, 3), 3);
        assert_eq!(Float::F32.moved(0x7f80_0000, 3), 0x7f80_0000);
    }

    #[test]
    fn an_amount_that_rounds_away_is_one_step() {
        assert_eq!(Float::F32.raised(1e9f32.to_bits(), 1e-9), 1e9f32.next_up().to_bits());
        assert_eq!(Float::F32.raised(1f32.to_bits(), 0.5), 1.5f32.to_bits());
    }

    /// Every finite number of a 16-bit dtype in order; how far two stand apart is their distance in ulps.
    fn places(value: impl Fn(u16) -> f32) -> Vec<Option<usize>> {
        let mut finite: Vec<u16> = (0..=u16::MAX).filter(|bits| value(*bits).is_finite()).collect();
        finite.sort_by(|a, b| value(*a).total_cmp(&value(*b)));
        let mut places = vec![None; 1 << 16];
        // Negative zero comes right before zero and is no step away from it.
        let negatives = finite.len() / 2;
        for (place, bits) in finite.into_iter().enumerate() {
            places[usize::from(bits)] = Some(if place < negatives { place + 1 } else { place });
        }
        places
    }

    #[test]
    fn halves_move_by_exactly_so_many_of_their_numbers() {
        let f16s = places(|bits| f16::from_bits(bits).to_f32());
        let bf16s = places(|bits| bf16::from_bits(bits).to_f32());
        let mut tried = 0;
        for (float, places) in [(Float::F16, f16s), (Float::Bf16, bf16s)] {
            for (bits, steps) in (0..1 << 16).flat_map(|bits| [1, 7, 1024].map(|steps| (bits, steps))) {
                let moved = float.moved(bits, steps);
                match (places[bits as usize], places[moved as usize]) {
                    (Some(from), Some(to)) => assert_eq!(from.abs_diff(to), steps as usize, "{bits:x}"),
                    _ => assert_eq!(moved, bits),
                }
                tried += 1;
            }
        }
        assert_eq!(tried, 6 << 16);
    }

    proptest! {
        #[test]
        fn singles_move_by_exactly_so_many_numbers(value in prop::num::f32::ANY, steps in 0u32..50) {
            let moved = f32::from_bits(Float::F32.moved(value.to_bits(), steps));
            let away = |number: f32| if number.is_sign_negative() { number.next_down() } else { number.next_up() };
            let expected = (0..steps).fold(value, |number, _| away(number));
            if expected.is_finite() {
                prop_assert_eq!(moved.to_bits(), expected.to_bits());
            } else if !value.is_finite() {
                prop_assert_eq!(moved.to_bits(), value.to_bits());
            }
        }
    }
}
