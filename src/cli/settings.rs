//! The only reader of the environment.
#![expect(clippy::disallowed_methods, reason = "this module is the environment's home")]

/// The columns to print for: what `COLUMNS` says, else the terminal's own; `None` where results go to a file or a pipe.
#[must_use]
pub fn columns() -> Option<u16> {
    let told = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    told.or_else(|| terminal_size::terminal_size_of(std::io::stdout()).map(|(width, _)| width.0))
}

/// The command line as it was given, for the record.
#[must_use]
pub fn command_line() -> Vec<String> {
    std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect()
}
