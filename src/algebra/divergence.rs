//! The first place where two streams part, and which round and row chose the token there.
//!
//! Only the first difference is a finding: after it the two arms decode different texts. What is compared is said
//! with the answer, because equal strings are weaker evidence than equal ids.

use super::side::{Place, Side, count};
use serde::Serialize;

/// What two streams were compared as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Vocabulary ids.
    Ids,
    /// Token strings by position; two ids can share a string.
    Strings,
    /// Bytes of the text; no token boundaries.
    Bytes,
}

/// How two streams part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parting {
    /// The first index at which they differ; the shorter one's length when it is a beginning of the other.
    pub index: usize,
    /// One is a proper beginning of the other.
    pub length_only: bool,
    /// What the reference has there.
    pub expected: Option<String>,
    /// What the arm has there.
    pub found: Option<String>,
}

/// What comparing two streams gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compared {
    /// In what unit.
    pub unit: Unit,
    /// Length of the common beginning.
    pub common: usize,
    /// Length of the arm's stream.
    pub arm: usize,
    /// Length of the reference's stream.
    pub reference: usize,
    /// Where they part, when they do.
    pub parting: Option<Parting>,
}

/// Length of the longest common beginning.
#[must_use]
pub fn common_prefix<T: PartialEq>(left: &[T], right: &[T]) -> usize {
    left.iter().zip(right).take_while(|(a, b)| a == b).count()
}

/// Compares two streams in the strongest unit that both sides know; none when they share no unit.
#[must_use]
pub fn streams(arm: &Side<'_>, reference: &Side<'_>) -> Option<Compared> {
    if let (Some(left), Some(right)) = (arm.ids(), reference.ids()) {
        return Some(compare(Unit::Ids, &left, &right, ToString::to_string));
    }
    if let (Some(left), Some(right)) = (arm.strings(), reference.strings()) {
        return Some(compare(Unit::Strings, left, right, |token| format!("{token:?}")));
    }
    let (left, right) = (arm.text()?, reference.text()?);
    Some(compare(Unit::Bytes, left.as_bytes(), right.as_bytes(), |byte| format!("{byte:#04x}")))
}

fn compare<T: PartialEq>(unit: Unit, arm: &[T], reference: &[T], show: impl Fn(&T) -> String) -> Compared {
    let common = common_prefix(arm, reference);
    let same = common == arm.len() && common == reference.len();
    let parting = (!same).then(|| Parting {
        index: common,
        length_only: common == arm.len().min(reference.len()),
        expected: reference.get(common).map(&show),
        found: arm.get(common).map(&show),
    });
    Compared { unit, common, arm: arm.len(), reference: reference.len(), parting }
}

/// The place of a stream index, and the absolute position of the query row that chose it.
///
/// Where the rounds do not lead to the stream's token (a lost round, an edited footer), no place is better than a
/// wrong one.
#[must_use]
pub fn locate(side: &Side<'_>, prompt: Option<usize>, index: usize) -> (Option<Place>, Option<i64>) {
    let position = prompt.map(|length| count(length + index) - 1);
    let assembled = side.assembled().and_then(|tokens| tokens.get(index).copied());
    let told = side.ids().and_then(|tokens| tokens.get(index).copied());
    let place = side.place(index).filter(|_| told.is_none() || told == assembled);
    (place, position)
}

#[cfg(test)]
mod tests {
    use super::{Unit, compare, locate};
    use crate::algebra::side::Side;
    use crate::transcript::{Footer, Round};
    use proptest::prelude::*;

    fn round(number: i64, draft: &[i64], target: &[i64], accepted: usize) -> Round {
        let text = serde_json::json!({
            "sequence": 0, "round": number, "width": target.len(), "bonus": 0, "accepted": accepted,
            "emitted": &target[..=accepted], "draft": draft, "target": target,
        });
        serde_json::from_value(text).unwrap()
    }

    #[test]
    fn a_beginning_of_the_other_parts_by_length_only() {
        let found = compare(Unit::Ids, &[5, 6, 7], &[5, 6, 7, 8, 2], ToString::to_string);
        let parting = found.parting.unwrap();
        assert!(parting.length_only);
        assert_eq!((parting.index, parting.expected.as_deref(), parting.found), (3, Some("8"), None));
    }

    #[test]
    fn an_index_maps_to_its_round_row_and_position() {
        let rounds = [round(0, &[1, 2], &[1, 7, 9], 1), round(1, &[8, 9], &[8, 9, 3], 2)];
        let side = Side { sequence: 0, prefill: None, steps: &[], rounds: &rounds, footer: None };
        assert_eq!(locate(&side, Some(10), 0), (None, Some(9)));
        let footer = Footer { tokens: Some(vec![0, 1, 7, 8, 1000]), ..Footer::default() };
        let edited = Side { footer: Some(&footer), ..side };
        assert_eq!((locate(&edited, None, 3).0.is_some(), locate(&edited, None, 4).0), (true, None));
        let (place, position) = locate(&side, Some(10), 4);
        let place = place.unwrap();
        assert_eq!((place.round, place.row, place.row_kind(), position), (1, 1, "draft row", Some(13)));
        assert_eq!(side.place(3).unwrap().row_kind(), "bonus row");
        assert_eq!((side.rewinds(), side.after_first_rewind()), (1, Some(3)));
    }

    proptest! {
        #[test]
        fn a_planted_token_is_found_exactly(
            stream in prop::collection::vec(0i64..50, 1..200), place in any::<prop::sample::Index>(), cut in 0usize..5,
        ) {
            let index = place.index(stream.len());
            let mut other = stream.clone();
            other[index] += 1000;
            other.truncate(stream.len().saturating_sub(cut).max(index + 1));
            let found = compare(Unit::Ids, &other, &stream, ToString::to_string);
            let parting = found.parting.unwrap();
            prop_assert_eq!((parting.index, parting.length_only, found.common), (index, false, index));
        }

        #[test]
        fn every_token_of_every_round_is_found_at_its_row(
            accepts in prop::collection::vec((0usize..4, 0usize..4), 1..40),
        ) {
            let rounds: Vec<Round> = (0i64..).zip(&accepts).map(|(number, (a, b))| {
                let (accepted, drafts) = (*a.min(b), *a.max(b));
                round(number, &vec![0; drafts], &vec![7; drafts + 1], accepted)
            }).collect();
            let side = Side { sequence: 0, prefill: None, steps: &[], rounds: &rounds, footer: None };
            let mut index = 1;
            for recorded in &rounds {
                for (row, _) in (0i64..).zip(&recorded.emitted) {
                    let place = side.place(index).unwrap();
                    prop_assert_eq!((place.round, place.row), (recorded.round, row));
                    index += 1;
                }
            }
            prop_assert!(side.place(index).is_none());
        }
    }
}
