//! Qwen 3 Next: the layers of Qwen 3.5 with the delta net's input projections stored fused, and experts.

use super::{experts, hybrid, shared};
use crate::engine::checkpoint::config::{Config, Family};
use crate::engine::checkpoint::error::Result;
use crate::engine::checkpoint::fields::Fields;
use serde_json::Value;

pub(super) fn parse(top: &Fields<'_>) -> Result<Config> {
    let fixed: [(&str, &[Value]); 3] = [
        ("attention_bias", &[Value::Bool(false)]),
        ("use_sliding_window", &[Value::Bool(false)]),
        ("rope_scaling", &[]),
    ];
    shared::only(top, &fixed)?;
    shared::silu(top)?;
    let rope = top.nested("rope_parameters")?;
    if let Some(rope) = &rope {
        shared::rope_kind(rope, &["default"])?;
    }
    let (attention, delta) = (hybrid::attention(top, rope.as_ref())?, hybrid::delta_net(top, true)?);
    let layers = hybrid::layers(top, attention, delta)?;
    let feed_forward = experts::parse(top, top.flag("norm_topk_prob")?)?;
    shared::config(top, top, Family::Qwen3Next, layers, feed_forward)
}
