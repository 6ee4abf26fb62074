//! Exit codes of errors. The codes of verdicts belong to [`crate::algebra::Verdict`].

use crate::algebra::Verdict;
use crate::transcript::ReadError;
use std::fmt;

/// The table at the end of `--help`.
pub const HELP: &str = "\
Exit codes: 0 identical or consistent · 1 differs or inconsistent · 2 wrong command line · 3 nothing was compared \
(not run, vacuous, not comparable, cut run) · 4 transcript unreadable as such · 5 device, model or file unavailable \
· 70 a bug of this program";

/// Wrong command line.
pub const USAGE: u8 = 2;
/// A transcript that cannot be parsed, is wrong-typed or of a newer version.
pub const UNPARSEABLE: u8 = 4;
/// A device, model or file that is not there or cannot be used.
pub const UNAVAILABLE: u8 = 5;
/// A bug of this program.
pub const BUG: u8 = 70;

/// Context that carries an exit code; attach it with `anyhow::Error::context`.
#[derive(Debug, Clone)]
pub struct Failure {
    /// The exit code.
    pub code: u8,
    /// What failed, as one line.
    pub says: String,
}

impl Failure {
    /// A wrong command line.
    #[must_use]
    pub fn usage(says: impl Into<String>) -> Self {
        Self { code: USAGE, says: says.into() }
    }

    /// Something needed is unavailable.
    #[must_use]
    pub fn unavailable(says: impl Into<String>) -> Self {
        Self { code: UNAVAILABLE, says: says.into() }
    }

    /// A transcript that cannot be read as one.
    #[must_use]
    pub fn unparseable(says: impl Into<String>) -> Self {
        Self { code: UNPARSEABLE, says: says.into() }
    }
}

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Headless { .. } => {
                Self { code: Verdict::CutRun.exit_code(), says: format!("{}: {error}", Verdict::CutRun) }
            }
            ReadError::Io { .. } => Self::unavailable(error.to_string()),
            ReadError::Line { .. } => Self::unparseable(error.to_string()),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.says)
    }
}

impl std::error::Error for Failure {}

/// Runs a verb; a panic in it is a bug of this program and ends with the exit code that says so.
///
/// # Errors
/// As the verb, or with [`BUG`].
pub fn guarded(run: impl FnOnce() -> anyhow::Result<u8>) -> anyhow::Result<u8> {
    // Nothing of the verb is used after it panicked.
    let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
    ended.unwrap_or_else(|_| {
        let says = "a bug of this program: please report the lines above and the command line";
        Err(Failure { code: BUG, says: says.to_owned() }.into())
    })
}

/// The exit code of an error: the first [`Failure`] in its chain, else 5 for the system's refusals, else 70.
#[must_use]
pub fn code_of(error: &anyhow::Error) -> u8 {
    if let Some(failure) = error.downcast_ref::<Failure>() {
        return failure.code;
    }
    for cause in error.chain() {
        if let Some(failure) = cause.downcast_ref::<Failure>() {
            return failure.code;
        }
        if cause.is::<std::io::Error>() || cause.is::<crate::transcript::files::WriteError>() {
            return UNAVAILABLE;
        }
    }
    BUG
}
