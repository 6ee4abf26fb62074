//! Laws about one round by itself: ids, numbers, lengths.

use super::law::{Fault, Outcome, count};
use super::place::{Facts, RoundAt, TokenAt, TokenLine};
use crate::transcript::TokenId;
use crate::transcript::counted::counted;
use serde_json::{Value, json};

/// `vocabulary` at a round.
pub(super) fn vocabulary(at: &RoundAt) -> Outcome {
    let round = at.round;
    let outside = |ids: &[TokenId]| ids.iter().position(|id| is_outside(at.facts, *id));
    if is_outside(at.facts, round.bonus) {
        return foreign(at.facts, "bonus", 0, round.bonus);
    }
    if let Some(row) = outside(&round.target) {
        return foreign(at.facts, "target", row, round.target[row]);
    }
    if let Some(row) = outside(&round.emitted) {
        return foreign(at.facts, "emitted", row, round.emitted[row]);
    }
    if let Some(index) = outside(&round.draft) {
        let id = round.draft[index];
        let says = format!("proposal {index} is {id}, a placeholder among the rejected ones");
        return Outcome::Broken(Box::new(Fault::new(range(at.facts), id, says).at(index + 1).warning()));
    }
    upper_bound(at.facts)
}

/// `vocabulary` at a prefill or step line.
pub(super) fn token_vocabulary(at: &TokenAt) -> Outcome {
    let token = match at.line {
        TokenLine::Prefill(prefill) => prefill.token,
        TokenLine::Step(step) => step.token,
    };
    if is_outside(at.facts, token) {
        return Outcome::broken(
            range(at.facts),
            token,
            format!("the token {token} is no id of the vocabulary"),
        );
    }
    upper_bound(at.facts)
}

fn is_outside(facts: &Facts, id: TokenId) -> bool {
    id < 0 || facts.vocab_size.is_some_and(|size| id >= size)
}

fn range(facts: &Facts) -> Value {
    json!(
        facts
            .vocab_size
            .map_or_else(|| "0 or more".to_owned(), |size| format!("0 … {}", size.saturating_sub(1)))
    )
}

fn foreign(facts: &Facts, key: &str, row: usize, id: TokenId) -> Outcome {
    Outcome::broken_at(row, range(facts), id, format!("{key} holds {id}, which is no id of the vocabulary"))
}

/// Without the vocabulary's size only negative ids can be told.
fn upper_bound(facts: &Facts) -> Outcome {
    if facts.vocab_size.is_some() { Outcome::Holds } else { Outcome::Missing(&["vocab_size"]) }
}

/// `round-sequence`.
pub(super) fn round_sequence(at: &RoundAt) -> Outcome {
    let (expected, found) = (at.state.next_round, at.round.round);
    Outcome::equal(expected, found, || {
        let what =
            if found < expected { "was recorded before, or out of order" } else { "is missing before it" };
        let which = if found < expected { format!("round {found}") } else { format!("round {expected}") };
        format!("{which} {what}")
    })
}

/// `draft-length`.
pub(super) fn draft_length(at: &RoundAt) -> Outcome {
    let (expected, found) = (at.proposals(), count(at.round.draft.len()));
    Outcome::equal(expected, found, || {
        format!("a block of width {} has {expected} proposals, draft holds {found}", at.round.width)
    })
}

/// `target-length`.
pub(super) fn target_length(at: &RoundAt) -> Outcome {
    let (expected, found) = (at.round.width, count(at.round.target.len()));
    Outcome::equal(expected, found, || {
        format!("a block of width {expected} has {}, target holds {found}", counted(expected, "row"))
    })
}

/// `accept-range`.
pub(super) fn accept_range(at: &RoundAt) -> Outcome {
    let (n, accepted) = (at.proposals(), at.round.accepted);
    if (0..=n).contains(&accepted) {
        return Outcome::Holds;
    }
    Outcome::broken(format!("0 … {n}"), accepted, format!("{accepted} accepted of {n} proposals"))
}
