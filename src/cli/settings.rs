//! The only reader of the environment.
#![expect(clippy::disallowed_methods, reason = "this module is the environment's home")]

/// The columns of the terminal as the shell exports them, when it does.
#[must_use]
pub fn columns() -> Option<u16> {
    std::env::var("COLUMNS").ok()?.parse().ok()
}

/// The command line for the record, with the program's path cut to its name: where it lay says nothing about a run.
#[must_use]
pub fn command_line() -> Vec<String> {
    let mut words: Vec<String> =
        std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    if let Some(program) = words.first_mut() {
        let name = std::path::Path::new(program.as_str())
            .file_name()
            .map(|name| name.to_string_lossy().into_owned());
        *program = name.unwrap_or_else(|| "exactness".to_owned());
    }
    words
}
