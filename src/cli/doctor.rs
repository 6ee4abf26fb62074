//! `exactness doctor`: what this program computes with, on what, and what is missing.

use super::console;
use super::model::ModelArgs;
use crate::arms::identity;
use crate::engine::checkpoint::Checkpoint;
use crate::engine::raw;
use crate::results::Table;
use crate::transcript::format::{Backend, Host};
use serde::Serialize;

/// Says which MLX, which device and which model are in use, and what is missing.
#[derive(Debug, clap::Args)]
pub struct Doctor {
    #[command(flatten)]
    model: ModelArgs,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// Everything that the doctor looked at.
#[derive(Debug, Serialize)]
struct Report {
    program: &'static str,
    mlx_built_on: String,
    mlx_running: String,
    mlx_library: String,
    backend: Backend,
    host: Host,
    model: ModelReport,
    warnings: Vec<String>,
}

#[derive(Debug, Serialize)]
struct ModelReport {
    name: String,
    model_type: String,
    digest: String,
    form: String,
    quantization: Option<String>,
    parameters: usize,
    bytes: usize,
    tensors: usize,
    ignored: Vec<(&'static str, usize)>,
    end_ids: Vec<i64>,
    tokenizer: bool,
}

impl Doctor {
    /// Runs the verb.
    ///
    /// # Errors
    /// When the model cannot be opened, or MLX cannot compute at all.
    pub fn run(self) -> anyhow::Result<u8> {
        let checkpoint = self.model.open()?;
        let report = report(&checkpoint)?;
        if self.json {
            console::out(&serde_json::to_string_pretty(&report)?);
        } else {
            console::out(&table(&report).terminal(super::settings::columns()));
            report.warnings.iter().for_each(|warning| console::out(&format!("warning: {warning}")));
        }
        Ok(0)
    }
}

fn report(checkpoint: &Checkpoint) -> anyhow::Result<Report> {
    let tokenizer = checkpoint
        .has_file("tokenizer.json")
        .map_err(|error| super::exit::Failure::unavailable(format!("failed to {error}")))?;
    let running = raw::mlx_version();
    let mut warnings = warnings(&running);
    if !tokenizer {
        warnings
            .push("the model has no tokenizer.json; text prompts need one, --prompt-ids do not".to_owned());
    }
    Ok(Report {
        program: env!("CARGO_PKG_VERSION"),
        mlx_built_on: format!("{} ({})", identity::BUILT_VERSION, identity::BUILT_VARIANT),
        mlx_running: running,
        mlx_library: identity::loaded_library().unwrap_or_else(|| identity::BUILT_LIBRARY.to_owned()),
        backend: identity::backend(),
        host: identity::host(),
        model: model(checkpoint, tokenizer),
        warnings,
    })
}

fn model(checkpoint: &Checkpoint, tokenizer: bool) -> ModelReport {
    let summary = checkpoint.summary();
    ModelReport {
        name: summary.name,
        model_type: summary.model_type,
        digest: checkpoint.digest(),
        form: summary.form.to_string(),
        quantization: summary.quantization,
        parameters: summary.parameters,
        bytes: summary.bytes,
        tensors: summary.tensors,
        ignored: summary.ignored,
        end_ids: checkpoint.config().end_ids.clone(),
        tokenizer,
    }
}

/// What was seen, the likely cause, and what helps.
fn warnings(running: &str) -> Vec<String> {
    let mut warnings = Vec::new();
    if !running.starts_with(identity::BUILT_VERSION) && identity::BUILT_VERSION != "unknown" {
        warnings.push(format!(
            "MLX {running} is loaded and the program was built on {}: objects of one version must not meet the library \
             of another; unset LD_LIBRARY_PATH or rebuild with EXACTNESS_MLX_VERSION",
            identity::BUILT_VERSION
        ));
    }
    if running.starts_with("0.32.2") && identity::on_gpu() {
        warnings.push(
            "MLX 0.32.2 on CUDA has a data race in quantized products of 8 or more rows: runs need null arms, or \
             MLX 0.32.4"
                .to_owned(),
        );
    }
    warnings
}

fn table(report: &Report) -> Table {
    let known = |value: &Option<String>| value.clone().unwrap_or_else(|| "unknown".to_owned());
    let model = &report.model;
    let ignored: Vec<String> =
        model.ignored.iter().map(|(part, count)| format!("{count} of {part}")).collect();
    let mut table = Table::new().text("what").text("found");
    let mut line = |what: &str, found: String| table.row([what.to_owned(), found]);
    line("exactness", report.program.to_owned());
    line("MLX, built on", report.mlx_built_on.clone());
    line("MLX, running", report.mlx_running.clone());
    line("MLX library", report.mlx_library.clone());
    line("backend", known(&report.backend.name));
    line("device", known(&report.backend.device));
    line("driver", report.backend.driver.clone().unwrap_or_else(|| "none".to_owned()));
    line("processor", known(&report.host.cpu));
    line("model", format!("{} ({}, {} form)", model.name, model.model_type, model.form));
    line(
        "weights",
        format!(
            "{} parameters, {} bytes, {}",
            model.parameters,
            model.bytes,
            model.quantization.as_deref().unwrap_or("not quantized")
        ),
    );
    line("digest", model.digest.clone());
    line(
        "tensors",
        format!(
            "{} read, ignored: {}",
            model.tensors,
            if ignored.is_empty() { "none".to_owned() } else { ignored.join(", ") }
        ),
    );
    line("end-of-text ids", format!("{:?}", model.end_ids));
    line("tokenizer", if model.tokenizer { "there" } else { "missing" }.to_owned());
    table
}
