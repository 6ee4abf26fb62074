//! A remedy as people read it: what parts, what was tried, the options with what each costs whom, and one line to take.

use super::answers::{Candidate, Ending, Measured, Named, Ran, Remedy, WidthRemedy};
use crate::results::Table;
use crate::results::probe::Outcome;

impl Remedy {
    /// The verdict in one line.
    #[must_use]
    pub fn summary(&self) -> String {
        let of = |one: &WidthRemedy| match &one.choice {
            Some(_) if one.ending == Ending::NothingToCure => format!("width {}: nothing to cure", one.width),
            Some(routes) => format!("width {}: {routes}", one.width),
            None => format!("width {}: {}", one.width, one.ending),
        };
        let widths: Vec<String> = self.widths.iter().map(of).collect();
        let probes: u64 = self.widths.iter().map(|one| one.probes).sum();
        let plural = if probes == 1 { "" } else { "s" };
        format!("verdict: {} ({}; {}; {probes} probe{plural})", self.ending, self.model, widths.join("; "))
    }
}

impl WidthRemedy {
    /// The operations that part, one row each.
    #[must_use]
    pub fn named_table(&self) -> Table {
        let mut table = Table::new().text("parts").text("layers").number("rows ≠").text("op parity");
        table = table.text("agrees by").text("differs by");
        for named in &self.named {
            let parity =
                named.parity.map(|rows| format!("from {rows} row{}", if rows == 1 { "" } else { "s" }));
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
                quoted(&one.routes),
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

    /// What one may do, from not speculating to not caring: what each option costs, and whom.
    #[must_use]
    pub fn options_table(&self) -> Table {
        let mut table = Table::new().text("option").text("exact").text("routes");
        table = table.text("plain decoding").text("who pays");
        if self.plain.is_some() {
            table = table.number("tok/s").number("× plain").number("accepted");
        }
        let plain = self.plain.as_ref().map_or_else(dash, |plain| format!("{:.1}", plain.plain));
        let says = "every request: no speculation";
        table.row(["decline", "yes", "–", "unchanged", says, &plain, "1.00", "–"]);
        for one in self.candidates.iter().filter(|one| one.exact()) {
            self.option(&mut table, ("verify alone", "yes"), one);
        }
        table.row(["whole process", self.whole_process(), "–", "changed", "every request", "–", "–", "–"]);
        if self.ending != Ending::NothingToCure {
            let exact = match &self.requested.run {
                Some(run) if run.rows.1 > 0 => format!("no: {} of {} rows ≠", run.rows.0, run.rows.1),
                _ => "no".to_owned(),
            };
            self.option(&mut table, ("inexact", &exact), &self.requested);
        }
        table
    }

    /// Whether both sides would have to change together.
    fn whole_process(&self) -> &'static str {
        let exact = matches!(self.ending, Ending::Exact | Ending::NothingToCure);
        if exact || self.named.iter().all(Named::cured) { "not needed" } else { "not tried" }
    }

    fn option(&self, table: &mut Table, (option, exact): (&str, &str), one: &Candidate) {
        let [speed, ratio] = speed(one.measured.as_ref());
        let accepted = one.measured.as_ref().and_then(|measured| measured.accepted);
        let pays = if option == "inexact" {
            "whoever relies on the text".to_owned()
        } else {
            let (calls, before) = (one.calls, self.requested.calls);
            format!("blocks of {}: {calls} calls for {before}", self.width)
        };
        table.row([
            option.to_owned(),
            exact.to_owned(),
            quoted(&one.routes),
            "unchanged".to_owned(),
            pays,
            speed,
            ratio,
            accepted.map_or_else(dash, |share| format!("{:.1} %", share * 100.0)),
        ]);
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
                "{}: no route of the block alone gives plain decoding's bytes. Only both sides together could agree: that \
                 changes plain decoding's bytes and its cost, and this engine computes plain decoding in one way.",
                named.op
            )
        }));
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
        let probes = format!("{} probe{}", self.probes, if self.probes == 1 { "" } else { "s" });
        says.push(match self.looks {
            0 => format!("Searched with {probes}."),
            looks => format!(
                "Searched with {probes} and {looks} pass{} over the tokens with every input made equal.",
                if looks == 1 { "" } else { "es" }
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
                let (rows, covered) = (*rows, self.requested.probed.covered.unwrap_or_default());
                format!(
                    "Nothing to cure: {rows} rows at width {width} have plain decoding's bytes, positions {}..{}.",
                    covered.0, covered.1
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
        let measured = best.measured.as_ref()?;
        let floor = plain.floor * 100.0;
        let says = match (measured.resolved, measured.ratio > 1.0) {
            (true, true) => format!("is {:.2} × plain decoding", measured.ratio),
            (true, false) => {
                format!(
                    "is slower than plain decoding ({:.2} ×): declining the width costs less",
                    measured.ratio
                )
            }
            (false, _) => format!("cannot be told from plain decoding ({:.2} ×)", measured.ratio),
        };
        Some(format!(
            "The best exact setting {says}; resolution floor {floor:.1} %, drift {:+.1} %.",
            plain.drift * 100.0
        ))
    }

    /// The line to take.
    #[must_use]
    pub fn flag(&self) -> Option<String> {
        let choice = self.choice.as_ref()?;
        let routes = if choice.is_empty() { "(the defaults)".to_owned() } else { choice.clone() };
        let stored = if self.stored { "   (kept: --routes auto takes it)" } else { "" };
        Some(format!("width {}: --routes {routes}{stored}", self.width))
    }
}

impl Named {
    fn unequal_text(&self) -> String {
        let unknown = if self.unknown.is_empty() {
            String::new()
        } else {
            format!("; not judged: {} rows", listed(&self.unknown))
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
        match self.rows.0 {
            0 => self.verdict.clone(),
            differ => format!("{}, {differ} of {} rows ≠", self.verdict, self.rows.1),
        }
    }
}

fn probe_text(one: &Candidate) -> String {
    match &one.probed.outcome {
        Outcome::Equal { rows, .. } => format!("equal, {rows} rows"),
        outcome => outcome.word().to_owned(),
    }
}

fn speed(measured: Option<&Measured>) -> [String; 2] {
    measured.map_or_else(
        || [dash(), dash()],
        |one| [format!("{:.1}", one.tokens_per_second), format!("{:.2}", one.ratio)],
    )
}

fn quoted(routes: &str) -> String {
    if routes.is_empty() { "(defaults)".to_owned() } else { routes.to_owned() }
}

fn listed<T: ToString>(all: &[T]) -> String {
    if all.is_empty() { dash() } else { all.iter().map(T::to_string).collect::<Vec<_>>().join(", ") }
}

fn dash() -> String {
    "–".to_owned()
}
