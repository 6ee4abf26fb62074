//! Whether a stored remedy says what its own parts give, so that an edited file proves nothing.

use super::answers::{Candidate, Ending, Ran, Remedy, WidthRemedy};

impl Remedy {
    /// The first thing that the rest does not bear out.
    #[must_use]
    pub fn contradiction(&self) -> Option<String> {
        let worst = self.widths.iter().map(|one| one.ending).max_by_key(|ending| ending.exit_code());
        let widths = self.widths.iter().find_map(WidthRemedy::contradiction);
        widths.or_else(|| {
            let wrong = worst.is_some_and(|worst| worst.exit_code() != self.ending.exit_code());
            wrong.then(|| format!("it ended {}, and its worst width did not", self.ending))
        })
    }
}

impl WidthRemedy {
    fn contradiction(&self) -> Option<String> {
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
