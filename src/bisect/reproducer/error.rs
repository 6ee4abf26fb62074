//! What stops a reproducer from being written or run. Each text fits after "failed to …".

use super::Which;
use crate::algebra::bits::BitsError;
use crate::engine;
use crate::results::reproducer::IndexFault;
use crate::transcript::files::WriteError;
use std::io;
use std::path::PathBuf;

/// What stopped it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The engine refused.
    #[error(transparent)]
    Engine(#[from] engine::Error),
    /// The file of the function computes something else than the call.
    #[error(
        "export the {side}'s call: the exported function gives other bytes than the call itself, which MLX's \
         writer does to a constant that is a view in another order than memory's"
    )]
    Unfaithful {
        /// Whose call.
        side: Which,
    },
    /// A call that cannot be part of a folder.
    #[error("keep the {side}'s call: {says}")]
    Call {
        /// Whose call.
        side: Which,
        /// Why not.
        says: String,
    },
    /// The two rows cannot be compared.
    #[error(transparent)]
    Rows(#[from] BitsError),
    /// A file is not there or cannot be read.
    #[error("read {}: {source}", path.display())]
    Unavailable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file is not the one that was written.
    #[error("read {}: its SHA-256 is {found}, the index says {expected}: it was changed or cut", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The digest in the index.
        expected: String,
        /// The file's own.
        found: String,
    },
    /// The index is none, or does not fit its files.
    #[error("read {}: {fault}", path.display())]
    Index {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        fault: IndexFault,
    },
    /// The index is one, and says something else than its files.
    #[error("run the {side}'s function: the index does not fit the files: {says}")]
    Unfit {
        /// Whose function.
        side: Which,
        /// What does not fit.
        says: String,
    },
    /// The functions want a device that is not here.
    #[error("run the functions: they were exported on {recorded}, and the loaded MLX has no GPU")]
    NoGpu {
        /// The library that exported them.
        recorded: String,
    },
}

/// The module's result.
pub type Result<T> = std::result::Result<T, Error>;
