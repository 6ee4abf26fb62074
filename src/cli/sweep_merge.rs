//! `exactness sweep merge`, and what every sweep ends with: its tables and its reading.

use super::exit::Failure;
use super::judged::Style;
use super::{console, settings};
use crate::results::sweep::{Reading, merge};
use crate::sweep::{Store, store};
use std::path::PathBuf;

/// Puts the shards of a sweep together.
///
/// The result is the folder that the whole sweep would have left; cells that no shard has are named, and `sweep
/// --resume` runs them.
#[derive(Debug, clap::Args)]
pub struct MergeArgs {
    /// Folders of shards.
    #[arg(required = true, value_name = "DIR")]
    folders: Vec<PathBuf>,
    /// Folder for the merged sweep; it must not hold one.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

impl MergeArgs {
    /// Runs the verb.
    ///
    /// # Errors
    /// When a folder has no journal, or the journals do not belong together.
    pub fn run(self) -> anyhow::Result<u8> {
        let read = |folder: &PathBuf| {
            Ok((folder.display().to_string(), store::read(folder).map_err(Failure::from)?))
        };
        let journals = self.folders.iter().map(read).collect::<Result<Vec<_>, Failure>>()?;
        let merged = merge(&journals).map_err(|error| Failure::usage(format!("failed to {error}")))?;
        finished(&Store::create(&self.out, merged).map_err(Failure::from)?)
    }
}

/// Writes the tables and prints the reading; gives the exit code.
pub(super) fn finished(store: &Store) -> anyhow::Result<u8> {
    let [outcomes, times] = store.write_tables().map_err(Failure::from)?;
    let reading = Reading::new(store.journal());
    let parts = [
        Style::Terminal(settings::columns()).folded(&reading.table()),
        reading.says.join("\n"),
        reading.verdict_line(),
        format!("written: {} and {}", outcomes.display(), times.display()),
    ];
    console::out(&parts.join("\n\n"));
    Ok(reading.verdict.exit_code())
}
