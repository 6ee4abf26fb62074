//! `exactness compare`: speculative arms against plain decoding of the same prompts.

use super::check_algebra::Format;
use super::exit::Failure;
use super::judged::Style;
use super::judging::judge_path;
use super::{compared, console, settings};
use crate::algebra::{Verdict, judge_arm};
use crate::results::Judgement;
use crate::results::comparing::{self, Contestant};
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
                .map_err(|error| Failure::unparseable(format!("failed to {error}")))?;
        console::out(&print(&judgement, self.format)?);
        Ok(judgement.verdict.exit_code())
    }
}

fn contestants(paths: &[PathBuf]) -> anyhow::Result<Vec<Contestant>> {
    paths.iter().map(|path| contestant(path)).collect()
}

/// Read twice where it can be: the judge wants lines with their numbers, the comparison the whole arm.
fn contestant(path: &Path) -> anyhow::Result<Contestant> {
    if path.as_os_str() == "-" {
        let arm = Arm::read(path).map_err(Failure::from)?;
        let judged = judge_arm(&arm);
        return Ok(Contestant { arm, judged });
    }
    let judged = judge_path(path).map_err(Failure::from)?;
    let arm = Arm::read(path).map_err(|error| match judged.verdict {
        // A run that was cut inside its header is a cut run like any other, only that nothing of it is left.
        Verdict::CutRun => Failure { code: Verdict::CutRun.exit_code(), says: format!("cut run: {error}") },
        _ => Failure::from(error),
    })?;
    Ok(Contestant { arm, judged })
}

fn print(judgement: &Judgement, format: Format) -> anyhow::Result<String> {
    Ok(match format {
        Format::Json => serde_json::to_string_pretty(judgement).context("print the judgement")?,
        Format::Human => compared::text(judgement, Style::Terminal(settings::columns())),
        Format::Markdown => compared::text(judgement, Style::Markdown),
    })
}
