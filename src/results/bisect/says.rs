//! The parts of a bisect's answer in words, each a sentence or the part of one.

use super::answers::{Amplitude, Confirmation, Handled, Operation, RewindAnswer, RowWalk, StateSeen};
use crate::results::{counted, part_of};

impl StateSeen {
    /// Where and what, without a full stop.
    #[must_use]
    pub fn says(&self) -> String {
        let after =
            self.round.map_or_else(|| "after the prompt".to_owned(), |round| format!("after round {round}"));
        let position = self.position.map(|position| format!(" from position {position}"));
        let lengths = self.lengths.map(|(chain, block)| {
            format!(", the chain has {} and the block {block}", counted(chain, "position"))
        });
        let (differing, all) = self.differing;
        format!(
            "{}{} {after} ({}{})",
            self.part,
            position.unwrap_or_default(),
            part_of(differing, all, "part"),
            lengths.unwrap_or_default()
        )
    }
}

impl RewindAnswer {
    pub(super) fn says(&self) -> String {
        let (width, kept) = self.rows;
        let stayed = |what: &str, rows: Option<i64>| rows.map(|rows| format!("{what} keep {rows}"));
        let state = match (self.recurrent, self.kept_in_state) {
            (true, None) => Some("recurrent states are of no row of the block".to_owned()),
            (_, rows) => stayed("recurrent states", rows),
        };
        let parts: Vec<String> =
            stayed("keys and values", self.kept_in_cache).into_iter().chain(state).collect();
        format!(
            "Nothing that was computed in round {} differs, and the state left behind does: of {} {kept} should stay, {}.",
            self.round,
            counted(width, "row"),
            parts.join(", ")
        )
    }
}

impl Operation {
    pub(super) fn says(&self, rows: &RowWalk) -> Vec<String> {
        let what = if self.in_state { "the state that it leaves differs" } else { "its output differs" };
        let mut says = vec![format!(
            "First with equal inputs: {} at round {}, row {}, position {}; {what} in {}.",
            self.site,
            self.round,
            self.row,
            self.position,
            self.amplitude.says()
        )];
        let first = rows.differing.first().filter(|row| (row.round, row.row) != (self.round, self.row));
        says.extend(first.map(|row| {
            format!(
                "The first row of logits that differs, round {}, row {}, inherited it: the row at position {} wrote it.",
                row.round, row.row, self.position
            )
        }));
        let calls = |rows: &[u64]| match rows {
            [] => "no call".to_owned(),
            [one] => format!("one call of {}", counted(*one, "row")),
            [first, ..] => format!("{} of up to {first}", counted(rows.len(), "call")),
        };
        says.push(format!(
            "Routes: chain {} ({}), block {} ({}).",
            self.routes.0,
            calls(&self.calls.0),
            self.routes.1,
            calls(&self.calls.1)
        ));
        says
    }
}

impl Amplitude {
    /// By how much, without a full stop.
    #[must_use]
    pub fn says(&self) -> String {
        let first = self.first.map(|first| format!(", the first at {first}"));
        let far =
            (self.max_ulps > 0).then(|| format!(", by at most {} ulp ({:.2e})", self.max_ulps, self.max_abs));
        format!(
            "{}, {}{}{}",
            part_of(self.bytes.0, self.bytes.1, "byte"),
            part_of(self.values.0, self.values.1, "number"),
            first.unwrap_or_default(),
            far.unwrap_or_default()
        )
    }
}

impl Handled {
    /// In a few words.
    #[must_use]
    pub fn says(&self) -> String {
        match self {
            Self::Route { routes } => routes.clone(),
            Self::Output => "the chain's output".to_owned(),
            Self::Rewind => "an honest rewind".to_owned(),
            Self::State => "the chain's state after the prompt".to_owned(),
        }
    }
}

impl Confirmation {
    /// What was done and what came of it.
    #[must_use]
    pub fn says(&self) -> String {
        let after = self.after.as_ref().map_or_else(
            || "block and chain are identical".to_owned(),
            |place| format!("they part at {place}"),
        );
        let tried: Vec<String> =
            self.tried.iter().map(|one| format!(" ({} did not move it)", one.says())).collect();
        let control = match (&self.control, self.control_moved) {
            (Some(site), Some(false)) => format!(" The chain's output at {site} instead does not move it."),
            (Some(site), _) => format!(" But the chain's output at {site} instead moves it, too."),
            (None, _) => String::new(),
        };
        let word = match (self.confirmed(), self.moved) {
            (true, _) => "Confirmed",
            (false, true) => "Not confirmed",
            (false, false) => "Not confirmed: it stays where it is",
        };
        format!(
            "{word}: with {} in the block alone, {after}.{}{control}",
            self.handled.says(),
            tried.concat()
        )
    }
}
