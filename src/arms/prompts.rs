//! What arms decode: prompts from the command line, from files, or the built-in set.

use crate::engine::tokenizer::{Tokenizer, TokenizerError};
use crate::transcript::TokenId;
use crate::transcript::format::Prompt;
use serde::Deserialize;

/// The built-in prompts: prose, code, a list, a dialogue; short ones and one past 100 tokens.
const BUILT_IN: [&str; 4] = [
    "The harbour lay quiet under the first light, and the boats",
    "def moving_average(values, window):\n    \"\"\"Return the mean of each run of `window` values.\"\"\"\n    ",
    "To restore the database from a backup, follow these steps:\n\n1. Stop the server.\n2. ",
    "A lighthouse keeper wrote in his log every evening. He noted the wind, the height of the waves, the ships \
     that passed and the state of the lamp. When the storm came he wrote that the glass had fallen all day, that \
     the gulls had gone inland, and that he had brought in more oil than he thought he would need. In the morning \
     the log was still open on the table, and the last line said that",
];

/// Prompts of a model without a tokenizer: their lengths in ids, drawn evenly from the vocabulary.
const UNTOKENIZED: [usize; 4] = [16, 37, 64, 158];

/// Prompts could not be read.
#[derive(Debug, thiserror::Error)]
pub enum PromptError {
    /// A text has no ids.
    #[error(transparent)]
    Tokenizer(#[from] TokenizerError),
    /// A prompt without ids.
    #[error("read prompt {number}: it has no ids")]
    Empty {
        /// 0-based.
        number: usize,
    },
    /// An id that the model does not have.
    #[error("read prompt {number}: id {id} is outside the vocabulary of {vocabulary}")]
    Outside {
        /// 0-based.
        number: usize,
        /// The id.
        id: TokenId,
        /// Ids in the vocabulary.
        vocabulary: usize,
    },
    /// A list of ids that is not one.
    #[error("read prompt ids: {word:?} is not an id; write them as in 785,6512,374")]
    NotAnId {
        /// The word.
        word: String,
    },
    /// A line of a prompt file that is not a prompt.
    #[error("read {file} line {line}: {says}")]
    Line {
        /// The file.
        file: String,
        /// 1-based.
        line: usize,
        /// What is wrong.
        says: String,
    },
}

/// Prompts with their ids, numbered as sequences.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptSet(Vec<Prompt>);

/// A line of a prompt file.
#[derive(Deserialize)]
struct PromptLine {
    text: Option<String>,
    ids: Option<Vec<TokenId>>,
}

impl PromptSet {
    /// One text.
    ///
    /// # Errors
    /// When it has no ids.
    pub fn text(text: &str, tokenizer: &Tokenizer) -> Result<Self, PromptError> {
        Ok(Self(vec![encoded(0, text, tokenizer)?]))
    }

    /// One list of ids, separated by commas or spaces, brackets allowed.
    ///
    /// # Errors
    /// When a word is not a number.
    pub fn ids(text: &str) -> Result<Self, PromptError> {
        let words = text.split(|c: char| c == ',' || c.is_whitespace() || c == '[' || c == ']');
        let ids = words
            .filter(|word| !word.is_empty())
            .map(|word| word.parse().map_err(|_| PromptError::NotAnId { word: word.to_owned() }));
        Ok(Self(vec![Prompt { sequence: 0, ids: Some(ids.collect::<Result<_, _>>()?), text: None }]))
    }

    /// JSON lines, each `{"text": …}` or `{"ids": […]}`.
    ///
    /// # Errors
    /// When a line is neither, or its text cannot be encoded.
    pub fn lines(file: &str, content: &str, tokenizer: Option<&Tokenizer>) -> Result<Self, PromptError> {
        let mut prompts = Vec::new();
        for (index, line) in content.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let wrong = |says: String| PromptError::Line { file: file.to_owned(), line: index + 1, says };
            let read: PromptLine = serde_json::from_str(line).map_err(|error| wrong(error.to_string()))?;
            prompts.push(match (read.ids, read.text, tokenizer) {
                (Some(ids), text, _) => Prompt { sequence: number(prompts.len()), ids: Some(ids), text },
                (None, Some(text), Some(tokenizer)) => encoded(prompts.len(), &text, tokenizer)?,
                (None, Some(_), None) => {
                    return Err(wrong("a text, and the model has no tokenizer".to_owned()));
                }
                (None, None, _) => return Err(wrong("expected \"text\" or \"ids\"".to_owned())),
            });
        }
        Ok(Self(prompts))
    }

    /// The built-in texts.
    ///
    /// # Errors
    /// When the tokenizer refuses one.
    pub fn built_in(tokenizer: &Tokenizer) -> Result<Self, PromptError> {
        let prompts = BUILT_IN.iter().enumerate().map(|(number, text)| encoded(number, text, tokenizer));
        Ok(Self(prompts.collect::<Result<_, _>>()?))
    }

    /// Ids drawn from a seed, for a model without a tokenizer.
    #[must_use]
    pub fn drawn(seed: u64, vocabulary: usize) -> Self {
        let mut state = seed;
        let mut draw = || {
            // A linear congruential step (Knuth's MMIX constants); its high bits are even enough for prompts.
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            i64::try_from((state >> 33) % vocabulary.max(1) as u64).unwrap_or(0)
        };
        let prompts = UNTOKENIZED.iter().enumerate().map(|(index, &length)| {
            let ids = (0..length).map(|_| draw()).collect();
            Prompt { sequence: number(index), ids: Some(ids), text: None }
        });
        Self(prompts.collect())
    }

    /// Checks that every prompt can be decoded by a model of `vocabulary` ids.
    ///
    /// # Errors
    /// Naming the first prompt that cannot.
    pub fn check(&self, vocabulary: usize) -> Result<(), PromptError> {
        for (number, prompt) in self.0.iter().enumerate() {
            let ids = prompt.ids.as_deref().unwrap_or_default();
            if ids.is_empty() {
                return Err(PromptError::Empty { number });
            }
            let inside = |id: TokenId| usize::try_from(id).is_ok_and(|id| id < vocabulary);
            if let Some(&id) = ids.iter().find(|id| !inside(**id)) {
                return Err(PromptError::Outside { number, id, vocabulary });
            }
        }
        Ok(())
    }

    /// The prompts, in order.
    #[must_use]
    pub fn prompts(&self) -> &[Prompt] {
        &self.0
    }
}

fn encoded(number_: usize, text: &str, tokenizer: &Tokenizer) -> Result<Prompt, PromptError> {
    let ids = tokenizer.encode(text)?;
    Ok(Prompt { sequence: number(number_), ids: Some(ids), text: Some(text.to_owned()) })
}

fn number(index: usize) -> i64 {
    i64::try_from(index).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::{PromptError, PromptSet};

    #[test]
    fn ids_are_read_however_they_are_separated() {
        for text in ["1,2,3", "1 2 3", "[1, 2, 3]"] {
            let set = PromptSet::ids(text).unwrap();
            assert_eq!(set.prompts()[0].ids.as_deref(), Some(&[1, 2, 3][..]), "{text}");
        }
        assert!(matches!(PromptSet::ids("1,x"), Err(PromptError::NotAnId { .. })));
    }

    #[test]
    fn what_cannot_be_decoded_is_named() {
        assert!(matches!(PromptSet::ids("").unwrap().check(10), Err(PromptError::Empty { number: 0 })));
        assert!(matches!(
            PromptSet::ids("3,10").unwrap().check(10),
            Err(PromptError::Outside { id: 10, .. })
        ));
        assert!(PromptSet::ids("-1").unwrap().check(10).is_err());
        let lines = PromptSet::lines("p.jsonl", "{\"ids\":[1]}\n\n{\"txt\":1}\n", None);
        assert_eq!(lines.unwrap_err().to_string(), "read p.jsonl line 3: expected \"text\" or \"ids\"");
    }

    #[test]
    fn the_same_seed_draws_the_same_prompts() {
        assert_eq!(PromptSet::drawn(3, 100), PromptSet::drawn(3, 100));
        assert_ne!(PromptSet::drawn(3, 100), PromptSet::drawn(4, 100));
        assert!(PromptSet::drawn(3, 100).check(100).is_ok());
    }
}
