//! Every number of a record in one long table, each with the file that it comes from; and the index of the files.

use super::document::{Block, Section};
use crate::records::experiment::Experiment;
use crate::records::gather::{From, Gathered};
use crate::records::interrupted::Interrupted;
use crate::results::Table;
use crate::results::bisect::Bisected;
use crate::results::remedy::{Candidate, Remedy, WidthRemedy, or_defaults};
use crate::results::stored::{Arm, Bench, Judgement, Pairing};

/// Rows of a heat map that are written out.
const MOST_HEAT: usize = 1000;

/// The index of the raw data.
#[must_use]
pub fn index(all: &Gathered) -> Section {
    let mut table = Table::new().text("file").text("what").number("bytes").text("sha256");
    for input in &all.inputs {
        table.row([&input.name, input.kind.word(), &input.bytes.to_string(), &input.sha256]);
    }
    let blocks = vec![
        Block::text(
            "Each number above comes from a file named beside it; data.csv has them all in one table, with their files.",
        ),
        Block::whole_table(table),
    ];
    Section::new("data", "Data", blocks)
}

/// `data.csv`.
#[must_use]
pub fn table(all: &Gathered) -> Table {
    let mut rows = Rows(Table::new().text("file").text("subject").text("quantity").text("value"));
    all.experiments.iter().for_each(|one| rows.experiment(one));
    all.judgements.iter().for_each(|one| rows.judgement(&one.result));
    all.benches.iter().for_each(|one| rows.bench(one));
    for one in &all.sweeps {
        for cells in crate::results::sweep::tables::outcomes(&one.result).cells() {
            let place = format!("length {} seed {} width {}", cells[0], cells[1], cells[2]);
            rows.add(&one.file, &place, "verdict", &cells[3]);
            rows.add(&one.file, &place, "rows", &cells[5]);
            rows.add(&one.file, &place, "differing position", &cells[9]);
        }
    }
    for one in &all.parities {
        for line in &one.result.lines {
            let subject =
                ["operation", "route", "dtype", "mode", "shape", "at"].map(|name| line.cell(name)).join(" ");
            for quantity in ["rows tried", "parts at", "bytes", "values", "ulp", "predicted", "and"] {
                rows.add(&one.file, &subject, quantity, line.cell(quantity));
            }
        }
    }
    all.bisects.iter().for_each(|one| rows.bisect(one));
    all.remedies.iter().for_each(|one| rows.remedy(one));
    all.interrupted.iter().for_each(|one| rows.interrupted(one));
    for one in &all.probes {
        for line in &one.result.widths {
            rows.add(&one.file, &format!("width {}", line.key.width), "verdict", line.probed.outcome.word());
        }
    }
    rows.0
}

struct Rows(Table);

impl Rows {
    /// What is not known has no line.
    fn add(&mut self, file: &str, subject: &str, quantity: &str, value: &str) {
        if !value.is_empty() {
            self.0.row([file, subject, quantity, value]);
        }
    }

    fn experiment(&mut self, one: &Experiment) {
        for run in &one.runs {
            if let Some((prompts, differing)) = run.null {
                self.add(&run.file, &run.label(), "null arm: prompts", &prompts.to_string());
                self.add(&run.file, &run.label(), "null arm: prompts that differ", &differing.to_string());
            }
            self.add(&run.file, &run.label(), "stream sha256", run.stream.as_deref().unwrap_or_default());
        }
        self.judgement(&one.judgement);
    }

    fn judgement(&mut self, judgement: &Judgement) {
        for arm in &judgement.arms {
            self.add(&arm.file, &arm.arm, "verdict", arm.verdict.word());
            let compared = &arm.compared;
            for (quantity, value) in [
                ("tokens", compared.tokens),
                ("rounds", compared.rounds),
                ("rewinds", compared.rewinds),
                ("proposed", compared.proposed),
                ("accepted", compared.accepted),
                ("steps", compared.steps),
                ("rows", compared.rows),
            ] {
                self.add(&arm.file, &arm.arm, quantity, &value.to_string());
            }
            for sequence in &arm.sequences {
                if let Some(pairing) = &sequence.against {
                    self.pairing(arm, sequence.sequence, pairing);
                }
            }
        }
    }

    fn pairing(&mut self, arm: &Arm, sequence: i64, pairing: &Pairing) {
        let subject = format!("{}, sequence {sequence}", arm.arm);
        let mut add = |quantity: &str, value: Option<String>| {
            self.add(&arm.file, &subject, quantity, &value.unwrap_or_default());
        };
        add("verdict", Some(pairing.verdict.to_string()));
        add("equal", Some(pairing.equal.to_string()));
        let first = pairing.first.as_ref();
        add("first difference", first.map(|first| first.index.to_string()));
        add("first difference: round", first.and_then(|first| first.round).map(|round| round.to_string()));
        add("first difference: row", first.and_then(|first| first.row).map(|row| row.to_string()));
        let rows = pairing.rows.as_ref();
        add("rows compared", rows.map(|rows| rows.rows.to_string()));
        add("rows with other bytes", rows.map(|rows| rows.bytes_differ.to_string()));
        add("rows with another choice", rows.map(|rows| rows.argmax_differ.to_string()));
        if let Some(states) = &pairing.states {
            add("states compared", Some(states.states.to_string()));
            add("states with other bytes", Some(states.differ().to_string()));
        }
        let flip = pairing.flip.as_ref();
        add("flip: gap", flip.and_then(|flip| flip.gap.or(flip.reported_gap)).map(|gap| gap.to_string()));
        add(
            "flip: largest perturbation",
            flip.and_then(|flip| flip.scale).map(|scale| scale.largest.to_string()),
        );
        add("flip: rows of the scale", flip.and_then(|flip| flip.scale).map(|scale| scale.rows.to_string()));
    }

    fn bisect(&mut self, one: &From<Bisected>) {
        let Bisected { class, rows, operation, confirmation, heat, .. } = &one.result;
        let mut add =
            |subject: &str, quantity: &str, value: String| self.add(&one.file, subject, quantity, &value);
        add("bisect", "class", class.to_string());
        add("bisect", "rows compared", rows.rows.to_string());
        add("bisect", "rows that differ", rows.differing.len().to_string());
        if let Some(first) = rows.differing.first() {
            add("first row", "round", first.round.to_string());
            add("first row", "row", first.row.to_string());
            add("first row", "position", first.position.to_string());
            add("first row", "bytes that differ", first.differing.to_string());
        }
        if let Some(operation) = operation {
            add("named operation", "site", operation.site.clone());
            add("named operation", "round", operation.round.to_string());
            add("named operation", "row", operation.row.to_string());
            add("named operation", "position", operation.position.to_string());
        }
        if let Some(confirmation) = confirmation {
            add(
                "named operation",
                "confirmed",
                if confirmation.confirmed() { "yes" } else { "no" }.to_owned(),
            );
        }
        for row in heat.iter().take(MOST_HEAT) {
            let place = format!("round {} row {}", row.round, row.row);
            for (layer, bytes) in row.layers.iter().enumerate().filter(|(_, bytes)| **bytes > 0) {
                add(&place, &format!("layer {layer}: bytes that differ"), bytes.to_string());
            }
        }
    }

    fn remedy(&mut self, one: &From<Remedy>) {
        for width in &one.result.widths {
            let subject = format!("remedy, width {}", width.width);
            let mut add = |quantity: &str, value: &str| self.add(&one.file, &subject, quantity, value);
            add("ending", &width.ending.to_string());
            let choice = width.choice.as_ref();
            add("choice", choice.map_or("", |choice| &choice.routes));
            add("choice, plain decoding", choice.map_or("", |choice| &choice.plain));
            add("probes", &width.probes.to_string());
            add("passes with every input made equal", &width.looks.to_string());
            if let Some(plain) = &width.plain {
                add("plain tokens per second, median", &plain.plain.to_string());
                add("resolution floor", &plain.floor.to_string());
                add("drift", &plain.drift.to_string());
            }
            self.named(&one.file, width);
            for tried in std::iter::once(&width.requested).chain(&width.candidates) {
                self.tried(&one.file, width.width, tried);
            }
        }
    }

    fn named(&mut self, file: &str, width: &WidthRemedy) {
        for named in &width.named {
            let subject = format!("width {}, {}", width.width, named.op);
            let layers: Vec<String> = named.layers.iter().map(ToString::to_string).collect();
            self.add(file, &subject, "layers that differ", &layers.join(" "));
            self.add(file, &subject, "rows that differ", &named.rows.to_string());
            let parity = named.parity.map(|rows| rows.to_string()).unwrap_or_default();
            self.add(file, &subject, "op parity: rows", &parity);
            self.add(file, &subject, "routes that agree", &named.equal.join(", "));
            self.add(file, &subject, "routes that differ", &named.unequal.join(", "));
        }
    }

    fn tried(&mut self, file: &str, width: u64, tried: &Candidate) {
        let subject = format!("width {width}, {} ({})", tried.kind, tried.said());
        let mut add = |quantity: &str, value: &str| self.add(file, &subject, quantity, value);
        add("calls", &tried.calls.to_string());
        add("probe", tried.probed.outcome.word());
        if let Some(run) = &tried.run {
            add("run: verdict", &run.verdict);
            add("run: rows with other bytes", &run.rows.0.to_string());
            add("run: rows compared", &run.rows.1.to_string());
            add("run: tokens", &run.tokens.to_string());
            add("run: file", &run.file);
        }
        if let Some(measured) = &tried.measured {
            add("tokens per second, median", &measured.tokens_per_second.to_string());
            add("times plain decoding", &measured.ratio.to_string());
            add("resolved", if measured.resolved { "yes" } else { "no" });
            add("accepted", &measured.accepted.map(|share| share.to_string()).unwrap_or_default());
        }
    }

    fn interrupted(&mut self, one: &Interrupted) {
        for tried in one.tried() {
            let subject = format!("width {}, interrupted ({})", tried.width, or_defaults(&tried.routes));
            let probe = tried.probed.as_ref().map_or("", |probed| probed.outcome.word());
            self.add(&one.file, &subject, "probe", probe);
            if let Some(run) = &tried.run {
                self.add(&one.file, &subject, "run: verdict", &run.verdict);
                self.add(&one.file, &subject, "run: rows with other bytes", &run.rows.0.to_string());
                self.add(&one.file, &subject, "run: rows compared", &run.rows.1.to_string());
            }
        }
    }

    fn bench(&mut self, one: &From<Bench>) {
        let Bench { floor, drift, .. } = &one.result;
        self.add(&one.file, "classic", "resolution floor", &floor.to_string());
        self.add(&one.file, "classic", "drift", &drift.to_string());
        for run in &one.result.experiment.runs {
            let subject = format!("{}, run {}", run.arm, run.repeat);
            self.add(&run.file, &subject, "tokens", &run.tokens.to_string());
            self.add(&one.file, &subject, "decode seconds", &run.decode_seconds.to_string());
        }
        for arm in &one.result.arms {
            self.add(&one.file, &arm.arm, "tokens per second, median", &arm.speed.median.to_string());
            self.add(&one.file, &arm.arm, "times plain decoding", &arm.ratio.to_string());
            self.add(&one.file, &arm.arm, "resolved", if arm.resolved { "yes" } else { "no" });
        }
    }
}
