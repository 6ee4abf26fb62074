//! Metal: limits by generation and size class for quantized products, by generation and rows for dense ones.

use super::question::{Kind, Matrix, Prediction, Question};
use mlx_rs::Dtype;

/// Rows at which M1 and M2 leave `qmv` for `qmm`: Ultra or not, and the limits for matrices with both sides up to 2048,
/// up to 4096, and larger. Later chips leave it at 2 rows for `qmv_wide`.
const LIMITS: [(bool, [u32; 3]); 2] = [(false, [14, 10, 6]), (true, [32, 18, 12])];
/// Most query rows of the vector attention kernel, and most rows times query heads a key head.
const VECTOR_ROWS: i32 = 8;
const VECTOR_HEADS: i32 = 32;
/// Keys from which some chip makes two passes, with a number of blocks that depends on the rows.
const TWO_PASSES: i32 = 1024;

pub(super) fn predict(chip: (u32, char), question: &Question) -> Prediction {
    match question.kind {
        Kind::Linear { matrix: Matrix::Dense, inputs, .. } => dense(chip.0, question.dtype, inputs),
        Kind::Linear { matrix, inputs, outputs } => quantized(chip, matrix, (inputs, outputs)),
        Kind::AttentionBlock { head_dim, group, before } => attention(head_dim, group, before),
        Kind::AttentionByRow { .. } => Prediction::equal("as plain decoding", "S"),
        Kind::AttentionMaterialised { .. } => Prediction::changes("gemv", (2, "steel gemm"), "S"),
        Kind::RowByRow => Prediction::equal("row by row", "S"),
        Kind::DeltaChunked => Prediction::changes("one step", (1, "products over a chunk"), "formula"),
        // A sum over the last axis takes another kernel from 32 rows of the reduction on, whatever T is.
        Kind::DeltaChain => Prediction::equal("one step a row", "S"),
        Kind::AttentionCopied { .. } | Kind::Rope | Kind::Experts | Kind::Other => Prediction::Unknown,
    }
}

fn dense(generation: u32, dtype: Dtype, inputs: i32) -> Prediction {
    let half = matches!(dtype, Dtype::Float16 | Dtype::Bfloat16);
    let many = if generation >= 15 && half && inputs % 4 == 0 { "gemv_wide" } else { "steel gemm" };
    Prediction::changes("gemv", (2, many), "S+B")
}

fn quantized((generation, class): (u32, char), matrix: Matrix, (inputs, outputs): (i32, i32)) -> Prediction {
    let float = matches!(matrix, Matrix::Float { .. });
    // From generation 15 on, and for micro-scaled floats everywhere, two rows leave the one-row kernel already.
    if float || generation >= 15 {
        return Prediction::changes("qmv", (2, "qmv_wide"), "S+B");
    }
    let size = match inputs.max(outputs) {
        ..=2048 => 0,
        2049..=4096 => 1,
        _ => 2,
    };
    let limit = LIMITS.iter().find(|(ultra, _)| *ultra == (class == 'd')).map(|(_, limits)| limits[size]);
    limit.map_or(Prediction::Unknown, |limit| Prediction::changes("qmv", (limit, "qmm"), "S+B"))
}

fn attention(head_dim: i32, group: i32, before: i32) -> Prediction {
    if !matches!(head_dim, 64 | 96 | 128 | 256) || before + VECTOR_ROWS > TWO_PASSES {
        return Prediction::Unknown;
    }
    let most = VECTOR_ROWS.min(VECTOR_HEADS / group.max(1));
    let first = u32::try_from(most + 1).unwrap_or(2);
    Prediction::changes("sdpa_vector", (first, "products over all keys"), "S+B, I")
}
