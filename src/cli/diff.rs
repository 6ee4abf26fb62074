//! `exactness diff`: what differs between two runs' provenance.

use super::check_algebra::Format;
use super::exit::Failure;
use super::{console, judging, settings};
use crate::algebra::Verdict;
use crate::results::provenance::{self, Provenance};
use crate::transcript::Arm;
use anyhow::Context as _;
use std::path::{Path, PathBuf};

/// Says what differs between two runs before their tokens: model, routes, backend, driver, width, drafter, command.
#[derive(Debug, clap::Args)]
pub struct Diff {
    /// One transcript
    left: PathBuf,
    /// The other
    right: PathBuf,
    /// How the result is printed
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
}

impl Diff {
    /// Runs the verb.
    ///
    /// # Errors
    /// When a transcript cannot be read.
    pub fn run(&self) -> anyhow::Result<u8> {
        judging::standard_input_once([&self.left, &self.right])?;
        let read = |path: &Path| Arm::read(path).map_err(Failure::from);
        let (left, right) = (read(&self.left)?, read(&self.right)?);
        let found = provenance::compare(&left.header, &right.header).context("failed to compare headers")?;
        let table = found.table(&self.left.display().to_string(), &self.right.display().to_string());
        let text = match self.format {
            Format::Json => {
                console::out(&serde_json::to_string_pretty(&found).context("failed to print the keys")?);
                return Ok(code(&found));
            }
            Format::Human => table.terminal(Some(settings::columns().unwrap_or(110))),
            Format::Markdown => table.markdown(),
        };
        if !table.is_empty() {
            console::out(&format!("{}\n", text.trim_end()));
        }
        let Provenance { equal, differing, one_sided } = &found;
        let (differ, one) = (differing.len(), one_sided.len());
        let word = word(&found);
        console::out(&format!(
            "{word}: {} keys known on both sides, {equal} equal, {differ} differ; {one} known on one side only.",
            equal + differ
        ));
        Ok(code(&found))
    }
}

fn word(found: &Provenance) -> &'static str {
    if !found.differing.is_empty() {
        return "differs";
    }
    let verdict = if found.equal == 0 { Verdict::Vacuous } else { Verdict::Identical };
    verdict.word()
}

fn code(found: &Provenance) -> u8 {
    match (found.differing.is_empty(), found.equal) {
        (false, _) => 1,
        (true, 0) => Verdict::Vacuous.exit_code(),
        (true, _) => 0,
    }
}
