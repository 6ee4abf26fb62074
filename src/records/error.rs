//! What can stop a record from being made. Each text fits after "failed to …" and is one line.

use crate::transcript::ReadError;
use crate::transcript::files::WriteError;
use crate::transcript::kept::KeptError;
use std::io;
use std::path::PathBuf;

/// Why a file of this version is not read; nothing where it is one that this program knows.
pub(super) fn refused_version(found: u64, newest: u32) -> Option<String> {
    match found {
        0 => Some("it has version 0, and versions count from 1".to_owned()),
        found if found > u64::from(newest) => Some(format!(
            "it has version {found} and this program reads version {newest}; a later exactness reads it"
        )),
        _ => None,
    }
}

/// A record cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The system refuses a file or folder.
    #[error("read {}: {source}", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A transcript that is none.
    #[error(transparent)]
    Transcript(#[from] ReadError),
    /// Kept rows that do not belong to their transcript.
    #[error(transparent)]
    Kept(#[from] KeptError),
    /// A stored result that is not of its format.
    #[error("read {file}: {says}")]
    Result {
        /// Its name in the record.
        file: String,
        /// What is wrong.
        says: String,
    },
    /// A folder with somebody else's files under a record's names.
    #[error(
        "write into {}: it has a {name} and no {}, so that it is no record's; choose another --out",
        folder.display(), super::settings::FILE
    )]
    Foreign {
        /// The folder.
        folder: PathBuf,
        /// The first of them.
        name: &'static str,
    },
    /// Nothing that a record is made of.
    #[error(
        "find anything to report: no transcript, comparison, bench, bisect, remedy, sweep, probe or op-parity result in {0}"
    )]
    Nothing(String),
    /// A trail, and nothing that it led to.
    #[error(
        "find a result to report: {} is the trail of a search that did not end; its command line, run again with the same --out, \
         goes on from there", .0.display()
    )]
    Unfinished(PathBuf),
    /// More files than a record has room for.
    #[error("list {folder}: it has more than {most} files; name the folders that belong to the record")]
    TooMany {
        /// Where.
        folder: String,
        /// The most.
        most: usize,
    },
    /// A template of ours.
    #[error("fill the record's template: {0}")]
    Template(#[from] minijinja::Error),
    /// Text of ours that cannot be written as CSV or JSON.
    #[error("write the record's data: {0}")]
    Form(String),
    /// The system refuses to write.
    #[error(transparent)]
    Write(#[from] WriteError),
}
