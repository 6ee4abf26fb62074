//! Ids as text, where a tokenizer is given. Without the feature the flag still exists and says what to build.

use super::exit::Failure;
use crate::transcript::TokenId;
use std::path::Path;

/// Spells ids.
#[derive(Debug, Default)]
pub struct Speller {
    #[cfg(feature = "tokenizer")]
    tokenizer: Option<Box<tokenizers::Tokenizer>>,
}

impl Speller {
    /// Opens a tokenizer file, or the folder that holds `tokenizer.json`; without a path ids have no text.
    ///
    /// # Errors
    /// When the file cannot be used, or this build has no tokenizer.
    pub fn open(path: Option<&Path>) -> Result<Self, Failure> {
        path.map_or_else(|| Ok(Self::default()), Self::read)
    }

    #[cfg(not(feature = "tokenizer"))]
    fn read(path: &Path) -> Result<Self, Failure> {
        let path = path.display();
        Err(Failure::unavailable(format!(
            "{path}: this build has no tokenizer; build with --features tokenizer, or leave --tokenizer out to see ids"
        )))
    }

    #[cfg(feature = "tokenizer")]
    fn read(path: &Path) -> Result<Self, Failure> {
        let file = if path.is_dir() { path.join("tokenizer.json") } else { path.to_owned() };
        let fail =
            |says: &dyn std::fmt::Display| Failure::unavailable(format!("read {}: {says}", file.display()));
        let tokenizer = tokenizers::Tokenizer::from_file(&file).map_err(|error| fail(&error))?;
        Ok(Self { tokenizer: Some(Box::new(tokenizer)) })
    }

    /// The text of one id; empty when it is not known.
    #[cfg(not(feature = "tokenizer"))]
    #[must_use]
    pub fn spell(&self, _id: TokenId) -> String {
        String::new()
    }

    /// The text of one id; empty when it is not known.
    #[cfg(feature = "tokenizer")]
    #[must_use]
    pub fn spell(&self, id: TokenId) -> String {
        let text =
            |tokenizer: &tokenizers::Tokenizer| tokenizer.decode(&[u32::try_from(id).ok()?], false).ok();
        self.tokenizer.as_deref().and_then(text).unwrap_or_default()
    }
}
