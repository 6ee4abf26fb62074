//! The config.json of a synthetic checkpoint, as the programs of its family write it. It names no end of text,
//! because random text has none.

use super::geometry::{Geometry, Sizes, Storage, Style, sizes};
use crate::engine::checkpoint::Quantization;
use serde_json::{Value, json};

/// Flat in Hugging Face form; in MLX form with its quantization, and nested where the family's released files are.
pub(super) fn config(geometry: Geometry, storage: Storage) -> Value {
    let sizes = sizes(geometry);
    let mut text = text_config(geometry, &sizes);
    let Some(Quantization { mode, bits, group }) = storage.quantization(sizes.group) else { return text };
    let quantization = json!({"group_size": group, "bits": bits, "mode": mode.name()});
    if sizes.style != Style::Qwen35 {
        text["quantization"] = quantization.clone();
        text["quantization_config"] = quantization;
        return text;
    }
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

fn text_config(geometry: Geometry, sizes: &Sizes) -> Value {
    match sizes.style {
        Style::Llama => llama(sizes, geometry == Geometry::LlamaUntied),
        Style::Qwen3 => qwen3(sizes),
        Style::Qwen35 => qwen35(sizes),
    }
}

/// The fields that mean the same in every family, with those of `own` added or in their place.
fn with_common(sizes: &Sizes, own: Value) -> Value {
    let [heads, kv_heads, head_dim] = sizes.attention;
    let mut common = json!({
        "attention_bias": false,
        "dtype": "bfloat16",
        "eos_token_id": null,
        "head_dim": head_dim,
        "hidden_act": "silu",
        "hidden_size": sizes.hidden,
        "intermediate_size": sizes.inner,
        "num_attention_heads": heads,
        "num_hidden_layers": sizes.layers,
        "num_key_value_heads": kv_heads,
        "rms_norm_eps": 1e-6,
        "tie_word_embeddings": sizes.tied,
        "vocab_size": sizes.vocab,
    });
    if let (Value::Object(common), Value::Object(own)) = (&mut common, own) {
        common.extend(own);
    }
    common
}

/// Short first positions, so that a test's text reaches all three parts of the stretched rope.
fn llama(sizes: &Sizes, stretched: bool) -> Value {
    let scaling = json!({
        "rope_type": "llama3", "factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
        "original_max_position_embeddings": 64,
    });
    let own = json!({
        "architectures": ["LlamaForCausalLM"],
        "max_position_embeddings": 2048,
        "mlp_bias": false,
        "model_type": "llama",
        "rope_scaling": if stretched { scaling } else { Value::Null },
        "rope_theta": 10_000.0,
    });
    with_common(sizes, own)
}

fn qwen3(sizes: &Sizes) -> Value {
    let own = json!({
        "architectures": ["Qwen3ForCausalLM"],
        "max_position_embeddings": 40_960,
        "model_type": "qwen3",
        "rope_scaling": null,
        "rope_theta": 1_000_000,
        "sliding_window": null,
        "use_sliding_window": false,
    });
    with_common(sizes, own)
}

fn qwen35(sizes: &Sizes) -> Value {
    let kind = |layer: usize| if layer % 4 == 3 { "full_attention" } else { "linear_attention" };
    let kinds: Vec<&str> = (0..sizes.layers).map(kind).collect();
    let [key_heads, value_heads, width] = sizes.delta;
    let own = json!({
        "architectures": ["Qwen3_5ForCausalLM"],
        "attn_output_gate": true,
        "full_attention_interval": 4,
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
        "rope_parameters": {"rope_type": "default", "rope_theta": 10_000_000, "partial_rotary_factor": 0.25},
    });
    with_common(sizes, own)
}
