//! What arms decode: prompts from the command line, from files, or the built-in set.

use crate::engine::tokenizer::{Tokenizer, TokenizerError};
use crate::transcript::TokenId;
use crate::transcript::format::Prompt;
use crate::transcript::said::in_line;
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

/// Prompts could not be read. Each text begins with where the prompt was given.
#[derive(Debug, thiserror::Error)]
pub enum PromptError {
    /// A text that cannot be encoded.
    #[error("read {origin}: {source}")]
    Tokenizer {
        /// Where it was given.
        origin: String,
        /// What the tokenizer said.
        source: Box<TokenizerError>,
    },
    /// A prompt without ids.
    #[error("read {origin}: the prompt is empty; decoding starts from at least one id")]
    Empty {
        /// Where it was given.
        origin: String,
    },
    /// An id that the model does not have.
    #[error("read {origin}: id {id} is outside the vocabulary, which has ids 0 to {last}")]
    Outside {
        /// Where it was given.
        origin: String,
        /// The id.
        id: TokenId,
        /// The last id of the vocabulary.
        last: usize,
    },
    /// A list of ids that is not one.
    #[error("read {origin}: {word:?} is not an id; write them as in 785,651,374")]
    NotAnId {
        /// Where it was given.
        origin: String,
        /// The word.
        word: String,
    },
    /// A line of a prompt file that is not a prompt.
    #[error("read {origin}: {says}")]
    Line {
        /// File and line.
        origin: String,
        /// What is wrong.
        says: String,
    },
    /// A prompt file without a prompt.
    #[error("read {file}: it holds no prompts; each line is {{\"text\": …}} or {{\"ids\": […]}}")]
    NoLines {
        /// The file.
        file: String,
    },
}

/// Prompts with their ids, numbered as sequences, and where each was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptSet {
    prompts: Vec<Prompt>,
    origins: Vec<String>,
}

/// A line of a prompt file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PromptLine {
    text: Option<String>,
    ids: Option<Vec<TokenId>>,
}

impl PromptSet {
    const fn new() -> Self {
        Self { prompts: Vec::new(), origins: Vec::new() }
    }

    fn add(&mut self, origin: String, ids: Vec<TokenId>, text: Option<String>) {
        let sequence = i64::try_from(self.prompts.len()).unwrap_or(i64::MAX);
        self.prompts.push(Prompt { sequence, ids: Some(ids), text });
        self.origins.push(origin);
    }

    fn encode(&mut self, origin: String, text: &str, tokenizer: &Tokenizer) -> Result<(), PromptError> {
        match tokenizer.encode(text) {
            Ok(ids) => self.add(origin, ids, Some(text.to_owned())),
            Err(source) => return Err(PromptError::Tokenizer { origin, source: Box::new(source) }),
        }
        Ok(())
    }

    /// One text, given in `origin`.
    ///
    /// # Errors
    /// When the tokenizer refuses it.
    pub fn text(origin: &str, text: &str, tokenizer: &Tokenizer) -> Result<Self, PromptError> {
        let mut set = Self::new();
        set.encode(origin.to_owned(), text, tokenizer)?;
        Ok(set)
    }

    /// One list of ids, separated by commas or spaces, brackets allowed.
    ///
    /// # Errors
    /// When a word is not a number.
    pub fn ids(origin: &str, text: &str) -> Result<Self, PromptError> {
        let words = text.split(|c: char| c == ',' || c.is_whitespace() || c == '[' || c == ']');
        let wrong = |word: &str| PromptError::NotAnId { origin: origin.to_owned(), word: word.to_owned() };
        let ids = words.filter(|word| !word.is_empty()).map(|word| word.parse().map_err(|_| wrong(word)));
        let mut set = Self::new();
        set.add(origin.to_owned(), ids.collect::<Result<_, _>>()?, None);
        Ok(set)
    }

    /// JSON lines, each `{"text": …}` or `{"ids": […]}`.
    ///
    /// # Errors
    /// When a line is neither, its text cannot be encoded, or there is no line.
    pub fn lines(file: &str, content: &str, tokenizer: Option<&Tokenizer>) -> Result<Self, PromptError> {
        let mut set = Self::new();
        for (index, line) in content.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let origin = format!("{file} line {}", index + 1);
            let wrong = |says: &str| PromptError::Line { origin: origin.clone(), says: says.to_owned() };
            let read: PromptLine = serde_json::from_str(line).map_err(|error| wrong(&in_line(&error)))?;
            match (read.ids, read.text, tokenizer) {
                (Some(ids), text, _) => set.add(origin, ids, text),
                (None, Some(text), Some(tokenizer)) => set.encode(origin, &text, tokenizer)?,
                (None, Some(_), None) => {
                    return Err(wrong("\"text\", and the model has no tokenizer; give \"ids\""));
                }
                (None, None, _) => return Err(wrong("expected \"text\" or \"ids\"")),
            }
        }
        if set.prompts.is_empty() { Err(PromptError::NoLines { file: file.to_owned() }) } else { Ok(set) }
    }

    /// The built-in texts.
    ///
    /// # Errors
    /// When the tokenizer refuses one.
    pub fn built_in(tokenizer: &Tokenizer) -> Result<Self, PromptError> {
        let mut set = Self::new();
        for (number, text) in BUILT_IN.iter().enumerate() {
            set.encode(format!("built-in prompt {number}"), text, tokenizer)?;
        }
        Ok(set)
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
        let mut set = Self::new();
        for (number, &length) in UNTOKENIZED.iter().enumerate() {
            set.add(format!("drawn prompt {number}"), (0..length).map(|_| draw()).collect(), None);
        }
        set
    }

    /// Checks that every prompt can be decoded by a model of `vocabulary` ids.
    ///
    /// # Errors
    /// Naming the first prompt that cannot.
    pub fn check(&self, vocabulary: usize) -> Result<(), PromptError> {
        for (prompt, origin) in self.prompts.iter().zip(&self.origins) {
            let origin = origin.clone();
            let ids = prompt.ids.as_deref().unwrap_or_default();
            if ids.is_empty() {
                return Err(PromptError::Empty { origin });
            }
            let inside = |id: TokenId| usize::try_from(id).is_ok_and(|id| id < vocabulary);
            if let Some(&id) = ids.iter().find(|id| !inside(**id)) {
                return Err(PromptError::Outside { origin, id, last: vocabulary.saturating_sub(1) });
            }
        }
        Ok(())
    }

    /// The prompts, in order.
    #[must_use]
    pub fn prompts(&self) -> &[Prompt] {
        &self.prompts
    }
}

#[cfg(test)]
mod tests {
    use super::{PromptError, PromptSet};

    #[test]
    fn ids_are_read_however_they_are_separated() {
        for text in ["1,2,3", "1 2 3", "[1, 2, 3]"] {
            let set = PromptSet::ids("--prompt-ids", text).unwrap();
            assert_eq!(set.prompts()[0].ids.as_deref(), Some(&[1, 2, 3][..]), "{text}");
        }
        assert!(matches!(PromptSet::ids("--prompt-ids", "1,x"), Err(PromptError::NotAnId { .. })));
    }

    #[test]
    fn what_cannot_be_decoded_is_named() {
        let checked = |text| PromptSet::ids("--prompt-ids", text).unwrap().check(10);
        assert!(matches!(checked(""), Err(PromptError::Empty { .. })));
        let outside = checked("3,10").unwrap_err().to_string();
        assert_eq!(outside, "read --prompt-ids: id 10 is outside the vocabulary, which has ids 0 to 9");
        assert!(checked("-1").is_err() && checked("9").is_ok());
    }

    #[test]
    fn a_line_that_is_no_prompt_is_named_by_its_number() {
        let says = |content| PromptSet::lines("p.jsonl", content, None).unwrap_err().to_string();
        assert_eq!(says("{\"ids\":[1]}\n\n{}\n"), "read p.jsonl line 3: expected \"text\" or \"ids\"");
        assert!(says("{\"txt\":1}").starts_with("read p.jsonl line 1: unknown field `txt`"));
        assert_eq!(
            says("{\"ids\":[1]}\n{\"ids\":1.5}"),
            "read p.jsonl line 2: invalid type: floating point `1.5`, expected a sequence at column 10"
        );
        assert!(says("\n").starts_with("read p.jsonl: it holds no prompts"));
        let second = PromptSet::lines("p.jsonl", "{\"ids\":[1]}\n\n{\"ids\":[12]}", None).unwrap();
        assert!(second.check(10).unwrap_err().to_string().starts_with("read p.jsonl line 3: id 12 "));
    }

    #[test]
    fn the_same_seed_draws_the_same_prompts() {
        assert_eq!(PromptSet::drawn(3, 100), PromptSet::drawn(3, 100));
        assert_ne!(PromptSet::drawn(3, 100), PromptSet::drawn(4, 100));
        assert!(PromptSet::drawn(3, 100).check(100).is_ok());
    }
}
