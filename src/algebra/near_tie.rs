//! How a token flip is judged: by the gap between the two contested tokens against a measured perturbation.
//!
//! A fixed margin acquits whatever is smaller than somebody's guess. Here the scale is what the same two logits did
//! to each other in the rows before, where both arms still agreed; without enough of those rows the answer is
//! "undecided". A near tie is never an acquittal: the streams differ.

use super::verdict::Difference;
use serde::{Deserialize, Serialize};

/// Earlier rows needed before their largest perturbation counts as a scale.
pub const ENOUGH_ROWS: usize = 32;
/// Up to this many times the scale, a gap is a near tie.
const NEAR: f64 = 1.0;
/// Above this many times the scale, a gap is structural.
const FAR: f64 = 4.0;

/// The logits of the two contested tokens in one arm's row.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Pair {
    /// The logit of the reference's token.
    pub reference: f64,
    /// The logit of the arm's token.
    pub arm: f64,
}

impl Pair {
    /// By how much the reference's token leads; negative when the arm's token does.
    #[must_use]
    pub fn lead(&self) -> f64 {
        self.reference - self.arm
    }
}

/// How far the same pair moved in the rows before the flip.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Scale {
    /// Earlier rows where both logits are known in both arms.
    pub rows: usize,
    /// The largest change of the pair's gap between the arms.
    pub largest: f64,
    /// The stream index of that row.
    pub index: usize,
}

impl Scale {
    /// Adds an earlier row. The flipped row itself is never added: it would be its own excuse.
    pub fn add(&mut self, index: usize, reference: Pair, arm: Pair) {
        let moved = (reference.lead() - arm.lead()).abs();
        if !moved.is_finite() {
            return;
        }
        self.rows += 1;
        if moved > self.largest {
            (self.largest, self.index) = (moved, index);
        }
    }

    /// True when there are enough rows.
    #[must_use]
    pub const fn counts(&self) -> bool {
        self.rows >= ENOUGH_ROWS
    }
}

/// Everything known about a flip.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Flip {
    /// The two rows have the same bytes; unknown without digests or bytes.
    pub same_bytes: Option<bool>,
    /// The pair in the reference's row.
    pub reference: Option<Pair>,
    /// The pair in the arm's row.
    pub arm: Option<Pair>,
    /// What the pair did before.
    pub scale: Scale,
    /// Equal rows before that are no part of the scale: their blocks had fewer rows than the flip's.
    pub narrower: usize,
    /// The spacing of the logits' dtype at the contested logits.
    pub ulp: Option<f64>,
    /// The logits are the row's own bytes, so that no reporting quantum hides anything.
    pub exact: bool,
    /// The server's reporting quantum.
    pub quantum: Option<f64>,
    /// The reported gap of the two chosen tokens, each in its own arm, where only those are reported.
    pub reported_gap: Option<f64>,
}

/// A flip, judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    /// The verdict.
    pub verdict: super::Verdict,
    /// The gap: the larger of the two arms', in logits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gap: Option<f64>,
    /// The gap of the two chosen tokens, each as its own arm reported it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reported_gap: Option<f64>,
    /// The gap in representable steps of the logits' dtype.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ulps: Option<f64>,
    /// The gap in the server's reporting quanta.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quanta: Option<f64>,
    /// The gap as a multiple of the largest earlier perturbation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
    /// The scale.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scale: Option<Scale>,
    /// The server's quantum.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quantum: Option<f64>,
    /// Why, in words.
    pub says: String,
}

impl Flip {
    /// The larger gap of the two arms. A flip needs the pair to move by both gaps, so the smaller one alone would
    /// let a large fault pass as a tie of the other side.
    #[must_use]
    pub fn gap(&self) -> Option<f64> {
        let known = [self.reference, self.arm].into_iter().flatten().map(|pair| pair.lead().abs());
        known.filter(|gap| !gap.is_nan()).reduce(f64::max)
    }

    /// Judges the flip.
    #[must_use]
    pub fn judge(&self) -> Judged {
        let gap = self.gap();
        let (difference, says) = self.decide(gap);
        let shown = gap.or(self.reported_gap);
        let ratio = gap.filter(|_| self.scale.counts() && self.scale.largest > 0.0);
        Judged {
            verdict: super::Verdict::Differs(difference),
            gap,
            reported_gap: self.reported_gap,
            ulps: gap.zip(self.ulp).map(|(gap, ulp)| gap / ulp),
            quanta: shown.zip(self.quantum).map(|(gap, quantum)| gap / quantum),
            ratio: ratio.map(|gap| gap / self.scale.largest),
            scale: (self.scale.rows > 0).then_some(self.scale),
            quantum: self.quantum,
            says,
        }
    }

    fn decide(&self, gap: Option<f64>) -> (Difference, String) {
        if self.same_bytes == Some(true) {
            return (
                Difference::Selection,
                "the two rows have the same bytes; the choice differs".to_owned(),
            );
        }
        let Some(gap) = gap else { return (Difference::Undecided, self.without_logits()) };
        if gap.to_bits() == 0 {
            return (Difference::ExactTie, "both contested tokens have the same logit in the row".to_owned());
        }
        if let Some(quantum) = self.quantum.filter(|quantum| !self.exact && gap < *quantum) {
            let says =
                format!("the gap of {gap} is below the reporting quantum of {quantum}; keep the logit bytes");
            return (Difference::Undecided, says);
        }
        self.against_scale(gap)
    }

    fn without_logits(&self) -> String {
        match (self.reported_gap, self.quantum) {
            (Some(gap), Some(quantum)) if gap < quantum => format!(
                "the reported gap is {gap}, below the reporting quantum of {quantum}: the server cannot show which \
                 token leads; keep the logit bytes of both arms"
            ),
            (Some(gap), _) => format!(
                "each arm reported only its own choice ({gap} apart), not both contested tokens; keep the logit \
                 bytes of both arms"
            ),
            _ => "the logits of the contested tokens are not recorded; keep the logit bytes of both arms"
                .to_owned(),
        }
    }

    fn against_scale(&self, gap: f64) -> (Difference, String) {
        let Scale { rows, largest, index } = self.scale;
        if !self.scale.counts() {
            let counted = match rows {
                0 => "no earlier row shows".to_owned(),
                1 => "only 1 earlier row shows".to_owned(),
                _ => format!("only {rows} earlier rows show"),
            };
            let narrower = match self.narrower {
                0 => String::new(),
                1 => " (1 earlier equal row is not counted: its block had fewer rows than the flip's)"
                    .to_owned(),
                more => format!(
                    " ({more} earlier equal rows are not counted: their blocks had fewer rows than the flip's)"
                ),
            };
            let says = format!("{counted} this pair in both arms{narrower}; {ENOUGH_ROWS} make a scale");
            return (Difference::Undecided, says);
        }
        let measured =
            format!("the largest perturbation of this pair over {rows} earlier rows ({largest} at {index})");
        if gap <= NEAR * largest {
            return (Difference::NearTie, format!("the gap of {gap} is no larger than {measured}"));
        }
        if gap > FAR * largest {
            let times =
                if largest > 0.0 { format!("{:.1} ×", gap / largest) } else { "not matched by".to_owned() };
            return (Difference::Structural, format!("the gap of {gap} is {times} {measured}"));
        }
        (
            Difference::Undecided,
            format!("the gap of {gap} is {:.1} × {measured}: between 1 × and 4 ×", gap / largest),
        )
    }
}

/// What a fixed margin would have said, with the control that has to reject.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Margin {
    /// The margin asked for, in logits.
    pub margin: f64,
    /// The gap is known and no larger.
    pub within: bool,
    /// The same at margin 0: true for an exact tie only.
    pub within_zero: bool,
}

impl Margin {
    /// Holds a gap against a margin; an unknown gap is never within.
    #[must_use]
    pub fn hold(margin: f64, gap: Option<f64>) -> Self {
        let within = |margin: f64| gap.is_some_and(|gap| gap <= margin);
        Self { margin, within: within(margin), within_zero: within(0.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::{ENOUGH_ROWS, Flip, Margin, Pair, Scale};
    use crate::algebra::{Difference, Verdict};
    use proptest::prelude::*;

    fn pair(lead: f64) -> Pair {
        Pair { reference: 10.0 + lead, arm: 10.0 }
    }

    fn scale(rows: usize, largest: f64) -> Scale {
        Scale { rows, largest, index: 3 }
    }

    fn word(flip: &Flip) -> &'static str {
        flip.judge().verdict.word()
    }

    #[test]
    fn equal_bytes_are_selection_before_anything_else() {
        let flip = Flip { same_bytes: Some(true), reference: Some(pair(4.0)), ..Flip::default() };
        assert_eq!(word(&flip), "selection");
    }

    #[test]
    fn a_gap_of_zero_is_an_exact_tie_even_without_a_scale() {
        let flip = Flip {
            same_bytes: Some(false),
            reference: Some(pair(0.0)),
            arm: Some(pair(0.0)),
            ..Flip::default()
        };
        assert_eq!(word(&flip), "exact tie");
    }

    #[test]
    fn a_tie_in_the_reference_does_not_excuse_a_large_lead_in_the_arm() {
        let flip = Flip {
            reference: Some(pair(0.0)),
            arm: Some(pair(-5.0)),
            scale: scale(40, 0.3),
            ..Flip::default()
        };
        assert_eq!(word(&flip), "structural");
    }

    #[test]
    fn thirty_one_rows_are_no_scale() {
        let flip = |rows| Flip { reference: Some(pair(0.1)), scale: scale(rows, 0.3), ..Flip::default() };
        assert_eq!(word(&flip(ENOUGH_ROWS - 1)), "undecided");
        assert_eq!(word(&flip(ENOUGH_ROWS)), "near tie");
    }

    #[test]
    fn atlas_435_is_structural_at_13_7_times_the_scale() {
        let flip = Flip { reference: Some(pair(4.1)), scale: scale(32, 0.3), ..Flip::default() };
        let judged = flip.judge();
        assert_eq!(judged.verdict, Verdict::Differs(Difference::Structural));
        assert!(judged.says.contains("13.7 ×"), "{}", judged.says);
    }

    #[test]
    fn below_the_quantum_is_undecided_whatever_the_scale_says() {
        let flip = Flip {
            reference: Some(pair(0.1)),
            scale: scale(50, 0.3),
            quantum: Some(0.125),
            ..Flip::default()
        };
        assert_eq!(word(&flip), "undecided");
    }

    #[test]
    fn margin_zero_rejects_what_a_margin_lets_through() {
        let margin = Margin::hold(1.0, Some(0.25));
        assert!(margin.within && !margin.within_zero);
        assert!(!Margin::hold(1.0, None).within);
    }

    proptest! {
        #[test]
        fn the_bounds_are_one_and_four_times_the_scale(largest in 1e-6f64..10.0, times in 0.001f64..20.0) {
            let flip = Flip { reference: Some(pair(0.0)), scale: scale(40, largest), ..Flip::default() };
            let gap = largest * times;
            let (difference, _) = flip.against_scale(gap);
            let expected = if gap <= largest {
                Difference::NearTie
            } else if gap > 4.0 * largest {
                Difference::Structural
            } else {
                Difference::Undecided
            };
            prop_assert_eq!(difference, expected);
        }

        #[test]
        fn the_largest_planted_movement_becomes_the_scale(
            moves in prop::collection::vec(0.0f64..0.5, 1..80), place in any::<prop::sample::Index>(),
        ) {
            let place = place.index(moves.len());
            let mut scale = Scale::default();
            for (index, moved) in moves.iter().enumerate() {
                let moved = if index == place { 0.75 } else { *moved };
                scale.add(index, Pair { reference: 8.0, arm: 7.0 }, Pair { reference: 8.0 + moved, arm: 7.0 });
            }
            prop_assert_eq!((scale.rows, scale.index), (moves.len(), place));
            prop_assert!((scale.largest - 0.75).abs() < 1e-12);
        }
    }
}
