//! Why a source could not be imported, with the place, so that a person can open the log at that line.

/// A source that could not be read as what it was said to be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// A line of a log.
    #[error("import line {line}, field `{field}`: {says}")]
    Field {
        /// 1-based.
        line: usize,
        /// The key.
        field: &'static str,
        /// What is wrong.
        says: String,
    },
    /// The source holds nothing of the kind.
    #[error("import: {0}")]
    Nothing(&'static str),
    /// Not JSON.
    #[error("import line {line}, column {column}: not JSON: {says}")]
    NotJson {
        /// 1-based.
        line: usize,
        /// 1-based.
        column: usize,
        /// What the parser said.
        says: String,
    },
    /// A key of the wrong type.
    #[error("import answer {answer}, field `{field}`: {says}")]
    Answer {
        /// 0-based.
        answer: usize,
        /// The key.
        field: &'static str,
        /// What is wrong.
        says: String,
    },
    /// Two sources about one stream disagree about its length.
    #[error("import: {left} and {right} do not belong together")]
    Mismatch {
        /// One source.
        left: String,
        /// The other.
        right: String,
    },
}
