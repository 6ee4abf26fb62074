//! `exactness compare`: speculative arms against plain decoding of the same prompts.

use super::check_algebra::Format;
use super::exit::Failure;
use super::judged::Style;
use super::judging::{judge_path, standard_input_once};
use super::{compared, console, settings};
use crate::algebra::judge_arm;
use crate::results::Judgement;
use crate::results::comparing::{self, Contestant};
use crate::transcript::Arm;
use anyhow::Context as _;
use std::collections::BTreeSet;
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
    /// A run is always identical to itself, so that comparing it with itself compares nothing.
    fn refuse_itself(&self) -> Result<(), Failure> {
        // What cannot be resolved is said when it is read.
        let real = |path: &PathBuf| std::fs::canonicalize(path).ok().filter(|path| path.is_file());
        let against: BTreeSet<PathBuf> = self.against.iter().filter_map(real).collect();
        match self.arms.iter().find(|arm| real(arm).is_some_and(|path| against.contains(&path))) {
            None => Ok(()),
            Some(arm) => Err(Failure::usage(format!(
                "{} stands on both sides: a run is always identical to itself; leave it out on one side",
                arm.display()
            ))),
        }
    }

    /// Runs the verb.
    ///
    /// # Errors
    /// When a transcript or its kept rows cannot be read.
    pub fn run(self) -> anyhow::Result<u8> {
        standard_input_once(self.arms.iter().chain(&self.against))?;
        self.refuse_itself()?;
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
pub(super) fn contestant(path: &Path) -> anyhow::Result<Contestant> {
    // Standard input and pipes can be read once; a file is judged line by line first, then read for comparing.
    let once = !path.is_file();
    let before = if once { None } else { Some(judge_path(path).map_err(Failure::from)?) };
    let arm = Arm::read(path).map_err(Failure::from)?;
    let judged = before.unwrap_or_else(|| judge_arm(&arm));
    Ok(Contestant { arm, judged })
}

fn print(judgement: &Judgement, format: Format) -> anyhow::Result<String> {
    Ok(match format {
        Format::Json => serde_json::to_string_pretty(judgement).context("print the judgement")?,
        Format::Human => compared::text(judgement, Style::Terminal(settings::columns())),
        Format::Markdown => compared::text(judgement, Style::Markdown),
    })
}
