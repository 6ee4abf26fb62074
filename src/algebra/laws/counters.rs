//! Laws about counters: the numbers that engines print, held against the rounds that they count.

use super::law::Outcome;
use super::place::EndAt;
use crate::transcript::ArmKind;
use crate::transcript::format::Counters;
use serde_json::json;

/// The counters, where there are rounds to hold them against.
fn counted<'a>(at: &EndAt<'a>) -> Result<&'a Counters, Outcome> {
    match &at.footer.counters {
        Some(_) if at.state.rounds == 0 => Err(Outcome::Missing(&["round"])),
        Some(counters) => Ok(counters),
        None if at.facts.kind == ArmKind::Classic => Err(Outcome::Silent),
        None => Err(Outcome::Missing(&["counters"])),
    }
}

/// `counter-rounds`.
pub(super) fn rounds(at: &EndAt) -> Outcome {
    match counted(at).map(|counters| counters.rounds) {
        Err(outcome) => outcome,
        Ok(None) => Outcome::Missing(&["counters.rounds"]),
        Ok(Some(told)) => Outcome::equal(at.state.rounds, told, || {
            format!("{told} rounds counted, {} recorded", at.state.rounds)
        }),
    }
}

/// `counter-drafted`.
pub(super) fn drafted(at: &EndAt) -> Outcome {
    match counted(at).map(|counters| counters.drafted) {
        Err(outcome) => outcome,
        Ok(None) => Outcome::Missing(&["counters.drafted"]),
        Ok(Some(told)) => Outcome::equal(at.state.proposed, told, || {
            format!("{told} proposals counted, the rounds hold {}", at.state.proposed)
        }),
    }
}

/// `counter-accepted`. Where a window commits fewer than the walk accepts, an engine may count either.
pub(super) fn accepted(at: &EndAt) -> Outcome {
    let told = match counted(at).map(|counters| counters.accepted) {
        Err(outcome) => return outcome,
        Ok(None) => return Outcome::Missing(&["counters.accepted"]),
        Ok(Some(told)) => told,
    };
    let (walked, rounds) = (at.state.walked, at.state.rounds);
    if told == walked || told == at.state.accepted {
        return Outcome::Holds;
    }
    let bonus = told.checked_sub(walked) == Some(rounds);
    let why = if bonus { "; the excess is the round count, so the bonus is counted too" } else { "" };
    Outcome::broken(walked, told, format!("{told} accepts counted, the walks accept {walked}{why}"))
}

/// `counter-per-position`.
pub(super) fn per_position(at: &EndAt) -> Outcome {
    let Some(told) = at.footer.counters.as_ref().and_then(|counters| counters.per_position.as_ref()) else {
        let absent = at.facts.kind == ArmKind::Speculative;
        return if absent { Outcome::Missing(&["counters.per_position"]) } else { Outcome::Silent };
    };
    if let Some(index) = told.windows(2).position(|pair| pair[1] > pair[0]) {
        let says = format!("accepts rise from {} at position {index} to {}", told[index], told[index + 1]);
        return Outcome::broken(format!("at most {}", told[index]), told[index + 1], says);
    }
    if at.state.rounds == 0 {
        return Outcome::Holds;
    }
    let recorded = &at.state.per_position;
    let longest = told.len().max(recorded.len());
    let value = |list: &[i64], index: usize| list.get(index).copied().unwrap_or(0);
    match (0..longest).find(|index| value(told, *index) != value(recorded, *index)) {
        None => Outcome::Holds,
        Some(index) => {
            let says = format!(
                "position {index}: {} counted, {} recorded",
                value(told, index),
                value(recorded, index)
            );
            Outcome::broken(json!(recorded), json!(told), says)
        }
    }
}

/// `emitted-count`.
pub(super) fn emitted_count(at: &EndAt) -> Outcome {
    let Some(counters) = at.footer.counters.as_ref().filter(|_| at.state.rounds == 0) else {
        return Outcome::Silent;
    };
    let rounds = match counters.rounds {
        None => return Outcome::Missing(&["counters.rounds"]),
        Some(rounds) if rounds <= 0 => return Outcome::Silent,
        Some(rounds) => rounds,
    };
    let Some(accepted) = counters.accepted else { return Outcome::Missing(&["counters.accepted"]) };
    let Some(found) = at.count() else { return Outcome::Missing(&["tokens"]) };
    let most = 1_i64.saturating_add(rounds).saturating_add(accepted);
    let stripped = i64::from(at.may_be_stripped());
    let least =
        at.facts.width.map(|width| most.saturating_sub(width.saturating_sub(1)).saturating_sub(stripped));
    if found > most || least.is_some_and(|least| found < least) {
        let says = format!(
            "{found} tokens; {rounds} rounds that accept {accepted} make 1 + {rounds} + {accepted}, less a last cut"
        );
        return Outcome::broken(
            least.map_or(json!(most), |least| json!(format!("{least} … {most}"))),
            found,
            says,
        );
    }
    if least.is_some() { Outcome::Holds } else { Outcome::Missing(&["width"]) }
}
