//! What differs between two rows of logits, told from their raw bytes.
//!
//! "Not equal" is too coarse a word for the offline judge: a signed zero, a NaN and a value three ulps off have
//! different causes, and a float comparison hides the first two. So rows are compared as the little-endian bytes
//! that left the device, and every kind of difference is counted apart.

use serde::{Deserialize, Serialize};

/// Dtypes that a row of logits may leave the device in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Dtype {
    /// IEEE single precision.
    F32,
    /// IEEE half precision.
    F16,
    /// The upper half of a single.
    Bf16,
}

/// Two rows cannot be compared value by value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BitsError {
    /// Their lengths differ.
    #[error("compare rows of {left} and {right} bytes: one row of logits has one length")]
    Lengths {
        /// Bytes of the left row.
        left: usize,
        /// Bytes of the right row.
        right: usize,
    },
    /// The length is no multiple of a value's size.
    #[error("split {bytes} bytes into values of {size} bytes: the row was cut or has another dtype")]
    Ragged {
        /// Bytes of the row.
        bytes: usize,
        /// Bytes of a value.
        size: usize,
    },
}

/// What differs between two rows.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RowBits {
    /// Bytes compared.
    pub bytes: u64,
    /// Bytes that differ.
    pub differing_bytes: u64,
    /// Values compared.
    pub values: u64,
    /// Values that differ as numbers; signed zeros and NaN are not among them.
    pub differing_values: u64,
    /// Pairs of a positive and a negative zero.
    pub signed_zeros: u64,
    /// Pairs with other bytes of which at least one is NaN.
    pub nans: u64,
    /// The first value whose bytes differ.
    pub first: Option<u64>,
    /// Largest distance between two finite values, in representable steps of the dtype.
    pub max_ulps: u64,
    /// Largest distance between two finite values.
    pub max_abs: f64,
}

impl Dtype {
    /// Reads the names that engines use.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        match name.to_ascii_lowercase().as_str() {
            "f32" | "float32" | "float" => Some(Self::F32),
            "f16" | "float16" | "half" => Some(Self::F16),
            "bf16" | "bfloat16" => Some(Self::Bf16),
            _ => None,
        }
    }

    /// Bytes of one value.
    #[must_use]
    pub const fn size(self) -> usize {
        match self {
            Self::F32 => 4,
            Self::F16 | Self::Bf16 => 2,
        }
    }

    /// Bits of the fraction.
    const fn fraction_bits(self) -> i32 {
        match self {
            Self::F32 => 23,
            Self::F16 => 10,
            Self::Bf16 => 7,
        }
    }

    /// The smallest exponent of a normal number.
    const fn min_exponent(self) -> i32 {
        match self {
            Self::F32 | Self::Bf16 => -126,
            Self::F16 => -14,
        }
    }

    const fn sign(self) -> u32 {
        1 << (self.size() * 8 - 1)
    }

    fn bits_at(self, row: &[u8], value: usize) -> Option<u32> {
        let start = value.checked_mul(self.size())?;
        row.get(start..start + self.size()).map(little_endian)
    }

    /// The number that `bits` stand for.
    #[must_use]
    pub fn number(self, bits: u32) -> f64 {
        match self {
            Self::F32 => f64::from(f32::from_bits(bits)),
            Self::Bf16 => f64::from(f32::from_bits(bits << 16)),
            Self::F16 => half_number(bits),
        }
    }

    /// The logit of one vocabulary id in a row of raw bytes.
    #[must_use]
    pub fn logit(self, row: &[u8], id: i64) -> Option<f64> {
        self.bits_at(row, usize::try_from(id).ok()?).map(|bits| self.number(bits))
    }

    /// The distance to the next representable number, away from zero, at the magnitude of `number`.
    #[must_use]
    pub fn ulp(self, number: f64) -> f64 {
        let exponent = exponent_of(number).max(self.min_exponent());
        2f64.powi(exponent - self.fraction_bits())
    }

    /// Representable steps between two finite numbers; a positive and a negative zero are 0 steps apart.
    #[must_use]
    pub fn ulps_between(self, left: u32, right: u32) -> Option<u64> {
        let finite = |bits| self.number(bits).is_finite();
        (finite(left) && finite(right)).then(|| self.rank(left).abs_diff(self.rank(right)))
    }

    /// Where a number stands in the order of all numbers of the dtype, zero at 0.
    fn rank(self, bits: u32) -> i64 {
        let magnitude = i64::from(bits & (self.sign() - 1));
        if bits & self.sign() == 0 { magnitude } else { -magnitude }
    }
}

fn little_endian(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |bits, byte| bits << 8 | u32::from(*byte))
}

/// The exponent of a number's leading bit; zero and what is not finite count as the smallest.
fn exponent_of(number: f64) -> i32 {
    let field = (number.to_bits() >> 52 & 0x7ff) as i32;
    if field == 0x7ff { i32::MIN / 2 } else { field - 1023 }
}

fn half_number(bits: u32) -> f64 {
    let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
    let fraction = f64::from(bits & 0x3ff);
    match bits >> 10 & 0x1f {
        0 => sign * fraction * 2f64.powi(-24),
        0x1f if fraction.to_bits() == 0 => sign * f64::INFINITY,
        0x1f => f64::NAN,
        exponent => sign * (1.0 + fraction / 1024.0) * 2f64.powi(exponent.cast_signed() - 15),
    }
}

/// Counts every kind of difference between two rows.
///
/// # Errors
/// When the rows have different lengths or are no whole number of values.
pub fn compare(dtype: Dtype, left: &[u8], right: &[u8]) -> Result<RowBits, BitsError> {
    if left.len() != right.len() {
        return Err(BitsError::Lengths { left: left.len(), right: right.len() });
    }
    let size = dtype.size();
    if !left.len().is_multiple_of(size) {
        return Err(BitsError::Ragged { bytes: left.len(), size });
    }
    let values = left.len() / size;
    let mut found = RowBits { bytes: left.len() as u64, values: values as u64, ..RowBits::default() };
    let pairs = left.chunks_exact(size).zip(right.chunks_exact(size));
    for (index, (a, b)) in (0u64..).zip(pairs) {
        if a != b {
            found.note(dtype, index, (little_endian(a), little_endian(b)));
        }
    }
    Ok(found)
}

impl RowBits {
    fn note(&mut self, dtype: Dtype, index: u64, (left, right): (u32, u32)) {
        self.first = self.first.or(Some(index));
        let apart = left ^ right;
        self.differing_bytes += (0..4).filter(|byte| apart >> (8 * byte) & 0xff != 0).count() as u64;
        let (a, b) = (dtype.number(left), dtype.number(right));
        if a.is_nan() || b.is_nan() {
            self.nans += 1;
            return;
        }
        // Other bits and 0 steps apart: only the sign of a zero differs.
        match dtype.ulps_between(left, right) {
            Some(0) => self.signed_zeros += 1,
            Some(ulps) => {
                self.differing_values += 1;
                self.max_ulps = self.max_ulps.max(ulps);
                self.max_abs = self.max_abs.max((a - b).abs());
            }
            None => self.differing_values += 1,
        }
    }

    /// True when every byte is the same.
    #[must_use]
    pub const fn identical(&self) -> bool {
        self.differing_bytes == 0
    }
}

/// The id of the largest logit, the lowest id of several; NaN is never the largest.
#[must_use]
pub fn argmax(dtype: Dtype, row: &[u8]) -> Option<i64> {
    best(dtype, row).first().copied()
}

/// All ids that hold the largest logit, in vocabulary order.
#[must_use]
pub fn best(dtype: Dtype, row: &[u8]) -> Vec<i64> {
    let mut ids = Vec::new();
    let mut top = f64::NEG_INFINITY;
    for (id, bytes) in (0i64..).zip(row.chunks_exact(dtype.size())) {
        let number = dtype.number(little_endian(bytes));
        if number.is_nan() || number < top {
            continue;
        }
        if number > top {
            ids.clear();
            top = number;
        }
        ids.push(id);
    }
    ids
}

#[cfg(test)]
mod tests {
    use super::{BitsError, Dtype, argmax, best, compare};
    use proptest::prelude::*;

    fn row(values: &[f32]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    #[test]
    fn zeros_nans_and_numbers_are_counted_apart() {
        let left = row(&[0.0, 1.0, f32::NAN, 2.0, f32::INFINITY]);
        let right = row(&[-0.0, 1.0, 3.0, 2.000_000_2, 7.0]);
        let found = compare(Dtype::F32, &left, &right).unwrap();
        assert_eq!((found.signed_zeros, found.nans, found.differing_values), (1, 1, 2));
        assert_eq!((found.values, found.first, found.max_ulps), (5, Some(0), 1));
        assert!(!found.identical());
    }

    #[test]
    fn a_row_of_another_length_is_refused_not_zipped() {
        assert_eq!(compare(Dtype::Bf16, &[0; 4], &[0; 2]), Err(BitsError::Lengths { left: 4, right: 2 }));
        assert_eq!(compare(Dtype::F32, &[0; 6], &[0; 6]), Err(BitsError::Ragged { bytes: 6, size: 4 }));
    }

    #[test]
    fn bf16_steps_by_an_eighth_between_16_and_32() {
        assert!((Dtype::Bf16.ulp(17.125) - 0.125).abs() < 1e-12);
        assert!((Dtype::Bf16.ulp(-9.0) - 0.0625).abs() < 1e-12);
        assert!((Dtype::F32.ulp(1.0) - 2f64.powi(-23)).abs() < 1e-15);
        assert!((Dtype::F16.ulp(0.0) - 2f64.powi(-24)).abs() < 1e-12);
    }

    #[test]
    fn of_equal_logits_the_lowest_id_is_the_argmax() {
        let logits = row(&[1.0, f32::NAN, 4.0, 4.0, -2.0]);
        assert_eq!(argmax(Dtype::F32, &logits), Some(2));
        assert_eq!(best(Dtype::F32, &logits), [2, 3]);
        assert_eq!(argmax(Dtype::F32, &row(&[f32::NAN])), None);
    }

    proptest! {
        #[test]
        fn a_row_equals_itself_whatever_its_bytes(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let whole = bytes.len() / 4 * 4;
            for dtype in [Dtype::F32, Dtype::F16, Dtype::Bf16] {
                prop_assert!(compare(dtype, &bytes[..whole], &bytes[..whole]).unwrap().identical());
            }
        }

        #[test]
        fn a_planted_byte_is_found_at_its_value(
            bytes in prop::collection::vec(any::<u8>(), 8..256), place in any::<prop::sample::Index>(), flip in 1u8..,
        ) {
            let bytes = &bytes[..bytes.len() / 4 * 4];
            let place = place.index(bytes.len());
            let mut other = bytes.to_vec();
            other[place] ^= flip;
            for dtype in [Dtype::F32, Dtype::F16, Dtype::Bf16] {
                let found = compare(dtype, bytes, &other).unwrap();
                prop_assert_eq!(found.differing_bytes, 1);
                prop_assert_eq!(found.first, Some((place / dtype.size()) as u64));
                prop_assert_eq!(found.differing_values + found.signed_zeros + found.nans, 1);
            }
        }

        #[test]
        fn steps_agree_with_the_next_number_up(value in -1e30f32..1e30) {
            let up = value.next_up();
            let steps = Dtype::F32.ulps_between(value.to_bits(), up.to_bits());
            prop_assert_eq!(steps, Some(u64::from(value.to_bits() != up.to_bits())));
        }

        #[test]
        fn distance_is_symmetric_and_adds_up_along_a_line(a in any::<u16>(), b in any::<u16>(), c in any::<u16>()) {
            for dtype in [Dtype::F16, Dtype::Bf16] {
                let steps = |x: u16, y: u16| dtype.ulps_between(u32::from(x), u32::from(y));
                prop_assert_eq!(steps(a, b), steps(b, a));
                if let (Some(ab), Some(bc), Some(ac)) = (steps(a, b), steps(b, c), steps(a, c)) {
                    prop_assert!(ac <= ab + bc);
                }
            }
        }

        #[test]
        fn halves_read_as_the_wider_type_reads_them(bits in any::<u16>()) {
            let number = Dtype::F16.number(u32::from(bits));
            let ulp = Dtype::F16.ulp(number);
            if number.is_finite() && bits & 0x7fff != 0x7bff {
                let next = Dtype::F16.number(u32::from(bits + 1));
                prop_assert!((next.abs() - number.abs() - ulp).abs() < ulp * 1e-9);
            }
        }
    }
}
