//! Laws about recorded rows: that a row is the one whose token it is said to choose.

use super::law::{Outcome, count};
use super::place::{RoundAt, TokenAt, TokenLine};
use crate::transcript::counted::agreed;
use crate::transcript::{Row, TokenId};

/// `row-choice` at a round.
pub(super) fn choice(at: &RoundAt) -> Outcome {
    let Some(rows) = &at.round.rows else { return Outcome::Missing(&["rows"]) };
    let (width, found) = (at.round.width, count(rows.len()));
    if width != found {
        return Outcome::broken(
            width,
            found,
            format!(
                "{} recorded of a block of {width}",
                agreed(found, "1 row is".to_owned(), format!("{found} rows are"))
            ),
        );
    }
    let tops = rows.iter().map(best).zip(&at.round.target).enumerate();
    let mut known = tops.filter_map(|(row, (best, target))| Some((row, best?, *target))).peekable();
    if known.peek().is_none() {
        return Outcome::Missing(&["rows[].top"]);
    }
    match known.find(|(_, best, target)| best != target) {
        Some((row, best, target)) => Outcome::broken_at(row, target, best, unchosen(best, target)),
        None => Outcome::Holds,
    }
}

/// `row-choice` at a prefill or step line.
pub(super) fn token_choice(at: &TokenAt) -> Outcome {
    let (row, token) = row_of(at);
    let Some(row) = row else { return Outcome::Missing(&["row"]) };
    match best(row) {
        Some(best) => Outcome::equal(token, best, || unchosen(best, token)),
        None => Outcome::Missing(&["row.top"]),
    }
}

fn best(row: &Row) -> Option<TokenId> {
    row.top.as_ref()?.first().map(|(id, _)| *id)
}

fn unchosen(best: TokenId, token: TokenId) -> String {
    format!("the row's best entry is {best}, the token said to be its choice is {token}")
}

fn row_of<'a>(at: &TokenAt<'a>) -> (Option<&'a Row>, TokenId) {
    match at.line {
        TokenLine::Prefill(prefill) => (prefill.row.as_ref(), prefill.token),
        TokenLine::Step(step) => (step.row.as_ref(), step.token),
    }
}

/// `row-position` at a round.
pub(super) fn position(at: &RoundAt) -> Outcome {
    let Some(rows) = &at.round.rows else { return Outcome::Missing(&["rows"]) };
    let base = at.round.cache_before.or_else(|| at.state.cache());
    let mut seen = false;
    for (place, row) in rows.iter().enumerate() {
        if let (Some(base), Some(found)) = (base, row.position) {
            seen = true;
            let expected = base.saturating_add(count(place));
            if expected != found {
                let says = format!("row {place} stands at position {found}, its block starts at {base}");
                return Outcome::broken_at(place, expected, found, says);
            }
        }
        if let Some(broken) = index(at, place, row) {
            return broken;
        }
    }
    match (seen, base) {
        (true, _) => Outcome::Holds,
        (false, None) => Outcome::Missing(&["cache_before"]),
        (false, Some(_)) => Outcome::Missing(&["rows[].position"]),
    }
}

/// The stream index of a kept row follows from what was emitted; a rejected row has none.
fn index(at: &RoundAt, place: usize, row: &Row) -> Option<Outcome> {
    let found = row.index?;
    if count(place) > at.round.accepted {
        let says =
            format!("row {place} was rejected, yet it is said to choose the token at stream index {found}");
        return Some(Outcome::broken_at(place, "null", found, says));
    }
    let expected = at.state.emitted()? + count(place);
    let says = || format!("row {place} chooses the token at stream index {expected}, not {found}");
    (expected != found).then(|| Outcome::broken_at(place, expected, found, says()))
}

/// `row-position` at a prefill or step line.
pub(super) fn token_position(at: &TokenAt) -> Outcome {
    let Some(row) = row_of(at).0 else { return Outcome::Missing(&["row"]) };
    let index = match at.line {
        TokenLine::Prefill(_) => 0,
        TokenLine::Step(step) => step.index,
    };
    if let Some(found) = row.index.filter(|found| *found != index) {
        let says = format!("the row of the token at stream index {index} says index {found}");
        return Outcome::broken(index, found, says);
    }
    match (at.state.prompt, row.position) {
        (Some(prompt), Some(found)) => {
            let expected = prompt.saturating_add(index).saturating_sub(1);
            Outcome::equal(expected, found, || format!("the row of index {index} stands at position {found}"))
        }
        (None, _) => Outcome::Missing(&["prompts[].ids"]),
        (_, None) => Outcome::Missing(&["row.position"]),
    }
}
