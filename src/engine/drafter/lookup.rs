//! Prompt lookup: proposes what followed the last few tokens the last time they occurred.
//!
//! It is the one drafter without a model that makes real proposals, so it is the default.

use super::{Context, Drafter};
use crate::engine::error::Result;
use crate::transcript::TokenId;

/// Proposes the continuation of the latest earlier occurrence of the stream's end.
#[derive(Debug, Clone)]
pub struct PromptLookup {
    /// Tokens that have to match, at most; shorter matches are tried after longer ones.
    pub longest: usize,
}

impl Drafter for PromptLookup {
    fn propose(&mut self, context: &Context<'_>, count: usize) -> Result<Vec<TokenId>> {
        let text: Vec<TokenId> = context.prompt.iter().chain(context.stream).copied().collect();
        let found = (1..=self.longest).rev().find_map(|length| continuation(&text, length));
        Ok(found.map_or_else(Vec::new, |start| text[start..].iter().take(count).copied().collect()))
    }
}

/// Where the text goes on after the latest earlier occurrence of its last `length` tokens.
fn continuation(text: &[TokenId], length: usize) -> Option<usize> {
    let before_end = text.len().checked_sub(length)?;
    let end = &text[before_end..];
    (0..before_end).rev().find(|&start| &text[start..start + length] == end).map(|start| start + length)
}

#[cfg(test)]
mod tests {
    use super::PromptLookup;
    use crate::engine::drafter::{Context, Drafter};

    #[test]
    fn the_latest_longest_match_is_continued() {
        let mut drafter = PromptLookup { longest: 3 };
        let mut propose = |prompt: &[i64], stream: &[i64], count| {
            drafter.propose(&Context { prompt, stream, round: 0 }, count).unwrap()
        };
        assert_eq!(propose(&[1, 2, 3, 4, 9, 2, 3], &[5, 2, 3], 2), vec![5, 2]);
        assert_eq!(propose(&[1, 2, 3, 7], &[2], 8), vec![3, 7, 2]);
        assert_eq!(propose(&[1, 2, 3], &[4], 3), Vec::<i64>::new());
    }
}
