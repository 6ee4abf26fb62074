//! Text to ids and back, as a checkpoint's own tokenizer.json says.
//!
//! A comparison is over ids; text comes in where people give prompts and read results. No token is put in front
//! or behind, because what a prompt's ids are has to be visible in the prompt.

use super::checkpoint::{Checkpoint, CheckpointError};
use crate::transcript::TokenId;
use std::fmt;
use std::path::Path;

const FILE: &str = "tokenizer.json";

/// A tokenizer could not be used.
#[derive(Debug, thiserror::Error)]
pub enum TokenizerError {
    /// There is none, or it cannot be read.
    #[error("read the tokenizer ({source}); without one, give --prompt-ids")]
    Missing {
        /// Which file, and why.
        source: CheckpointError,
    },
    /// The file is not a tokenizer that the library understands.
    #[error("read {file} as a tokenizer: {says}")]
    Malformed {
        /// The file.
        file: String,
        /// What the library said.
        says: String,
    },
    /// A text has no ids, or ids no text.
    #[error("{operation}: {says}")]
    Refused {
        /// `encode …` or `decode …`.
        operation: String,
        /// What the library said.
        says: String,
    },
}

/// A loaded tokenizer.
pub struct Tokenizer(tokenizers::Tokenizer);

impl fmt::Debug for Tokenizer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Tokenizer of {} entries", self.0.get_vocab_size(true))
    }
}

impl Tokenizer {
    /// Loads a checkpoint's tokenizer.json.
    ///
    /// # Errors
    /// When the checkpoint has none (the message names `--prompt-ids`) or it is malformed.
    pub fn of(checkpoint: &Checkpoint) -> Result<Self, TokenizerError> {
        let bytes = checkpoint.file(FILE).map_err(|source| TokenizerError::Missing { source })?;
        Self::from_bytes(&checkpoint.label(FILE), &bytes)
    }

    /// Loads a tokenizer.json, or the one in a folder.
    ///
    /// # Errors
    /// When it cannot be read or is malformed.
    pub fn open(path: &Path) -> Result<Self, TokenizerError> {
        let file = if path.is_dir() { path.join(FILE) } else { path.to_owned() };
        let label = file.display().to_string();
        let bytes = std::fs::read(&file).map_err(|source| TokenizerError::Missing {
            source: CheckpointError::Io { file: label.clone(), source },
        })?;
        Self::from_bytes(&label, &bytes)
    }

    /// Loads the bytes of a tokenizer.json; `file` is its name for messages.
    ///
    /// # Errors
    /// When they are malformed.
    pub fn from_bytes(file: &str, bytes: &[u8]) -> Result<Self, TokenizerError> {
        let loaded = tokenizers::Tokenizer::from_bytes(bytes);
        loaded
            .map(Self)
            .map_err(|error| TokenizerError::Malformed { file: file.to_owned(), says: error.to_string() })
    }

    /// The ids of a text. Special tokens are recognised where the text spells them; none are added.
    ///
    /// # Errors
    /// When the tokenizer has no ids for a part of the text.
    pub fn encode(&self, text: &str) -> Result<Vec<TokenId>, TokenizerError> {
        let encoding = self.0.encode_fast(text, false).map_err(|error| TokenizerError::Refused {
            operation: format!("encode a text of {} bytes", text.len()),
            says: error.to_string(),
        })?;
        Ok(encoding.get_ids().iter().map(|id| TokenId::from(*id)).collect())
    }

    /// The text of ids, special tokens spelled out. Bytes that are not UTF-8 become U+FFFD; ids outside the
    /// vocabulary have no text and are left out.
    ///
    /// # Errors
    /// When the tokenizer's decoder refuses.
    pub fn decode(&self, ids: &[TokenId]) -> Result<String, TokenizerError> {
        let known: Vec<u32> = ids.iter().filter_map(|id| u32::try_from(*id).ok()).collect();
        self.0.decode(&known, false).map_err(|error| TokenizerError::Refused {
            operation: format!("decode {} ids", ids.len()),
            says: error.to_string(),
        })
    }

    /// One token as text for display: what it decodes to or, for a part of a character, the vocabulary's own
    /// spelling. `None` outside the vocabulary.
    #[must_use]
    pub fn token_text(&self, id: TokenId) -> Option<String> {
        let id = u32::try_from(id).ok()?;
        let spelling = self.0.id_to_token(id)?;
        let text = self.0.decode(&[id], false).ok()?;
        Some(if text.contains(char::REPLACEMENT_CHARACTER) { spelling } else { text })
    }
}

#[cfg(test)]
mod tests {
    use super::Tokenizer;
    use crate::engine::demo;

    #[test]
    fn ids_of_the_goldens_and_back() {
        let tokenizer = demo::tokenizer().unwrap();
        let text = "Mr. Darcy looked at her with";
        let ids = tokenizer.encode(text).unwrap();
        assert_eq!(ids, [44, 81, 13, 451, 291, 66, 88, 1172, 279, 438, 588, 363]);
        assert_eq!(tokenizer.decode(&ids).unwrap(), text);
    }

    #[test]
    fn special_tokens_are_recognised_and_never_added() {
        let tokenizer = demo::tokenizer().unwrap();
        assert_eq!(tokenizer.encode("<|im_start|>").unwrap(), [4094]);
        assert_eq!(tokenizer.encode("").unwrap(), [0_i64; 0]);
        assert_eq!(tokenizer.decode(&[4094, 4095]).unwrap(), "<|im_start|><|im_end|>");
    }

    #[test]
    fn display_of_single_tokens() {
        let tokenizer = demo::tokenizer().unwrap();
        assert_eq!(tokenizer.token_text(363).as_deref(), Some(" with"));
        assert_eq!(tokenizer.token_text(4096), None);
        assert_eq!(tokenizer.token_text(-1), None);
        // The first byte of a longer character has no text of its own.
        let part = tokenizer.encode("\u{1F980}").unwrap()[0];
        assert!(!tokenizer.token_text(part).unwrap().contains('\u{FFFD}'));
    }

    #[test]
    fn a_missing_tokenizer_names_the_way_out() {
        let folder = tempfile::tempdir().unwrap();
        let says = Tokenizer::open(folder.path()).unwrap_err().to_string();
        assert!(says.contains("tokenizer.json") && says.ends_with("give --prompt-ids"), "{says}");
        let says = Tokenizer::from_bytes("t/tokenizer.json", b"{}").unwrap_err().to_string();
        assert!(says.starts_with("read t/tokenizer.json as a tokenizer: "), "{says}");
    }
}
