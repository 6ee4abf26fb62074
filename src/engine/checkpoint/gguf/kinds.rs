//! Tensor types: which of them are read, and how many bytes they take.

use crate::engine::checkpoint::tensor::Dtype;

/// Numbers of a block of a quantized type.
pub(super) const BLOCK: usize = 32;

/// A tensor type that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Plain numbers.
    Plain(Dtype),
    /// 4-bit codes from -8 and a scale for each 32.
    Q4Zero,
    /// 4-bit codes, a scale and a bias for each 32.
    Q4One,
    /// Signed 8-bit codes and a scale for each 32.
    Q8Zero,
}

/// The types by their number; the names of those that are not read make a message readable.
const NAMES: [(u32, &str, Option<Kind>); 24] = [
    (0, "F32", Some(Kind::Plain(Dtype::F32))),
    (1, "F16", Some(Kind::Plain(Dtype::F16))),
    (2, "Q4_0", Some(Kind::Q4Zero)),
    (3, "Q4_1", Some(Kind::Q4One)),
    (6, "Q5_0", None),
    (7, "Q5_1", None),
    (8, "Q8_0", Some(Kind::Q8Zero)),
    (9, "Q8_1", None),
    (10, "Q2_K", None),
    (11, "Q3_K", None),
    (12, "Q4_K", None),
    (13, "Q5_K", None),
    (14, "Q6_K", None),
    (15, "Q8_K", None),
    (16, "IQ2_XXS", None),
    (18, "IQ3_XXS", None),
    (20, "IQ4_NL", None),
    (23, "IQ4_XS", None),
    (24, "I8", None),
    (25, "I16", None),
    (26, "I32", None),
    (28, "F64", None),
    (30, "BF16", Some(Kind::Plain(Dtype::BF16))),
    (39, "MXFP4", None),
];

impl Kind {
    /// The type of a number, or what a message says about it.
    pub(super) fn of(number: u32) -> Result<Self, String> {
        let named = NAMES.iter().find(|(known, _, _)| *known == number);
        if let Some((_, _, Some(kind))) = named {
            return Ok(*kind);
        }
        let name = named.map_or_else(|| format!("number {number}"), |(_, name, _)| (*name).to_owned());
        let read = NAMES.iter().filter(|(_, _, kind)| kind.is_some());
        let read: Vec<&str> = read.map(|(_, name, _)| *name).collect();
        Err(format!("its type is {name}; the types that are read are {}", read.join(", ")))
    }

    /// Bits of a code, `None` for plain numbers.
    pub(super) fn bits(self) -> Option<usize> {
        match self {
            Self::Plain(_) => None,
            Self::Q4Zero | Self::Q4One => Some(4),
            Self::Q8Zero => Some(8),
        }
    }

    /// Numbers that are stored together, and the bytes that they take together.
    pub(super) fn block(self) -> (usize, usize) {
        match self {
            Self::Plain(dtype) => (1, dtype.bitsize() / 8),
            Self::Q4Zero => (BLOCK, 18),
            Self::Q4One => (BLOCK, 20),
            Self::Q8Zero => (BLOCK, 34),
        }
    }
}
