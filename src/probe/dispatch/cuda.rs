//! CUDA: quantized products leave the vector kernel at 8 rows, dense ones at 2, fused attention by head size.

use super::question::{Kind, Matrix, Prediction, Question};
use crate::engine::routes::WIDEST;
use mlx_rs::Dtype;

/// Rows at which `quantized_matmul` leaves `qmv`, whatever it then takes.
const QMV_LIMIT: u32 = 8;
/// Most query rows of the vector attention kernel.
const VECTOR_ROWS: u32 = 3;
/// Keys from which one row of a cache's slices goes to cuDNN.
const CUDNN_KEYS: i32 = 256;
/// Keys up to which the vector kernel makes one pass.
const ONE_PASS: i32 = 1024;

pub(super) fn predict(capability: u32, question: &Question) -> Prediction {
    match question.kind {
        Kind::Linear { matrix: Matrix::Dense, .. } => {
            // One heuristic query a call: an algorithm of its own for every number of rows.
            Prediction::changes("gemv", (2, "cublasLt"), "S+B, M on H200")
        }
        Kind::Linear { matrix, inputs, outputs } => {
            quantized(capability, question.dtype, matrix, (inputs, outputs))
        }
        Kind::AttentionBlock { head_dim, before, .. } => {
            attention(capability, question.dtype, head_dim, before)
        }
        Kind::AttentionByRow { head_dim, before } => by_row(question.dtype, head_dim, before),
        Kind::AttentionCopied { head_dim, before } => copied(question.dtype, head_dim, before),
        Kind::Rope => Prediction::equal("rope", "M on H200"),
        Kind::Experts | Kind::Other => Prediction::Unknown,
        // Plain decoding of such heads is fused already at one row.
        Kind::AttentionMaterialised { head_dim } if has_vector_kernel(head_dim) => {
            Prediction::changes("sdpa_vector or cuDNN", (1, "two products"), "S, M on H200")
        }
        Kind::AttentionMaterialised { .. } => Prediction::changes("gemv", (2, "cublasLt"), "S, M on H200"),
        Kind::RowByRow => Prediction::equal("row by row", "S"),
        Kind::DeltaChain => Prediction::equal("one step a row", "S"),
        Kind::DeltaChunked => Prediction::changes("one step", (1, "products over a chunk"), "formula"),
    }
}

/// The order in MLX: `qmm_sm90` (whose condition no real shape meets), `qmm_sm80`, `qmm_naive`, `qmv`.
fn quantized(capability: u32, dtype: Dtype, matrix: Matrix, (inputs, outputs): (i32, i32)) -> Prediction {
    let (group, bits_fit, float) = match matrix {
        Matrix::Affine { bits, group } => (group, matches!(bits, 4 | 8), false),
        Matrix::Float { group } => (group, true, true),
        Matrix::Dense => return Prediction::Unknown,
    };
    let one = if float && capability >= 10 { "fp_qmv" } else { "qmv" };
    let sm80 =
        capability >= 8 && bits_fit && outputs % 128 == 0 && inputs % group.max(64) == 0 && is_half(dtype);
    let many = if sm80 { "qmm_sm80" } else { "qmm_naive" };
    Prediction::changes(one, (QMV_LIMIT, many), "S+B, M on H200")
}

const fn is_half(dtype: Dtype) -> bool {
    matches!(dtype, Dtype::Float16 | Dtype::Bfloat16)
}

const fn has_vector_kernel(head_dim: i32) -> bool {
    matches!(head_dim, 64 | 96 | 128)
}

/// The same call on both sides, so the same bytes; but where cuDNN takes one row, it did not always repeat itself:
/// often in f16, now and then in bf16 (`reports/gpu-null-arm`).
fn by_row(dtype: Dtype, head_dim: i32, before: i32) -> Prediction {
    if is_half(dtype) && has_vector_kernel(head_dim) && before + i32::from(WIDEST) >= CUDNN_KEYS {
        return Prediction::Unknown;
    }
    Prediction::equal("as plain decoding", "M on H200")
}

/// At one row cuDNN wants at least 256 keys, as slices of a cache of a multiple of 256 positions, which copies are not.
fn copied(dtype: Dtype, head_dim: i32, before: i32) -> Prediction {
    if !is_half(dtype) || !has_vector_kernel(head_dim) || before + i32::from(WIDEST) < CUDNN_KEYS {
        return Prediction::equal("as plain decoding", "M on H200");
    }
    if before < CUDNN_KEYS {
        return Prediction::Unknown; // some rows of the block see more keys, others fewer
    }
    Prediction::changes("cuDNN", (1, "sdpa_vector"), "S+B, M on H200")
}

/// No vector or cuDNN kernel has heads of 256, so both one row and a block fall back to two products.
fn attention(capability: u32, dtype: Dtype, head_dim: i32, before: i32) -> Prediction {
    if capability >= 8 && is_half(dtype) && head_dim % 8 == 0 && head_dim <= 128 {
        return Prediction::changes("sdpa_vector or cuDNN", (2, "cuDNN"), "S+B, M on H200");
    }
    if !has_vector_kernel(head_dim) {
        return Prediction::changes("products over a row's prefix", (2, "products over all keys"), "S+B");
    }
    // A block that reaches past the limit takes the other pass than the rows before it.
    let within = before + i32::try_from(VECTOR_ROWS).unwrap_or(0) <= ONE_PASS || before >= ONE_PASS;
    if within {
        Prediction::changes("sdpa_vector", (VECTOR_ROWS + 1, "products over all keys"), "S+B, I")
    } else {
        Prediction::Unknown
    }
}
