//! Parse, dispatch, exit code.

use exactness::cli::{console, exit, usage};
use std::process::ExitCode;

fn main() -> ExitCode {
    let code = usage::read().map_or_else(
        |code| code,
        |cli| {
            exit::guarded(|| cli.run()).unwrap_or_else(|error| {
                console::error(&error);
                exit::code_of(&error)
            })
        },
    );
    ExitCode::from(if console::lost() { exit::UNAVAILABLE.max(code) } else { code })
}
