//! The states that two arms keep, wherever both hold the same positions.
//!
//! A rewind that leaves the wrong state behind may show in a row hundreds of tokens later, or never in the text that
//! was decoded. Where both arms digested what they keep, it shows after the round that left it.

use super::side::Side;
use crate::transcript::kept::same_digest;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How many states were compared and how they differ.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatesCompared {
    /// States of equal positions, recorded on both sides.
    pub states: usize,
    /// Of those, with equal bytes.
    pub equal: usize,
    /// Digests of either side whose line does not say of how many positions they are (`cache_len`, `cache_after`):
    /// they were not compared.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unplaced: usize,
    /// The first with other bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<FirstState>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
const fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// The first state whose bytes differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FirstState {
    /// Positions that it holds.
    pub positions: i64,
    /// The arm's round that left it behind; none for a step of plain decoding.
    pub round: Option<i64>,
}

impl StatesCompared {
    /// Of those compared, with other bytes.
    #[must_use]
    pub const fn differ(&self) -> usize {
        self.states.saturating_sub(self.equal)
    }

    /// Every digest that was recorded for a position of both sides was compared and is equal.
    #[must_use]
    pub const fn all_equal(&self) -> bool {
        self.states > 0 && self.differ() == 0 && self.unplaced == 0
    }
}

/// A state with the positions that it holds, where its line says them.
struct State<'a> {
    positions: Option<i64>,
    round: Option<i64>,
    digest: &'a str,
}

/// Compares the states that hold the prompt and tokens that both arms have in `common`; `prompt` is the prompt's
/// length. `None`: neither a state of equal positions on both sides, nor two sides of states of which one cannot be
/// placed.
#[must_use]
pub fn compare(
    arm: &Side<'_>,
    reference: &Side<'_>,
    (prompt, common): (usize, usize),
) -> Option<StatesCompared> {
    let last = i64::try_from(prompt.checked_add(common)?).ok()?;
    let known: BTreeMap<i64, &str> =
        states(reference).filter_map(|state| Some((state.positions?, state.digest))).collect();
    let mut found = StatesCompared { unplaced: unplaced(arm, reference), ..StatesCompared::default() };
    for state in states(arm) {
        let Some(positions) = state.positions.filter(|positions| *positions <= last) else { continue };
        let other = known.get(&positions).copied();
        let Some(same) = same_digest(other, Some(state.digest)) else { continue };
        found.states += 1;
        found.equal += usize::from(same);
        if !same && found.first.is_none() {
            found.first = Some(FirstState { positions, round: state.round });
        }
    }
    (found.states + found.unplaced > 0).then_some(found)
}

/// Digests that cannot be placed, of both sides; they matter only where both recorded some.
fn unplaced(arm: &Side<'_>, reference: &Side<'_>) -> usize {
    let of = |side| states(side).filter(|state| state.positions.is_none()).count();
    let both = states(arm).next().is_some() && states(reference).next().is_some();
    if both { of(arm) + of(reference) } else { 0 }
}

/// Every state that was digested after a step or a round.
fn states<'a>(side: &Side<'a>) -> impl Iterator<Item = State<'a>> + use<'a> {
    let steps = side.steps.iter().filter_map(|step| {
        Some(State { positions: step.cache_len, round: None, digest: step.state_sha256.as_deref()? })
    });
    let rounds = side.rounds.iter().filter_map(|round| {
        let digest = round.state_sha256.as_deref()?;
        Some(State { positions: round.cache_after, round: Some(round.round), digest })
    });
    steps.chain(rounds)
}

#[cfg(test)]
mod tests {
    use super::{FirstState, compare};
    use crate::algebra::Side;
    use crate::transcript::{Round, Step, digest::sha256};
    use proptest::prelude::*;

    const PROMPT: usize = 5;

    fn digest(positions: i64, odd: bool) -> String {
        sha256(format!("{positions} {odd}").as_bytes())
    }

    /// Plain decoding over `tokens` tokens.
    fn steps(tokens: i64) -> Vec<Step> {
        let step = |index: i64| {
            let length = index + 5;
            let state_sha256 = Some(digest(length, false));
            Step { index, cache_len: Some(length), state_sha256, ..Step::default() }
        };
        (1..tokens).map(step).collect()
    }

    /// Rounds that keep as many rows as `kept` says; the state after round `odd` is another.
    fn rounds(kept: &[i64], odd: usize) -> Vec<Round> {
        let mut length = 5;
        let mut rounds = Vec::new();
        for (number, kept) in kept.iter().enumerate() {
            length += kept;
            let state_sha256 = Some(digest(length, number == odd));
            let round = i64::try_from(number).unwrap();
            rounds.push(Round { round, cache_after: Some(length), state_sha256, ..Round::default() });
        }
        rounds
    }

    fn side<'a>(steps: &'a [Step], rounds: &'a [Round]) -> Side<'a> {
        Side { sequence: 0, prefill: None, steps, rounds, footer: None }
    }

    proptest! {
        #[test]
        fn the_round_that_left_another_state_is_named(
            kept in proptest::collection::vec(1_i64..5, 1..20),
            odd in any::<prop::sample::Index>(),
        ) {
            let odd = odd.index(kept.len());
            let tokens = kept.iter().sum::<i64>() + 1;
            let (steps, rounds) = (steps(tokens), rounds(&kept, odd));
            let common = usize::try_from(tokens).unwrap();
            let found = compare(&side(&[], &rounds), &side(&steps, &[]), (PROMPT, common)).unwrap();
            prop_assert_eq!((found.states, found.differ()), (kept.len(), 1));
            let positions = 5 + kept[..=odd].iter().sum::<i64>();
            let round = Some(i64::try_from(odd).unwrap());
            prop_assert_eq!(found.first, Some(FirstState { positions, round }));
        }
    }

    #[test]
    fn digests_without_positions_are_counted_and_never_in_silence() {
        let (mut steps, mut rounds) = (steps(9), rounds(&[2, 2, 2], 9));
        steps[0].cache_len = None;
        rounds[1].cache_after = None;
        let compared = |steps: &[Step]| compare(&side(&[], &rounds), &side(steps, &[]), (PROMPT, 7));
        let found = compared(&steps).unwrap();
        assert_eq!((found.states, found.equal, found.unplaced), (2, 2, 2));
        assert_eq!(compared(&[]), None);
    }

    #[test]
    fn a_state_that_holds_tokens_of_one_arm_alone_is_not_compared() {
        let (steps, rounds) = (steps(9), rounds(&[2, 2, 2], 2));
        let compared = |common| compare(&side(&[], &rounds), &side(&steps, &[]), (PROMPT, common));
        let found = compared(5).unwrap();
        assert_eq!((found.states, found.equal, found.first), (2, 2, None));
        assert_eq!(compared(6).unwrap().differ(), 1);
        assert_eq!(compared(1), None);
    }
}
