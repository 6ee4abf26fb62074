//! Llama: full attention over plainly projected heads, dense feed-forward.

use super::shared;
use crate::engine::checkpoint::config::{Attention, Config, Family, FeedForward};
use crate::engine::checkpoint::error::Result;
use crate::engine::checkpoint::fields::Fields;
use serde_json::Value;

pub(super) fn parse(top: &Fields<'_>) -> Result<Config> {
    let one = [Value::from(1), Value::from(1.0)];
    let fixed: [(&str, &[Value]); 7] = [
        ("attention_bias", &[Value::Bool(false)]),
        ("mlp_bias", &[Value::Bool(false)]),
        ("partial_rotary_factor", &one),
        ("pretraining_tp", &one),
        ("rope_traditional", &[Value::Bool(false)]),
        ("sliding_window", &[]),
        ("use_sliding_window", &[Value::Bool(false)]),
    ];
    shared::only(top, &fixed)?;
    shared::silu(top)?;
    let layers = shared::all_attention(top, attention(top)?)?;
    let feed_forward = FeedForward::Dense { inner: top.count("intermediate_size")? };
    shared::config(top, top, Family::Llama, layers, feed_forward)
}

fn attention(top: &Fields<'_>) -> Result<Attention> {
    // Files from before grouped heads state neither, where the architecture means these.
    let grouped = top.get("num_key_value_heads").is_some();
    let (heads, kv_heads) = if grouped {
        shared::heads(top)?
    } else {
        let heads = top.count("num_attention_heads")?;
        (heads, heads)
    };
    let head_dim =
        if top.get("head_dim").is_some() { shared::even_head_dim(top)? } else { equal_share(top, heads)? };
    let (rope_theta, rope_scaling) = shared::rope(top)?;
    Ok(Attention {
        heads,
        kv_heads,
        head_dim,
        output_gate: false,
        head_norms: false,
        rotary_dims: head_dim,
        rope_theta,
        rope_scaling,
    })
}

fn equal_share(top: &Fields<'_>, heads: usize) -> Result<usize> {
    let hidden = top.count("hidden_size")?;
    if hidden.is_multiple_of(2 * heads) {
        return Ok(hidden / heads);
    }
    Err(top.wrong("hidden_size", &format!("an even multiple of num_attention_heads, {heads}, or a head_dim")))
}
