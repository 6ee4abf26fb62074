//! `exactness completions`: what a shell needs to complete the command line.

use super::{Cli, console};
use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

/// Prints a completion script for a shell.
#[derive(Debug, Args)]
pub struct Completions {
    /// Whose.
    shell: Shell,
}

impl Completions {
    /// Runs the verb.
    ///
    /// # Errors
    /// Never.
    pub fn run(&self) -> anyhow::Result<u8> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "exactness", &mut script);
        console::out(String::from_utf8_lossy(&script).trim_end());
        Ok(0)
    }
}
