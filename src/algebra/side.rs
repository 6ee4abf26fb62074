//! One sequence of one arm, as the comparing side needs it: a stream, and the row behind each of its tokens.
//!
//! A stream may be known as ids, as strings, as text or not at all, whole from a footer or piece by piece from the
//! rounds. Everything that compares asks here, so that all comparisons agree on what the stream was.

use crate::transcript::arm::{Entry, in_order};
use crate::transcript::{Footer, Prefill, Round, Row, Step, TokenId};
use std::borrow::Cow;

/// The lines of one sequence.
#[derive(Debug, Clone, Copy)]
pub struct Side<'a> {
    /// Its number.
    pub sequence: i64,
    /// The prompt's last row.
    pub prefill: Option<&'a Prefill>,
    /// Tokens of plain decoding.
    pub steps: &'a [Step],
    /// Rounds of speculation.
    pub rounds: &'a [Round],
    /// The end.
    pub footer: Option<&'a Footer>,
}

/// Where in an arm's rounds a stream token was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The round's number as recorded.
    pub round: i64,
    /// The row of the block.
    pub row: i64,
    /// Rows of the block.
    pub width: i64,
}

impl Place {
    /// Row 0 is fed the bonus token, every later row a proposal.
    #[must_use]
    pub const fn row_kind(&self) -> &'static str {
        if self.row == 0 { "bonus row" } else { "draft row" }
    }
}

impl<'a> Side<'a> {
    /// The stream as ids: the footer's, else the tokens line by line.
    #[must_use]
    pub fn ids(&self) -> Option<Cow<'a, [TokenId]>> {
        if let Some(tokens) = self.footer.and_then(|footer| footer.tokens.as_deref()) {
            return Some(Cow::Borrowed(tokens));
        }
        self.assembled().map(Cow::Owned)
    }

    /// The stream as its lines give it; unknown without its first token.
    #[must_use]
    pub fn assembled(&self) -> Option<Vec<TokenId>> {
        let mut tokens = vec![self.first_token()?];
        for (_, entry) in in_order(self.steps, self.rounds) {
            match entry {
                Entry::Step(step) => tokens.push(step.token),
                Entry::Round(round) => tokens.extend(&round.emitted),
            }
        }
        Some(tokens)
    }

    /// The prefill token; round 0 starts from it and step 1 is fed it, so each of them knows it too.
    fn first_token(&self) -> Option<TokenId> {
        let of_round = || self.rounds.first().filter(|round| round.round == 0).map(|round| round.bonus);
        let of_step = || self.steps.first().filter(|step| step.index == 1).map(|step| step.input);
        self.prefill.map(|prefill| prefill.token).or_else(of_step).or_else(of_round)
    }

    /// The stream as the server spelled its tokens, unless what else is known of it has another length: equal
    /// beginnings are no equal streams.
    #[must_use]
    pub fn strings(&self) -> Option<&'a [String]> {
        let strings = self.footer?.token_strings.as_deref()?;
        let usage = || usize::try_from(self.footer?.usage?.completion_tokens?).ok();
        let length = self.ids().map(|ids| ids.len()).or_else(usage);
        // An end id may be counted and not shown, or shown by the ids alone.
        let fits = length.is_none_or(|length| strings.len() == length || strings.len() + 1 == length);
        fits.then_some(strings)
    }

    /// The digest of the state after the prompt.
    #[must_use]
    pub fn entering_state(&self) -> Option<&'a str> {
        self.prefill?.state_sha256.as_deref()
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> Option<&'a str> {
        self.footer?.text.as_deref()
    }

    /// Log-probabilities of the stream's tokens, when they carry information: four or more equal ones do not.
    #[must_use]
    pub fn logprobs(&self) -> Option<&'a [Option<f64>]> {
        let logprobs = self.footer?.logprobs.as_deref()?;
        let mut bits = logprobs.iter().flatten().map(|value| value.to_bits());
        let first = bits.next()?;
        (logprobs.len() < 4 || bits.any(|other| other != first)).then_some(logprobs)
    }

    /// Rounds run, from the rounds, else from the counters.
    #[must_use]
    pub fn rounds_run(&self) -> Option<i64> {
        self.counted(|counters| counters.rounds, |rounds| count(rounds.len()))
    }

    /// Tokens proposed, from the rounds, else from the counters.
    #[must_use]
    pub fn proposed(&self) -> Option<i64> {
        let sum = |rounds: &[Round]| rounds.iter().map(|round| count(round.draft.len())).sum();
        self.counted(|counters| counters.drafted, sum)
    }

    fn counted(
        &self,
        reported: impl Fn(&crate::transcript::format::Counters) -> Option<i64>,
        recorded: impl Fn(&[Round]) -> i64,
    ) -> Option<i64> {
        if self.rounds.is_empty() {
            return reported(self.footer?.counters.as_ref()?);
        }
        Some(recorded(self.rounds))
    }

    /// The stream index before each round's first token, with the round.
    pub fn starts(&self) -> impl Iterator<Item = (usize, &'a Round)> + use<'a> {
        in_order(self.steps, self.rounds).filter_map(|(start, entry)| match entry {
            Entry::Step(_) => None,
            Entry::Round(round) => Some((start, round)),
        })
    }

    /// Rows of the block that chose each token of the stream; none for those of plain decoding.
    #[must_use]
    pub fn widths(&self) -> Vec<Option<i64>> {
        let mut widths = Vec::new();
        for (start, round) in self.starts() {
            widths.resize(start.max(widths.len()), None);
            widths.resize(start + round.emitted.len(), Some(round.width));
        }
        widths
    }

    /// The round and row that chose the token at a stream index; none for the prefill token.
    #[must_use]
    pub fn place(&self, index: usize) -> Option<Place> {
        let inside =
            |(start, round): &(usize, &Round)| *start <= index && index < start + round.emitted.len();
        let (start, round) = self.starts().find(inside)?;
        Some(Place { round: round.round, row: count(index - start), width: round.width })
    }

    /// The round that chose the token at a stream index.
    #[must_use]
    pub fn round_at(&self, index: usize) -> Option<&'a Round> {
        let inside =
            |(start, round): &(usize, &Round)| *start <= index && index < start + round.emitted.len();
        self.starts().find(inside).map(|(_, round)| round)
    }

    /// Rounds after which the caches were rewound: a proposal was rejected.
    #[must_use]
    pub fn rewinds(&self) -> usize {
        self.rounds.iter().filter(|round| rewinds(round)).count()
    }

    /// The first stream index that was computed from rewound caches.
    #[must_use]
    pub fn after_first_rewind(&self) -> Option<usize> {
        let (start, round) = self.starts().find(|(_, round)| rewinds(round))?;
        Some(start + round.emitted.len())
    }

    /// The row behind each stream index, up to and with `last`.
    #[must_use]
    pub fn rows(&self, last: usize) -> Vec<Option<&'a Row>> {
        let mut rows = vec![None; last + 1];
        let mut put = |index: usize, row: Option<&'a Row>| {
            if let Some(slot) = rows.get_mut(index) {
                *slot = row;
            }
        };
        put(0, self.prefill.and_then(|prefill| prefill.row.as_ref()));
        for (start, entry) in in_order(self.steps, self.rounds) {
            match entry {
                Entry::Step(step) => put(start, step.row.as_ref()),
                Entry::Round(round) => {
                    let kept = round.rows.iter().flatten().take(round.emitted.len());
                    kept.enumerate().for_each(|(offset, row)| put(start + offset, Some(row)));
                }
            }
        }
        rows
    }
}

/// A proposal was rejected, so rows of the block had to leave the caches.
fn rewinds(round: &Round) -> bool {
    round.accepted < count(round.draft.len())
}

/// A length as the signed number that the format counts in.
pub(super) fn count(length: usize) -> i64 {
    i64::try_from(length).unwrap_or(i64::MAX)
}
