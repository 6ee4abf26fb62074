//! The only reader of the environment.
#![expect(clippy::disallowed_methods, reason = "this module is the environment's home")]

/// The columns of the terminal as the shell exports them, when it does.
#[must_use]
pub fn columns() -> Option<u16> {
    std::env::var("COLUMNS").ok()?.parse().ok()
}

/// The command line as it was given, for the record.
#[must_use]
pub fn command_line() -> Vec<String> {
    std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect()
}
