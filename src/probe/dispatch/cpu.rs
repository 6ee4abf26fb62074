//! The Linux CPU wheel: every kernel computes each row alone, so it is a null arm for everything but other formulas.

use super::question::{Kind, Matrix, Prediction, Question};
use mlx_rs::Dtype;

/// Read in `backend/cpu` and measured with the 0.32.4 wheel, blocks up to 16 rows against one-row calls.
const SOURCE: &str = "S+M";

pub(super) fn predict(question: &Question) -> Prediction {
    let kernel = match question.kind {
        Kind::Linear { matrix: Matrix::Dense, .. } if question.dtype == Dtype::Float32 => "cblas_sgemm",
        Kind::Linear { matrix: Matrix::Dense, .. } => "simd_gemm",
        Kind::Linear { matrix: Matrix::Affine { .. }, .. } => "_qmm_t",
        Kind::Linear { matrix: Matrix::Float { .. }, .. } => "fp_qmm_t",
        Kind::AttentionBlock { .. }
        | Kind::AttentionByRow { .. }
        | Kind::AttentionCopied { .. }
        | Kind::AttentionMaterialised { .. } => "matmul, softmax, matmul",
        Kind::RowByRow | Kind::Rope | Kind::DeltaChain | Kind::Experts => "row by row",
        Kind::DeltaChunked => {
            return Prediction::changes("one step", (1, "products over a chunk"), "formula");
        }
        Kind::Other => return Prediction::Unknown,
    };
    Prediction::equal(kernel, SOURCE)
}
