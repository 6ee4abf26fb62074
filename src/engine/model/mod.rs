//! The text models: feed-forward, layer, and the stack from ids to logits.

mod layer;
mod mlp;
mod moe;
mod text;

pub use text::{Logits, TextModel};
