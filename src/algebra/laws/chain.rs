//! Laws about how one line continues the one before.

use super::law::Outcome;
use super::place::{Root, RoundAt, TokenAt, TokenLine};

/// `round-after-stop`.
pub(super) fn round_after_stop(at: &RoundAt) -> Outcome {
    match (at.facts.ends_at_end_id(), at.state.first_end) {
        (Some(false), _) => Outcome::Silent,
        (Some(true), None) => Outcome::Holds,
        (Some(true), Some(_)) if at.state.ran_on => Outcome::Silent,
        (Some(true), Some(index)) => Outcome::broken(
            "no further round",
            at.round.round,
            format!("this round starts after the end id {} at stream index {index}", at.state.stream[index]),
        ),
        (None, _) => Outcome::Missing(&["eos_ids", "ignore_eos"]),
    }
}

/// `bonus-chain`.
pub(super) fn bonus_chain(at: &RoundAt) -> Outcome {
    let implied = at.state.root == Root::Implied && at.state.stream.len() == 1;
    match at.state.stream.last() {
        Some(last) if !implied => Outcome::equal(*last, at.round.bonus, || {
            format!("the round starts from {}, the last token emitted before it is {last}", at.round.bonus)
        }),
        _ => Outcome::Missing(&["prefill"]),
    }
}

/// `step-chain`.
pub(super) fn step_chain(at: &TokenAt) -> Outcome {
    let TokenLine::Step(step) = at.line else { return Outcome::Silent };
    // Without a prefill line the first step is still the one of index 1, and each later one follows it.
    let index =
        at.state.emitted().unwrap_or_else(|| at.state.last_step.map_or(1, |last| last.saturating_add(1)));
    if step.index != index {
        let says = format!("a step of index {} where index {index} is next", step.index);
        return Outcome::broken(index, step.index, says);
    }
    match at.state.stream.last() {
        Some(last) => Outcome::equal(*last, step.input, || {
            format!("step {index} feeds {}, the token before it is {last}", step.input)
        }),
        None => Outcome::Missing(&["prefill"]),
    }
}
