//! Parse, dispatch, exit code.

use clap::Parser as _;
use exactness::cli::{Cli, console, exit};
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let code = match cli.run() {
        Ok(code) => code,
        Err(error) => {
            console::error(&error);
            exit::code_of(&error)
        }
    };
    ExitCode::from(code)
}
