//! The config.json of a synthetic checkpoint, as the programs of its family write it. It names no end of text,
//! because random text has none.

use super::geometry::{Geometry, Sizes, Storage, Style, sizes};
use crate::engine::checkpoint::Quantization;
use serde_json::{Value, json};

/// Modules of a layer with experts that are never stored in fewer bits than 8.
pub(super) const EIGHT_BITS: [&str; 2] = ["gate", "shared_expert_gate"];

/// Flat in Hugging Face form; in MLX form with its quantization, and nested where the family's released files are.
pub(super) fn config(geometry: Geometry, storage: Storage) -> Value {
    let sizes = sizes(geometry);
    let mut text = text_config(geometry, &sizes);
    let Some(how) = storage.quantization(sizes.group) else { return text };
    let quantization = quantization(&sizes, how);
    if !sizes.style.nested() {
        text["quantization"] = quantization.clone();
        text["quantization_config"] = quantization;
        return text;
    }
    let moe = sizes.style == Style::Qwen35Moe;
    json!({
        "architectures": [if moe { "Qwen3_5MoeForConditionalGeneration" } else { "Qwen3_5ForConditionalGeneration" }],
        "dtype": "bfloat16",
        "eos_token_id": null,
        "model_type": if moe { "qwen3_5_moe" } else { "qwen3_5" },
        "quantization": quantization,
        "quantization_config": quantization,
        "tie_word_embeddings": text["tie_word_embeddings"],
        "text_config": text,
    })
}

/// One rule for all matrices, except that mlx-lm keeps routers and gates of shared experts in 8 bits.
fn quantization(sizes: &Sizes, Quantization { mode, bits, group }: Quantization) -> Value {
    let mut rules = json!({"group_size": group, "bits": bits, "mode": mode.name()});
    let prefix = if sizes.style.nested() { "language_model." } else { "" };
    for layer in 0..sizes.layers {
        for name in EIGHT_BITS.iter().filter(|_| sizes.experts[0] > 0) {
            let own = json!({"group_size": 64, "bits": 8});
            rules[format!("{prefix}model.layers.{layer}.mlp.{name}")] = own;
        }
    }
    rules
}

fn text_config(geometry: Geometry, sizes: &Sizes) -> Value {
    match sizes.style {
        Style::Llama => llama(sizes, geometry == Geometry::LlamaUntied),
        Style::Qwen3 => qwen3(sizes),
        Style::Qwen3Next => qwen3_next(sizes),
        Style::Qwen35 => qwen35(sizes),
        Style::Qwen35Moe => qwen35_moe(sizes),
    }
}

/// The fields that mean the same in every family, with those of `own` added.
fn with_common(sizes: &Sizes, own: Value) -> Value {
    let [heads, kv_heads, head_dim] = sizes.attention;
    let common = json!({
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
    merged(common, own)
}

/// The fields of both objects; those of the second count.
fn merged(mut all: Value, more: Value) -> Value {
    if let (Value::Object(all), Value::Object(more)) = (&mut all, more) {
        all.extend(more);
    }
    all
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

/// The sizes of gated delta nets.
fn with_delta(sizes: &Sizes, own: Value) -> Value {
    let [key_heads, value_heads, width] = sizes.delta;
    let delta = json!({
        "full_attention_interval": sizes.interval,
        "linear_conv_kernel_dim": 4,
        "linear_key_head_dim": width,
        "linear_num_key_heads": key_heads,
        "linear_num_value_heads": value_heads,
        "linear_value_head_dim": width,
        "max_position_embeddings": 262_144,
    });
    with_common(sizes, merged(delta, own))
}

fn qwen3_next(sizes: &Sizes) -> Value {
    let own = json!({
        "architectures": ["Qwen3NextForCausalLM"],
        "decoder_sparse_step": 1,
        "mlp_only_layers": [],
        "model_type": "qwen3_next",
        "norm_topk_prob": true,
        "partial_rotary_factor": 0.25,
        "rope_scaling": null,
        "rope_theta": 10_000_000,
    });
    with_delta(sizes, merged(experts(sizes), own))
}

fn qwen35(sizes: &Sizes) -> Value {
    let full = |layer: usize| (layer + 1).is_multiple_of(sizes.interval);
    let kind = |layer| if full(layer) { "full_attention" } else { "linear_attention" };
    let kinds: Vec<&str> = (0..sizes.layers).map(kind).collect();
    let own = json!({
        "architectures": ["Qwen3_5ForCausalLM"],
        "attn_output_gate": true,
        "layer_types": kinds,
        "mamba_ssm_dtype": "float32",
        "model_type": "qwen3_5_text",
        "mtp_num_hidden_layers": 0,
        "rope_parameters": {"rope_type": "default", "rope_theta": 10_000_000, "partial_rotary_factor": 0.25},
    });
    with_delta(sizes, own)
}

fn qwen35_moe(sizes: &Sizes) -> Value {
    let own = json!({"architectures": ["Qwen3_5MoeForCausalLM"], "model_type": "qwen3_5_moe_text"});
    merged(qwen35(sizes), merged(experts(sizes), own))
}

fn experts(sizes: &Sizes) -> Value {
    let [count, chosen, inner, shared] = sizes.experts;
    json!({
        "moe_intermediate_size": inner,
        "num_experts": count,
        "num_experts_per_tok": chosen,
        "shared_expert_intermediate_size": shared,
    })
}
