//! The shapes that can be asked for.

use crate::engine::checkpoint::{Mode, Quantization};
use std::str::FromStr;

/// A word that names no geometry or no width.
#[derive(Debug, thiserror::Error)]
#[error("\"{0}\" is not one of {1}")]
pub struct UnknownName(String, String);

/// A model's shapes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Geometry {
    /// The demo's: 8 layers of 256, vocabulary 4096.
    Tiny,
    /// Qwen 3.5 0.8B.
    B08,
    /// Qwen 3.5 2B.
    B2,
    /// Qwen 3.5 4B.
    B4,
    /// Qwen 3.5 9B, the only one of them with a separate output matrix.
    B9,
    /// Two layers of Llama.
    Llama,
    /// The same with a separate output matrix, one key head a query head, and a stretched rope.
    LlamaUntied,
    /// Two layers of Qwen 3.
    Qwen3,
    /// Two layers of Qwen 3 Next, five experts.
    Qwen3Next,
    /// Two layers of Qwen 3.5 with five experts.
    Qwen35Moe,
}

impl Geometry {
    /// All geometries by the names that the command line takes.
    pub const NAMES: [(&'static str, Self); 10] = [
        ("tiny", Self::Tiny),
        ("0.8b", Self::B08),
        ("2b", Self::B2),
        ("4b", Self::B4),
        ("9b", Self::B9),
        ("tiny-llama", Self::Llama),
        ("tiny-llama-untied", Self::LlamaUntied),
        ("tiny-qwen3", Self::Qwen3),
        ("tiny-qwen3-next", Self::Qwen3Next),
        ("tiny-qwen35-moe", Self::Qwen35Moe),
    ];
}

impl FromStr for Geometry {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        named(name, &Self::NAMES)
    }
}

/// How matrices are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Storage {
    /// Affine 4-bit codes, MLX form.
    Four,
    /// Affine 8-bit codes, MLX form.
    Eight,
    /// bfloat16, Hugging Face form.
    Sixteen,
    /// 4-bit floats with a power of two for each 32, MLX form.
    Mxfp4,
    /// 8-bit floats with a power of two for each 32, MLX form.
    Mxfp8,
    /// 4-bit floats with an 8-bit float scale for each 16, MLX form.
    Nvfp4,
}

impl Storage {
    /// The widths by the names that the command line takes; codes are affine.
    pub const WIDTHS: [(&'static str, Self); 3] =
        [("4", Self::Four), ("8", Self::Eight), ("16", Self::Sixteen)];
    /// The other modes by the names that the command line takes.
    pub const MODES: [(&'static str, Self); 3] =
        [("mxfp4", Self::Mxfp4), ("mxfp8", Self::Mxfp8), ("nvfp4", Self::Nvfp4)];

    /// Both, by name.
    pub const NAMES: [(&'static str, Self); 6] = {
        let ([four, eight, sixteen], [mxfp4, mxfp8, nvfp4]) = (Self::WIDTHS, Self::MODES);
        [four, eight, sixteen, mxfp4, mxfp8, nvfp4]
    };

    /// How codes stand for numbers, `None` for plain numbers; affine codes in groups of `group`.
    pub(super) fn quantization(self, group: u16) -> Option<Quantization> {
        let (mode, bits, group) = match self {
            Self::Four => (Mode::Affine, 4, group),
            Self::Eight => (Mode::Affine, 8, group),
            Self::Sixteen => return None,
            Self::Mxfp4 => (Mode::Mxfp4, 4, 32),
            Self::Mxfp8 => (Mode::Mxfp8, 8, 32),
            Self::Nvfp4 => (Mode::Nvfp4, 4, 16),
        };
        Some(Quantization { mode, bits, group })
    }
}

impl FromStr for Storage {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        named(name, &Self::NAMES)
    }
}

fn named<T: Copy>(name: &str, all: &[(&str, T)]) -> Result<T, UnknownName> {
    let found = all.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
    found.ok_or_else(|| {
        let known: Vec<&str> = all.iter().map(|(known, _)| *known).collect();
        UnknownName(name.to_owned(), known.join(", "))
    })
}

/// The family that a geometry is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    Llama,
    Qwen3,
    Qwen3Next,
    Qwen35,
    Qwen35Moe,
}

impl Style {
    /// Released files nest the text model's configuration and name its tensors accordingly.
    pub(super) fn nested(self) -> bool {
        matches!(self, Self::Qwen35 | Self::Qwen35Moe)
    }
}

/// A geometry in numbers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sizes {
    pub(super) style: Style,
    pub(super) layers: usize,
    pub(super) hidden: usize,
    pub(super) inner: usize,
    /// Query heads, key and value heads, width of a head.
    pub(super) attention: [usize; 3],
    /// Key heads, value heads, width of either; of the families that have gated delta nets.
    pub(super) delta: [usize; 3],
    /// Every so many layers have full attention.
    pub(super) interval: usize,
    /// Experts, chosen ones, width of one of them and of the shared one; of the families that have them.
    pub(super) experts: [usize; 4],
    pub(super) vocab: usize,
    pub(super) tied: bool,
    /// Inputs that share a scale in quantized checkpoints.
    pub(super) group: u16,
}

/// The numbers of a geometry.
pub(super) fn sizes(geometry: Geometry) -> Sizes {
    let demo = Sizes {
        style: Style::Qwen35,
        layers: 8,
        hidden: 256,
        inner: 768,
        attention: [4, 2, 64],
        delta: [4, 8, 32],
        interval: 4,
        experts: [0; 4],
        vocab: 4096,
        tied: true,
        group: 64,
    };
    let released = |layers, hidden, inner, attention: [usize; 2], value_heads| Sizes {
        layers,
        hidden,
        inner,
        attention: [attention[0], attention[1], 256],
        delta: [16, value_heads, 128],
        vocab: 248_320,
        ..demo
    };
    let small =
        Sizes { layers: 2, hidden: 64, inner: 160, attention: [4, 2, 16], vocab: 256, group: 32, ..demo };
    let few = Sizes {
        attention: [4, 2, 32],
        delta: [2, 4, 16],
        interval: 2,
        experts: [5, 2, 32, 32],
        vocab: 128,
        tied: false,
        ..small
    };
    match geometry {
        Geometry::Tiny => demo,
        Geometry::B08 => released(24, 1024, 3584, [8, 2], 16),
        Geometry::B2 => released(24, 2048, 6144, [8, 2], 16),
        Geometry::B4 => released(32, 2560, 9216, [16, 4], 32),
        Geometry::B9 => Sizes { tied: false, ..released(32, 4096, 12_288, [16, 4], 32) },
        Geometry::Llama => Sizes { style: Style::Llama, ..small },
        Geometry::LlamaUntied => Sizes { style: Style::Llama, attention: [4, 4, 16], tied: false, ..small },
        // Heads wider than their share of the residual stream.
        Geometry::Qwen3 => Sizes { style: Style::Qwen3, attention: [4, 2, 32], ..small },
        Geometry::Qwen3Next => Sizes { style: Style::Qwen3Next, ..few },
        Geometry::Qwen35Moe => Sizes { style: Style::Qwen35Moe, ..few },
    }
}
