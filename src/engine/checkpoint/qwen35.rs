//! Reads the configuration of Qwen 3.5 text models, nested in `text_config` or flat.
//!
//! Fields that choose between variants of the arithmetic (`attention_bias`, `hidden_act`, the kind of rope) must
//! be there and must ask for the variant that this engine computes; the others are refused by name.

use super::config::{Attention, Config, DeltaNet, Family, Mixer};
use super::error::Result;
use super::fields::Fields;
use serde_json::Value;

/// More layers than this are taken for a broken file.
const MOST_LAYERS: usize = 1024;

/// Reads everything but the end ids.
pub(super) fn parse(top: &Fields<'_>) -> Result<Config> {
    let nested = top.nested("text_config")?;
    let text = nested.as_ref().unwrap_or(top);
    if nested.is_some() && text.get("model_type").is_some_and(|kind| kind != "qwen3_5_text") {
        return Err(text.wrong("model_type", "\"qwen3_5_text\""));
    }
    refuse_variants(text)?;
    let tie = if text.get("tie_word_embeddings").is_some() { text } else { top };
    Ok(Config {
        family: Family::Qwen35,
        model_type: top.text("model_type")?.to_owned(),
        vocab_size: text.count("vocab_size")?,
        hidden_size: text.count("hidden_size")?,
        intermediate_size: text.count("intermediate_size")?,
        rms_norm_eps: single(text.number("rms_norm_eps")?),
        layers: layers(text)?,
        tie_word_embeddings: tie.flag("tie_word_embeddings")?,
        end_ids: Vec::new(),
        max_positions: text
            .get("max_position_embeddings")
            .map(|_| text.count("max_position_embeddings"))
            .transpose()?,
    })
}

/// Refuses what would change the arithmetic.
fn refuse_variants(text: &Fields<'_>) -> Result<()> {
    if text.flag("attention_bias")? {
        return Err(text.wrong("attention_bias", "false (biases are not supported)"));
    }
    if text.text("hidden_act")? != "silu" {
        return Err(text.wrong("hidden_act", "\"silu\""));
    }
    // Absent in older files, where the architecture means the only value taken here.
    let fixed: [(&str, &[Value]); 5] = [
        ("attn_output_gate", &[Value::Bool(true)]),
        ("output_gate_type", &["swish".into(), "silu".into()]),
        ("mamba_ssm_dtype", &["float32".into()]),
        ("mlp_only_layers", &[Value::Array(Vec::new())]),
        ("rope_scaling", &[]),
    ];
    for (name, allowed) in fixed {
        if text.get(name).is_some_and(|value| !allowed.contains(value)) {
            let list: Vec<String> =
                allowed.iter().map(Value::to_string).chain(["absent".to_owned()]).collect();
            return Err(text.wrong(name, &list.join(" or ")));
        }
    }
    Ok(())
}

fn layers(text: &Fields<'_>) -> Result<Vec<Mixer>> {
    let count = text.count("num_hidden_layers")?;
    if count > MOST_LAYERS {
        return Err(text.wrong("num_hidden_layers", &format!("at most {MOST_LAYERS}")));
    }
    let attention = Mixer::Attention(attention(text)?);
    let delta = Mixer::DeltaNet(delta_net(text)?);
    if text.get("layer_types").is_none() {
        let interval = text.count("full_attention_interval")?;
        return Ok((1..=count).map(|n| if n.is_multiple_of(interval) { attention } else { delta }).collect());
    }
    let wrong = || {
        let says =
            format!("a list of {count} (num_hidden_layers) of \"linear_attention\" and \"full_attention\"");
        text.wrong("layer_types", &says)
    };
    let kinds = text.get("layer_types").and_then(Value::as_array).filter(|kinds| kinds.len() == count);
    let mixer = |kind: &Value| match kind.as_str() {
        Some("full_attention") => Ok(attention),
        Some("linear_attention") => Ok(delta),
        _ => Err(wrong()),
    };
    kinds.ok_or_else(wrong)?.iter().map(mixer).collect()
}

fn attention(text: &Fields<'_>) -> Result<Attention> {
    let (heads, kv_heads) = (text.count("num_attention_heads")?, text.count("num_key_value_heads")?);
    if !heads.is_multiple_of(kv_heads) {
        return Err(text.wrong("num_key_value_heads", &format!("a divisor of num_attention_heads, {heads}")));
    }
    let head_dim = text.count("head_dim")?;
    let Some(rope) = text.nested("rope_parameters")? else {
        return Err(text.wrong("rope_parameters", "an object"));
    };
    rope_kind(&rope)?;
    Ok(Attention {
        heads,
        kv_heads,
        head_dim,
        output_gate: true,
        rotary_dims: rotary_dims(text, &rope, head_dim)?,
        rope_theta: single(rope.number("rope_theta")?),
    })
}

/// `rope_type` (transformers) or `type` (files that mlx-lm wrote); both where both are given.
fn rope_kind(rope: &Fields<'_>) -> Result<()> {
    let names: Vec<&str> =
        ["rope_type", "type"].into_iter().filter(|name| rope.get(name).is_some()).collect();
    if names.is_empty() {
        return Err(rope.wrong("rope_type", "\"default\""));
    }
    for name in names {
        if rope.text(name)? != "default" {
            return Err(rope.wrong(name, "\"default\""));
        }
    }
    Ok(())
}

/// The rotated part of a head; stated inside `rope_parameters`, beside it, or both.
fn rotary_dims(text: &Fields<'_>, rope: &Fields<'_>, head_dim: usize) -> Result<usize> {
    const NAME: &str = "partial_rotary_factor";
    let place = if rope.get(NAME).is_some() { rope } else { text };
    let factor = place.number(NAME)?;
    if text.get(NAME).is_some_and(|other| other.as_f64() != Some(factor)) {
        return Err(text.wrong(NAME, &format!("the {factor} of rope_parameters")));
    }
    #[expect(clippy::cast_precision_loss, reason = "a count of at most 2^21 is exact")]
    let dims = head_dim as f64 * factor;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the architecture truncates")]
    let dims = dims as usize;
    if dims == 0 || !dims.is_multiple_of(2) || dims > head_dim {
        let says =
            format!("a factor that leaves an even number of dimensions from 2 to head_dim, {head_dim}");
        return Err(place.wrong(NAME, &says));
    }
    Ok(dims)
}

fn delta_net(text: &Fields<'_>) -> Result<DeltaNet> {
    let (key_heads, value_heads) =
        (text.count("linear_num_key_heads")?, text.count("linear_num_value_heads")?);
    if !value_heads.is_multiple_of(key_heads) {
        return Err(
            text.wrong("linear_num_value_heads", &format!("a multiple of linear_num_key_heads, {key_heads}"))
        );
    }
    let conv_kernel = text.count("linear_conv_kernel_dim")?;
    if conv_kernel < 2 {
        // With one tap the two layouts of conv1d.weight look alike, and so do the two forms of a checkpoint.
        return Err(text.wrong("linear_conv_kernel_dim", "at least 2"));
    }
    Ok(DeltaNet {
        key_heads,
        value_heads,
        key_dim: text.count("linear_key_head_dim")?,
        value_dim: text.count("linear_value_head_dim")?,
        conv_kernel,
    })
}

#[expect(clippy::cast_possible_truncation, reason = "the engine computes with f32 constants")]
fn single(value: f64) -> f32 {
    value as f32
}
