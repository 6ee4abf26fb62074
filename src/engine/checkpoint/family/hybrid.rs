//! What the families with gated delta nets share: which layers have one, its sizes, and a rope on a part of each
//! head.

use super::shared::{self, rope_number, single};
use crate::engine::checkpoint::config::{Attention, DeltaNet, Mixer};
use crate::engine::checkpoint::error::Result;
use crate::engine::checkpoint::fields::Fields;
use serde_json::Value;

/// The layers, as listed or by the interval between those with full attention.
pub(super) fn layers(text: &Fields<'_>, attention: Attention, delta: DeltaNet) -> Result<Vec<Mixer>> {
    let count = shared::layer_count(text)?;
    let (attention, delta) = (Mixer::Attention(attention), Mixer::DeltaNet(delta));
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

/// Gated attention with head norms; `rope` is the object of that name, where there is one.
pub(super) fn attention(text: &Fields<'_>, rope: Option<&Fields<'_>>) -> Result<Attention> {
    let (heads, kv_heads) = shared::heads(text)?;
    let head_dim = text.count("head_dim")?;
    Ok(Attention {
        heads,
        kv_heads,
        head_dim,
        output_gate: true,
        head_norms: true,
        rotary_dims: rotary_dims(text, rope, head_dim)?,
        rope_theta: single(rope_number(text, rope, "rope_theta")?.0),
        rope_scaling: None,
    })
}

/// The rotated part of a head.
fn rotary_dims(text: &Fields<'_>, rope: Option<&Fields<'_>>, head_dim: usize) -> Result<usize> {
    const NAME: &str = "partial_rotary_factor";
    let (factor, place) = rope_number(text, rope, NAME)?;
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

/// `fused`: the four input projections are stored as two.
pub(super) fn delta_net(text: &Fields<'_>, fused: bool) -> Result<DeltaNet> {
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
        fused,
    })
}
