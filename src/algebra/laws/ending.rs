//! Laws about the end of a sequence: end ids, budget, reason, and that the told stream is the recorded one.

use super::law::{Outcome, count};
use super::place::{EndAt, Root};
use crate::transcript::TokenId;
use crate::transcript::format::FinishReason;
use serde_json::Value;

/// `after-eos`.
pub(super) fn after_eos(at: &EndAt) -> Outcome {
    match at.facts.ends_at_end_id() {
        Some(false) => return Outcome::Silent,
        None => return Outcome::Missing(&["eos_ids", "ignore_eos"]),
        Some(true) => {}
    }
    let streams = [at.footer.tokens.as_deref(), at.state.assembled()];
    let mut known = streams.into_iter().flatten().peekable();
    if known.peek().is_none() {
        return Outcome::Missing(&["tokens"]);
    }
    let ends = |stream: &[TokenId]| stream.iter().position(|token| at.facts.is_end(*token));
    let passed =
        known.find_map(|stream| ends(stream).filter(|end| end + 1 < stream.len()).map(|end| (stream, end)));
    let Some((stream, end)) = passed else { return Outcome::Holds };
    let more = stream.len() - end - 1;
    let says = format!("{more} more after the end id {} at stream index {end}", stream[end]);
    Outcome::broken(count(end + 1), count(stream.len()), says)
}

/// `budget`.
pub(super) fn budget(at: &EndAt) -> Outcome {
    let Some(budget) = at.facts.max_tokens else { return Outcome::Missing(&["max_tokens"]) };
    let told = at.footer.tokens.as_ref().map(|tokens| count(tokens.len()));
    let recorded = at.state.assembled().map(|stream| count(stream.len()));
    match told.max(recorded) {
        None => Outcome::Missing(&["tokens"]),
        Some(length) if length <= budget => Outcome::Holds,
        Some(length) => Outcome::broken(
            format!("at most {budget}"),
            length,
            format!("{length} tokens, the budget is {budget}"),
        ),
    }
}

/// `finish-reason`.
pub(super) fn finish_reason(at: &EndAt) -> Outcome {
    match (at.facts.ends_at_end_id(), at.footer.finish_reason) {
        (Some(false), _) => Outcome::Silent,
        (_, None) => Outcome::Missing(&["finish_reason"]),
        (None, _) => Outcome::Missing(&["eos_ids", "ignore_eos"]),
        (Some(true), Some(FinishReason::Length)) => length(at),
        (Some(true), Some(FinishReason::Stop)) => stop(at),
        (Some(true), Some(_)) => Outcome::Holds,
    }
}

fn length(at: &EndAt) -> Outcome {
    let Some(budget) = at.facts.max_tokens else { return Outcome::Missing(&["max_tokens"]) };
    let Some(found) = at.count() else { return Outcome::Missing(&["tokens"]) };
    if found < budget {
        return Outcome::broken(budget, found, format!("reason \"length\" after {found} of {budget} tokens"));
    }
    let tokens = at.tokens().unwrap_or_default();
    let before = tokens.split_last().map_or(&[][..], |(_, before)| before);
    match before.iter().position(|token| at.facts.is_end(*token)) {
        None => Outcome::Holds,
        Some(index) => {
            let says =
                format!("reason \"length\", but the end id {} stands at stream index {index}", before[index]);
            Outcome::broken("stop", "length", says)
        }
    }
}

fn stop(at: &EndAt) -> Outcome {
    let Some(tokens) = at.tokens() else { return Outcome::Missing(&["tokens"]) };
    match tokens.last() {
        Some(last) if at.facts.is_end(*last) => Outcome::Holds,
        _ if at.is_stripped() => Outcome::Silent,
        last => {
            let expected = Value::from(at.facts.eos_ids.clone().unwrap_or_default());
            Outcome::broken(expected, last.copied(), "reason \"stop\", but no end id closes the stream")
        }
    }
}

/// `stream-assembly`.
pub(super) fn stream_assembly(at: &EndAt) -> Outcome {
    let Some(told) = &at.footer.tokens else { return Outcome::Missing(&["tokens"]) };
    if at.state.root == Root::Unknown {
        return Outcome::Missing(&["prefill"]);
    }
    let recorded = &at.state.stream;
    if at.state.rounds + at.state.steps == 0 && told.len() > 1 {
        return Outcome::Missing(&["round", "step"]);
    }
    if told == recorded || at.strips(told) {
        return Outcome::Holds;
    }
    let same = told.iter().zip(recorded).take_while(|(told, recorded)| told == recorded).count();
    let says = match (recorded.get(same), told.get(same)) {
        (Some(recorded), Some(told)) => {
            format!("tokens has {told} at index {same}, the lines emitted {recorded}")
        }
        _ => format!("tokens has {} ids, the lines emitted {}", told.len(), recorded.len()),
    };
    let (expected, found) = (recorded.get(same).copied(), told.get(same).copied());
    if expected.is_some() && found.is_some() {
        return Outcome::broken(expected, found, says);
    }
    Outcome::broken(count(recorded.len()), count(told.len()), says)
}
