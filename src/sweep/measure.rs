//! Measures one cell: a chain, walked twice, and the blocks of every width against it.

use crate::engine::Result;
use crate::engine::cache::Rewind;
use crate::engine::model::TextModel;
use crate::engine::plant::Plant;
use crate::engine::routes::Routes;
use crate::probe::walk::{Blocks, Chain, Compared, Reach, Walk};
use crate::results::probe::Place;
use crate::results::sweep::{Cell, Outcome, WidthOutcome};

/// What all cells of a sweep have in common.
#[derive(Debug, Clone)]
pub struct Measure {
    /// Block widths, rising.
    pub widths: Vec<usize>,
    /// Positions walked past the prompt.
    pub walk: usize,
    /// Prompt ids fed at once.
    pub prefill_chunk: usize,
    /// How blocks compute.
    pub routes: Routes,
    /// Faults to put in.
    pub plants: Vec<Plant>,
}

impl Measure {
    /// Measures a cell. What MLX refuses is an outcome, because another cell may be smaller.
    #[must_use]
    pub fn cell(&self, model: &TextModel, cell: Cell) -> Vec<WidthOutcome> {
        let chain = self.chain(model, cell);
        let outcome = |width: usize| match &chain {
            Ok(Some(chain)) => self.width(chain, width).unwrap_or_else(|error| refused(&error)),
            Ok(None) => not_run("not comparable: plain decoding did not repeat itself"),
            Err(error) => refused(error),
        };
        self.widths.iter().map(|&width| WidthOutcome { width, outcome: outcome(width) }).collect()
    }

    /// The chain, or nothing where its null arm differs from it.
    fn chain<'m>(&self, model: &'m TextModel, cell: Cell) -> Result<Option<Chain<'m>>> {
        let walk = Walk {
            length: cell.length,
            seed: cell.seed,
            tokens: self.walk,
            prefill_chunk: self.prefill_chunk,
            plain: Routes::default(),
            rewind: Rewind::KeepStates,
            plants: self.plants.clone(),
        };
        let chain = Chain::record(model, walk)?;
        Ok(if chain.repeats()? { Some(chain) } else { None })
    }

    fn width(&self, chain: &Chain<'_>, width: usize) -> Result<Outcome> {
        // A walk that computes each position once would leave rows of wide blocks uncompared.
        let blocks = Blocks { width, routes: self.routes.clone(), reach: Reach::EveryRow };
        Ok(outcome(chain.covered(), chain.against(&blocks)?))
    }
}

fn outcome(covered: Option<(u64, u64)>, compared: Compared) -> Outcome {
    let Compared { rows, bytes, first, .. } = compared;
    match (first, covered) {
        (Some(first), _) => {
            let (row, bytes, state) = match first.place {
                Place::Row { row, differing, .. } => (Some(row), differing, None),
                Place::State { part } => (None, 0, Some(part)),
            };
            Outcome::Differs { position: first.position, row, bytes, state, rows }
        }
        (None, Some((first, last))) if rows > 0 => Outcome::Equal { inputs: 1, rows, bytes, first, last },
        (None, _) => not_run("nothing was compared"),
    }
}

fn refused(error: &crate::engine::Error) -> Outcome {
    not_run(&format!("failed to {error}"))
}

fn not_run(reason: &str) -> Outcome {
    Outcome::NotRun { reason: reason.to_owned() }
}
