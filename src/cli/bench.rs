//! `exactness bench`: how fast each width is beside plain decoding, and what of the difference is more than noise.

use super::exit::Failure;
use super::experiment::{Setup, width};
use super::form::Form;
use super::judged::Style;
use super::{console, settings};
use crate::arms::spec::bench_plan;
use crate::engine::rows::RowDetail;
use crate::results::bench::{ArmSpeed, Bench, restless};
use crate::results::{Table, counted};
use crate::transcript::{Arm, files};
use anyhow::Context as _;
use std::path::Path;

/// Times arms: plain decoding at both ends, each width several times between.
///
/// Plain decoding's own spread is the resolution floor; a smaller difference is called unresolved. An arm whose text is
/// not plain decoding's is timed too, and its verdict stands beside its speed.
#[derive(Debug, clap::Args)]
pub struct BenchArgs {
    /// Block widths: rows verified in one forward, proposals + 1.
    #[arg(long, value_name = "N,N,…", value_parser = width, value_delimiter = ',', default_values_t = [2, 4, 8])]
    widths: Vec<usize>,
    /// Runs of each width, and of plain decoding at each end, 2 or more: one run has no spread.
    #[arg(long, default_value_t = 3, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=100))]
    repeat: u32,
    #[command(flatten)]
    setup: Setup,
    /// How to print.
    #[arg(long, value_enum, default_value_t = Form::Human)]
    format: Form,
}

impl BenchArgs {
    /// Runs the verb.
    ///
    /// # Errors
    /// When the setup is not usable, MLX refuses or a file cannot be written. What was recorded stays.
    pub fn run(mut self) -> anyhow::Result<u8> {
        if self.setup.max_tokens() < 2 {
            let says = "failed to measure: --max-tokens 1 leaves nothing to time, as the first token belongs to the prompt";
            return Err(Failure::usage(says).into());
        }
        self.widths.sort_unstable();
        self.widths.dedup();
        let prepared = self.setup.prepare(RowDetail::None)?;
        let experiment = prepared.record(&bench_plan(&self.widths, self.repeat))?;
        let read = |file: &String| Arm::read(Path::new(file)).map_err(Failure::from);
        let transcripts = experiment.runs.iter().map(|run| read(&run.file)).collect::<Result<Vec<_>, _>>()?;
        let bench = Bench::new(experiment, &transcripts, prepared.prompt_ids(), self.repeat as usize);
        let csv = bench.runs_table().csv().context("print the runs")?;
        let json = serde_json::to_string_pretty(&bench).context("print the measurement")?;
        console::out(&match self.format {
            Form::Csv => csv.trim_end().to_owned(),
            Form::Json => json.clone(),
            Form::Human => people(&bench, Style::Terminal(settings::columns())),
            Form::Markdown => people(&bench, Style::Markdown),
        });
        // After the results are out, so that a full disk does not take them along.
        let files = ["bench.csv", "bench.json"].map(|name| prepared.out.join(name));
        for (file, text) in files.iter().zip([&csv, &json]) {
            files::write_whole(file, text.as_bytes())?;
        }
        if matches!(self.format, Form::Human | Form::Markdown) {
            console::out(&format!("\nwritten: {} and {}", files[0].display(), files[1].display()));
        }
        Ok(bench.verdict.exit_code())
    }
}

fn people(bench: &Bench, style: Style) -> String {
    let mut parts = vec![style.folded(&speeds(bench)), style.folded(&rounds(bench))];
    parts.push(sentences(bench).join("\n"));
    if !bench.experiment.says.is_empty() {
        parts.push(bench.experiment.says.join("\n"));
    }
    let arms = bench.arms.len();
    let widths = counted(arms, "width");
    parts.push(format!("verdict: {} ({widths} timed against plain decoding)", bench.verdict));
    parts.join("\n\n")
}

/// Speed beside plain decoding.
fn speeds(bench: &Bench) -> Table {
    let mut table = Table::new().text("arm").number("tok/s").number("lowest").number("highest");
    table = table.number("× classic").text("resolved").number("prompt ids/s").text("verdict");
    let cells = |speed: &crate::results::bench::Speed| {
        let ends =
            |pick: fn(f64, f64) -> f64, start| speed.tokens_per_second.iter().copied().fold(start, pick);
        [speed.median, ends(f64::min, f64::INFINITY), ends(f64::max, 0.0)].map(|value| format!("{value:.1}"))
    };
    let row = |name: &str, speed, ratio: String, resolved: &str, verdict: String| {
        let [median, lowest, highest] = cells(speed);
        let prefill = format!("{:.0}", speed.prefill);
        [name.to_owned(), median, lowest, highest, ratio, resolved.to_owned(), prefill, verdict]
    };
    table.row(row("classic", &bench.classic, "1.00".to_owned(), "–", "reference".to_owned()));
    for arm in &bench.arms {
        let resolved = if arm.resolved { "yes" } else { "unresolved" };
        let ratio = format!("{:.2}", arm.ratio);
        table.row(row(&arm.arm, &arm.speed, ratio, resolved, arm.verdict.to_string()));
    }
    table
}

/// Acceptance by place, and where a round's time goes.
fn rounds(bench: &Bench) -> Table {
    let mut table = Table::new().text("arm").text("accepted by place").number("draft ms").number("verify ms");
    table = table.number("sync ms").number("rewind ms").number("other ms").number("ms / accepted");
    for arm in &bench.arms {
        let ArmSpeed { split, .. } = arm;
        let times = [split.draft, split.verify, split.sync, split.rewind, split.other];
        let mut row = vec![arm.arm.clone(), percents(&arm.acceptance)];
        row.extend(times.map(|time| format!("{time:.2}")));
        row.push(arm.accepted_ms.map_or_else(|| "–".to_owned(), |ms| format!("{ms:.2}")));
        table.row(row);
    }
    table
}

fn percents(shares: &[f64]) -> String {
    let words: Vec<String> = shares.iter().map(|share| format!("{:.0}", share * 100.0)).collect();
    if words.is_empty() { "–".to_owned() } else { format!("{} %", words.join(" ")) }
}

fn sentences(bench: &Bench) -> Vec<String> {
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    let mut says = vec![
        format!(
            "Resolution floor {}: plain decoding's {} runs lie that far apart; a smaller difference is unresolved.",
            percent(bench.floor),
            bench.classic.tokens_per_second.len()
        ),
        format!("Drift {:+.1} %: plain decoding's last runs against its first.", bench.drift * 100.0),
        format!(
            "A plain step took {:.2} ms; a width pays where an accepted proposal costs less than that.",
            bench.step_ms()
        ),
    ];
    if restless(bench.floor, bench.drift) {
        says.push(
            "The machine's speed changed while it was measured: run it again on a quiet machine.".to_owned(),
        );
    }
    says
}
