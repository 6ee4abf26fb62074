//! Synthetic inputs: ids that are the same wherever they are drawn.

use crate::transcript::TokenId;

/// `count` ids drawn evenly from the vocabulary.
pub(super) fn drawn_ids(seed: u64, count: usize, vocabulary: usize) -> Vec<TokenId> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x2545_F491_4F6C_DD1D;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        TokenId::try_from((state >> 33) % vocabulary as u64).unwrap_or(0)
    };
    (0..count).map(|_| next()).collect()
}
