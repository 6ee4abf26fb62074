//! `exactness sweep cell`: what the process of one cell does. It prints the outcomes as one line of JSON.

use super::console;
use super::model::ModelArgs;
use super::numbers::Numbers;
use super::sweep::Computing;
use crate::arms::spec::WIDEST;
use crate::results::sweep::Cell;
use crate::sweep::measure::Measure;
use anyhow::Context as _;

/// Measures one cell of a sweep; `sweep` starts it.
#[derive(Debug, clap::Args)]
pub struct CellArgs {
    #[command(flatten)]
    model: ModelArgs,
    /// Ids of the prompt.
    #[arg(long)]
    length: usize,
    /// What it is drawn from.
    #[arg(long)]
    seed: u64,
    /// Block widths.
    #[arg(long, value_parser = str::parse::<Numbers>)]
    widths: Numbers,
    /// Positions walked past the prompt.
    #[arg(long)]
    walk: usize,
    #[command(flatten)]
    computing: Computing,
}

impl CellArgs {
    /// Runs the verb.
    ///
    /// # Errors
    /// When the model cannot be loaded.
    pub fn run(self) -> anyhow::Result<u8> {
        let loaded = self.model.load()?;
        let measure = Measure {
            widths: self.widths.within("--widths", 1, u64::try_from(WIDEST)?)?,
            walk: self.walk,
            prefill_chunk: self.computing.prefill_chunk as usize,
            routes: self.computing.routes,
            plants: self.computing.plants,
        };
        let outcomes = measure.cell(&loaded.model, Cell { length: self.length, seed: self.seed });
        console::out(&serde_json::to_string(&outcomes).context("print the outcomes")?);
        Ok(0)
    }
}
