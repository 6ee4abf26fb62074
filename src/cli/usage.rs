//! A wrong command line, said in one line like every other refusal, so that a log or a script shows it whole.

use super::{Cli, console, exit};
use clap::error::ErrorKind;
use clap::{Error, Parser as _};

/// Reads the command line. Help and version are printed, what is wrong is said; the exit code comes back then.
///
/// # Errors
/// With the exit code to leave with, 0 after help or version.
pub fn read() -> Result<Cli, u8> {
    Cli::try_parse().map_err(|error| told(&error))
}

fn told(error: &Error) -> u8 {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            console::help(error);
            0
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            console::help(error);
            exit::USAGE
        }
        _ => {
            console::note(&one_line(&error.render().to_string()));
            exit::USAGE
        }
    }
}

/// The message without the usage and the pointer to `--help` that clap sets below it.
fn one_line(text: &str) -> String {
    let ends = ["\n\nUsage:", "\n\nFor more information"];
    let end = ends.iter().filter_map(|end| text.find(end)).min().unwrap_or(text.len());
    text[..end].lines().map(str::trim).filter(|line| !line.is_empty()).fold(String::new(), joined)
}

/// A list that belongs to the line before goes on behind it, a remark after a semicolon.
fn joined(mut line: String, more: &str) -> String {
    let glue = match (line.is_empty(), line.ends_with(':') || more.starts_with('[')) {
        (true, _) => "",
        (_, true) => " ",
        _ => "; ",
    };
    line.push_str(glue);
    line.push_str(more);
    line
}

#[cfg(test)]
mod tests {
    use super::one_line;

    #[test]
    fn a_wrong_command_line_is_one_line() {
        let text = "error: the following required arguments were not provided:\n  --out <DIR>\n\nUsage: x\n\nFor more";
        assert_eq!(one_line(text), "error: the following required arguments were not provided: --out <DIR>");
        let text = "error: invalid value '5'\n  [possible values: 4, 8]\n\n  tip: try 4\n\nFor more information, x\n";
        assert_eq!(one_line(text), "error: invalid value '5' [possible values: 4, 8]; tip: try 4");
    }
}
