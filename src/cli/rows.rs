//! `exactness rows`: kept logit rows for other tools.

use super::console;
use super::exit::Failure;
use crate::results::counted;
use crate::transcript::Arm;
use crate::transcript::export::{self, ExportError};
use crate::transcript::writer::rows_path;
use std::path::{Path, PathBuf};

/// Kept logit rows.
#[derive(Debug, clap::Args)]
pub struct Rows {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Writes a transcript's kept rows as safetensors, one tensor a row.
    Export {
        /// The transcript; its rows lie in `NAME.rows.bin` beside it
        file: PathBuf,
        /// The file to write
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
    },
}

impl Rows {
    /// Runs the verb.
    ///
    /// # Errors
    /// When the rows cannot be read or the file cannot be written.
    pub fn run(self) -> anyhow::Result<u8> {
        let What::Export { file, out } = self.what;
        let arm = Arm::read(&file).map_err(Failure::from)?;
        let out_is = |path: &Path| {
            std::fs::canonicalize(path).is_ok_and(|path| Some(path) == std::fs::canonicalize(&out).ok())
        };
        if out_is(&file) || out_is(&rows_path(&file)) {
            let says = format!("{} is the recording itself; choose another --out", out.display());
            return Err(Failure::usage(says).into());
        }
        let rows = export::safetensors(&arm, &out).map_err(|error| failure(&error))?;
        console::out(&format!("{}: {}", out.display(), counted(rows, "row")));
        Ok(0)
    }
}

fn failure(error: &ExportError) -> Failure {
    let says = format!("failed to {error}");
    match error {
        ExportError::Kept(_) | ExportError::Twice(_) => Failure::unparseable(says),
        ExportError::None(_) | ExportError::Write(_) => Failure::unavailable(says),
    }
}
