//! The tokenizer.json that a file's metadata amounts to.
//!
//! Byte-level pair merging alone ("gpt2"), with a splitting rule that the file only names; a name that is not known
//! here is refused, because splitting otherwise would give other ids. The chat template stays where it is: prompts
//! are taken as they stand.

use super::metadata::Metadata;
use crate::engine::checkpoint::error::{CheckpointError, Result};
use serde_json::{Map, Value, json};

const MODEL: &str = "tokenizer.ggml.model";
const SPLIT: &str = "tokenizer.ggml.pre";
const TOKENS: &str = "tokenizer.ggml.tokens";
const TYPES: &str = "tokenizer.ggml.token_type";
const MERGES: &str = "tokenizer.ggml.merges";

/// Token types that are recognised in a text before it is split: control tokens and those that a user added.
const CONTROL: i128 = 3;
const USER: i128 = 4;

/// The text of tokenizer.json, `None` when the file has no tokenizer.
pub(super) fn text(metadata: &Metadata<'_>) -> Result<Option<String>> {
    if metadata.get(MODEL).is_none() {
        return Ok(None);
    }
    if metadata.text(MODEL)? != "gpt2" {
        return Err(metadata.wrong(MODEL, "\"gpt2\", byte-level pair merging"));
    }
    let tokens = metadata.texts(TOKENS)?;
    let whole = json!({
        "version": "1.0",
        "truncation": null,
        "padding": null,
        "added_tokens": added(metadata, &tokens)?,
        "normalizer": null,
        "pre_tokenizer": split(metadata)?,
        "post_processor": null,
        "decoder": byte_level(true),
        "model": {
            "type": "BPE",
            "dropout": null,
            "unk_token": null,
            "continuing_subword_prefix": null,
            "end_of_word_suffix": null,
            "fuse_unk": false,
            "byte_fallback": false,
            "ignore_merges": false,
            "vocab": vocabulary(metadata, &tokens)?,
            "merges": merges(metadata)?,
        },
    });
    Ok(Some(whole.to_string()))
}

/// The rule that cuts a text before merging: digits one by one for `smollm`, and the byte-level rule.
fn split(metadata: &Metadata<'_>) -> Result<Value> {
    match metadata.text(SPLIT)? {
        "smollm" => Ok(json!({
            "type": "Sequence",
            "pretokenizers": [{"type": "Digits", "individual_digits": true}, byte_level(false)],
        })),
        "gpt-2" => Ok(byte_level(false)),
        _ => Err(metadata.wrong(SPLIT, "a known splitting rule: \"smollm\", \"gpt-2\"")),
    }
}

fn byte_level(trims: bool) -> Value {
    json!({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": trims, "use_regex": true})
}

fn vocabulary(metadata: &Metadata<'_>, tokens: &[&str]) -> Result<Map<String, Value>> {
    let mut map = Map::new();
    for (id, token) in tokens.iter().enumerate() {
        if let Some(first) = map.insert((*token).to_owned(), json!(id)) {
            return Err(wrong(metadata, format!("{TOKENS}: token {id} is token {first} again, {token:?}")));
        }
    }
    Ok(map)
}

fn added(metadata: &Metadata<'_>, tokens: &[&str]) -> Result<Vec<Value>> {
    let types = metadata.wholes(TYPES)?.unwrap_or_default();
    if !types.is_empty() && types.len() != tokens.len() {
        let says = format!("a list of {}, one for each token", tokens.len());
        return Err(metadata.wrong(TYPES, &says));
    }
    let listed =
        tokens.iter().zip(&types).enumerate().filter(|(_, (_, kind))| [CONTROL, USER].contains(kind));
    let entry = |(id, (token, kind)): (usize, (&&str, &i128))| {
        json!({
            "id": id, "content": token, "single_word": false, "lstrip": false, "rstrip": false,
            "normalized": false, "special": *kind == CONTROL,
        })
    };
    Ok(listed.map(entry).collect())
}

/// Pairs in the order of merging; the file writes a pair with a blank in between.
fn merges<'a>(metadata: &Metadata<'a>) -> Result<Vec<[&'a str; 2]>> {
    let pair = |(index, merge): (usize, &'a str)| match merge.split_once(' ') {
        Some((left, right)) if !left.is_empty() && !right.is_empty() && !right.contains(' ') => {
            Ok([left, right])
        }
        _ => Err(wrong(metadata, format!("{MERGES}: merge {index}, {merge:?}, is no pair"))),
    };
    metadata.texts(MERGES)?.into_iter().enumerate().map(pair).collect()
}

fn wrong(metadata: &Metadata<'_>, says: String) -> CheckpointError {
    CheckpointError::Gguf { file: metadata.file().to_owned(), says }
}
