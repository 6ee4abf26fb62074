//! What every family's configuration states: sizes, heads, the rope, and fields with only one computable value.

use crate::engine::checkpoint::config::{Attention, Config, Family, FeedForward, Llama3, Mixer};
use crate::engine::checkpoint::error::Result;
use crate::engine::checkpoint::fields::Fields;
use serde_json::Value;

/// More layers than this are taken for a broken file.
const MOST_LAYERS: usize = 1024;

/// A configuration of what `text` states beside its layers; `top` is the same object or the one around it.
pub(super) fn config(
    top: &Fields<'_>,
    text: &Fields<'_>,
    family: Family,
    layers: Vec<Mixer>,
    feed_forward: FeedForward,
) -> Result<Config> {
    let tie = if text.get("tie_word_embeddings").is_some() { text } else { top };
    Ok(Config {
        family,
        model_type: top.text("model_type")?.to_owned(),
        vocab_size: text.count("vocab_size")?,
        hidden_size: text.count("hidden_size")?,
        feed_forward,
        rms_norm_eps: single(text.number("rms_norm_eps")?),
        layers,
        tie_word_embeddings: tie.flag("tie_word_embeddings")?,
        end_ids: Vec::new(),
        max_positions: text
            .get("max_position_embeddings")
            .map(|_| text.count("max_position_embeddings"))
            .transpose()?,
    })
}

/// Refuses a field that is there with a value that is none of those listed.
pub(super) fn only(text: &Fields<'_>, fixed: &[(&str, &[Value])]) -> Result<()> {
    for (name, allowed) in fixed {
        if text.get(name).is_some_and(|value| !allowed.contains(value)) {
            let list: Vec<String> =
                allowed.iter().map(Value::to_string).chain(["absent".to_owned()]).collect();
            return Err(text.wrong(name, &list.join(" or ")));
        }
    }
    Ok(())
}

/// The activation of every feed-forward here.
pub(super) fn silu(text: &Fields<'_>) -> Result<()> {
    if text.text("hidden_act")? == "silu" { Ok(()) } else { Err(text.wrong("hidden_act", "\"silu\"")) }
}

pub(super) fn layer_count(text: &Fields<'_>) -> Result<usize> {
    let count = text.count("num_hidden_layers")?;
    if count > MOST_LAYERS {
        return Err(text.wrong("num_hidden_layers", &format!("at most {MOST_LAYERS}")));
    }
    Ok(count)
}

/// The layers of a model that has full attention alone; newer files list that.
pub(super) fn all_attention(text: &Fields<'_>, attention: Attention) -> Result<Vec<Mixer>> {
    let count = layer_count(text)?;
    let full = vec![Value::from("full_attention"); count];
    if text.get("layer_types").is_some_and(|kinds| *kinds != Value::Array(full)) {
        let says = format!("a list of {count} (num_hidden_layers) of \"full_attention\", or absent");
        return Err(text.wrong("layer_types", &says));
    }
    Ok(vec![Mixer::Attention(attention); count])
}

/// Query heads, and key and value heads, which divide them.
pub(super) fn heads(text: &Fields<'_>) -> Result<(usize, usize)> {
    let (heads, kv_heads) = (text.count("num_attention_heads")?, text.count("num_key_value_heads")?);
    if !heads.is_multiple_of(kv_heads) {
        return Err(text.wrong("num_key_value_heads", &format!("a divisor of num_attention_heads, {heads}")));
    }
    Ok((heads, kv_heads))
}

/// A head's width where all of it is rotated, in pairs.
pub(super) fn even_head_dim(text: &Fields<'_>) -> Result<usize> {
    let head_dim = text.count("head_dim")?;
    if head_dim.is_multiple_of(2) { Ok(head_dim) } else { Err(text.wrong("head_dim", "an even number")) }
}

/// A number of the rope: inside `rope_parameters` (newer files), beside the sizes, or both. Gives its place, too.
pub(super) fn rope_number<'f, 'a>(
    text: &'f Fields<'a>,
    rope: Option<&'f Fields<'a>>,
    name: &str,
) -> Result<(f64, &'f Fields<'a>)> {
    let Some(rope) = rope.filter(|rope| rope.get(name).is_some()) else {
        return Ok((text.number(name)?, text));
    };
    let value = rope.number(name)?;
    if text.get(name).is_some_and(|other| other.as_f64() != Some(value)) {
        return Err(text.wrong(name, &format!("the {value} of rope_parameters")));
    }
    Ok((value, rope))
}

/// `rope_type` (transformers) or `type` (files that mlx-lm wrote); both where both are given.
pub(super) fn rope_kind<'a>(rope: &Fields<'a>, known: &[&str]) -> Result<&'a str> {
    let names: Vec<&str> =
        ["rope_type", "type"].into_iter().filter(|name| rope.get(name).is_some()).collect();
    let says = || known.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(" or ");
    let Some(first) = names.first() else { return Err(rope.wrong("rope_type", &says())) };
    let kind = rope.text(first)?;
    for name in &names {
        if rope.text(name)? != kind || !known.contains(&kind) {
            return Err(rope.wrong(name, &says()));
        }
    }
    Ok(kind)
}

/// Base and stretching of a rope over whole heads. The kind stands in `rope_parameters` or, in older files, in
/// `rope_scaling`; where there is neither, it is the plain one.
pub(super) fn rope(text: &Fields<'_>) -> Result<(f32, Option<Llama3>)> {
    let parameters = text.nested("rope_parameters")?;
    let scaling = text.nested("rope_scaling")?;
    let (theta, _) = rope_number(text, parameters.as_ref(), "rope_theta")?;
    if parameters.is_some() && scaling.is_some() {
        return Err(text.wrong("rope_scaling", "absent beside rope_parameters"));
    }
    let Some(rope) = parameters.or(scaling) else { return Ok((single(theta), None)) };
    let stretched = rope_kind(&rope, &["default", "llama3"])? == "llama3";
    Ok((single(theta), stretched.then(|| llama3(&rope)).transpose()?))
}

fn llama3(rope: &Fields<'_>) -> Result<Llama3> {
    let (low, high) = (rope.number("low_freq_factor")?, rope.number("high_freq_factor")?);
    if high <= low {
        return Err(rope.wrong("high_freq_factor", &format!("more than low_freq_factor, {low}")));
    }
    Ok(Llama3 {
        factor: single(rope.number("factor")?),
        low: single(low),
        high: single(high),
        positions: single(rope.number("original_max_position_embeddings")?),
    })
}

#[expect(clippy::cast_possible_truncation, reason = "the engine computes with f32 constants")]
pub(super) fn single(value: f64) -> f32 {
    value as f32
}
