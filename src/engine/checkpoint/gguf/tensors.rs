//! A file's tensors under canonical names, in the layout that the engine computes with.
//!
//! The format's rope turns neighbouring dimensions, this engine's turns halves of a head; programs that write the
//! format permute the rows of query and key projections for it. The rows are put back here: a row is whole blocks,
//! so codes, scales and biases go with it.

use super::config::Heads;
use super::header::{Entry, Header};
use super::kinds::{BLOCK, Kind};
use super::unpack::Parts;
use crate::engine::checkpoint::bytes::Bytes;
use crate::engine::checkpoint::error::{CheckpointError, Result};
use crate::engine::checkpoint::tensor::{Dtype, TensorView};
use rayon::prelude::*;
use serde_json::{Value, json};
use std::sync::Arc;

/// Modules by the format's name and by the canonical one.
const OUTSIDE: [(&str, &str); 3] =
    [("token_embd", "model.embed_tokens"), ("output_norm", "model.norm"), ("output", "lm_head")];
const INSIDE: [(&str, &str); 9] = [
    ("attn_norm", "input_layernorm"),
    ("attn_q", "self_attn.q_proj"),
    ("attn_k", "self_attn.k_proj"),
    ("attn_v", "self_attn.v_proj"),
    ("attn_output", "self_attn.o_proj"),
    ("ffn_norm", "post_attention_layernorm"),
    ("ffn_gate", "mlp.gate_proj"),
    ("ffn_up", "mlp.up_proj"),
    ("ffn_down", "mlp.down_proj"),
];

/// The canonical name of a tensor; one that is not known keeps its name, and the architecture's list refuses it.
pub(super) fn canonical(name: &str) -> String {
    let known = || {
        let module = name.strip_suffix(".weight")?;
        let find = |list: &[(&str, &'static str)], name: &str| {
            list.iter().find(|(known, _)| *known == name).map(|(_, canonical)| *canonical)
        };
        if let Some(module) = find(&OUTSIDE, module) {
            return Some(format!("{module}.weight"));
        }
        let (layer, module) = module.strip_prefix("blk.")?.split_once('.')?;
        let plain = layer.parse::<u32>().is_ok_and(|number| number.to_string() == layer);
        Some(format!("model.layers.{layer}.{}.weight", find(&INSIDE, module).filter(|_| plain)?))
    };
    known().unwrap_or_else(|| name.to_owned())
}

/// The `quantization` object of config.json: the rule of most modules, and those with another one.
pub(super) fn quantization(header: &Header<'_>) -> Option<Value> {
    let quantized: Vec<(&str, usize)> =
        header.tensors.iter().filter_map(|entry| Some((entry.name, entry.kind.bits()?))).collect();
    let of_four = quantized.iter().filter(|(_, bits)| *bits == 4).count();
    let common = if 2 * of_four >= quantized.len() { 4 } else { 8 };
    let rule = |bits: usize| json!({"mode": "affine", "bits": bits, "group_size": BLOCK});
    let mut whole = rule(common);
    for (name, bits) in quantized.iter().filter(|(_, bits)| *bits != common) {
        let name = canonical(name);
        whole[name.strip_suffix(".weight").unwrap_or(&name)] = rule(*bits);
    }
    (!quantized.is_empty()).then_some(whole)
}

/// All tensors with their canonical names: one for plain numbers, three for a quantized matrix.
pub(super) fn views(header: &Header<'_>, bytes: &Bytes, heads: Heads) -> Result<Vec<(String, TensorView)>> {
    let file: Arc<str> = header.metadata.file().into();
    let views = header.tensors.par_iter().map(|entry| {
        let lent = bytes.slice(entry.range.clone()).unwrap_or_else(|| Bytes::from_static(&[]));
        tensor(&file, entry, (&lent, rows(entry, heads)))
    });
    let views: Vec<Vec<(String, TensorView)>> = views.collect::<Result<_>>()?;
    Ok(views.into_iter().flatten().collect())
}

/// The heads whose rows were permuted, `None` for a tensor whose rows were not.
fn rows(entry: &Entry<'_>, heads: Heads) -> Option<usize> {
    let heads = match canonical(entry.name) {
        name if name.ends_with(".self_attn.q_proj.weight") => heads.queries,
        name if name.ends_with(".self_attn.k_proj.weight") => heads.keys,
        _ => return None,
    };
    // Where this does not hold, the architecture's list refuses the shape.
    entry.shape[0].is_multiple_of(2 * heads).then_some(heads)
}

fn tensor(
    file: &Arc<str>,
    entry: &Entry<'_>,
    (bytes, heads): (&Bytes, Option<usize>),
) -> Result<Vec<(String, TensorView)>> {
    let name = canonical(entry.name);
    let view = |part: &str, dtype, shape: Vec<usize>, bytes| {
        let name_in_file =
            if part == "weight" { entry.name.to_owned() } else { format!("{} ({part})", entry.name) };
        let canonical = match name.strip_suffix(".weight") {
            Some(module) => format!("{module}.{part}"),
            None => format!("{name} ({part})"),
        };
        (canonical, TensorView { file: Arc::clone(file), name_in_file, dtype, shape, bytes })
    };
    let (bytes, rows, kind) = (bytes.clone(), entry.shape.first().copied().unwrap_or(0), entry.kind);
    let Some(bits) = kind.bits() else {
        let Kind::Plain(dtype) = kind else { return Ok(Vec::new()) };
        let bytes = match heads {
            None => bytes,
            Some(heads) => Bytes::unpacked(bytes.len(), move || ordered(rows, &bytes, heads).concat()),
        };
        return Ok(vec![view("weight", dtype, entry.shape.clone(), bytes)]);
    };
    let [outputs, inputs] = *entry.shape.as_slice() else {
        let says = format!("shape {:?}: only matrices may be quantized", entry.shape);
        return Err(CheckpointError::Tensor { file: file.to_string(), tensor: entry.name.to_owned(), says });
    };
    let part = |length: usize, pick: fn(Parts) -> Vec<u8>| {
        let bytes = bytes.clone();
        Bytes::unpacked(length, move || {
            let mut parts = Parts::default();
            match heads {
                Some(heads) => ordered(rows, &bytes, heads).iter().for_each(|row| parts.extend(kind, row)),
                None => parts.extend(kind, &bytes),
            }
            pick(parts)
        })
    };
    let groups = vec![outputs, inputs / BLOCK];
    let halves = outputs * (inputs / BLOCK) * 2;
    let codes = part(outputs * (inputs * bits / 32) * 4, |parts| parts.codes);
    Ok(vec![
        view("weight", Dtype::U32, vec![outputs, inputs * bits / 32], codes),
        view("scales", Dtype::F16, groups.clone(), part(halves, |parts| parts.scales)),
        view("biases", Dtype::F16, groups, part(halves, |parts| parts.biases)),
    ])
}

/// The rows of a permuted projection in the order `[heads, 2, D / 2]`; the file has `[heads, D / 2, 2]`.
fn ordered(rows: usize, bytes: &[u8], heads: usize) -> Vec<&[u8]> {
    let half = rows / heads / 2;
    let length = bytes.len() / rows;
    let row = |index: usize| {
        let (head, side, pair) = (index / (2 * half), index / half % 2, index % half);
        let from = (head * 2 * half + pair * 2 + side) * length;
        &bytes[from..from + length]
    };
    (0..rows).map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::canonical;

    #[test]
    fn names_that_are_not_known_stay_as_they_are() {
        assert_eq!(canonical("blk.7.attn_q.weight"), "model.layers.7.self_attn.q_proj.weight");
        assert_eq!(canonical("output.weight"), "lm_head.weight");
        for name in
            ["blk.07.attn_q.weight", "blk.x.attn_q.weight", "blk.1.attn_q.bias", "rope_freqs.weight", ""]
        {
            assert_eq!(canonical(name), name);
        }
    }
}
