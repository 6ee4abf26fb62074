//! A drafter as a setting: `oracle`, `wrong`, `cycle:1,3`, `random:7`, `ngram`, `recorded:FILE`.

use super::{Cycle, Drafter, PromptLookup, Random, Recorded};
use crate::transcript::{Arm, ReadError, TokenId};
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Tokens that prompt lookup matches at most, unless the setting says otherwise.
const LOOKUP: usize = 3;

/// Which drafter, with its settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DrafterSpec {
    /// Every proposal is right.
    Oracle,
    /// Every first proposal is wrong.
    Wrong,
    /// Accepted counts, one a round, over and over.
    Cycle(Vec<usize>),
    /// Random ids from a seed.
    Random(u64),
    /// Prompt lookup over at most so many tokens.
    Lookup(usize),
    /// The proposals of a transcript.
    Recorded(PathBuf),
}

/// What a drafter for one sequence is built from.
#[derive(Debug, Clone, Copy)]
pub struct Ground<'a> {
    /// The sequence.
    pub sequence: i64,
    /// Plain decoding's stream.
    pub reference: &'a [TokenId],
    /// Ids in the vocabulary.
    pub vocabulary: usize,
}

/// A text that names no drafter.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// Another word.
    #[error(
        "read drafter {0:?}: there are oracle, wrong, cycle:<counts>, random:<seed>, ngram, recorded:<file>"
    )]
    Unknown(String),
    /// Settings that cannot be read.
    #[error("read drafter {text:?}: {expected}")]
    Settings {
        /// The whole text.
        text: String,
        /// What belongs there.
        expected: &'static str,
    },
}

impl FromStr for DrafterSpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        let (word, settings) = text.split_once(':').unwrap_or((text, ""));
        let wrong = |expected| SpecError::Settings { text: text.to_owned(), expected };
        match (word, settings) {
            ("oracle", "") => Ok(Self::Oracle),
            ("wrong", "") => Ok(Self::Wrong),
            ("ngram", "") => Ok(Self::Lookup(LOOKUP)),
            ("ngram", longest) => {
                let longest = longest.parse().ok().filter(|longest| (1..=16).contains(longest));
                longest
                    .map(Self::Lookup)
                    .ok_or_else(|| wrong("expected 1 to 16 tokens to match, as in ngram:3"))
            }
            ("cycle", counts) => {
                let counts = counts.split(',').map(str::parse).collect::<Result<Vec<usize>, _>>();
                counts.map(Self::Cycle).map_err(|_| wrong("expected accepted counts, as in cycle:1,3"))
            }
            ("random", seed) => {
                seed.parse().map(Self::Random).map_err(|_| wrong("expected a seed, as in random:7"))
            }
            ("recorded", file) if !file.is_empty() => Ok(Self::Recorded(PathBuf::from(file))),
            ("recorded", _) => Err(wrong("expected a transcript, as in recorded:w4.jsonl")),
            _ => Err(SpecError::Unknown(text.to_owned())),
        }
    }
}

impl fmt::Display for DrafterSpec {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Oracle => formatter.write_str("oracle"),
            Self::Wrong => formatter.write_str("wrong"),
            Self::Cycle(counts) => {
                let counts: Vec<String> = counts.iter().map(usize::to_string).collect();
                write!(formatter, "cycle:{}", counts.join(","))
            }
            Self::Random(seed) => write!(formatter, "random:{seed}"),
            Self::Lookup(LOOKUP) => formatter.write_str("ngram"),
            Self::Lookup(longest) => write!(formatter, "ngram:{longest}"),
            Self::Recorded(file) => write!(formatter, "recorded:{}", file.display()),
        }
    }
}

impl DrafterSpec {
    /// The seed, where one decides what is proposed.
    #[must_use]
    pub fn seed(&self) -> Option<u64> {
        match self {
            Self::Random(seed) => Some(*seed),
            _ => None,
        }
    }

    /// Reads what the drafter needs once for all sequences.
    ///
    /// # Errors
    /// When a transcript to repeat cannot be read.
    pub fn prepare(&self) -> Result<Option<Arm>, ReadError> {
        match self {
            Self::Recorded(file) => Arm::read(Path::new(file)).map(Some),
            _ => Ok(None),
        }
    }

    /// A drafter for one sequence; `recording` is what [`DrafterSpec::prepare`] gave.
    #[must_use]
    pub fn build(&self, ground: &Ground<'_>, recording: Option<&Arm>) -> Box<dyn Drafter> {
        let cycle = |counts: Vec<usize>| {
            Box::new(Cycle { reference: ground.reference.to_vec(), counts, vocabulary: ground.vocabulary })
        };
        match self {
            Self::Oracle => cycle(vec![usize::MAX]),
            Self::Wrong => cycle(vec![0]),
            Self::Cycle(counts) => cycle(counts.clone()),
            Self::Random(seed) => {
                let own = seed.wrapping_add(ground.sequence.unsigned_abs());
                Box::new(Random::new(own, ground.vocabulary))
            }
            Self::Lookup(longest) => Box::new(PromptLookup { longest: *longest }),
            Self::Recorded(_) => match recording {
                Some(arm) => Box::new(Recorded::new(arm, ground.sequence)),
                None => Box::new(PromptLookup { longest: 0 }),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::DrafterSpec;

    #[test]
    fn names_survive_a_round_trip() {
        for text in ["oracle", "wrong", "cycle:1,3", "random:7", "ngram", "ngram:5", "recorded:w4.jsonl"] {
            assert_eq!(text.parse::<DrafterSpec>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_no_drafter_is_refused() {
        for text in ["", "mtp", "oracle:1", "cycle", "cycle:", "cycle:a", "random:x", "ngram:0", "recorded:"]
        {
            assert!(text.parse::<DrafterSpec>().is_err(), "{text}");
        }
    }
}
