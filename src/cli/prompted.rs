//! The flags that say what is decoded.

use super::console;
use super::exit::Failure;
use super::model::Loaded;
use crate::arms::PromptSet;
use crate::arms::prompts::PromptError;
use crate::engine::tokenizer::Tokenizer;
use std::path::{Path, PathBuf};

/// What is decoded; without any of these, the built-in prompts.
#[derive(Debug, Clone, clap::Args)]
pub struct PromptArgs {
    /// One prompt as text, taken as it stands.
    #[arg(long, value_name = "TEXT", group = "prompted")]
    prompt: Option<String>,
    /// One prompt as the whole content of a file.
    #[arg(long, value_name = "FILE", group = "prompted")]
    prompt_file: Option<PathBuf>,
    /// One prompt as ids, as in 785,6512,374.
    #[arg(long, value_name = "IDS", group = "prompted", allow_hyphen_values = true)]
    prompt_ids: Option<String>,
    /// Many prompts: JSON lines of {"text": …} or {"ids": […]}.
    #[arg(long, value_name = "FILE.jsonl", group = "prompted")]
    prompts: Option<PathBuf>,
    /// Seed of the drawn prompts that a model without a tokenizer gets.
    #[arg(long, default_value_t = 1, value_name = "SEED")]
    prompt_seed: u64,
}

impl PromptArgs {
    /// True when a prompt was named.
    #[must_use]
    pub fn given(&self) -> bool {
        let texts = self.prompt.is_some() || self.prompt_ids.is_some();
        texts || self.prompt_file.is_some() || self.prompts.is_some()
    }

    /// The prompts as ids, checked against the model's vocabulary.
    ///
    /// # Errors
    /// When a file cannot be read, a text cannot be encoded, a prompt is empty or has an id that the model lacks.
    pub fn read(&self, loaded: &Loaded) -> Result<PromptSet, Failure> {
        let vocabulary = loaded.model.config().vocab_size;
        let set = self.set(loaded, vocabulary)?;
        set.check(vocabulary).map_err(|error| unusable(&error))?;
        Ok(set)
    }

    fn set(&self, loaded: &Loaded, vocabulary: usize) -> Result<PromptSet, Failure> {
        let tokenizer = loaded.tokenizer.as_ref();
        let text = |origin: &str, text: &str| {
            PromptSet::text(origin, text, need(tokenizer)?).map_err(|error| unusable(&error))
        };
        if let Some(prompt) = &self.prompt {
            return text("--prompt", prompt);
        }
        if let Some(file) = &self.prompt_file {
            return text(&file.display().to_string(), &read(file)?);
        }
        if let Some(ids) = &self.prompt_ids {
            return PromptSet::ids("--prompt-ids", ids).map_err(|error| unusable(&error));
        }
        if let Some(file) = &self.prompts {
            let name = file.display().to_string();
            return PromptSet::lines(&name, &read(file)?, tokenizer).map_err(|error| unusable(&error));
        }
        if let Some(tokenizer) = tokenizer {
            return PromptSet::built_in(tokenizer).map_err(|error| unusable(&error));
        }
        let seed = self.prompt_seed;
        console::note(&format!("note: the model has no tokenizer; prompts are ids drawn with seed {seed}"));
        Ok(PromptSet::drawn(seed, vocabulary))
    }
}

fn need(tokenizer: Option<&Tokenizer>) -> Result<&Tokenizer, Failure> {
    let says = "failed to read the prompt: the model has no tokenizer.json; give --prompt-ids";
    tokenizer.ok_or_else(|| Failure::unavailable(says))
}

fn read(file: &Path) -> Result<String, Failure> {
    let read = std::fs::read_to_string(file);
    read.map_err(|error| Failure::unavailable(format!("failed to read {}: {error}", file.display())))
}

/// What is wrong with a prompt is wrong with the command line that gave it.
fn unusable(error: &PromptError) -> Failure {
    Failure::usage(format!("failed to {error}"))
}
