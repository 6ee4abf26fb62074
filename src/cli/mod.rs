//! The command line: one file a verb. `settings` alone reads the environment, `console` alone writes to the terminal.

pub mod check_algebra;
pub mod compare;
pub mod compared;
pub mod console;
pub mod diff;
pub mod draw;
pub mod exit;
pub mod import;
pub mod judged;
pub mod judging;
pub mod laws;
pub mod rows;
pub mod schema;
pub mod settings;
pub mod show;
pub mod spell;

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
    CheckAlgebra(check_algebra::CheckAlgebra),
    Compare(compare::Compare),
    Import(import::Import),
    Diff(diff::Diff),
    Laws(laws::Laws),
    Rows(rows::Rows),
    Schema(schema::Schema),
    Show(show::Show),
}

impl Cli {
    /// Runs the verb.
    ///
    /// # Errors
    /// With what stopped it; [`exit::code_of`] gives the exit code.
    pub fn run(self) -> anyhow::Result<u8> {
        match self.verb {
            Verb::CheckAlgebra(verb) => verb.run(),
            Verb::Compare(verb) => verb.run(),
            Verb::Import(verb) => verb.run(),
            Verb::Diff(verb) => verb.run(),
            Verb::Laws(verb) => verb.run(),
            Verb::Rows(verb) => verb.run(),
            Verb::Schema(verb) => verb.run(),
            Verb::Show(verb) => verb.run(),
        }
    }
}
