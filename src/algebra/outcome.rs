//! What a comparison adds to the judgement of one arm: broken laws between arms, and the verdict of both together.
//!
//! A law that the arm breaks by itself stays the finding; a difference of streams comes after it, because it may be
//! its consequence.

use super::between::Broken;
use super::judgement::{ArmJudgement, Breach, NotCheckable, SequenceJudgement, scene};
use super::{Difference, Pairing, Side, Verdict};

/// The laws that a comparison asks beyond those of one arm.
pub const BETWEEN: [&str; 5] = ["prompt", "null-arm", "vacuous", "stream", "length"];

/// How strongly a verdict speaks among several, by exit code first.
#[must_use]
pub const fn weight(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Identical => 1,
        Verdict::Consistent => 0,
        Verdict::Differs(Difference::NearTie | Difference::ExactTie | Difference::Selection) => 10,
        Verdict::Differs(Difference::Length | Difference::Undecided) => 11,
        Verdict::Differs(Difference::Structural) => 12,
        Verdict::Inconsistent => 13,
        Verdict::NotRun => 20,
        Verdict::Vacuous => 21,
        Verdict::NotComparable => 22,
        Verdict::CutRun => 23,
    }
}

/// The verdict that speaks strongest; the first of equals.
#[must_use]
pub fn strongest(verdicts: impl IntoIterator<Item = Verdict>) -> Option<Verdict> {
    verdicts.into_iter().reduce(|best, next| if weight(next) > weight(best) { next } else { best })
}

impl ArmJudgement {
    /// The judgement of a sequence, made when the arm's own laws had nothing to say about it.
    fn sequence_mut(&mut self, sequence: i64) -> &mut SequenceJudgement {
        let place = self.sequences.iter().position(|judged| judged.sequence == sequence);
        let place = place.unwrap_or_else(|| {
            self.sequences.push(SequenceJudgement { sequence, ..SequenceJudgement::default() });
            self.sequences.len() - 1
        });
        &mut self.sequences[place]
    }

    /// Adds a broken law between arms.
    pub fn break_law(&mut self, side: &Side<'_>, broken: &Broken) {
        let breach = breach(side, broken);
        let judged = self.sequence_mut(side.sequence);
        if judged.finding.is_none() {
            judged.finding = Some(breach);
        } else {
            judged.later.push(breach);
        }
    }

    /// Adds what comparing a sequence gave.
    pub fn add_pairing(&mut self, side: &Side<'_>, mut pairing: Pairing) {
        for broken in std::mem::take(&mut pairing.broken) {
            self.break_law(side, &broken);
        }
        for (law, key) in std::mem::take(&mut pairing.missing) {
            self.lack(law, key);
        }
        // Nothing to check in an arm by itself (a footer alone) does not make its comparison vacuous; a sequence that
        // was compared before and was vacuous does.
        let compared = self.sequences.iter().any(|sequence| sequence.against.is_some());
        let own = Some(self.verdict).filter(|own| compared || *own != Verdict::Vacuous);
        self.verdict = strongest(own.into_iter().chain([pairing.verdict])).unwrap_or(pairing.verdict);
        self.sequence_mut(side.sequence).against = Some(Box::new(pairing));
    }

    /// Notes that a law was asked.
    pub fn ask(&mut self, law: &'static str) {
        if !self.checked.contains(&law) {
            self.checked.push(law);
        }
    }

    /// Notes that a law could not be asked, for want of a key.
    pub fn lack(&mut self, law: &'static str, key: &'static str) {
        let known = self.not_checkable.iter_mut().find(|lack| lack.law == law);
        if let Some(lack) = known {
            lack.places += 1;
            return;
        }
        self.not_checkable.push(NotCheckable { law, missing: vec![key], places: 1 });
    }
}

fn breach(side: &Side<'_>, broken: &Broken) -> Breach {
    let number = broken.place.map(|place| place.round);
    let found = number.and_then(|number| side.rounds.iter().find(|round| round.round == number));
    Breach {
        law: broken.law,
        round: number,
        row: broken.place.map(|place| place.row),
        expected: broken.expected.clone(),
        found: broken.found.clone(),
        says: broken.says.clone(),
        line: None,
        times: 1,
        scene: found.map(scene),
    }
}

#[cfg(test)]
mod tests {
    use super::{strongest, weight};
    use crate::algebra::judgement::ArmJudgement;
    use crate::algebra::{Difference, Pairing, Side, Verdict, pairing, verdict::worst};
    use crate::transcript::Cut;

    fn judged(verdicts: [Verdict; 2]) -> Verdict {
        let mut arm =
            ArmJudgement { verdict: Verdict::Vacuous, ..ArmJudgement::headless("x", Cut::NoHeader, 0) };
        for (sequence, verdict) in (0..).zip(verdicts) {
            let side = Side { sequence, prefill: None, steps: &[], rounds: &[], footer: None };
            arm.add_pairing(&side, Pairing { verdict, ..pairing::ended(None, None) });
        }
        arm.verdict
    }

    #[test]
    fn a_vacuous_sequence_counts_in_any_order() {
        use Verdict::{Identical, Vacuous};
        assert_eq!(judged([Vacuous, Identical]), Vacuous);
        assert_eq!(judged([Identical, Vacuous]), Vacuous);
        assert_eq!(judged([Identical, Identical]), Identical);
    }

    #[test]
    fn weights_keep_the_order_of_exit_codes() {
        use Verdict::{Consistent, CutRun, Differs, Identical, Inconsistent, NotComparable, NotRun, Vacuous};
        let all = [
            Identical,
            Consistent,
            Inconsistent,
            Differs(Difference::NearTie),
            NotRun,
            Vacuous,
            NotComparable,
            CutRun,
        ];
        for left in all {
            for right in all {
                let code = worst([left.exit_code(), right.exit_code()]);
                let stronger = if weight(left) >= weight(right) { left } else { right };
                assert_eq!(stronger.exit_code(), code, "{left} {right}");
            }
        }
        assert_eq!(strongest([Consistent, Identical]), Some(Identical));
        assert_eq!(strongest([]), None);
    }
}
