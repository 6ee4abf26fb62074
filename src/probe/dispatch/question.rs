//! What is asked of a dispatch table, and how it answers.

use mlx_rs::Dtype;

/// How a matrix is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Matrix {
    /// Plain numbers.
    Dense,
    /// Affine codes.
    Affine {
        /// Bits of a code.
        bits: i32,
        /// Weights that share a scale.
        group: i32,
    },
    /// Micro-scaled floats: mxfp4, mxfp8, nvfp4.
    Float {
        /// Weights that share a scale.
        group: i32,
    },
}

/// An operation, as a dispatch table sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `x · Wᵀ` with `inputs` and `outputs` channels.
    Linear {
        /// Storage.
        matrix: Matrix,
        /// K.
        inputs: i32,
        /// N.
        outputs: i32,
    },
    /// One fused call over the block, causal.
    AttentionBlock {
        /// Width of a head.
        head_dim: i32,
        /// Query heads for each key head.
        group: i32,
        /// Positions before the block.
        before: i32,
    },
    /// One fused call a row over a slice of the cache, as plain decoding makes it.
    AttentionByRow {
        /// Width of a head.
        head_dim: i32,
        /// Positions before the block.
        before: i32,
    },
    /// One fused call a row over copies of its slices.
    AttentionCopied {
        /// Width of a head.
        head_dim: i32,
        /// Positions before the block.
        before: i32,
    },
    /// Two products and a softmax.
    AttentionMaterialised {
        /// Width of a head.
        head_dim: i32,
    },
    /// Norms over the last axis, elementwise work, and sums of few terms in a fixed order.
    RowByRow,
    /// Rotary embedding.
    Rope,
    /// The recurrence, one step a row.
    DeltaChain,
    /// The recurrence by chunks.
    DeltaChunked,
    /// Choosing experts, and the products of the chosen ones.
    Experts,
    /// Nothing is known of it.
    Other,
}

/// An operation with its dtype.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Question {
    /// The operation.
    pub kind: Kind,
    /// Dtype of what goes in.
    pub dtype: Dtype,
}

/// A kernel, and from how many rows on it is launched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// First number of rows.
    pub rows: u32,
    /// The kernel's name, or how one is chosen.
    pub kernel: &'static str,
}

/// What a table answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Prediction {
    /// Each row is computed as if it were alone, by whatever kernel.
    Equal {
        /// The kernel.
        kernel: &'static str,
        /// Where that was read.
        source: &'static str,
    },
    /// Another kernel, or another order of sums, from some number of rows on: bytes may change there.
    Changes {
        /// The kernel at one row.
        one: &'static str,
        /// The first that differs; from 1 row on when the route itself is another arithmetic than plain decoding's.
        first: Step,
        /// Where that was read.
        source: &'static str,
    },
    /// The tables do not say.
    Unknown,
}

impl Prediction {
    /// Equal bytes at every number of rows.
    #[must_use]
    pub const fn equal(kernel: &'static str, source: &'static str) -> Self {
        Self::Equal { kernel, source }
    }

    /// `one` for one row and `kernel` from `rows` on.
    #[must_use]
    pub const fn changes(
        one: &'static str,
        (rows, kernel): (u32, &'static str),
        source: &'static str,
    ) -> Self {
        Self::Changes { one, first: Step { rows, kernel }, source }
    }
}
