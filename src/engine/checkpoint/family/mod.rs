//! The families of text models: one small file each says which configurations it takes and what they mean.
//!
//! `shared` reads what all of them state, `hybrid` what the families with gated delta nets do, `experts` what
//! those with experts do. A field that
//! chooses between variants of the arithmetic must ask for the variant that this engine computes; any other value
//! is refused by name, because a silently ignored field would be a wrong model.

mod experts;
mod hybrid;
mod llama;
mod qwen3;
mod qwen35;
mod qwen3_next;
mod shared;

use super::config::{Config, Family};
use super::error::Result;
use super::fields::Fields;

const KNOWN: [&str; 7] =
    ["llama", "qwen3", "qwen3_next", "qwen3_5", "qwen3_5_text", "qwen3_5_moe", "qwen3_5_moe_text"];

/// Reads everything but the end ids, by the family that `model_type` names.
pub(super) fn parse(top: &Fields<'_>) -> Result<Config> {
    match top.text("model_type")? {
        "llama" => llama::parse(top),
        "qwen3" => qwen3::parse(top),
        "qwen3_next" => qwen3_next::parse(top),
        "qwen3_5" | "qwen3_5_text" => qwen35::parse(top, Family::Qwen35),
        "qwen3_5_moe" | "qwen3_5_moe_text" => qwen35::parse(top, Family::Qwen35Moe),
        _ => {
            let known = KNOWN.map(|name| format!("\"{name}\""));
            Err(top.wrong("model_type", &format!("a supported one: {}", known.join(", "))))
        }
    }
}
