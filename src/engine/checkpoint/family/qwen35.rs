//! Qwen 3.5 text models, nested in `text_config` or flat: gated full attention and gated delta nets.

use super::{hybrid, shared};
use crate::engine::checkpoint::config::{Config, Family, FeedForward};
use crate::engine::checkpoint::error::Result;
use crate::engine::checkpoint::fields::Fields;
use serde_json::Value;

pub(super) fn parse(top: &Fields<'_>) -> Result<Config> {
    let nested = top.nested("text_config")?;
    let text = nested.as_ref().unwrap_or(top);
    if nested.is_some() && text.get("model_type").is_some_and(|kind| kind != "qwen3_5_text") {
        return Err(text.wrong("model_type", "\"qwen3_5_text\""));
    }
    refuse_variants(text)?;
    let Some(rope) = text.nested("rope_parameters")? else {
        return Err(text.wrong("rope_parameters", "an object"));
    };
    shared::rope_kind(&rope, &["default"])?;
    let (attention, delta) = (hybrid::attention(text, Some(&rope))?, hybrid::delta_net(text, false)?);
    let layers = hybrid::layers(text, attention, delta)?;
    let feed_forward = FeedForward::Dense { inner: text.count("intermediate_size")? };
    shared::config(top, text, Family::Qwen35, layers, feed_forward)
}

/// Refuses what would change the arithmetic.
fn refuse_variants(text: &Fields<'_>) -> Result<()> {
    if text.flag("attention_bias")? {
        return Err(text.wrong("attention_bias", "false (biases are not supported)"));
    }
    shared::silu(text)?;
    // Absent in older files, where the architecture means the only value taken here.
    let fixed: [(&str, &[Value]); 5] = [
        ("attn_output_gate", &[Value::Bool(true)]),
        ("output_gate_type", &["swish".into(), "silu".into()]),
        ("mamba_ssm_dtype", &["float32".into()]),
        ("mlp_only_layers", &[Value::Array(Vec::new())]),
        ("rope_scaling", &[]),
    ];
    shared::only(text, &fixed)
}
