//! The shapes that can be asked for, and the config.json that states them.

use crate::engine::checkpoint::{Mode, Quantization};
use serde_json::{Value, json};
use std::str::FromStr;

/// Inputs that share a scale and a bias in affine checkpoints.
const AFFINE_GROUP: u16 = 64;

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
    /// Qwen 3.5 9B, the only one with a separate output matrix.
    B9,
}

impl Geometry {
    /// All geometries by the names that the command line takes.
    pub const NAMES: [(&'static str, Self); 5] =
        [("tiny", Self::Tiny), ("0.8b", Self::B08), ("2b", Self::B2), ("4b", Self::B4), ("9b", Self::B9)];
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

    /// How codes stand for numbers, `None` for plain numbers.
    pub(super) fn quantization(self) -> Option<Quantization> {
        let (mode, bits, group) = match self {
            Self::Four => (Mode::Affine, 4, AFFINE_GROUP),
            Self::Eight => (Mode::Affine, 8, AFFINE_GROUP),
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
        named(name, &[Self::WIDTHS, Self::MODES].concat())
    }
}

fn named<T: Copy>(name: &str, all: &[(&str, T)]) -> Result<T, UnknownName> {
    let found = all.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
    found.ok_or_else(|| {
        let known: Vec<&str> = all.iter().map(|(known, _)| *known).collect();
        UnknownName(name.to_owned(), known.join(", "))
    })
}

struct Sizes {
    layers: usize,
    hidden: usize,
    inner: usize,
    /// Query heads, key and value heads, width of a head.
    attention: [usize; 3],
    /// Key heads, value heads, width of either.
    delta: [usize; 3],
    vocab: usize,
    tied: bool,
}

fn sizes(geometry: Geometry) -> Sizes {
    let released = |layers, hidden, inner, attention: [usize; 2], value_heads| Sizes {
        layers,
        hidden,
        inner,
        attention: [attention[0], attention[1], 256],
        delta: [16, value_heads, 128],
        vocab: 248_320,
        tied: true,
    };
    match geometry {
        Geometry::Tiny => Sizes {
            layers: 8,
            hidden: 256,
            inner: 768,
            attention: [4, 2, 64],
            delta: [4, 8, 32],
            vocab: 4096,
            tied: true,
        },
        Geometry::B08 => released(24, 1024, 3584, [8, 2], 16),
        Geometry::B2 => released(24, 2048, 6144, [8, 2], 16),
        Geometry::B4 => released(32, 2560, 9216, [16, 4], 32),
        Geometry::B9 => Sizes { tied: false, ..released(32, 4096, 12_288, [16, 4], 32) },
    }
}

/// The configuration: flat in Hugging Face form, nested as mlx-lm writes it in MLX form. It names no end of text,
/// because random text has none.
pub(super) fn config(geometry: Geometry, storage: Storage) -> Value {
    let text = text_config(&sizes(geometry));
    let Some(Quantization { mode, bits, group }) = storage.quantization() else { return text };
    let quantization = json!({"group_size": group, "bits": bits, "mode": mode.name()});
    json!({
        "architectures": ["Qwen3_5ForConditionalGeneration"],
        "dtype": "bfloat16",
        "eos_token_id": null,
        "model_type": "qwen3_5",
        "quantization": quantization,
        "quantization_config": quantization,
        "tie_word_embeddings": text["tie_word_embeddings"],
        "text_config": text,
    })
}

fn text_config(sizes: &Sizes) -> Value {
    let kind = |layer: usize| if layer % 4 == 3 { "full_attention" } else { "linear_attention" };
    let kinds: Vec<&str> = (0..sizes.layers).map(kind).collect();
    let [heads, kv_heads, head_dim] = sizes.attention;
    let [key_heads, value_heads, width] = sizes.delta;
    json!({
        "architectures": ["Qwen3_5ForCausalLM"],
        "attention_bias": false,
        "attn_output_gate": true,
        "dtype": "bfloat16",
        "eos_token_id": null,
        "full_attention_interval": 4,
        "head_dim": head_dim,
        "hidden_act": "silu",
        "hidden_size": sizes.hidden,
        "intermediate_size": sizes.inner,
        "layer_types": kinds,
        "linear_conv_kernel_dim": 4,
        "linear_key_head_dim": width,
        "linear_num_key_heads": key_heads,
        "linear_num_value_heads": value_heads,
        "linear_value_head_dim": width,
        "mamba_ssm_dtype": "float32",
        "max_position_embeddings": 262_144,
        "model_type": "qwen3_5_text",
        "mtp_num_hidden_layers": 0,
        "num_attention_heads": heads,
        "num_hidden_layers": sizes.layers,
        "num_key_value_heads": kv_heads,
        "rms_norm_eps": 1e-6,
        "rope_parameters": {"rope_type": "default", "rope_theta": 10_000_000, "partial_rotary_factor": 0.25},
        "tie_word_embeddings": sizes.tied,
        "vocab_size": sizes.vocab,
    })
}
