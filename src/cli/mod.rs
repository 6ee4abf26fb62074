//! The command line: one file a verb. `settings` alone reads the environment, `console` alone writes to the terminal.

#[cfg(feature = "engine")]
pub mod bench;
#[cfg(feature = "engine")]
pub mod bisect;
#[cfg(feature = "engine")]
pub mod bisected;
pub mod check_algebra;
pub mod compare;
pub mod compared;
pub mod completions;
pub mod console;
pub mod diff;
#[cfg(feature = "engine")]
pub mod doctor;
pub mod draw;
pub mod exit;
#[cfg(feature = "engine")]
pub mod experiment;
#[cfg(feature = "engine")]
pub mod form;
pub mod import;
pub mod judged;
pub mod judging;
pub mod laws;
pub mod man;
#[cfg(feature = "engine")]
pub mod model;
#[cfg(feature = "engine")]
pub mod numbers;
#[cfg(feature = "engine")]
pub mod op_parity;
#[cfg(feature = "engine")]
pub mod probe;
#[cfg(feature = "engine")]
pub mod prompted;
#[cfg(feature = "engine")]
pub mod ran;
#[cfg(feature = "engine")]
pub mod remedied;
#[cfg(feature = "engine")]
pub mod remedy;
#[cfg(feature = "records")]
pub mod report;
#[cfg(feature = "engine")]
pub mod reproduce;
#[cfg(feature = "engine")]
pub mod rounds;
#[cfg(feature = "engine")]
pub mod routed;
pub mod rows;
#[cfg(feature = "engine")]
pub mod run_arm;
pub mod schema;
pub mod settings;
pub mod show;
pub mod spell;
#[cfg(feature = "engine")]
pub mod sweep;
#[cfg(feature = "engine")]
pub mod sweep_cell;
#[cfg(feature = "engine")]
pub mod sweep_merge;
#[cfg(feature = "engine")]
pub mod synth;
#[cfg(feature = "engine")]
pub mod timed;
#[cfg(feature = "engine")]
pub mod trails;
pub mod usage;

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
    Bench(bench::BenchArgs),
    #[cfg(feature = "engine")]
    Bisect(Box<bisect::BisectArgs>),
    CheckAlgebra(check_algebra::CheckAlgebra),
    Compare(compare::Compare),
    Completions(completions::Completions),
    Diff(diff::Diff),
    #[cfg(feature = "engine")]
    Doctor(doctor::Doctor),
    Import(import::Import),
    Laws(laws::Laws),
    Man(man::ManArgs),
    #[cfg(feature = "engine")]
    OpParity(op_parity::OpParity),
    #[cfg(feature = "engine")]
    Probe(probe::ProbeArgs),
    #[cfg(feature = "records")]
    Report(report::Report),
    #[cfg(feature = "engine")]
    Remedy(Box<remedy::RemedyArgs>),
    #[cfg(feature = "engine")]
    Reproduce(reproduce::Reproduce),
    Rows(rows::Rows),
    #[cfg(feature = "engine")]
    RunArm(run_arm::RunArm),
    Schema(schema::Schema),
    Show(show::Show),
    #[cfg(feature = "engine")]
    Sweep(sweep::SweepArgs),
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
            Verb::Bench(verb) => verb.run(),
            #[cfg(feature = "engine")]
            Verb::Bisect(verb) => verb.run(),
            Verb::CheckAlgebra(verb) => verb.run(),
            Verb::Compare(verb) => verb.run(),
            Verb::Completions(verb) => verb.run(),
            Verb::Diff(verb) => verb.run(),
            #[cfg(feature = "engine")]
            Verb::Doctor(verb) => verb.run(),
            Verb::Import(verb) => verb.run(),
            Verb::Laws(verb) => verb.run(),
            Verb::Man(verb) => verb.run(),
            #[cfg(feature = "engine")]
            Verb::OpParity(verb) => verb.run(),
            #[cfg(feature = "engine")]
            Verb::Probe(verb) => verb.run(),
            #[cfg(feature = "records")]
            Verb::Report(verb) => verb.run(),
            #[cfg(feature = "engine")]
            Verb::Remedy(verb) => verb.run(),
            #[cfg(feature = "engine")]
            Verb::Reproduce(verb) => verb.run(),
            Verb::Rows(verb) => verb.run(),
            #[cfg(feature = "engine")]
            Verb::RunArm(verb) => verb.run(),
            Verb::Schema(verb) => verb.run(),
            Verb::Show(verb) => verb.run(),
            #[cfg(feature = "engine")]
            Verb::Sweep(verb) => verb.run(),
            #[cfg(feature = "engine")]
            Verb::Synth(args) => synth::run(&args),
        }
    }
}
