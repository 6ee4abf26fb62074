//! What both sides are driven over: the prompt and the rounds, with every block's rows and how many of them stay.
//!
//! It comes from a transcript, from a live arm's own lines, or from a pattern of kept rows over plain decoding's
//! stream. Nobody drafts while it is replayed, so nothing but the arithmetic can part the sides.

use crate::transcript::{Round as Recorded, TokenId};
use serde::{Deserialize, Serialize};

/// One block and what stays of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Round {
    /// The bonus and the proposals.
    pub block: Vec<TokenId>,
    /// Rows that stay; 1 to all.
    pub kept: usize,
    /// What the arm chose from each kept row, where it is known.
    pub chosen: Vec<TokenId>,
    /// SHA-256 of the kept rows' bytes as they were recorded, where they were.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recorded: Vec<String>,
}

/// A prompt and its rounds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// At least one id.
    pub prompt: Vec<TokenId>,
    /// In order.
    pub rounds: Vec<Round>,
}

/// Rounds that cannot be driven again. Each text fits after "failed to replay …: ".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScriptError {
    /// A round accepts more than was proposed.
    #[error(
        "round {0} accepts more than it was offered; check-algebra tells what is wrong with the transcript"
    )]
    Accepted(usize),
    /// A round does not begin with the token before it.
    #[error(
        "round {0} does not begin with the last token of the round before; check-algebra tells what is wrong with \
         the transcript"
    )]
    Bonus(usize),
    /// A width that keeps more rows than a block has.
    #[error("a pattern keeps {kept} rows of a block of {width}; kept rows are 1 to the width")]
    Pattern {
        /// Rows to keep.
        kept: usize,
        /// Rows of a block.
        width: usize,
    },
    /// No round at all.
    #[error("there is no round to replay")]
    Empty,
}

impl Script {
    /// The rounds of a transcript's sequence, or of an arm that has just run.
    ///
    /// # Errors
    /// When a round breaks the chain of committed tokens.
    pub fn recorded(prompt: Vec<TokenId>, rounds: &[Recorded]) -> Result<Self, ScriptError> {
        let mut all: Vec<Round> = Vec::new();
        for (number, round) in rounds.iter().enumerate() {
            let accepted = usize::try_from(round.accepted).ok().filter(|count| *count <= round.draft.len());
            let kept = accepted.ok_or(ScriptError::Accepted(number))? + 1;
            if all.last().is_some_and(|before| before.chosen.last() != Some(&round.bonus)) {
                return Err(ScriptError::Bonus(number));
            }
            let block = std::iter::once(round.bonus).chain(round.draft.iter().copied()).collect();
            let chosen: Vec<TokenId> = round.target.iter().copied().take(kept).collect();
            if chosen.len() < kept {
                return Err(ScriptError::Accepted(number));
            }
            all.push(Round { block, kept, chosen, recorded: digests(round, kept) });
        }
        if all.is_empty() { Err(ScriptError::Empty) } else { Ok(Self { prompt, rounds: all }) }
    }

    /// Blocks of `width` rows over `stream`, plain decoding's tokens from the prompt's own first one on, that keep as
    /// many rows as `pattern` says in turn; rows past them are wrong proposals from a vocabulary of so many ids.
    ///
    /// # Errors
    /// When the pattern is empty or keeps more rows than a block has, or the stream has no token to feed.
    pub fn pattern(
        prompt: Vec<TokenId>,
        stream: &[TokenId],
        (pattern, width): (&[usize], usize),
        vocabulary: usize,
    ) -> Result<Self, ScriptError> {
        if let Some(&kept) = pattern.iter().find(|kept| !(1..=width).contains(*kept)) {
            return Err(ScriptError::Pattern { kept, width });
        }
        let turns = pattern.iter().copied().cycle().map(|kept| (width, kept));
        Self::shaped(prompt, stream, turns, vocabulary)
    }

    /// Blocks over `stream` of given widths and kept rows, as many as the stream has tokens for.
    ///
    /// # Errors
    /// When there is no block or no token to feed.
    pub fn shaped(
        prompt: Vec<TokenId>,
        stream: &[TokenId],
        shapes: impl Iterator<Item = (usize, usize)>,
        vocabulary: usize,
    ) -> Result<Self, ScriptError> {
        let rows = stream.len().saturating_sub(1);
        let ids = i64::try_from(vocabulary).unwrap_or(i64::MAX).max(1);
        let (mut rounds, mut done) = (Vec::new(), 0);
        for (width, kept) in shapes {
            if done >= rows {
                break;
            }
            let kept = kept.min(rows - done);
            let mut block = stream[done..done + kept].to_vec();
            let wrong = |place: usize| stream.get(place).map_or(0, |token| (token + 1) % ids);
            block.extend((done + kept..done + width).map(wrong));
            let chosen = stream[done + 1..=done + kept].to_vec();
            rounds.push(Round { block, kept, chosen, recorded: Vec::new() });
            done += kept;
        }
        if rounds.is_empty() { Err(ScriptError::Empty) } else { Ok(Self { prompt, rounds }) }
    }

    /// Tokens that go in past the prompt.
    #[must_use]
    pub fn tokens(&self) -> usize {
        self.rounds.iter().map(|round| round.kept).sum()
    }

    /// The committed tokens: the prompt's first one and what every kept row chose.
    #[must_use]
    pub fn stream(&self) -> Vec<TokenId> {
        let first = self.rounds.first().and_then(|round| round.block.first());
        first.copied().into_iter().chain(self.rounds.iter().flat_map(|round| round.chosen.clone())).collect()
    }

    /// Tokens that went in before round `round`.
    #[must_use]
    pub fn before(&self, round: usize) -> usize {
        self.rounds[..round.min(self.rounds.len())].iter().map(|round| round.kept).sum()
    }

    /// The absolute position of a row of a round.
    #[must_use]
    pub fn position(&self, round: usize, row: usize) -> u64 {
        (self.prompt.len() + self.before(round) + row) as u64
    }

    /// Rows of the widest block.
    #[must_use]
    pub fn width(&self) -> usize {
        self.rounds.iter().map(|round| round.block.len()).max().unwrap_or(0)
    }
}

/// The digests of the kept rows, or none when one is missing.
fn digests(round: &Recorded, kept: usize) -> Vec<String> {
    let rows = round.rows.iter().flatten().take(kept);
    let digests: Vec<String> = rows.filter_map(|row| row.sha256.clone()).collect();
    if digests.len() == kept { digests } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::{Script, ScriptError};
    use crate::transcript::Round;

    fn recorded(bonus: i64, draft: &[i64], target: &[i64], accepted: i64) -> Round {
        Round { bonus, draft: draft.to_vec(), target: target.to_vec(), accepted, ..Round::default() }
    }

    #[test]
    fn rounds_keep_the_bonus_and_what_was_accepted() {
        let rounds = [recorded(7, &[8, 9], &[8, 3, 1], 1), recorded(3, &[], &[4], 0)];
        let script = Script::recorded(vec![1, 2], &rounds).unwrap();
        assert_eq!((script.tokens(), script.before(1), script.position(1, 0)), (3, 2, 4));
        assert_eq!(script.stream(), [7, 8, 3, 4]);
        assert_eq!(script.width(), 3);
    }

    #[test]
    fn broken_rounds_are_refused() {
        let refused = |rounds: &[Round]| Script::recorded(vec![1], rounds).unwrap_err();
        assert_eq!(refused(&[]), ScriptError::Empty);
        assert_eq!(refused(&[recorded(7, &[8], &[8, 9], 2)]), ScriptError::Accepted(0));
        assert_eq!(refused(&[recorded(7, &[8], &[8], 1)]), ScriptError::Accepted(0));
        let unchained = [recorded(7, &[8], &[8, 9], 1), recorded(8, &[], &[4], 0)];
        assert_eq!(refused(&unchained), ScriptError::Bonus(1));
    }

    #[test]
    fn a_pattern_ends_with_the_stream() {
        let stream = [10, 11, 12, 13, 14];
        let script = Script::pattern(vec![1], &stream, (&[1, 3], 3), 12).unwrap();
        let blocks: Vec<_> = script.rounds.iter().map(|round| (round.block.clone(), round.kept)).collect();
        assert_eq!(blocks, [(vec![10, 0, 1], 1), (vec![11, 12, 13], 3)]);
        assert_eq!(script.stream(), stream);
        let refused = Script::pattern(vec![1], &stream, (&[4], 3), 12).unwrap_err();
        assert_eq!(refused, ScriptError::Pattern { kept: 4, width: 3 });
        assert_eq!(Script::pattern(vec![1], &[10], (&[1], 1), 12).unwrap_err(), ScriptError::Empty);
    }
}
