//! The probe of a width: three independent inputs, the null arm before them, and what it cannot see beside them.
//!
//! Inputs are walked once and shared by all widths. Equal means equal on all of them. The null arm is the first input's
//! chain walked again: if plain decoding does not repeat itself, nothing that a block does can be held against it.

use super::hazards::{self, About, Onset};
use super::walk::{Blocks, Chain, Reach, Walk};
use crate::engine::error::{Error, Result};
use crate::engine::model::TextModel;
use crate::engine::plant::Plant;
use crate::engine::routes::{Defaults, Plan};
use crate::results::probe::{Outcome, Probed, Reason};
use std::collections::BTreeSet;

/// Inputs that a probe takes at least.
pub const INPUTS: usize = 3;

/// The chains of a probe.
pub struct Inputs<'m> {
    chains: Vec<(u64, Chain<'m>)>,
    steady: bool,
}

impl<'m> Inputs<'m> {
    /// Walks a chain for each seed, the first one twice; `progress` is told of each. The walk's own seed does not count.
    ///
    /// # Errors
    /// When there are fewer than three seeds or two are the same, or MLX refuses.
    pub fn record(model: &'m TextModel, walk: &Walk, seeds: &[u64], progress: &dyn Fn()) -> Result<Self> {
        let independent: BTreeSet<&u64> = seeds.iter().collect();
        if independent.len() < INPUTS || independent.len() != seeds.len() {
            return Err(Error::Request(format!(
                "probe with {} independent inputs: at least {INPUTS} \
                 are needed, each with its own seed",
                independent.len()
            )));
        }
        let mut chains = Vec::new();
        for &seed in seeds {
            chains.push((seed, Chain::record(model, Walk { seed, ..walk.clone() })?));
            progress();
        }
        let steady = chains[0].1.repeats()?;
        progress();
        Ok(Self { chains, steady })
    }

    /// The chain that a seed drew.
    #[must_use]
    pub fn chain(&self, seed: u64) -> Option<&Chain<'m>> {
        self.chains.iter().find(|(own, _)| *own == seed).map(|(_, chain)| chain)
    }

    /// The same inputs with faults in blocks.
    ///
    /// # Errors
    /// When a fault acts in plain decoding, too.
    pub fn planted(&self, plants: &[Plant]) -> Result<Self> {
        let chains = self.chains.iter().map(|(seed, chain)| Ok((*seed, chain.planted(plants)?)));
        Ok(Self { chains: chains.collect::<Result<_>>()?, steady: self.steady })
    }

    /// Probes a width; it ends with the first input that differs.
    ///
    /// # Errors
    /// When the model cannot follow the routes, or MLX refuses.
    pub fn probe(&self, about: &About<'_>, blocks: &Blocks) -> Result<Probed> {
        let covered = self.chains[0].1.covered();
        let known = covered.map_or_else(Vec::new, |covered| hazards::hazards(about, blocks, covered));
        let plan = Plan::new(Defaults::Verify, &blocks.routes, about.checkpoint.config().layers.len());
        let rows = hazards::widest_call(&plan, about, blocks.width);
        let uncovered = covered.into_iter();
        let uncovered =
            uncovered.flat_map(|covered| known.iter().filter_map(move |one| one.uncovered(covered, rows)));
        let uncovered = uncovered.collect();
        let mut outcome = self.compared(blocks)?;
        let unsteady = known.iter().find(|hazard| hazard.onset == Onset::Unsteady);
        if let (Outcome::Equal { .. }, Some(hazard)) = (&outcome, unsteady) {
            let (hazard, source) = (hazard.what.to_owned(), hazard.source.to_owned());
            outcome = Outcome::NotRun { reason: Reason::Hazard { hazard, source } };
        }
        let seeds = self.chains.iter().map(|(seed, _)| *seed).collect();
        Ok(Probed { covered, every_row: blocks.reach == Reach::EveryRow, seeds, outcome, uncovered })
    }

    fn compared(&self, blocks: &Blocks) -> Result<Outcome> {
        if !self.steady {
            return Ok(Outcome::NotRun { reason: Reason::NotComparable { seed: self.chains[0].0 } });
        }
        let (mut rows, mut bytes, mut states) = (0, 0, 0);
        for (seed, chain) in &self.chains {
            let compared = chain.against(blocks)?;
            if let Some(first) = compared.first {
                return Ok(Outcome::Differs { seed: *seed, first });
            }
            (rows, bytes, states) = (rows + compared.rows, bytes + compared.bytes, states + compared.states);
        }
        let inputs = self.chains.len() as u64;
        Ok(match rows {
            0 => Outcome::NotRun { reason: Reason::NothingCompared },
            _ => Outcome::Equal { inputs, rows, bytes, states },
        })
    }
}
