//! `exactness compare`: speculative arms against plain decoding of the same prompts.

use super::console;
use crate::results::comparing::{self, Contestant};
use crate::results::{Judgement, Table, compare_text};
use crate::transcript::Arm;
use anyhow::Context as _;
use std::path::{Path, PathBuf};

/// Compares arms with their reference: prompts, null arms, vacuity, streams, rows, and how the first flip is judged.
#[derive(Debug, clap::Args)]
pub struct Compare {
    /// Transcripts of the arms; a file whose header has `repeat` 1 is the null arm of its run.
    #[arg(required = true)]
    arms: Vec<PathBuf>,
    /// Transcripts of the reference, usually plain decoding, and its repeats.
    #[arg(long, required = true, num_args = 1..)]
    against: Vec<PathBuf>,
    /// How to print.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
    /// Also say whether the flip is within this many logits, with the control at 0 beside it. Never the verdict.
    #[arg(long, value_name = "LOGITS", value_parser = margin)]
    margin: Option<f64>,
}

/// How results are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// Tables for a terminal.
    Human,
    /// The JSON contract.
    Json,
    /// Tables for a report.
    Markdown,
}

fn margin(text: &str) -> Result<f64, String> {
    let margin: f64 = text.parse().map_err(|_| format!("`{text}` is no number of logits"))?;
    if margin.is_finite() && margin >= 0.0 { Ok(margin) } else { Err("a margin is 0 or more".to_owned()) }
}

impl Compare {
    /// Runs the verb.
    ///
    /// # Errors
    /// When a transcript or its kept rows cannot be read.
    pub fn run(self) -> anyhow::Result<u8> {
        let judgement =
            comparing::compare(contestants(&self.arms)?, contestants(&self.against)?, self.margin)
                .context("failed to compare kept rows")?;
        console::out(&print(&judgement, self.format)?);
        Ok(judgement.verdict.exit_code())
    }
}

fn contestants(paths: &[PathBuf]) -> anyhow::Result<Vec<Contestant>> {
    paths.iter().map(|path| contestant(path)).collect()
}

fn contestant(path: &Path) -> anyhow::Result<Contestant> {
    let arm = Arm::read(path).context("failed to compare")?;
    let judged = own(&arm);
    Ok(Contestant { arm, judged })
}

fn print(judgement: &Judgement, format: Format) -> anyhow::Result<String> {
    Ok(match format {
        Format::Json => serde_json::to_string_pretty(judgement)?,
        Format::Human => {
            compare_text::whole(judgement, |table: &Table| table.terminal(super::settings::columns()))
        }
        Format::Markdown => compare_text::whole(judgement, Table::markdown),
    })
}

// TEMPORARY until the judge of one arm is merged.
fn own(arm: &Arm) -> crate::results::ArmJudgement {
    crate::results::ArmJudgement {
        arm: arm.header.arm.clone(),
        file: arm.path.display().to_string(),
        verdict: crate::algebra::Verdict::Consistent,
        cut: arm.cut.map(|cut| cut.to_string()),
        compared: crate::results::Compared::default(),
        checked: Vec::new(),
        not_checkable: Vec::new(),
        sequences: Vec::new(),
    }
}
