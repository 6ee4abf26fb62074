//! Laws about what a server reports beside the ids: usage and log-probabilities.

use super::law::{Outcome, count};
use super::place::EndAt;
use crate::transcript::format::Usage;

/// `usage`.
pub(super) fn usage(at: &EndAt) -> Outcome {
    if let Some(fault) = strings(at) {
        return fault;
    }
    let Some(usage) = at.footer.usage else { return Outcome::Missing(&["usage"]) };
    let parts = [parts(&usage), sum(&usage), completion(at, &usage), prompt(at, &usage)];
    let mut outcome = Outcome::Missing(&["usage.completion_tokens", "tokens"]);
    for part in parts.into_iter().flatten() {
        if let Outcome::Broken(_) = part {
            return part;
        }
        outcome = part;
    }
    outcome
}

/// Token strings of another length than the ids. The ids may hold an end id that has no string.
fn strings(at: &EndAt) -> Option<Outcome> {
    let (told, tokens) = (count(at.footer.token_strings.as_ref()?.len()), at.tokens()?);
    let shown = tokens.last().is_some_and(|last| at.facts.is_end(*last));
    let ids = count(tokens.len());
    if shown && told + 1 == ids {
        return None;
    }
    match agrees(at, told, ids, "token_strings:") {
        Outcome::Holds => None,
        fault => Some(fault),
    }
}

/// A hidden part is part of the completion.
fn parts(usage: &Usage) -> Option<Outcome> {
    let (hidden, all) = (usage.reasoning_tokens?, usage.completion_tokens?);
    if hidden <= all {
        return Some(Outcome::Holds);
    }
    let says = format!("reasoning_tokens {hidden} is more than completion_tokens {all}");
    Some(Outcome::broken(format!("at most {all}"), hidden, says))
}

fn sum(usage: &Usage) -> Option<Outcome> {
    let (prompt, completion, total) = (usage.prompt_tokens?, usage.completion_tokens?, usage.total_tokens?);
    let expected = prompt.saturating_add(completion);
    Some(Outcome::equal(expected, total, || {
        format!("total_tokens {total}, prompt {prompt} and completion {completion} make {expected}")
    }))
}

fn completion(at: &EndAt, usage: &Usage) -> Option<Outcome> {
    let strings = || at.footer.token_strings.as_ref().map(|strings| count(strings.len()));
    let ids = at.tokens().map(|tokens| count(tokens.len())).or_else(strings)?;
    Some(agrees(at, usage.completion_tokens?, ids, "completion_tokens"))
}

fn prompt(at: &EndAt, usage: &Usage) -> Option<Outcome> {
    let (told, ids) = (usage.prompt_tokens?, at.state.prompt?);
    Some(Outcome::equal(ids, told, || format!("prompt_tokens {told}, the prompt has {ids} ids")))
}

/// Equal, or one more for an end id that the server counts and does not show.
fn agrees(at: &EndAt, told: i64, ids: i64, key: &str) -> Outcome {
    if told == ids || (told == ids + 1 && at.may_be_stripped()) {
        return Outcome::Holds;
    }
    Outcome::broken(ids, told, format!("{key} {told}, the stream has {ids} ids"))
}

/// `logprob-length`.
pub(super) fn logprob_length(at: &EndAt) -> Outcome {
    let Some(logprobs) = &at.footer.logprobs else { return Outcome::Missing(&["logprobs"]) };
    let strings = at.footer.token_strings.as_ref().map(|strings| count(strings.len()));
    let ids = at.tokens().map(|tokens| count(tokens.len())).or(strings);
    match ids {
        Some(ids) => agrees(at, count(logprobs.len()), ids, "log-probabilities:"),
        None => Outcome::Missing(&["tokens"]),
    }
}

/// `logprob-constant`.
pub(super) fn logprob_constant(at: &EndAt) -> Outcome {
    let Some(logprobs) = &at.footer.logprobs else { return Outcome::Missing(&["logprobs"]) };
    // Both zeros are one value here; a null is no value and makes the list vary.
    let bits = |value: &Option<f64>| value.map(|value| (value + 0.0).to_bits());
    let first = logprobs.first().and_then(bits);
    if logprobs.len() < 4 || first.is_none() || logprobs.iter().any(|value| bits(value) != first) {
        return Outcome::Holds;
    }
    let says = format!("all {} log-probabilities are equal and carry no information", logprobs.len());
    Outcome::broken("values that differ", logprobs[0], says)
}
