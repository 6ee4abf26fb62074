//! What stops a sweep. A cell that goes wrong by itself does not: it is journalled and the sweep goes on.

use crate::results::sweep::{Cell, JournalError};
use crate::transcript::files::WriteError;
use std::io;
use std::path::PathBuf;

/// What stops a sweep. Each text fits after "failed to …".
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// A file cannot be read.
    #[error("read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file is no journal of ours.
    #[error("read {}: {source}", path.display())]
    Journal {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: JournalError,
    },
    /// The folder holds another sweep.
    #[error("resume {}: it holds another sweep: {says}; choose another --out", folder.display())]
    Other {
        /// The folder.
        folder: PathBuf,
        /// In what it differs.
        says: String,
    },
    /// A file cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// A record that is no JSON or CSV.
    #[error("write the sweep: {0}")]
    Form(String),
    /// A process cannot be started.
    #[error("start a process for {cell}: {source}")]
    Start {
        /// The cell.
        cell: Cell,
        /// What the system said.
        source: io::Error,
    },
    /// The process refused for a reason that holds for every cell, and has said so.
    #[error("measure {cell}: its process ended with exit code {code}")]
    Refused {
        /// The cell.
        cell: Cell,
        /// The exit code, which is the sweep's too.
        code: u8,
    },
    /// Somebody ended the process.
    #[error("measure {cell}: its process was ended by signal {signal}; the same command goes on from here")]
    Interrupted {
        /// The cell.
        cell: Cell,
        /// The signal.
        signal: i32,
    },
}
