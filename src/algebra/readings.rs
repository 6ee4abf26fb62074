//! What several widths say together, each reading with its evidence.
//!
//! One width gives an index; how that index moves with the width tells kinds of faults apart before any GPU is
//! asked: a rewind fault moves with the depth of the rewinds, a kernel that switches at a row count splits the
//! widths in two, a fault in the forward pass strikes at the same token whatever the rounds looked like.

use std::collections::BTreeMap;

/// A difference from the start of the stream is one in the first rounds, before any rewind.
const FIRST_ROUNDS: i64 = 2;

/// Where one arm parted from the reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parted {
    /// Stream index.
    pub index: usize,
    /// Its round; none for the prefill token and where rounds are not recorded.
    pub round: Option<i64>,
    /// Its row.
    pub row: Option<i64>,
    /// The first index computed from rewound caches; none when nothing was rewound or rounds are not recorded.
    pub after_rewind: Option<usize>,
    /// The state entering round 0 differs from the reference's, where both are recorded.
    pub entering_state_differs: Option<bool>,
}

/// One arm among several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observation {
    /// The arm's label.
    pub arm: String,
    /// Its width.
    pub width: i64,
    /// It differs from its own repeat.
    pub differs_from_itself: bool,
    /// Its comparison was not ended before the streams.
    pub comparable: bool,
    /// Where it parted; none when its stream equals the reference's.
    pub parted: Option<Parted>,
}

/// One reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// What it points to.
    pub word: &'static str,
    /// One sentence.
    pub says: String,
    /// What it rests on, one line an arm.
    pub evidence: Vec<String>,
}

/// Reads several widths together. Fewer than two different widths say nothing about how an index moves.
#[must_use]
pub fn read(arms: &[Observation]) -> Vec<Reading> {
    if let Some(stop) = stop(arms) {
        return vec![stop];
    }
    let mut sorted: Vec<&Observation> = arms.iter().filter(|arm| arm.comparable).collect();
    sorted.sort_by_key(|arm| arm.width);
    let several = sorted.windows(2).any(|pair| pair[0].width != pair[1].width);
    if !several || sorted.iter().all(|arm| arm.parted.is_none()) {
        return Vec::new();
    }
    let rules = [entering_state, same_index, boundaries, moving];
    rules.iter().map(|rule| rule(&sorted)).find(|found| !found.is_empty()).unwrap_or_default()
}

fn stop(arms: &[Observation]) -> Option<Reading> {
    let guilty: Vec<&Observation> = arms.iter().filter(|arm| arm.differs_from_itself).collect();
    (!guilty.is_empty()).then(|| Reading {
        word: "stop",
        says: "an arm differs from itself: until that is gone no difference between arms means anything"
            .to_owned(),
        evidence: guilty.iter().map(|arm| format!("{} differs from its own repeat", arm.arm)).collect(),
    })
}

/// Every arm parted, with its place.
fn all_parted<'a>(arms: &[&'a Observation]) -> Option<Vec<(&'a Observation, &'a Parted)>> {
    arms.iter().map(|arm| arm.parted.as_ref().map(|parted| (*arm, parted))).collect()
}

fn entering_state(arms: &[&Observation]) -> Vec<Reading> {
    let Some(parted) = all_parted(arms) else { return Vec::new() };
    let early = |parted: &Parted| match parted.round {
        Some(round) => round <= FIRST_ROUNDS && !parted.is_after_rewind(),
        None => parted.index == 0,
    };
    if !parted.iter().all(|(_, parted)| early(parted)) {
        return Vec::new();
    }
    let states = parted.iter().filter_map(|(_, parted)| parted.entering_state_differs).collect::<Vec<_>>();
    let hint = match (states.is_empty(), states.iter().any(|differs| *differs)) {
        (true, _) => "compare the prefill's state",
        (false, true) => "its recorded digest differs",
        (false, false) => "its recorded digests are equal, so look at the first block itself",
    };
    vec![Reading {
        word: "state entering round 0",
        says: format!("every width differs from the start, before any rewind could matter: {hint}"),
        evidence: evidence(arms),
    }]
}

fn same_index(arms: &[&Observation]) -> Vec<Reading> {
    let Some(parted) = all_parted(arms) else { return Vec::new() };
    let Some(index) = parted.first().map(|(_, parted)| parted.index) else { return Vec::new() };
    if parted.iter().any(|(_, parted)| parted.index != index) {
        return Vec::new();
    }
    let places: Vec<_> = parted.iter().map(|(_, parted)| (parted.round, parted.row)).collect();
    let structure = if places.windows(2).any(|pair| pair[0] != pair[1]) {
        ", in different rounds and rows, so rollback is unlikely"
    } else {
        ""
    };
    vec![Reading {
        word: "forward numerics or prefill",
        says: format!("every width differs first at index {index}{structure}"),
        evidence: evidence(arms),
    }]
}

/// Neighbouring widths that part at the same index, or not at all.
fn groups<'a>(arms: &[&'a Observation]) -> Vec<Vec<&'a Observation>> {
    let mut groups: Vec<Vec<&Observation>> = Vec::new();
    for arm in arms {
        match groups.last_mut() {
            Some(group) if group[0].index() == arm.index() => group.push(arm),
            _ => groups.push(vec![arm]),
        }
    }
    groups
}

fn boundaries(arms: &[&Observation]) -> Vec<Reading> {
    let groups = groups(arms);
    let mut by_index: BTreeMap<Option<usize>, usize> = BTreeMap::new();
    for group in &groups {
        *by_index.entry(group[0].index()).or_default() += 1;
    }
    // A group that comes back after another is no boundary, and lone indices are no groups.
    let contiguous = by_index.values().all(|times| *times == 1);
    let several = |group: &Vec<&Observation>| group.len() > 1;
    let grouped = groups.iter().filter(|group| group[0].parted.is_some()).all(several)
        || groups.len() == 2 && groups.iter().any(several);
    if groups.len() < 2 || !contiguous || !grouped {
        return Vec::new();
    }
    let reading = |pair: &[Vec<&Observation>]| -> Option<Reading> {
        let (below, above) = (pair[0].last()?.width, pair[1].first()?.width);
        (below != above).then(|| Reading {
            word: "dispatch boundary",
            says: format!("the widths fall into groups: dispatch boundary between {below} and {above}"),
            evidence: pair.iter().flat_map(|group| evidence(group)).collect(),
        })
    };
    groups.windows(2).filter_map(reading).collect()
}

fn moving(arms: &[&Observation]) -> Vec<Reading> {
    let parted: Vec<&Parted> = arms.iter().filter_map(|arm| arm.parted.as_ref()).collect();
    let mut indices: Vec<usize> = parted.iter().map(|parted| parted.index).collect();
    indices.sort_unstable();
    indices.dedup();
    let moves = parted.len() > 1 && indices.len() == parted.len();
    if !moves || !parted.iter().all(|parted| parted.is_after_rewind()) {
        return Vec::new();
    }
    vec![Reading {
        word: "rollback or accept",
        says: "every first difference comes after that arm's first rewind and moves with the width"
            .to_owned(),
        evidence: evidence(arms),
    }]
}

fn evidence(arms: &[&Observation]) -> Vec<String> {
    arms.iter().map(|arm| arm.line()).collect()
}

impl Parted {
    fn is_after_rewind(&self) -> bool {
        self.after_rewind.is_some_and(|first| self.index >= first)
    }
}

impl Observation {
    fn index(&self) -> Option<usize> {
        self.parted.as_ref().map(|parted| parted.index)
    }

    fn line(&self) -> String {
        let Some(parted) = &self.parted else { return format!("width {}: no difference", self.width) };
        let place = parted.round.zip(parted.row).map(|(round, row)| format!(" (round {round} row {row})"));
        let rewind = match parted.after_rewind {
            Some(first) if parted.index >= first => format!(", rewound caches from {first} on"),
            Some(first) => format!(", before the first rewind at {first}"),
            None => String::new(),
        };
        format!("width {}: index {}{}{rewind}", self.width, parted.index, place.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::{Observation, Parted, read};
    use proptest::prelude::*;

    fn arm(width: i64, index: usize, round: i64, after_rewind: Option<usize>) -> Observation {
        let parted =
            Parted { index, round: Some(round), row: Some(1), after_rewind, entering_state_differs: None };
        Observation {
            arm: format!("w{width}"),
            width,
            differs_from_itself: false,
            comparable: true,
            parted: Some(parted),
        }
    }

    fn words(arms: &[Observation]) -> Vec<&'static str> {
        read(arms).iter().map(|reading| reading.word).collect()
    }

    #[test]
    fn w1_groups_of_widths_name_the_boundary() {
        let arms =
            [(3, 40), (4, 40), (5, 22), (6, 22), (8, 22)].map(|(width, index)| arm(width, index, 9, Some(4)));
        let readings = read(&arms);
        assert_eq!(readings.len(), 1);
        assert!(readings[0].says.ends_with("dispatch boundary between 4 and 5"), "{}", readings[0].says);
        assert_eq!(readings[0].evidence.len(), 5);
    }

    #[test]
    fn w2_one_index_in_different_rounds_is_the_forward_pass() {
        let readings = read(&[arm(2, 105, 70, Some(5)), arm(4, 105, 47, Some(3))]);
        assert_eq!(readings[0].word, "forward numerics or prefill");
        assert!(readings[0].says.contains("rollback is unlikely"));
    }

    #[test]
    fn w3_indices_that_move_after_a_rewind_are_rollback() {
        assert_eq!(
            words(&[arm(2, 31, 20, Some(5)), arm(4, 12, 4, Some(3)), arm(8, 9, 2, Some(3))]),
            ["rollback or accept"]
        );
    }

    #[test]
    fn w4_from_the_start_is_the_state_entering_round_0() {
        assert_eq!(
            words(&[arm(2, 1, 0, None), arm(4, 3, 1, Some(7)), arm(8, 0, 0, Some(2))]),
            ["state entering round 0"]
        );
    }

    #[test]
    fn an_arm_that_differs_from_itself_stops_every_reading() {
        let mut arms = [arm(2, 105, 70, Some(5)), arm(4, 105, 47, Some(3))];
        arms[1].differs_from_itself = true;
        assert_eq!(words(&arms), ["stop"]);
    }

    #[test]
    fn one_width_or_equal_streams_give_no_reading() {
        assert!(read(&[arm(4, 105, 47, Some(3))]).is_empty());
        let equal = |width| Observation { parted: None, ..arm(width, 0, 0, None) };
        assert!(read(&[equal(2), equal(4)]).is_empty());
    }

    #[test]
    fn one_equal_and_one_differing_width_are_no_groups() {
        let equal = |width| Observation { parted: None, ..arm(width, 0, 0, None) };
        assert!(read(&[equal(2), arm(4, 22, 9, Some(4))]).is_empty());
        let moving = [equal(2), equal(4), arm(8, 31, 9, Some(4)), arm(16, 12, 4, Some(4))];
        assert_eq!(words(&moving), ["rollback or accept"]);
    }

    #[test]
    fn widths_that_stay_equal_are_a_group_too() {
        let equal = |width| Observation { parted: None, ..arm(width, 0, 0, None) };
        let readings = read(&[equal(2), equal(4), arm(8, 22, 9, Some(4)), arm(16, 22, 5, Some(4))]);
        assert!(readings[0].says.ends_with("between 4 and 8"), "{}", readings[0].says);
    }

    proptest! {
        #[test]
        fn a_planted_boundary_is_named_whatever_the_order(
            below in 1usize..4, above in 2usize..5, first in 20usize..200, apart in 1usize..50, turn in 0usize..8,
        ) {
            let index = |place: usize| if place < below { first } else { first + apart };
            let mut arms: Vec<Observation> = (0..below + above)
                .map(|place| arm(i64::try_from(place).unwrap() + 2, index(place), 9, Some(4)))
                .collect();
            let turn = turn % arms.len();
            arms.rotate_left(turn);
            let says = format!("between {} and {}", below + 1, below + 2);
            let readings = read(&arms);
            prop_assert!(readings.len() == 1 && readings[0].says.ends_with(&says), "{:?}", readings);
        }
    }
}
