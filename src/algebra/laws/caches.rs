//! Laws about lengths of caches and slots of states: what a wrong rewind leaves behind.

use super::law::Outcome;
use super::place::{RoundAt, TokenAt, TokenLine};
use crate::transcript::counted::counted;
use crate::transcript::format::DrafterCache;

/// `cache-length` before a round.
pub(super) fn before(at: &RoundAt) -> Outcome {
    let Some(found) = at.round.cache_before else { return Outcome::Missing(&["cache_before"]) };
    let Some(prompt) = at.state.prompt else { return Outcome::Missing(&["prompts[].ids"]) };
    let Some(emitted) = at.state.emitted() else { return Outcome::Missing(&["prefill"]) };
    let expected = prompt.saturating_add(emitted - 1);
    Outcome::equal(expected, found, || {
        format!(
            "the cache holds {found} before the round; {prompt} of the prompt and {emitted} emitted, \
             the last not fed yet, make {expected}"
        )
    })
}

/// `cache-length` of a prefill or step line.
pub(super) fn token(at: &TokenAt) -> Outcome {
    let (found, fed) = match at.line {
        TokenLine::Prefill(prefill) => (prefill.cache_len, Some(0)),
        TokenLine::Step(step) => (step.cache_len, at.state.emitted()),
    };
    let Some(found) = found else { return Outcome::Missing(&["cache_len"]) };
    let Some(prompt) = at.state.prompt else { return Outcome::Missing(&["prompts[].ids"]) };
    let Some(fed) = fed else { return Outcome::Missing(&["prefill"]) };
    Outcome::equal(prompt.saturating_add(fed), found, || {
        format!("the cache holds {found} after {prompt} of the prompt and {fed} fed tokens")
    })
}

/// `cache-length` after a round.
pub(super) fn after(at: &RoundAt) -> Outcome {
    match (at.round.cache_before, at.round.cache_after) {
        (Some(before), Some(after)) => kept(at, "the cache grew by", after.saturating_sub(before)),
        (None, _) => Outcome::Missing(&["cache_before"]),
        (_, None) => Outcome::Missing(&["cache_after"]),
    }
}

/// `state-kept`.
pub(super) fn state_kept(at: &RoundAt) -> Outcome {
    match at.round.state_kept {
        Some(rows) => kept(at, "the state kept", rows),
        None => Outcome::Missing(&["state_kept"]),
    }
}

fn kept(at: &RoundAt, what: &str, found: i64) -> Outcome {
    let range = at.kept();
    if range.contains(&found) {
        return Outcome::Holds;
    }
    let (low, high) = range.into_inner();
    let says =
        format!("{what} {}, the round commits {high} of its {}", counted(found, "row"), at.round.width);
    if low == high {
        return Outcome::broken(high, found, says);
    }
    Outcome::broken(format!("{low} … {high}"), found, says)
}

/// `state-slot`.
pub(super) fn state_slot(at: &RoundAt) -> Outcome {
    match (at.round.state_read, at.state.slot) {
        (Some(read), Some(slot)) => Outcome::equal(slot, read, || {
            format!("the verify forward reads state slot {read}, the slot committed last is {slot}")
        }),
        (None, _) => Outcome::Missing(&["state_read"]),
        (_, None) if at.state.rounds == 0 => Outcome::Silent,
        (_, None) => Outcome::Missing(&["state_committed"]),
    }
}

/// `shared-cache-length`.
pub(super) fn shared(at: &RoundAt) -> Outcome {
    match (at.round.shared_cache, at.round.cache_before) {
        (Some(seen), Some(before)) => Outcome::equal(before, seen, || {
            format!("the drafter sees {seen} rows of the target's cache, {before} are committed")
        }),
        (Some(_), None) => Outcome::Missing(&["cache_before"]),
        (None, _) if at.facts.drafter_cache == Some(DrafterCache::Shared) => {
            Outcome::Missing(&["shared_cache"])
        }
        (None, _) => Outcome::Silent,
    }
}

/// `draft-cache-length`.
pub(super) fn drafter(at: &RoundAt) -> Outcome {
    match (at.facts.drafter_cache, at.round.draft_cache_after, at.round.cache_before) {
        (Some(DrafterCache::Autoregressive), Some(found), Some(before)) => drafter_length(at, found, before),
        (Some(DrafterCache::Autoregressive), None, _) => Outcome::Missing(&["draft_cache_after"]),
        (Some(DrafterCache::Autoregressive), _, None) => Outcome::Missing(&["cache_before"]),
        (None, Some(_), _) => Outcome::Missing(&["drafter.cache"]),
        _ => Outcome::Silent,
    }
}

/// After a full accept the last proposal may not have been fed to the drafter yet.
fn drafter_length(at: &RoundAt, found: i64, before: i64) -> Outcome {
    let (low, high) = at.kept().into_inner();
    let behind = i64::from(at.round.accepted == at.proposals());
    let (least, most) = (before.saturating_add(low) - behind, before.saturating_add(high));
    if (least..=most).contains(&found) {
        return Outcome::Holds;
    }
    Outcome::broken(
        most,
        found,
        format!("the drafter's cache holds {found} after a round that accepted {}", at.round.accepted),
    )
}
