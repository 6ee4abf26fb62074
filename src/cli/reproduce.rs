//! `exactness reproduce`: runs a reproducer's two functions and compares the row, with no model.

use super::check_algebra::Format;
use super::exit::Failure;
use super::judged::Style;
use super::{console, settings};
use crate::bisect::reproducer::{Error, Folder};
use crate::results::reproducer::Reproduced;
use anyhow::Context as _;
use std::path::PathBuf;

/// Runs a folder that shows one operation computed in two ways, and compares the row byte by byte.
///
/// The folder holds the chain's call and the block's call of one operation as functions with their weights, and their
/// inputs. Its files are checked against its index first. Each function runs twice: one that does not repeat itself
/// leaves nothing to compare.
#[derive(Debug, clap::Args)]
pub struct Reproduce {
    /// The folder, with its reproducer.json.
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
    /// How to print.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
}

impl Reproduce {
    /// Runs the verb.
    ///
    /// # Errors
    /// When a file is missing or was changed, the index is none, or MLX refuses.
    pub fn run(&self) -> anyhow::Result<u8> {
        let found = Folder::open(&self.folder)
            .and_then(|folder| folder.reproduce(settings::command_line()))
            .map_err(|error| failure(&error))?;
        console::out(&print(&found, self.format)?);
        Ok(found.verdict.exit_code())
    }
}

fn failure(error: &Error) -> Failure {
    let says = format!("failed to {error}");
    match error {
        Error::Index { .. } | Error::Unfit { .. } | Error::Rows(_) => Failure::unparseable(says),
        _ => Failure::unavailable(says),
    }
}

fn print(found: &Reproduced, format: Format) -> anyhow::Result<String> {
    let style = match format {
        Format::Json => return serde_json::to_string_pretty(found).context("print what was reproduced"),
        Format::Markdown => Style::Markdown,
        Format::Human => Style::Terminal(settings::columns()),
    };
    Ok([style.folded(&found.table()), found.sentences().join("\n"), found.summary()].join("\n\n"))
}
