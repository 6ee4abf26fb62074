//! One open sequence: what it did so far, and the round that waits to know what follows it.

use super::laws::law::count;
use super::laws::place::Root;
use super::laws::{Facts, State, TokenLine};
use crate::transcript::Round;

/// A sequence whose footer was not seen yet.
#[derive(Debug, Default)]
pub struct Open {
    /// What it did.
    pub state: State,
    held: Option<(Option<u64>, Box<Round>)>,
    ordinal: u64,
}

impl Open {
    /// Before its first line.
    #[must_use]
    pub fn new(sequence: i64, facts: &Facts) -> Self {
        let prompt = facts.prompts.get(&sequence).copied().flatten();
        Self { state: State { sequence, prompt, ..State::default() }, held: None, ordinal: 0 }
    }

    /// Keeps a round until the next line. The first bonus repeats a prefill token that was not recorded.
    pub fn hold(&mut self, number: Option<u64>, round: Box<Round>) {
        self.held = Some((number, round));
    }

    /// The round that waited; the state is then the one before it.
    pub fn release(&mut self) -> Option<(Option<u64>, Box<Round>)> {
        let (number, round) = self.held.take()?;
        if self.state.root == Root::Unknown && self.state.rounds == 0 && round.round == 0 {
            self.imply(round.bonus);
        }
        Some((number, round))
    }

    fn imply(&mut self, first: i64) {
        if self.state.stream.is_empty() {
            self.state.root = Root::Implied;
            self.state.stream.push(first);
        }
    }

    /// The place of the next line in its sequence.
    pub fn next_ordinal(&mut self) -> u64 {
        self.ordinal += 1;
        self.ordinal
    }

    /// What a token line tells about the state before it.
    pub fn before_token(&mut self, line: TokenLine) {
        match line {
            TokenLine::Prefill(prefill) => self.state.prompt = self.state.prompt.or(prefill.cache_len),
            TokenLine::Step(step) if self.state.root == Root::Unknown && step.index == 1 => {
                self.imply(step.input);
            }
            TokenLine::Step(_) => {}
        }
    }

    /// Adds a token line's token.
    pub fn after_token(&mut self, line: TokenLine, facts: &Facts) {
        match line {
            TokenLine::Prefill(prefill) => {
                if self.state.stream.is_empty() {
                    self.state.root = Root::Prefill;
                }
                self.state.push(prefill.token, facts);
            }
            TokenLine::Step(step) => {
                self.state.steps += 1;
                self.state.last_step = Some(step.index);
                self.state.push(step.token, facts);
            }
        }
    }

    /// Adds a round.
    pub fn after_round(&mut self, round: &Round, facts: &Facts) {
        let state = &mut self.state;
        state.ran_on |= state.first_end.is_some();
        for token in &round.emitted {
            state.push(*token, facts);
        }
        let walk = round.walked.unwrap_or(round.accepted);
        let walked = usize::try_from(walk).unwrap_or(0).min(round.draft.len());
        if state.per_position.len() < round.draft.len() {
            state.per_position.resize(round.draft.len(), 0);
        }
        for accepts in &mut state.per_position[..walked] {
            *accepts += 1;
        }
        state.next_round = round.round.saturating_add(1);
        state.rounds += 1;
        state.slot = round.state_committed;
        state.proposed = state.proposed.saturating_add(count(round.draft.len()));
        state.accepted = state.accepted.saturating_add(round.accepted);
        state.walked = state.walked.saturating_add(walk);
        let first_dropped = round.target.get(round.emitted.len());
        let short = count(round.emitted.len()) <= round.accepted;
        state.dropped_end = short && first_dropped.is_some_and(|token| facts.is_end(*token));
    }
}
