//! The command line: one file a verb. `settings` alone reads the environment, `console` alone writes to the terminal.

pub mod console;
pub mod exit;
pub mod settings;
#[cfg(feature = "engine")]
pub mod synth;

use clap::{Parser, Subcommand};

/// Is speculative decoding exact? Records arms, checks their rounds offline, and names what parted first.
#[derive(Debug, Parser)]
#[command(name = "exactness", version, about, max_term_width = 110)]
#[command(after_help = exit::HELP)]
pub struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    #[cfg(feature = "engine")]
    Synth(synth::Args),
}

impl Cli {
    /// Runs the verb.
    ///
    /// # Errors
    /// With what stopped it; [`exit::code_of`] gives the exit code.
    pub fn run(self) -> anyhow::Result<u8> {
        match self.verb {
            #[cfg(feature = "engine")]
            Verb::Synth(args) => synth::run(&args),
        }
    }
}
