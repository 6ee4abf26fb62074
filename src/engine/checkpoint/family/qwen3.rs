//! Qwen 3: full attention with a norm on each query and key head, dense feed-forward.

use super::shared;
use crate::engine::checkpoint::config::{Attention, Config, Family, FeedForward};
use crate::engine::checkpoint::error::Result;
use crate::engine::checkpoint::fields::Fields;
use serde_json::Value;

pub(super) fn parse(top: &Fields<'_>) -> Result<Config> {
    // A `sliding_window` counts only where it is switched on.
    let fixed: [(&str, &[Value]); 3] = [
        ("attention_bias", &[Value::Bool(false)]),
        ("partial_rotary_factor", &[Value::from(1), Value::from(1.0)]),
        ("use_sliding_window", &[Value::Bool(false)]),
    ];
    shared::only(top, &fixed)?;
    shared::silu(top)?;
    let (heads, kv_heads) = shared::heads(top)?;
    let head_dim = shared::even_head_dim(top)?;
    let (rope_theta, rope_scaling) = shared::rope(top)?;
    let attention = Attention {
        heads,
        kv_heads,
        head_dim,
        output_gate: false,
        head_norms: true,
        rotary_dims: head_dim,
        rope_theta,
        rope_scaling,
    };
    let layers = shared::all_attention(top, attention)?;
    let feed_forward = FeedForward::Dense { inner: top.count("intermediate_size")? };
    shared::config(top, top, Family::Qwen3, layers, feed_forward)
}
