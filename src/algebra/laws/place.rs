//! What a law may look at: the header's facts, what its sequence did before, and the line in question.

use super::law::count;
use crate::transcript::format::{DrafterCache, FinishReason, Window};
use crate::transcript::{ArmKind, Footer, Header, Prefill, Round, Step, TokenId};
use std::collections::BTreeMap;

/// What the header says that laws use. Prompts are kept as lengths, because a run can have thousands.
#[derive(Debug, Clone)]
pub struct Facts {
    /// Classic or speculative.
    pub kind: ArmKind,
    /// Block width.
    pub width: Option<i64>,
    /// Number of logits in a row.
    pub vocab_size: Option<i64>,
    /// Token budget.
    pub max_tokens: Option<i64>,
    /// Ids that end a text.
    pub eos_ids: Option<Vec<TokenId>>,
    /// End ids do not end the run.
    pub ignore_eos: Option<bool>,
    /// How a window shares its accepted length.
    pub window: Option<Window>,
    /// What the drafter keeps.
    pub drafter_cache: Option<DrafterCache>,
    /// Prompt lengths by sequence.
    pub prompts: BTreeMap<i64, Option<i64>>,
}

impl Facts {
    /// The facts of a header.
    #[must_use]
    pub fn new(header: &Header) -> Self {
        let length = |ids: &Vec<TokenId>| count(ids.len());
        let prompts = header.prompts.iter().map(|prompt| (prompt.sequence, prompt.ids.as_ref().map(length)));
        Self {
            kind: header.kind,
            width: header.width,
            vocab_size: header.vocab_size,
            max_tokens: header.max_tokens,
            eos_ids: header.eos_ids.clone(),
            ignore_eos: header.ignore_eos,
            window: header.window,
            drafter_cache: header.drafter.as_ref().and_then(|drafter| drafter.cache),
            prompts: prompts.collect(),
        }
    }

    /// True for an end id of the header's list.
    #[must_use]
    pub fn is_end(&self, token: TokenId) -> bool {
        self.eos_ids.as_ref().is_some_and(|ids| ids.contains(&token))
    }

    /// End ids end the run: known only when both keys are.
    #[must_use]
    pub fn ends_at_end_id(&self) -> Option<bool> {
        match (self.ignore_eos, &self.eos_ids) {
            (Some(true), _) => Some(false),
            (Some(false), Some(_)) => Some(true),
            _ => None,
        }
    }

    /// More than one sequence runs, so that rows can meet in one round.
    #[must_use]
    pub fn shares_rounds(&self) -> bool {
        self.prompts.len() > 1
    }
}

/// What a sequence did before the line in question.
#[derive(Debug, Clone, Default)]
pub struct State {
    /// Which sequence.
    pub sequence: i64,
    /// Prompt length, from its ids or from the prefill's cache.
    pub prompt: Option<i64>,
    /// Everything emitted, from index 0 when `root` is known.
    pub stream: Vec<TokenId>,
    /// How index 0 is known.
    pub root: Root,
    /// Stream index of the first end id.
    pub first_end: Option<usize>,
    /// The number that the next round should have.
    pub next_round: i64,
    /// Rounds seen.
    pub rounds: i64,
    /// Steps seen.
    pub steps: i64,
    /// The stream index that the last step gave itself.
    pub last_step: Option<i64>,
    /// The slot committed last.
    pub slot: Option<i64>,
    /// Proposals.
    pub proposed: i64,
    /// Committed drafts.
    pub accepted: i64,
    /// Drafts that the walk accepted, where a window committed fewer.
    pub walked: i64,
    /// Walks that passed each draft position.
    pub per_position: Vec<i64>,
    /// The cut last round dropped an end id first: the server strips it.
    pub dropped_end: bool,
    /// A round after an end id was told already; the ones after it are no news.
    pub ran_on: bool,
}

/// How the token at stream index 0 is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Root {
    /// Not at all.
    #[default]
    Unknown,
    /// From the first bonus or the first input, which repeat it.
    Implied,
    /// From the prefill line.
    Prefill,
}

impl State {
    /// Tokens emitted so far, the prefill token included.
    #[must_use]
    pub fn emitted(&self) -> Option<i64> {
        (self.root != Root::Unknown).then(|| count(self.stream.len()))
    }

    /// Target cache length that fits what was emitted: the last token is not in it yet.
    #[must_use]
    pub fn cache(&self) -> Option<i64> {
        Some(self.prompt?.saturating_add(self.emitted()? - 1))
    }

    /// The stream of the lines, when they hold one from index 0 on.
    #[must_use]
    pub fn assembled(&self) -> Option<&[TokenId]> {
        let recorded = self.rounds + self.steps > 0;
        (recorded && self.root != Root::Unknown).then_some(&self.stream)
    }

    /// Adds a token to the stream.
    pub fn push(&mut self, token: TokenId, facts: &Facts) {
        if self.first_end.is_none() && facts.is_end(token) {
            self.first_end = Some(self.stream.len());
        }
        self.stream.push(token);
    }
}

/// A prefill or step line.
#[derive(Debug, Clone, Copy)]
pub enum TokenLine<'a> {
    /// Stream index 0.
    Prefill(&'a Prefill),
    /// One token of plain decoding.
    Step(&'a Step),
}

/// A token line and what came before it.
#[derive(Debug)]
pub struct TokenAt<'a> {
    /// The header.
    pub facts: &'a Facts,
    /// Before the line.
    pub state: &'a State,
    /// The line.
    pub line: TokenLine<'a>,
}

/// What follows a round in its sequence.
#[derive(Debug, Clone, Copy)]
pub enum Next<'a> {
    /// Another round or step.
    More,
    /// The footer.
    Footer(&'a Footer),
    /// Nothing: the run is cut.
    Nothing,
}

/// A round, what came before it and what follows.
#[derive(Debug)]
pub struct RoundAt<'a> {
    /// The header.
    pub facts: &'a Facts,
    /// Before the round.
    pub state: &'a State,
    /// The round.
    pub round: &'a Round,
    /// What follows it.
    pub next: Next<'a>,
}

impl RoundAt<'_> {
    /// Proposals that the width allows.
    #[must_use]
    pub fn proposals(&self) -> i64 {
        self.round.width.saturating_sub(1)
    }

    /// Lengths and range hold, so that drafts and rows can be walked side by side.
    #[must_use]
    pub fn is_sane(&self) -> bool {
        let (n, round) = (self.proposals(), self.round);
        let lengths = count(round.draft.len()) == n && count(round.target.len()) == round.width;
        lengths && (0..=n).contains(&round.accepted)
    }

    /// Longest common prefix of the proposals and what the rows chose.
    #[must_use]
    pub fn walk(&self) -> i64 {
        let pairs = self.round.draft.iter().zip(&self.round.target);
        count(pairs.take_while(|(draft, target)| draft == target).count())
    }

    /// What the rows chose to emit: accepted drafts, then the token of the row after them. Of a sane round.
    #[must_use]
    pub fn chosen(&self) -> Vec<TokenId> {
        let accepted = usize::try_from(self.round.accepted).unwrap_or(0);
        let mut tokens: Vec<TokenId> = self.round.draft.iter().take(accepted).copied().collect();
        tokens.extend(self.round.target.get(accepted));
        tokens
    }

    /// True when fewer tokens were emitted than rows were kept.
    #[must_use]
    pub fn is_short(&self) -> bool {
        count(self.round.emitted.len()) <= self.round.accepted
    }

    /// Rows that may have been kept: exact, except in a last round that was cut.
    #[must_use]
    pub fn kept(&self) -> std::ops::RangeInclusive<i64> {
        let kept = self.round.accepted.saturating_add(1);
        let cut = self.is_short() && !matches!(self.next, Next::More);
        if cut { count(self.round.emitted.len())..=kept } else { kept..=kept }
    }
}

/// A footer and everything before it.
#[derive(Debug)]
pub struct EndAt<'a> {
    /// The header.
    pub facts: &'a Facts,
    /// The whole sequence.
    pub state: &'a State,
    /// Its footer.
    pub footer: &'a Footer,
}

impl EndAt<'_> {
    /// The stream as told, else as recorded.
    #[must_use]
    pub fn tokens(&self) -> Option<&[TokenId]> {
        self.footer.tokens.as_deref().or_else(|| self.state.assembled())
    }

    /// Its length, else the usage's.
    #[must_use]
    pub fn count(&self) -> Option<i64> {
        let usage = || self.footer.usage.and_then(|usage| usage.completion_tokens);
        self.tokens().map(|tokens| count(tokens.len())).or_else(usage)
    }

    /// An end id may have been taken off the stream: it could have ended there, and does not show it.
    #[must_use]
    pub fn may_be_stripped(&self) -> bool {
        let reason = matches!(self.footer.finish_reason, Some(FinishReason::Stop) | None);
        let last = self.tokens().and_then(<[TokenId]>::last);
        reason && !last.is_some_and(|token| self.facts.is_end(*token))
    }

    /// An end id was taken off the stream: something recorded counts one token more.
    #[must_use]
    pub fn is_stripped(&self) -> bool {
        let Some(tokens) = self.tokens() else { return false };
        let one_more = count(tokens.len()) + 1;
        let usage = self.footer.usage.and_then(|usage| usage.completion_tokens) == Some(one_more);
        let logprobs = self.footer.logprobs.as_ref().is_some_and(|list| count(list.len()) == one_more);
        self.may_be_stripped() && (usage || logprobs || self.state.dropped_end || self.strips(tokens))
    }

    /// The lines hold the told stream and then one end id.
    #[must_use]
    pub fn strips(&self, told: &[TokenId]) -> bool {
        let stripped = self.state.assembled().and_then(<[TokenId]>::split_last);
        stripped.is_some_and(|(last, rest)| rest == told && self.facts.is_end(*last))
    }
}
