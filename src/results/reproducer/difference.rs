//! What differs between a row of the chain and the same row of the block.

use crate::algebra::bits::{BitsError, Dtype, compare};
use crate::results::{agreed, part_of};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Two rows of one dtype held against each other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// Bytes of a row.
    pub bytes: u64,
    /// Bytes that differ.
    pub differing_bytes: u64,
    /// Dtype of the values.
    pub dtype: String,
    /// Values of a row, where they are floats.
    pub values: Option<u64>,
    /// Values whose bytes differ, signed zeros and NaN among them.
    pub differing_values: Option<u64>,
    /// Most representable steps between two values.
    pub max_ulps: Option<u64>,
    /// Largest distance between two finite values.
    pub max_abs: Option<f64>,
}

impl Difference {
    /// Compares two rows; values are only told apart where `dtype` names floats.
    ///
    /// # Errors
    /// When the rows have different lengths or are no whole number of values.
    pub fn between(dtype: &str, chain: &[u8], block: &[u8]) -> Result<Self, BitsError> {
        // Integers have no steps of their own here; the bytes are counted all the same.
        let floats = Dtype::parse(dtype);
        if chain.len() != block.len() {
            return Err(BitsError::Lengths { left: chain.len(), right: block.len() });
        }
        let bits = floats.map(|dtype| compare(dtype, chain, block)).transpose()?;
        let differing = chain.iter().zip(block).filter(|(a, b)| a != b).count();
        Ok(Self {
            bytes: chain.len() as u64,
            differing_bytes: differing as u64,
            dtype: dtype.to_owned(),
            values: bits.as_ref().map(|bits| bits.values),
            differing_values: bits.as_ref().map(|bits| bits.differing_values + bits.signed_zeros + bits.nans),
            max_ulps: bits.as_ref().map(|bits| bits.max_ulps),
            max_abs: bits.as_ref().map(|bits| bits.max_abs),
        })
    }

    /// True when no byte differs.
    #[must_use]
    pub const fn identical(&self) -> bool {
        self.differing_bytes == 0
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = agreed(self.differing_bytes, "differs", "differ");
        write!(formatter, "{} {verb}", part_of(self.differing_bytes, self.bytes, "byte"))?;
        let counted = (self.values, self.differing_values, self.max_ulps, self.max_abs);
        let (Some(values), Some(differing), Some(ulps), Some(distance)) = counted else { return Ok(()) };
        if differing == 0 {
            return Ok(());
        }
        write!(formatter, ", in {}", part_of(differing, values, &format!("{} value", self.dtype)))?;
        write!(formatter, "; most {ulps} ulp, {distance:.3e}")
    }
}

#[cfg(test)]
mod tests {
    use super::Difference;

    #[test]
    fn floats_have_steps_and_integers_bytes() {
        let row = |values: [f32; 2]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
        let (left, right) = (row([1.0, 2.0]), row([1.0, 2.0f32.next_up()]));
        let found = Difference::between("f32", &left, &right).unwrap();
        assert_eq!(found.to_string(), "1 of 8 bytes differs, in 1 of 2 f32 values; most 1 ulp, 2.384e-7");
        let found = Difference::between("u32", &left, &right).unwrap();
        assert_eq!((found.max_ulps, found.to_string().as_str()), (None, "1 of 8 bytes differs"));
        assert!(Difference::between("u32", &left, &left).unwrap().identical());
        assert!(Difference::between("u32", &left, &right[..4]).is_err());
    }
}
