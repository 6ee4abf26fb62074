//! A probe as people read it: the table, the sentences, the verdict.

use super::{Outcome, Probe, Uncovered, WidthLine};
use crate::results::{Table, agreed, part_of};

impl Probe {
    /// One row a width.
    #[must_use]
    pub fn table(&self) -> Table {
        let mut table = Table::new().number("width").text("verdict").text("positions").number("inputs");
        table = table.number("rows").number("bytes").number("states").text("gate");
        self.widths.iter().for_each(|line| table.row(line.cells()));
        table
    }

    /// What the lines come to, one sentence each.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        let mut says: Vec<String> = Vec::new();
        says.extend(self.planted.iter().map(|plant| format!("A fault was planted: {plant}.")));
        for line in &self.widths {
            let width = line.key.width;
            // The gate's warning names what differs; only where it does not warn is there more to say.
            let reason = match &line.probed.outcome {
                Outcome::Differs { seed, first } => {
                    Some(format!("width {width}, input {seed}: {first} differ"))
                }
                Outcome::NotRun { reason } => Some(format!("width {width}: {reason}")),
                Outcome::Equal { .. } => None,
            };
            says.extend(line.says.clone().or(reason));
        }
        says.extend(self.looked());
        says.extend(self.not_covered());
        says
    }

    /// Hazards past what was looked at, each once, with the widths that it is past of.
    fn not_covered(&self) -> Vec<String> {
        let mut all: Vec<(&Uncovered, Vec<String>)> = Vec::new();
        for line in &self.widths {
            for uncovered in &line.probed.uncovered {
                let width = line.key.width.to_string();
                match all.iter_mut().find(|(known, _)| *known == uncovered) {
                    Some((_, widths)) => widths.push(width),
                    None => all.push((uncovered, vec![width])),
                }
            }
        }
        let text = |(one, widths): (&Uncovered, Vec<String>)| {
            let Uncovered { begins, hazard, source } = one;
            let of = agreed(widths.len(), "width", "widths");
            format!("Not covered ({of} {}): {begins}: {hazard} [{source}].", widths.join(", "))
        };
        all.into_iter().map(text).collect()
    }

    /// How far an equal verdict looked.
    fn looked(&self) -> Option<String> {
        let any = self.widths.iter().any(|line| matches!(line.probed.outcome, Outcome::Equal { .. }));
        let says = "Looked at: each position at every row of a block, and with proposals rejected in turn; states at the \
                    end of every walk and at some drawn positions. Plain decoding repeated itself (null arm).";
        any.then(|| says.to_owned())
    }

    /// The verdict in one line.
    #[must_use]
    pub fn summary(&self) -> String {
        let equal = self.widths.iter().filter(|line| line.probed.outcome.word() == "equal").count();
        let says = format!("{}: {} equal", self.model, part_of(equal, self.widths.len(), "width"));
        let first = self.widths.first().map(|line| &line.probed);
        let seeds: Vec<String> = first.iter().flat_map(|one| &one.seeds).map(u64::to_string).collect();
        let positions = first.and_then(|one| one.covered);
        let positions =
            positions.map_or_else(String::new, |(from, to)| format!(" over positions {from}..{to}"));
        let inputs = agreed(seeds.len(), "input", "inputs");
        format!("verdict: {} ({says}{positions}, {inputs} {})", self.verdict, seeds.join(", "))
    }
}

impl WidthLine {
    fn cells(&self) -> Vec<String> {
        let none = || "–".to_owned();
        let (rows, bytes, states) = match self.probed.outcome {
            Outcome::Equal { rows, bytes, states, .. } => {
                (rows.to_string(), bytes.to_string(), states.to_string())
            }
            _ => (none(), none(), none()),
        };
        let remembered = if self.remembered { " (remembered)" } else { "" };
        vec![
            self.key.width.to_string(),
            format!("{}{remembered}", self.probed.outcome.word()),
            self.probed.covered.map_or_else(none, |(from, to)| format!("{from}..{to}")),
            self.probed.seeds.len().to_string(),
            rows,
            bytes,
            states,
            if self.engages { "engages" } else { "declines" }.to_owned(),
        ]
    }
}
