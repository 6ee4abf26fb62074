//! The config.json that a file's metadata amounts to.
//!
//! Only keys that are understood may stand under the architecture's own name: one that is not could change the
//! arithmetic. What the keys are then worth is for the architecture's own parser to say, as for any other model.

use super::header::Header;
use super::metadata::Metadata;
use super::tensors;
use super::value::Value;
use crate::engine::checkpoint::error::{CheckpointError, Result};
use serde_json::{Map, json};

/// The only architecture that is read.
const ARCHITECTURE: &str = "llama";
/// Where the file does not say; the architecture's first models had it.
const THETA: f64 = 10_000.0;

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
    let mut map = Map::new();
    let mut set = |name: &str, value: serde_json::Value| drop(map.insert(name.to_owned(), value));
    set("model_type", json!("llama"));
    for (name, key) in [
        ("hidden_size", "llama.embedding_length"),
        ("intermediate_size", "llama.feed_forward_length"),
        ("num_hidden_layers", "llama.block_count"),
        ("num_attention_heads", "llama.attention.head_count"),
    ] {
        set(name, json!(metadata.need_whole(key)?));
    }
    let heads = metadata.need_whole("llama.attention.head_count")?;
    set("num_key_value_heads", json!(metadata.whole("llama.attention.head_count_kv")?.unwrap_or(heads)));
    set("head_dim", json!(head_dim(metadata)?));
    let epsilon = "llama.attention.layer_norm_rms_epsilon";
    set("rms_norm_eps", json!(metadata.number(epsilon)?.ok_or_else(|| metadata.wrong(epsilon, "a number"))?));
    set("rope_theta", json!(metadata.number("llama.rope.freq_base")?.unwrap_or(THETA)));
    set("max_position_embeddings", json!(metadata.whole("llama.context_length")?));
    for name in ["attention_bias", "mlp_bias"] {
        set(name, json!(false));
    }
    set("hidden_act", json!("silu"));
    set("vocab_size", json!(vocabulary(header)?));
    set("tie_word_embeddings", json!(header.tensors.iter().all(|entry| entry.name != "output.weight")));
    set("eos_token_id", json!(end_ids(metadata)?));
    if let Some(quantization) = tensors::quantization(header) {
        set("quantization", quantization);
    }
    Ok(serde_json::Value::Object(map).to_string())
}

/// The heads that permuted projections have; both divide what they have to divide once config.json was read.
pub(super) fn heads(metadata: &Metadata<'_>) -> Result<Heads> {
    let count = |key: &str| -> Result<Option<usize>> {
        let value = metadata.whole(key)?;
        let count = value.map(|value| usize::try_from(value).ok().filter(|count| *count > 0));
        count.map(|count| count.ok_or_else(|| metadata.wrong(key, "a whole number from 1 on"))).transpose()
    };
    let key = "llama.attention.head_count";
    let queries = count(key)?.ok_or_else(|| metadata.wrong(key, "a whole number from 1 on"))?;
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
fn head_dim(metadata: &Metadata<'_>) -> Result<i64> {
    let (hidden, heads) =
        (metadata.need_whole("llama.embedding_length")?, metadata.need_whole("llama.attention.head_count")?);
    let stated = metadata.whole("llama.attention.key_length")?;
    let width = stated.unwrap_or(if heads > 0 { hidden / heads } else { 0 });
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
