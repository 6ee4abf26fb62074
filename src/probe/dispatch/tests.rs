//! The tables against the rules as they were read, and against what was measured on an H200.

use super::{Kind, Machine, Matrix, Prediction, Question, predict};
use mlx_rs::Dtype;

const H200: Machine = Machine::Cuda { capability: 9 };
const AFFINE: Matrix = Matrix::Affine { bits: 4, group: 64 };

/// The first number of rows whose kernel differs; 0 for none, -1 for not known.
fn from(machine: Machine, kind: Kind, dtype: Dtype) -> i64 {
    match predict(machine, &Question { kind, dtype }) {
        Prediction::Equal { .. } => 0,
        Prediction::Changes { first, .. } => i64::from(first.rows),
        Prediction::Unknown => -1,
    }
}

fn linear(matrix: Matrix, inputs: i32, outputs: i32) -> Kind {
    Kind::Linear { matrix, inputs, outputs }
}

#[test]
fn what_was_measured_on_an_h200_is_what_the_table_says() {
    let half = Dtype::Bfloat16;
    let eight_bits = Matrix::Affine { bits: 8, group: 64 };
    let float = Matrix::Float { group: 32 };
    for matrix in [AFFINE, eight_bits, float] {
        assert_eq!(from(H200, linear(matrix, 2560, 8192), half), 8, "{matrix:?}");
    }
    assert_eq!(from(H200, linear(AFFINE, 9216, 2560), half), 8);
    for dtype in [Dtype::Bfloat16, Dtype::Float16, Dtype::Float32] {
        assert_eq!(from(H200, linear(Matrix::Dense, 2560, 8192), dtype), 2, "{dtype:?}");
    }
    assert_eq!(from(H200, Kind::RowByRow, half), 0);
    for (dtype, head_dim, before, first) in [
        (half, 64, 1020, -1),
        (half, 64, 250, -1),
        (half, 64, 158, 0),
        (Dtype::Float32, 64, 1020, 0),
        (Dtype::Float16, 256, 1020, 0),
        (Dtype::Float16, 64, 100, 0),
        (Dtype::Float16, 64, 437, -1),
    ] {
        assert_eq!(
            from(H200, Kind::AttentionByRow { head_dim, before }, dtype),
            first,
            "{dtype:?}, {before}"
        );
    }
    assert_eq!(from(H200, Kind::Rope, half), 0);
    for (head_dim, first) in [(64, 1), (256, 2)] {
        assert_eq!(from(H200, Kind::AttentionMaterialised { head_dim }, half), first);
    }
    for (dtype, head_dim, before, first) in [
        (half, 64, 158, 0),
        (half, 64, 250, -1),
        (half, 64, 1020, 1),
        (Dtype::Float32, 64, 1020, 0),
        (half, 256, 1020, 0),
    ] {
        let copied = Kind::AttentionCopied { head_dim, before };
        assert_eq!(from(H200, copied, dtype), first, "{dtype:?}, {head_dim}, {before}");
    }
    for head_dim in [64, 128, 256] {
        let block = Kind::AttentionBlock { head_dim, group: 4, before: 158 };
        assert_eq!(from(H200, block, half), 2, "{head_dim}");
    }
}

#[test]
fn cuda_names_the_kernel_by_alignment_and_dtype() {
    let many = |kind, dtype| match predict(H200, &Question { kind, dtype }) {
        Prediction::Changes { first, .. } => first.kernel,
        other => panic!("{other:?}"),
    };
    assert_eq!(many(linear(AFFINE, 2560, 8192), Dtype::Bfloat16), "qmm_sm80");
    assert_eq!(many(linear(AFFINE, 2560, 32), Dtype::Bfloat16), "qmm_naive", "N is no multiple of 128");
    assert_eq!(many(linear(AFFINE, 2560, 8192), Dtype::Float32), "qmm_naive");
    let block = Kind::AttentionBlock { head_dim: 128, group: 4, before: 100 };
    assert_eq!(from(H200, block, Dtype::Float32), 4);
    let across = Kind::AttentionBlock { head_dim: 128, group: 4, before: 1023 };
    assert_eq!(from(H200, across, Dtype::Float32), -1, "the block reaches past one pass");
}

#[test]
fn metal_limits_by_generation_and_size() {
    let chip = |generation, class| Machine::Metal { generation, class };
    let at = |machine, side| from(machine, linear(AFFINE, side, side), Dtype::Bfloat16);
    assert_eq!([2048, 4096, 8192].map(|side| at(chip(13, 's'), side)), [14, 10, 6]);
    assert_eq!([2048, 4096, 8192].map(|side| at(chip(14, 'd'), side)), [32, 18, 12]);
    assert_eq!([2048, 4096, 8192].map(|side| at(chip(16, 's'), side)), [2, 2, 2]);
    let float = linear(Matrix::Float { group: 32 }, 8192, 8192);
    assert_eq!(from(chip(13, 's'), float, Dtype::Bfloat16), 2);
    // Query heads a key head times rows, at most 32: 8, 5 and 4 rows.
    for (group, most) in [(4, 8), (6, 5), (8, 4)] {
        let block = Kind::AttentionBlock { head_dim: 256, group, before: 100 };
        assert_eq!(from(chip(16, 's'), block, Dtype::Bfloat16), most + 1, "{group}");
    }
}

#[test]
fn a_cpu_computes_rows_alone_and_an_unknown_machine_promises_nothing() {
    let kinds = [linear(AFFINE, 256, 512), linear(Matrix::Dense, 256, 512), Kind::Rope, Kind::DeltaChain];
    for kind in kinds {
        assert_eq!(from(Machine::Cpu, kind, Dtype::Float32), 0, "{kind:?}");
        assert_eq!(from(Machine::Unknown, kind, Dtype::Float32), -1);
    }
    assert_eq!(from(Machine::Cpu, Kind::DeltaChunked, Dtype::Float32), 1);
}
