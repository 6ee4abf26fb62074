//! Qwen 3.5 text models, nested in `text_config` or flat: gated full attention and gated delta nets, with a dense
//! feed-forward or with experts.

use super::{experts, hybrid, shared};
use crate::engine::checkpoint::config::{Config, Family, FeedForward};
use crate::engine::checkpoint::error::Result;
use crate::engine::checkpoint::fields::Fields;
use serde_json::Value;

pub(super) fn parse(top: &Fields<'_>, family: Family) -> Result<Config> {
    let nested = top.nested("text_config")?;
    let text = nested.as_ref().unwrap_or(top);
    let inner = if family == Family::Qwen35Moe { "qwen3_5_moe_text" } else { "qwen3_5_text" };
    if nested.is_some() && text.get("model_type").is_some_and(|kind| kind != inner) {
        return Err(text.wrong("model_type", &format!("\"{inner}\"")));
    }
    refuse_variants(text)?;
    let Some(rope) = text.nested("rope_parameters")? else {
        return Err(text.wrong("rope_parameters", "an object"));
    };
    shared::rope_kind(&rope, &["default"])?;
    let (attention, delta) = (hybrid::attention(text, Some(&rope))?, hybrid::delta_net(text, false)?);
    let layers = hybrid::layers(text, attention, delta)?;
    let feed_forward = feed_forward(text, family)?;
    shared::config(top, text, family, layers, feed_forward)
}

fn feed_forward(text: &Fields<'_>, family: Family) -> Result<FeedForward> {
    if family == Family::Qwen35Moe {
        // The architecture renormalises; mlx-lm would not where a file said so.
        shared::only(text, &[("norm_topk_prob", &[Value::Bool(true)])])?;
        return experts::parse(text, true);
    }
    let fixed: [(&str, &[Value]); 2] =
        [("num_experts", &[0.into()]), ("mlp_only_layers", &[Value::Array(Vec::new())])];
    shared::only(text, &fixed)?;
    Ok(FeedForward::Dense { inner: text.count("intermediate_size")? })
}

/// Refuses what would change the arithmetic.
fn refuse_variants(text: &Fields<'_>) -> Result<()> {
    if text.flag("attention_bias")? {
        return Err(text.wrong("attention_bias", "false (biases are not supported)"));
    }
    shared::silu(text)?;
    // Absent in older files, where the architecture means the only value taken here.
    let fixed: [(&str, &[Value]); 4] = [
        ("attn_output_gate", &[Value::Bool(true)]),
        ("output_gate_type", &["swish".into(), "silu".into()]),
        ("mamba_ssm_dtype", &["float32".into()]),
        ("rope_scaling", &[]),
    ];
    shared::only(text, &fixed)
}
