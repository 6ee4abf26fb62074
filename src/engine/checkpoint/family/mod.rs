//! The families of text models: one small file each says which configurations it takes and what they mean.
//!
//! `shared` reads what all of them state, `hybrid` what the two families with gated delta nets do. A field that
//! chooses between variants of the arithmetic must ask for the variant that this engine computes; any other value
//! is refused by name, because a silently ignored field would be a wrong model.

mod hybrid;
mod llama;
mod qwen3;
mod qwen35;
mod shared;

use super::config::Config;
use super::error::Result;
use super::fields::Fields;

/// Reads everything but the end ids, by the family that `model_type` names.
pub(super) fn parse(top: &Fields<'_>) -> Result<Config> {
    match top.text("model_type")? {
        "llama" => llama::parse(top),
        "qwen3" => qwen3::parse(top),
        "qwen3_5" | "qwen3_5_text" => qwen35::parse(top),
        _ => {
            let known = ["llama", "qwen3", "qwen3_5", "qwen3_5_text"].map(|name| format!("\"{name}\""));
            Err(top.wrong("model_type", &format!("a supported one: {}", known.join(", "))))
        }
    }
}
