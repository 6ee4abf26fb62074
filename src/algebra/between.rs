//! The laws between two arms: same prompt, an arm equals its own repeat, something was compared, equal streams.
//!
//! The first three come before any stream is looked at and end the comparison: two equal texts of two different
//! prompts, of a run that does not equal itself, or of a drafter that never proposed, say nothing.

use super::divergence::{self, Compared, Parting, Unit};
use super::side::{Place, Side};
use super::states;
use crate::transcript::counted::form;
use crate::transcript::format::Prompt;
use crate::transcript::kept::same_digest;
use serde_json::{Value, json};

/// A law between arms that does not hold.
#[derive(Debug, Clone, PartialEq)]
pub struct Broken {
    /// The law.
    pub law: &'static str,
    /// Where in the arm, when a round chose the token.
    pub place: Option<Place>,
    /// What the reference says, or what must be.
    pub expected: Value,
    /// What the arm says.
    pub found: Value,
    /// One sentence for people.
    pub says: String,
}

/// What asking a law gave.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// It holds.
    Holds,
    /// It does not.
    Broken(Broken),
    /// A key that it needs is absent.
    Missing(&'static str),
}

fn broken(law: &'static str, expected: Value, found: Value, says: String) -> Answer {
    Answer::Broken(Broken { law, place: None, expected, found, says })
}

/// `prompt`: the same ids, or the same text where ids are not known.
#[must_use]
pub fn prompt(arm: Option<&Prompt>, reference: Option<&Prompt>) -> Answer {
    let (Some(arm), Some(reference)) = (arm, reference) else { return Answer::Missing("prompts") };
    // Decoding starts from at least one id: an empty prompt is one that nobody wrote down.
    match (&arm.ids, &reference.ids) {
        (Some(left), Some(right)) if left.len() + right.len() > 0 => return prompt_ids(left, right),
        _ => {}
    }
    match (&arm.text, &reference.text) {
        (Some(left), Some(right)) if left.len() + right.len() == 0 => Answer::Missing("prompts.ids"),
        (Some(left), Some(right)) if left == right => Answer::Holds,
        (Some(left), Some(right)) => {
            let common = divergence::common_prefix(left.as_bytes(), right.as_bytes());
            let says = format!("the prompt texts differ from byte {common} on; the arms are not comparable");
            broken("prompt", json!(right.len()), json!(left.len()), says)
        }
        _ => Answer::Missing("prompts.ids"),
    }
}

fn prompt_ids(arm: &[i64], reference: &[i64]) -> Answer {
    if arm == reference {
        return Answer::Holds;
    }
    let common = divergence::common_prefix(arm, reference);
    let show = |ids: &[i64]| ids.get(common).map_or_else(|| "missing".to_owned(), ToString::to_string);
    let says = format!(
        "prompt ids differ: {} against {}, first at {common} ({} against {}); the arms are not comparable",
        arm.len(),
        reference.len(),
        show(arm),
        show(reference)
    );
    let at = |ids: &[i64]| json!({"length": ids.len(), "index": common, "id": ids.get(common)});
    broken("prompt", at(reference), at(arm), says)
}

/// `null-arm`: an arm equals its own repeat, in its tokens and in the digests of its rows.
#[must_use]
pub fn null_arm(first: &Side<'_>, repeat: &Side<'_>) -> Answer {
    let Some(compared) = divergence::streams(repeat, first) else { return Answer::Missing("tokens") };
    if let Some(parting) = &compared.parting {
        let says = format!(
            "an arm differs from its own repeat at index {}: {}; nothing else counts before this is gone{}",
            parting.index,
            both(parting),
            observer(first, repeat)
        );
        return with_place(
            broken("null-arm", json!(parting.expected), json!(parting.found), says),
            repeat,
            parting,
        );
    }
    let last = compared.common.saturating_sub(1);
    let rows = first.rows(last).into_iter().zip(repeat.rows(last)).enumerate();
    let mut digests =
        rows.filter_map(|(index, (a, b))| Some((index, a?.sha256.as_deref(), b?.sha256.as_deref())));
    match digests.find(|(_, a, b)| same_digest(*a, *b) == Some(false)) {
        None => null_states(first, repeat, compared.common),
        Some((index, a, b)) => {
            let says = format!(
                "an arm and its own repeat have the same tokens but other row bytes from index {index} on: it is not \
                 deterministic{}",
                observer(first, repeat)
            );
            broken("null-arm", json!(a), json!(b), says)
        }
    }
}

/// Equal tokens and rows: the states that both runs kept have to be equal, too.
fn null_states(first: &Side<'_>, repeat: &Side<'_>, common: usize) -> Answer {
    let (before, after) = (first.entering_state(), repeat.entering_state());
    if same_digest(before, after) == Some(false) {
        let says = "an arm and its own repeat have other states after the prompt: it is not deterministic";
        return broken("null-arm", json!(before), json!(after), says.to_owned());
    }
    let prompt = prompt_length(None, first);
    let found = prompt.and_then(|prompt| states::compare(repeat, first, (prompt, common)));
    let Some(state) = found.and_then(|found| found.first) else { return Answer::Holds };
    let says = format!(
        "an arm and its own repeat have the same tokens and rows but other states from {} positions on: it is not \
         deterministic",
        state.positions
    );
    broken("null-arm", json!("equal states"), json!(state), says)
}

/// Where only one of the two runs was watched, watching is the likely cause.
fn observer(first: &Side<'_>, repeat: &Side<'_>) -> &'static str {
    let watched = |side: &Side<'_>| side.rows(0).first().copied().flatten().is_some();
    if watched(first) == watched(repeat) {
        ""
    } else {
        " (observer effect: only one of the two runs recorded its rows; what was bisected on it is void)"
    }
}

fn both(parting: &Parting) -> String {
    let show = |token: &Option<String>| token.clone().unwrap_or_else(|| "nothing".to_owned());
    format!("{} against {}", show(&parting.found), show(&parting.expected))
}

fn with_place(answer: Answer, side: &Side<'_>, parting: &Parting) -> Answer {
    match answer {
        Answer::Broken(found) => Answer::Broken(Broken { place: side.place(parting.index), ..found }),
        other => other,
    }
}

/// `vacuous`: tokens were compared, and an arm that should speculate ran rounds and proposed something.
#[must_use]
pub fn vacuous(arm: &Side<'_>, speculates: bool, compared: Option<&Compared>) -> Answer {
    let Some(compared) = compared else {
        let says =
            if arm.prefill.is_none() && arm.steps.is_empty() && arm.rounds.is_empty() && arm.footer.is_none()
            {
                "nothing of this sequence was recorded".to_owned()
            } else {
                "no side by side: the two arms share neither ids nor token strings nor text".to_owned()
            };
        return broken("vacuous", json!("tokens > 0"), Value::Null, says);
    };
    if compared.arm == 0 || compared.reference == 0 {
        let what = if compared.unit == Unit::Bytes { "text" } else { "stream" };
        let says = format!(
            "{} of {} and {} {}: an empty {what} compared says nothing; compare token ids",
            what,
            compared.arm,
            compared.reference,
            unit_name(compared.unit, compared.reference)
        );
        return broken("vacuous", json!("tokens > 0"), json!(compared.arm.min(compared.reference)), says);
    }
    if speculates { speculated(arm) } else { Answer::Holds }
}

fn speculated(arm: &Side<'_>) -> Answer {
    match (arm.rounds_run(), arm.proposed()) {
        (Some(rounds @ ..=0), _) => {
            let says = format!(
                "the arm ran {rounds} rounds (declined?): equality says nothing about the verify path"
            );
            broken("vacuous", json!("rounds > 0"), json!(rounds), says)
        }
        (_, Some(proposed @ ..=0)) => {
            let says =
                format!("the arm proposed {proposed} tokens: equality says nothing about the accept path");
            broken("vacuous", json!("proposals > 0"), json!(proposed), says)
        }
        (None, _) => Answer::Missing("counters.rounds"),
        (Some(_), None) => Answer::Missing("counters.drafted"),
        (Some(_), Some(_)) => Answer::Holds,
    }
}

/// The unit's name, as it belongs to a count.
#[must_use]
pub fn unit_name(unit: Unit, count: usize) -> String {
    match unit {
        Unit::Ids => form(count, "id"),
        Unit::Strings => form(count, "token string"),
        Unit::Bytes => form(count, "byte") + " of text",
    }
}

/// `stream` and `length`: equal streams.
#[must_use]
pub fn stream(arm: &Side<'_>, prompt: Option<usize>, compared: &Compared) -> Answer {
    let Some(parting) = &compared.parting else { return Answer::Holds };
    let (place, position) = divergence::locate(arm, prompt, parting.index);
    let law = if parting.length_only { "length" } else { "stream" };
    let says = if parting.length_only {
        let Compared { arm, reference, unit, .. } = compared;
        format!(
            "the arm has {arm} {}, the reference {reference}; the shorter is a beginning of the longer",
            unit_name(*unit, *arm)
        )
    } else {
        let kind = place.map_or("", |place| place.row_kind());
        let position = position.map(|position| format!("position {position}"));
        let known: Vec<String> = [kind.to_owned(), position.unwrap_or_default()].into();
        let known: Vec<String> = known.into_iter().filter(|part| !part.is_empty()).collect();
        let place = if known.is_empty() { String::new() } else { format!(" ({})", known.join(", ")) };
        format!("first difference at index {}{place}: {}", parting.index, both(parting))
    };
    let cell = |token: &Option<String>| json!({"index": parting.index, "position": position, "token": value(compared.unit, token.as_ref())});
    Answer::Broken(Broken {
        law,
        place,
        expected: cell(&parting.expected),
        found: cell(&parting.found),
        says,
    })
}

/// Ids are numbers in JSON, strings are as the server spelled them.
fn value(unit: Unit, token: Option<&String>) -> Value {
    let Some(token) = token else { return Value::Null };
    match unit {
        Unit::Ids | Unit::Strings => serde_json::from_str(token).unwrap_or_else(|_| json!(token)),
        Unit::Bytes => json!(token),
    }
}

/// A prompt's length as an index type.
#[must_use]
pub fn prompt_length(prompt: Option<&Prompt>, side: &Side<'_>) -> Option<usize> {
    let ids = prompt.and_then(|prompt| prompt.ids.as_ref()).map(Vec::len);
    let cache = || usize::try_from(side.prefill?.cache_len?).ok();
    let usage = || usize::try_from(side.footer?.usage?.prompt_tokens?).ok();
    ids.or_else(cache).or_else(usage)
}

/// True when an arm is meant to speculate.
#[must_use]
pub fn speculates(width: Option<i64>, kind: crate::transcript::ArmKind) -> bool {
    kind == crate::transcript::ArmKind::Speculative && width.is_none_or(|width| width > 1)
}
