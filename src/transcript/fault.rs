//! What can be wrong with a transcript as a file, told apart from what is wrong with the run it records.
//!
//! A broken law is a finding; a line that cannot be read is an error of this module. Each text names file, line
//! and field and says what to do, because the person who sees it usually wrote the recorder.

use super::format::VERSION;
use std::io;

/// A transcript could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The system refused.
    #[error("read {name}: {source}")]
    Io {
        /// The file, `-` for standard input.
        name: String,
        /// What the system said.
        source: io::Error,
    },
    /// The file ends before its header does: a cut run of which nothing is left.
    #[error("read {name}: {}", Cut::NoHeader)]
    Headless {
        /// The file, `-` for standard input.
        name: String,
    },
    /// A line is not one of the format.
    #[error("read {name}, line {line}: {fault}")]
    Line {
        /// The file, `-` for standard input.
        name: String,
        /// 1-based.
        line: u64,
        /// What is wrong with the line.
        fault: LineFault,
    },
}

/// What is wrong with one line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LineFault {
    /// The JSON text ends too early; at the end of a file this is a cut run and no error.
    #[error("the JSON object ends in the middle; write each record as one whole line")]
    Half,
    /// Not JSON.
    #[error("not JSON at column {column} ({says}); a transcript has one JSON object a line")]
    NotJson {
        /// 1-based.
        column: usize,
        /// What the parser said.
        says: String,
    },
    /// A key is missing or of the wrong type.
    #[error("field `{field}`: {says}; `exactness schema` prints the format")]
    Field {
        /// Path of the key, as in `rows[2].position`.
        field: String,
        /// What is wrong with it.
        says: String,
    },
    /// A line type that this version does not have.
    #[error(
        "unknown type `{found}`: version {VERSION} of the format has header, prefill, step, round and footer; \
         use a release that reads a version above {VERSION}"
    )]
    UnknownType {
        /// The value of `type`.
        found: String,
    },
    /// A header of a later version.
    #[error(
        "field `version`: the file is of version {found}, this program reads up to version {VERSION}; \
         use a release that reads version {found}"
    )]
    Newer {
        /// The file's version.
        found: i64,
    },
    /// The file begins with another line than a header.
    #[error(
        "the first line has to be the header, this is a {found} line; was the beginning of the file lost?"
    )]
    HeaderMissing {
        /// The line's type.
        found: &'static str,
    },
    /// A line that a sequence, or a file, has once.
    #[error(
        "a second {what} (the first is on line {first}); one file holds one run, split it where runs meet"
    )]
    Twice {
        /// Which line.
        what: String,
        /// 1-based.
        first: u64,
    },
    /// A line of a sequence that has ended.
    #[error("a {what} line of sequence {sequence} after its footer on line {footer}; write the footer last")]
    AfterFooter {
        /// The line's type.
        what: &'static str,
        /// Which sequence.
        sequence: i64,
        /// 1-based.
        footer: u64,
    },
    /// A line too long to be held.
    #[error("the line is longer than {limit} MiB; is this a transcript?")]
    TooLong {
        /// In MiB.
        limit: usize,
    },
}

/// A file that ends too early. It is judged up to the last whole line, and never counts as a finished run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Cut {
    /// The last line is half a line.
    #[error("line {line} ends in the middle")]
    HalfLine {
        /// 1-based.
        line: u64,
    },
    /// The file ends before its header does.
    #[error("the file ends before its header")]
    NoHeader,
    /// A sequence has no footer.
    #[error("sequence {sequence} has no footer")]
    NoFooter {
        /// The first such sequence.
        sequence: i64,
    },
    /// The footer itself says that the sequence did not end by itself.
    #[error("the footer of sequence {sequence} says that it is not complete")]
    NotComplete {
        /// The first such sequence.
        sequence: i64,
    },
}
