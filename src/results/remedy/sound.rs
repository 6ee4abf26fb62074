//! Whether a stored remedy says what its own parts give, so that an edited file proves nothing.

use super::answers::{Candidate, Ending, Ran, Remedy, WidthRemedy};
use super::or_defaults;
use crate::algebra::Verdict;
use crate::results::probe::Outcome;
use std::collections::BTreeSet;

impl Remedy {
    /// The first thing that the rest does not bear out.
    #[must_use]
    pub fn contradiction(&self) -> Option<String> {
        if self.widths.is_empty() {
            return Some("no width was asked about".to_owned());
        }
        let mut seen = BTreeSet::new();
        if let Some(twice) = self.widths.iter().find(|one| !seen.insert(one.width)) {
            return Some(format!("width {} stands in it twice", twice.width));
        }
        let widths = self.widths.iter().find_map(WidthRemedy::contradiction);
        widths.or_else(|| {
            let wrong = Self::worst(&self.widths) != self.ending;
            wrong.then(|| format!("it ended {}, and its worst width did not", self.ending))
        })
    }
}

impl Ran {
    /// The word is a verdict's, and the code is its own.
    fn agrees(&self) -> bool {
        let verdict = serde_json::from_value::<Verdict>(self.verdict.as_str().into());
        verdict.is_ok_and(|verdict| verdict.exit_code() == self.code)
    }
}

impl WidthRemedy {
    fn contradiction(&self) -> Option<String> {
        if self.width == 0 {
            return Some("width 0 is none".to_owned());
        }
        let tried = || self.candidates.iter().chain([&self.requested]);
        let counts = |run: &Ran| [Some(run.rows), run.states].into_iter().flatten();
        let miscounted = |one: &&Candidate| {
            one.run.as_ref().is_some_and(|run| counts(run).any(|(differ, all)| differ > all))
        };
        if let Some(one) = tried().find(miscounted) {
            return Some(format!(
                "width {}: more rows or states of {} differ than were compared",
                self.width, one.routes
            ));
        }
        if let Some(run) = tried().filter_map(|one| one.run.as_ref()).find(|run| !run.agrees()) {
            return Some(format!(
                "width {}: {:?} with exit code {} is how no run ends",
                self.width, run.verdict, run.code
            ));
        }
        let empty = |one: &&Candidate| matches!(one.probed.outcome, Outcome::Equal { rows: 0, .. });
        if let Some(one) = tried().find(empty) {
            return Some(format!(
                "width {}: the probe of {} compared no row",
                self.width,
                or_defaults(&one.routes)
            ));
        }
        let best = self.candidates.first().filter(|best| best.exact());
        let chosen = self.choice.as_ref().map(|choice| (choice.routes.as_str(), choice.plain.as_str()));
        let borne = match self.ending {
            Ending::Exact => {
                best.map(|best| (best.routes.as_str(), best.plain.as_str())) == chosen && best.is_some()
            }
            Ending::NothingToCure => self.requested.probed.outcome.exit_code() == 0,
            Ending::NoneFound | Ending::NotRun => best.is_none() && chosen.is_none(),
        };
        (!borne).then(|| {
            format!(
                "width {} ended {}, and its settings, proofs and choice do not give that",
                self.width, self.ending
            )
        })
    }
}
