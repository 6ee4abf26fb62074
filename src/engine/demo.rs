//! The demo checkpoint and its tokenizer, embedded: the first command that a new user types needs no download.

use super::checkpoint::{Checkpoint, CheckpointError};
use super::tokenizer::{Tokenizer, TokenizerError};

/// The demo's name in transcripts and reports.
pub const NAME: &str = "demo-qwen35-4bit";

const FILES: [(&str, &[u8]); 4] = [
    ("config.json", include_bytes!("../../harness/demo/config.json")),
    ("generation_config.json", include_bytes!("../../harness/demo/generation_config.json")),
    ("model.safetensors", include_bytes!("../../harness/demo/model.safetensors")),
    ("tokenizer.json", include_bytes!("../../harness/demo/tokenizer.json")),
];

/// The embedded checkpoint.
///
/// # Errors
/// Only when the program was built from damaged files.
pub fn checkpoint() -> Result<Checkpoint, CheckpointError> {
    Checkpoint::embedded(NAME, &FILES)
}

/// The embedded tokenizer.
///
/// # Errors
/// Only when the program was built from damaged files.
pub fn tokenizer() -> Result<Tokenizer, TokenizerError> {
    let [.., (file, bytes)] = FILES;
    Tokenizer::from_bytes(file, bytes)
}
