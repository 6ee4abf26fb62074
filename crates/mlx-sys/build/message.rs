//! Why: a build script that panics buries the one useful sentence under a backtrace. A failure here is a
//! text for the person at the terminal, what went wrong first and what to do about it next.

use std::fmt::Display;
use std::path::Path;
use std::process::ExitCode;

/// What stopped the build, ready to print.
#[derive(Debug)]
pub struct Failure(String);

/// The result of every step of this build script.
pub type Outcome<T> = Result<T, Failure>;

impl Failure {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Hands the text to cargo, which prints it as its own error.
    pub fn report(&self) -> ExitCode {
        for line in self.0.lines() {
            println!("cargo::error={line}");
        }
        ExitCode::SUCCESS
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn advise(self, advice: &str) -> Self {
        Self(format!("{}\n{advice}", self.0))
    }
}

/// A file that could not be used, in the words "cannot <verb> <path>: <cause>".
pub fn about(verb: &str, path: &Path, cause: impl Display) -> Failure {
    Failure::new(format!("cannot {verb} {}: {cause}", path.display()))
}

/// The last lines a program printed, enough to see why it stopped.
pub fn tail(bytes: &[u8], lines: usize) -> String {
    let text = String::from_utf8_lossy(bytes);
    let kept: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    kept[kept.len().saturating_sub(lines)..].join("\n")
}
