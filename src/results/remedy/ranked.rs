//! Which of the proven settings is the best. Pure: speed counts only where it is told apart from noise, and a setting that
//! changes plain decoding comes after those that do not, unless it was allowed beforehand.

use super::answers::{Candidate, Kind, Timed};
use std::cmp::Ordering;

/// Where a candidate stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rank {
    /// Proven by probe and run.
    Exact,
    /// Proven, and plain decoding is another one.
    ExactOnBothSides,
    /// Equal in the probe, and the run compared nothing.
    HalfProven,
    /// Neither.
    Inexact,
}

impl Rank {
    /// Of a candidate; `both` says that changing plain decoding is as good as leaving it.
    #[must_use]
    pub fn of(candidate: &Candidate, both: bool) -> Self {
        match (candidate.exact(), candidate.half_proven()) {
            (true, _) if candidate.kind == Kind::BothSides && !both => Self::ExactOnBothSides,
            (true, _) => Self::Exact,
            (false, true) => Self::HalfProven,
            (false, false) => Self::Inexact,
        }
    }
}

/// Sorts candidates, the best first: the proven ones, among them the fastest, where the fastest lie within the floor
/// of each other, or nothing was measured, those of fewest calls.
///
/// `both` allows a setting that changes plain decoding to win, which it does where it is faster than all others by more
/// than the floor.
pub fn rank(candidates: &mut [Candidate], timed: Option<&Timed>, both: bool) {
    let floor = timed.map_or(0.0, |timed| timed.floor);
    let best = |of_both: bool| {
        let own = |one: &&Candidate| one.exact() && (one.kind == Kind::BothSides) == of_both;
        candidates.iter().filter(own).filter_map(speed).reduce(f64::max)
    };
    let both = both && best(true).zip(best(false)).is_some_and(|(both, block)| both - block > floor);
    let first = candidates.iter().map(|one| Rank::of(one, both)).min();
    let foremost = candidates.iter().filter(|one| Some(Rank::of(one, both)) == first);
    let fastest = foremost.filter_map(speed).fold(0.0, f64::max);
    let near = |one: &Candidate| speed(one).is_none_or(|own| fastest - own <= floor);
    let order = |left: &Candidate, right: &Candidate| {
        let ranks = Rank::of(left, both).cmp(&Rank::of(right, both));
        ranks.then_with(|| match (near(left), near(right)) {
            (true, true) => left.calls.cmp(&right.calls),
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            (false, false) => by_speed(left, right),
        })
    };
    candidates.sort_by(order);
}

fn speed(candidate: &Candidate) -> Option<f64> {
    candidate.measured.as_ref().map(|measured| measured.ratio)
}

fn by_speed(left: &Candidate, right: &Candidate) -> Ordering {
    speed(right).unwrap_or(0.0).total_cmp(&speed(left).unwrap_or(0.0))
}

#[cfg(test)]
mod tests {
    use super::super::answers::{Candidate, Kind, Measured, Ran, Timed};
    use super::rank;
    use crate::results::probe::{First, Outcome, Place, Probed};
    use proptest::prelude::*;

    fn candidate(routes: &str, calls: u64, ratio: Option<f64>, rows: u64) -> Candidate {
        let outcome = Outcome::Equal { inputs: 3, rows: 1, bytes: 4, states: 1 };
        let probed = Probed {
            covered: Some((1, 2)),
            every_row: true,
            seeds: vec![1, 2, 3],
            outcome,
            uncovered: vec![],
        };
        let run = Ran {
            verdict: "identical".to_owned(),
            code: 0,
            rows: (0, rows),
            states: None,
            tokens: 2,
            file: String::new(),
            changed: None,
        };
        let measured = ratio.map(|ratio| Measured {
            tokens_per_second: ratio * 10.0,
            ratio,
            resolved: true,
            accepted: None,
            same_text: true,
            plain: None,
        });
        let (routes, plain) = (routes.to_owned(), String::new());
        Candidate { routes, plain, kind: Kind::ByOperation, calls, probed, run: Some(run), measured }
    }

    fn differing(probed: Probed) -> Probed {
        let place = Place::State { part: "keys".to_owned() };
        let first = First { position: 1, pass: String::new(), round: 0, place };
        Probed { outcome: Outcome::Differs { seed: 1, first }, ..probed }
    }

    fn ranked(mut all: Vec<Candidate>, floor: f64) -> Vec<String> {
        let timed = Timed { plain: 10.0, floor, drift: 0.0, settings: vec![] };
        rank(&mut all, Some(&timed), false);
        all.into_iter().map(|one| one.routes).collect()
    }

    #[test]
    fn a_difference_within_the_floor_is_none() {
        let both = || vec![candidate("dear", 9, Some(1.30), 5), candidate("cheap", 4, Some(1.25), 5)];
        assert_eq!(ranked(both(), 0.10), ["cheap", "dear"]);
        assert_eq!(ranked(both(), 0.01), ["dear", "cheap"]);
    }

    #[test]
    fn changing_plain_decoding_is_no_way_to_win_unless_it_was_allowed() {
        let both = || {
            let mut all = vec![candidate("block", 9, Some(0.8), 5), candidate("slow", 9, Some(0.7), 5)];
            all.push(Candidate { kind: Kind::BothSides, ..candidate("both", 4, Some(1.4), 5) });
            all
        };
        assert_eq!(ranked(both(), 0.01), ["block", "slow", "both"]);
        let timed = Timed { plain: 10.0, floor: 0.01, drift: 0.0, settings: vec![] };
        let mut allowed = both();
        rank(&mut allowed, Some(&timed), true);
        assert_eq!(allowed[0].routes, "both");
        let mut rough = both();
        rank(&mut rough, Some(&Timed { floor: 0.7, ..timed }), true);
        assert_eq!(rough[0].routes, "block", "a difference within the floor is none");
        let alone = both().into_iter().map(|one| match one.kind {
            Kind::BothSides => one,
            _ => Candidate { run: None, probed: differing(one.probed), ..one },
        });
        assert_eq!(ranked(alone.collect(), 0.01)[0], "both");
    }

    #[test]
    fn one_whose_timed_text_differs_is_not_exact() {
        let mut fast = candidate("fast", 4, Some(2.0), 5);
        fast.measured.as_mut().unwrap().same_text = false;
        assert_eq!(ranked(vec![fast, candidate("slow", 9, Some(0.9), 5)], 0.1), ["slow", "fast"]);
    }

    #[test]
    fn without_a_measurement_fewer_calls_are_better_and_nothing_unproven_is() {
        let all = vec![
            candidate("vacuous", 1, None, 0),
            candidate("dear", 9, None, 5),
            candidate("cheap", 4, None, 5),
        ];
        assert_eq!(ranked(all, 0.0), ["cheap", "dear", "vacuous"]);
    }

    proptest! {
        /// The first is never slower than any other proven one by more than the floor.
        #[test]
        fn nobody_is_faster_than_the_first_by_more_than_the_floor(
            ratios in prop::collection::vec((0.1f64..3.0, 1u64..99, 0u64..2), 1..7), floor in 0.0f64..0.5
        ) {
            let all: Vec<Candidate> = ratios.iter().map(|(ratio, calls, rows)| candidate("x", *calls, Some(*ratio), *rows)).collect();
            let mut sorted = all.clone();
            let timed = Timed { plain: 10.0, floor, drift: 0.0, settings: vec![] };
            rank(&mut sorted, Some(&timed), false);
            prop_assert_eq!(sorted.len(), all.len());
            if all.iter().any(Candidate::exact) {
                prop_assert!(sorted[0].exact());
                let first = sorted[0].measured.as_ref().map_or(0.0, |one| one.ratio);
                for other in all.iter().filter(|one| one.exact()) {
                    prop_assert!(other.measured.as_ref().map_or(0.0, |one| one.ratio) - first <= floor);
                }
            }
        }
    }
}
