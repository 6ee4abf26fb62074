//! The only writer to the terminal: results to standard output, everything else to standard error.

use std::io::{self, IsTerminal as _, Write as _};

/// Prints a result line. A reader that has gone away (`| head`) is not an error of ours.
pub fn out(text: &str) {
    let _ = writeln!(io::stdout().lock(), "{text}");
}

/// Prints a remark beside the results.
pub fn note(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Prints an error as one line: what failed, then why.
pub fn error(error: &anyhow::Error) {
    note(&format!("error: {error:#}"));
}

/// True when results go to a person's terminal.
#[must_use]
pub fn is_terminal() -> bool {
    io::stdout().is_terminal()
}
