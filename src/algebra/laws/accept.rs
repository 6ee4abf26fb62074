//! Laws about the accept walk and what a round puts into the stream: the heart of greedy speculation.

use super::law::{Fault, Outcome, Question, count};
use super::place::{Next, RoundAt};
use crate::transcript::counted::counted;
use crate::transcript::format::{FinishReason, Window};
use crate::transcript::{Footer, TokenId};
use serde_json::json;

/// `accepted-prefix`.
pub(super) fn accepted_prefix(at: &RoundAt) -> Outcome {
    if !at.is_sane() {
        return Outcome::Silent;
    }
    let (walk, accepted) = (at.walk(), at.round.accepted);
    if let Some(walked) = at.round.walked.filter(|walked| *walked != walk) {
        return Outcome::Broken(Box::new(wrong_walk(walk, walked, "walked")));
    }
    if accepted == walk {
        return Outcome::Holds;
    }
    let fault = wrong_walk(walk, accepted, "accepted");
    let clamps = matches!(at.facts.window, Some(Window::Clamp) | None) && at.facts.shares_rounds();
    if accepted < walk && clamps {
        let known = at.facts.window.is_some();
        return Outcome::Ask(Box::new((Question::Clamped { accepted, known }, fault)));
    }
    Outcome::Broken(Box::new(fault))
}

fn wrong_walk(walk: i64, found: i64, key: &str) -> Fault {
    let says = format!("{key} is {found}, drafts and target agree on {walk}");
    Fault::new(walk, found, says).at(usize::try_from(walk.min(found)).unwrap_or(0))
}

/// `emission-empty`.
pub(super) fn emission_empty(at: &RoundAt) -> Outcome {
    if at.round.emitted.is_empty() {
        return Outcome::broken("at least one token", json!([]), "the round emits nothing");
    }
    Outcome::Holds
}

/// `row-leak`.
pub(super) fn row_leak(at: &RoundAt) -> Outcome {
    if !at.facts.shares_rounds() || !at.is_sane() {
        return Outcome::Silent;
    }
    let (chosen, emitted) = (at.chosen(), &at.round.emitted);
    let own = |row: usize, token: TokenId| chosen.get(row) == Some(&token);
    let strange = emitted.iter().enumerate().filter(|(row, token)| !own(*row, **token));
    let tokens: Vec<(usize, TokenId)> = strange.map(|(row, token)| (row, *token)).collect();
    let Some((row, _)) = tokens.first() else { return Outcome::Holds };
    let says = "the sequence emits what the rows of another sequence chose in this round";
    let fault = Fault::new(json!(chosen), json!(emitted), says).at(*row);
    Outcome::Ask(Box::new((Question::Leaked { tokens }, fault)))
}

/// `emission`.
pub(super) fn emission(at: &RoundAt) -> Outcome {
    if !at.is_sane() || at.round.emitted.is_empty() {
        return Outcome::Silent;
    }
    let (chosen, emitted) = (at.chosen(), &at.round.emitted);
    let broken = |row: usize, says: String| Outcome::broken_at(row, json!(chosen), json!(emitted), says);
    let same = chosen.iter().zip(emitted).take_while(|(chosen, emitted)| chosen == emitted).count();
    if same < emitted.len() {
        let says = match chosen.get(same) {
            Some(token) => format!("emits {} at place {same}, the rows choose {token}", emitted[same]),
            None => {
                format!("emits {}, the rows choose {}", counted(emitted.len(), "token"), chosen.len())
            }
        };
        return broken(same, says);
    }
    match at.next {
        _ if same == chosen.len() => Outcome::Holds,
        Next::Footer(_) => Outcome::Holds,
        Next::Nothing => Outcome::Missing(&["footer"]),
        Next::More => {
            broken(same, format!("emits {same} of {} tokens and is not the last round", chosen.len()))
        }
    }
}

/// `truncation`.
pub(super) fn truncation(at: &RoundAt) -> Outcome {
    let Next::Footer(footer) = at.next else { return Outcome::Silent };
    let (chosen, emitted) =
        if at.is_sane() { (at.chosen(), &at.round.emitted) } else { return Outcome::Silent };
    if emitted.is_empty() || emitted.len() >= chosen.len() || !chosen.starts_with(emitted) {
        return Outcome::Silent;
    }
    let total = at.state.emitted().map(|before| before + count(emitted.len()));
    let budget = at.facts.max_tokens.zip(total).map(|(budget, total)| total >= budget);
    let end = end_id(at, emitted, chosen[emitted.len()]);
    let reason = explains(footer);
    match (budget, end, reason) {
        (Some(true), _, _) | (_, Some(true), _) | (_, _, Some(true)) => Outcome::Holds,
        (Some(false), Some(false), Some(false)) => Outcome::broken_at(
            emitted.len(),
            json!(chosen),
            json!(emitted),
            "the last round is cut, and neither budget, end id nor finish reason explains it",
        ),
        (None, _, _) => Outcome::Missing(&["max_tokens"]),
        (_, None, _) => Outcome::Missing(&["eos_ids"]),
        (_, _, None) => Outcome::Missing(&["finish_reason"]),
    }
}

/// An end id closes the emitted tokens, or is the first one left out because the server strips it.
fn end_id(at: &RoundAt, emitted: &[TokenId], dropped: TokenId) -> Option<bool> {
    let shown = emitted.last().is_some_and(|last| at.facts.is_end(*last));
    at.facts.eos_ids.as_ref().map(|_| shown || at.facts.is_end(dropped))
}

fn explains(footer: &Footer) -> Option<bool> {
    let reason = footer.finish_reason?;
    Some(matches!(reason, FinishReason::StopString | FinishReason::Context | FinishReason::Aborted))
}
