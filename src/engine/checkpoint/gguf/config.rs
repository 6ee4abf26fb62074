//! The config.json that a file's metadata amounts to.
//!
//! Only keys that are understood may stand under the architecture's own name: one that is not could change the
//! arithmetic. What the keys are then worth is for the architecture's own parser to say, as for any other model.

use super::header::Header;
use super::metadata::Metadata;
use super::tensors;
use super::value::Value;
use crate::engine::checkpoint::error::{CheckpointError, Result};
use serde_json::json;

/// The only architecture that is read.
const ARCHITECTURE: &str = "llama";
/// Where the file does not say; the architecture's first models had it.
const THETA: f64 = 10_000.0;

/// More heads than this are taken for a broken file.
const MOST_HEADS: usize = 1 << 16;

/// Keys under the architecture's name that are read here, or say nothing about the arithmetic.
const KNOWN: [&str; 11] = [
    "llama.attention.head_count",
    "llama.attention.head_count_kv",
    "llama.attention.key_length",
    "llama.attention.layer_norm_rms_epsilon",
    "llama.attention.value_length",
    "llama.block_count",
    "llama.context_length",
    "llama.embedding_length",
    "llama.feed_forward_length",
    "llama.rope.freq_base",
    "llama.rope.dimension_count",
];

/// Query heads, key and value heads: what permutes the rows of their projections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Heads {
    pub(super) queries: usize,
    pub(super) keys: usize,
}

/// The text of config.json.
pub(super) fn text(header: &Header<'_>) -> Result<String> {
    let metadata = &header.metadata;
    refuse_others(metadata)?;
    let heads = heads(metadata)?;
    let epsilon = "llama.attention.layer_norm_rms_epsilon";
    let mut whole = json!({
        "model_type": "llama",
        "hidden_size": metadata.need_whole("llama.embedding_length")?,
        "intermediate_size": metadata.need_whole("llama.feed_forward_length")?,
        "num_hidden_layers": metadata.need_whole("llama.block_count")?,
        "num_attention_heads": heads.queries,
        "num_key_value_heads": heads.keys,
        "head_dim": head_dim(metadata, heads)?,
        "rms_norm_eps": metadata.number(epsilon)?.ok_or_else(|| metadata.wrong(epsilon, "a finite number"))?,
        "rope_theta": metadata.number("llama.rope.freq_base")?.unwrap_or(THETA),
        "max_position_embeddings": metadata.whole("llama.context_length")?,
        "attention_bias": false,
        "mlp_bias": false,
        "hidden_act": "silu",
        "vocab_size": vocabulary(header)?,
        "tie_word_embeddings": header.tensors.iter().all(|entry| entry.name != "output.weight"),
        "eos_token_id": end_ids(metadata)?,
    });
    if let Some(quantization) = tensors::quantization(header) {
        whole["quantization"] = quantization;
    }
    Ok(whole.to_string())
}

/// The heads of permuted projections.
pub(super) fn heads(metadata: &Metadata<'_>) -> Result<Heads> {
    let count = |key: &str| -> Result<Option<usize>> {
        let inside = |value: &usize| (1..=MOST_HEADS).contains(value);
        let Some(value) = metadata.whole(key)? else { return Ok(None) };
        let count = usize::try_from(value).ok().filter(inside);
        count.map(Some).ok_or_else(|| metadata.wrong(key, &format!("a whole number from 1 to {MOST_HEADS}")))
    };
    let key = "llama.attention.head_count";
    let queries = count(key)?.ok_or_else(|| metadata.wrong(key, "a whole number"))?;
    Ok(Heads { queries, keys: count("llama.attention.head_count_kv")?.unwrap_or(queries) })
}

fn refuse_others(metadata: &Metadata<'_>) -> Result<()> {
    const NAME: &str = "general.architecture";
    if metadata.text(NAME)? != ARCHITECTURE {
        return Err(metadata.wrong(NAME, "\"llama\", the only architecture that is read from GGUF files"));
    }
    // These may stand there with the value that means the same as their absence.
    let idle = |key: &str| match key {
        "llama.vocab_size" => true,
        "llama.rope.scaling.type" => metadata.get(key) == Some(&Value::Text("none")),
        "llama.expert_count" | "llama.expert_used_count" => metadata.get(key) == Some(&Value::Whole(0)),
        _ => KNOWN.contains(&key),
    };
    match metadata.keys().find(|key| key.starts_with("llama.") && !idle(key)) {
        None => Ok(()),
        Some(key) => Err(metadata.wrong(key, "absent (what it asks for is not supported)")),
    }
}

/// A head's width; all of it is rotated, and keys and values have the same.
fn head_dim(metadata: &Metadata<'_>, heads: Heads) -> Result<i64> {
    let share =
        metadata.need_whole("llama.embedding_length")? / i64::try_from(heads.queries).unwrap_or(i64::MAX);
    let width = metadata.whole("llama.attention.key_length")?.unwrap_or(share);
    for key in ["llama.attention.value_length", "llama.rope.dimension_count"] {
        if metadata.whole(key)?.is_some_and(|other| other != width) {
            return Err(metadata.wrong(key, &format!("{width}, the width of a head")));
        }
    }
    Ok(width)
}

/// Rows of the embedding, which the file may state, too.
fn vocabulary(header: &Header<'_>) -> Result<usize> {
    let metadata = &header.metadata;
    let embedding = header.tensors.iter().find(|entry| entry.name == "token_embd.weight");
    let Some(embedding) = embedding else {
        let says = "there is none, so there is no vocabulary".to_owned();
        let (file, tensor) = (metadata.file().to_owned(), "token_embd.weight".to_owned());
        return Err(CheckpointError::Tensor { file, tensor, says });
    };
    let rows = embedding.shape[0];
    let same = |stated: i64| usize::try_from(stated).is_ok_and(|stated| stated == rows);
    match metadata.whole("llama.vocab_size")? {
        Some(stated) if !same(stated) => {
            Err(metadata.wrong("llama.vocab_size", &format!("{rows}, the rows of token_embd.weight")))
        }
        _ => Ok(rows),
    }
}

/// Ends of text: of a document, of a turn.
fn end_ids(metadata: &Metadata<'_>) -> Result<Vec<i64>> {
    let keys = ["tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id"];
    let ids = keys.into_iter().filter_map(|key| metadata.whole(key).transpose());
    ids.collect()
}
