//! A remedy as people read it: what parts, what was tried, and what there is to say about it.

use super::answers::{Candidate, Ending, Named, Ran, Remedy, WidthRemedy};
use super::choice::Pace;
use super::options::{cell, dash, speed};
use crate::results::probe::Outcome;
use crate::results::{Table, agreed, counted, part_of};

impl Remedy {
    /// The verdict in one line.
    #[must_use]
    pub fn summary(&self) -> String {
        let widths: Vec<String> = self.widths.iter().map(WidthRemedy::outcome).collect();
        let probes: u64 = self.widths.iter().map(|one| one.probes).sum();
        let probes = counted(probes, "probe");
        format!("verdict: {} ({}; {}; {probes})", self.ending, self.model, widths.join("; "))
    }
}

impl WidthRemedy {
    /// The operations that part, one row each.
    #[must_use]
    pub fn named_table(&self) -> Table {
        let mut table = Table::new().text("parts").text("layers").number("rows ≠").text("op parity");
        table = table.text("agrees by").text("differs by");
        for named in &self.named {
            let parity = named.parity.map(|rows| format!("from {}", counted(rows, "row")));
            table.row([
                named.op.clone(),
                named.layers_text(),
                named.rows.to_string(),
                parity.unwrap_or_else(|| "equal".to_owned()),
                listed(&named.equal),
                named.unequal_text(),
            ]);
        }
        table
    }

    /// The settings that were tried, the best first.
    #[must_use]
    pub fn candidates_table(&self) -> Table {
        let mut table = Table::new().text("routes").text("how").number("calls").text("probe").text("run");
        if self.plain.is_some() {
            table = table.number("tok/s").number("× plain").text("resolved");
        }
        for one in [&self.requested].into_iter().chain(&self.candidates) {
            let [speed, ratio] = speed(one.measured.as_ref());
            let resolved = one.measured.as_ref().map(|measured| if measured.resolved { "yes" } else { "no" });
            table.row([
                cell(one),
                one.kind.to_string(),
                one.calls.to_string(),
                probe_text(one),
                one.run.as_ref().map_or_else(dash, Ran::says),
                speed,
                ratio,
                resolved.map_or_else(dash, str::to_owned),
            ]);
        }
        table
    }

    /// What there is to say beside the tables.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        let mut says = Vec::new();
        says.extend(self.unmet.iter().map(|plant| {
            format!("The planted {plant} never struck: no block came to what it names, so nothing was tried on it.")
        }));
        says.extend(self.named.iter().filter(|named| !named.cured()).map(|named| {
            format!(
                "{}: no route of the block alone gives plain decoding's bytes; only a change of plain decoding, too, could.",
                named.op
            )
        }));
        says.extend(self.both_sides());
        if let (Ending::NoneFound, true) = (self.ending, self.named.is_empty()) {
            says.push(
                "No operation differs on equal inputs: what parts is kept wrong between blocks, and no route cures that; \
                 exactness bisect says what."
                    .to_owned(),
            );
        }
        says.extend(self.speed());
        if self.candidates.iter().any(Candidate::half_proven) {
            says.push(
                "Equal in the probe, and the run compared nothing: give it a drafter that proposes, as --drafter oracle."
                    .to_owned(),
            );
        }
        let probes = counted(self.probes, "probe");
        says.push(match self.looks {
            0 => format!("Searched with {probes}."),
            looks => format!(
                "Searched with {probes} and {} over the tokens with every input made equal.",
                counted(looks, "pass")
            ),
        });
        says
    }

    /// How blocks came out as they were asked for.
    #[must_use]
    pub fn found(&self) -> String {
        let width = self.width;
        match &self.requested.probed.outcome {
            Outcome::Equal { rows, .. } => {
                let covered = self.requested.probed.covered.unwrap_or_default();
                format!(
                    "Nothing to cure: {} at width {width} {} plain decoding's bytes, positions {}..{}.",
                    counted(*rows, "row"),
                    agreed(*rows, "has", "have"),
                    covered.0,
                    covered.1
                )
            }
            Outcome::Differs { seed, first } => {
                format!("As requested, width {width} differs: on input {seed}, {first}.")
            }
            Outcome::NotRun { reason } => format!("Width {width} was not looked into: {reason}."),
        }
    }

    fn speed(&self) -> Option<String> {
        let (plain, best) = (self.plain.as_ref()?, self.candidates.first().filter(|one| one.exact())?);
        let (pace, floor) = (Pace::of(best.measured.as_ref()?), plain.floor * 100.0);
        Some(format!(
            "The best exact setting {}; resolution floor {floor:.1} %, drift {:+.1} %.",
            pace.says(),
            plain.drift * 100.0
        ))
    }
}

impl Named {
    fn unequal_text(&self) -> String {
        let unknown = if self.unknown.is_empty() {
            String::new()
        } else {
            let last = self.unknown.last().copied().unwrap_or_default();
            format!("; not judged: {} {}", listed(&self.unknown), agreed(last, "row", "rows"))
        };
        format!("{}{unknown}", listed(&self.unequal))
    }

    fn layers_text(&self) -> String {
        match (self.of, self.layers.len()) {
            (0, _) => "–".to_owned(),
            (of, 0) => format!("0 of {of} here"),
            (of, seen) if seen == usize::from(of) => format!("all {of}"),
            (of, _) => format!("{} (of {of})", listed(&self.layers)),
        }
    }
}

impl Ran {
    fn says(&self) -> String {
        let differing = [("row", Some(self.rows)), ("state", self.states)].into_iter();
        let differing =
            differing.filter_map(|(what, counts)| Some((what, counts.filter(|counts| counts.0 > 0)?)));
        differing.fold(self.verdict.clone(), |says, (what, (differ, all))| {
            format!("{says}, {} ≠", part_of(differ, all, what))
        })
    }
}

fn probe_text(one: &Candidate) -> String {
    match &one.probed.outcome {
        Outcome::Equal { rows, .. } => format!("equal, {}", counted(*rows, "row")),
        outcome => outcome.word().to_owned(),
    }
}

fn listed<T: ToString>(all: &[T]) -> String {
    if all.is_empty() { dash() } else { all.iter().map(T::to_string).collect::<Vec<_>>().join(", ") }
}
