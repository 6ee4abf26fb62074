//! One of the two runs that are held against each other: plain decoding or verify blocks, over the same script.

use super::instrument::{Instrument, Look};
use super::script::{Round, Script};
use crate::engine::Result;
use crate::engine::cache::{Caches, Rewind};
use crate::engine::model::TextModel;
use crate::engine::plant::Plant;
use crate::engine::raw::rows_of;
use crate::engine::routes::Routes;
use crate::engine::rows::RowDetail;
use crate::engine::session::{Options, Request, Session, Unrecorded};
use crate::transcript::TokenId;
use mlx_rs::Array;
use mlx_rs::ops::concatenate;

/// What both runs are made of.
#[derive(Clone)]
pub struct Stage<'m> {
    /// Decodes one row at a time, and feeds the prompt.
    pub chain: &'m TextModel,
    /// Verifies blocks; another model only where a test of weights wants it.
    pub block: &'m TextModel,
    /// How blocks compute.
    pub routes: Routes,
    /// How recurrent states go back.
    pub rewind: Rewind,
    /// Prompt ids fed at once.
    pub prefill_chunk: usize,
    /// Ids that are never chosen.
    pub banned: Vec<TokenId>,
    /// Faults in blocks; plain decoding gets those that say so.
    pub plants: Vec<Plant>,
}

/// Which run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// One row a forward.
    Chain,
    /// A block a forward.
    Block,
}

/// A run in progress.
pub(super) struct Side<'s, 'm> {
    stage: &'s Stage<'m>,
    kind: Kind,
    options: Options,
    pub(super) caches: Caches,
    pub(super) instrument: Instrument,
    /// Tokens that went in, the prompt's not counted.
    pub(super) fed: u64,
}

impl<'m> Stage<'m> {
    /// True when both sides are computed by one model.
    #[must_use]
    pub fn one_model(&self) -> bool {
        std::ptr::eq(self.chain, self.block)
    }

    pub(super) fn plants_of(&self, kind: Kind) -> Vec<Plant> {
        let here = |plant: &&Plant| kind == Kind::Block || plant.reaches_chain();
        self.plants.iter().filter(here).copied().collect()
    }

    fn options(&self, kind: Kind) -> Options {
        Options {
            end_ids: self.banned.clone(),
            ignore_eos: !self.banned.is_empty(),
            prefill_chunk: self.prefill_chunk,
            rewind: self.rewind,
            detail: RowDetail::None,
            routes: if kind == Kind::Block { self.routes.clone() } else { Routes::default() },
        }
    }

    /// The caches after the prompt as a run of `kind` leaves them, the token that it chooses from its last row, and
    /// the faults that struck.
    ///
    /// # Errors
    /// When the prompt is not one, or MLX refuses.
    pub(super) fn prefill(&self, kind: Kind, prompt: &[TokenId]) -> Result<(Caches, TokenId, Vec<String>)> {
        let options = self.options(kind);
        let mut tap = Instrument::new(&self.plants_of(kind));
        let mut session = Session::new(self.chain, &options, &mut tap)?;
        let request = Request { sequence: 0, prompt, max_tokens: 1 };
        let (caches, token) = session.prefill(&request, &mut Unrecorded)?;
        Ok((caches, token, tap.struck()))
    }

    /// Plain decoding's first `tokens` tokens after a prompt, the prompt's own first one included, past end ids.
    ///
    /// # Errors
    /// When the prompt is not one, or MLX refuses.
    pub fn decode(&self, prompt: &[TokenId], tokens: usize) -> Result<Vec<TokenId>> {
        let (caches, first, _) = self.prefill(Kind::Chain, prompt)?;
        let mut side = self.begin(Kind::Chain, &caches);
        let mut stream = vec![first];
        while stream.len() < tokens {
            let logits = side.chain(&stream[stream.len() - 1..])?;
            stream.extend(side.choices(&logits)?);
        }
        Ok(stream)
    }

    /// A run that begins with `caches`.
    pub(super) fn begin(&self, kind: Kind, caches: &Caches) -> Side<'_, 'm> {
        let instrument = Instrument::new(&self.plants_of(kind));
        Side { stage: self, kind, options: self.options(kind), caches: caches.clone(), instrument, fed: 0 }
    }
}

impl Side<'_, '_> {
    /// Runs a round and gives the logits of its kept rows, `[kept, vocabulary]`, computed.
    ///
    /// # Errors
    /// When MLX refuses.
    pub(super) fn round(&mut self, round: &Round) -> Result<Array> {
        self.fed += round.kept as u64;
        let logits = match self.kind {
            Kind::Chain => self.chain(&round.block[..round.kept])?,
            Kind::Block => self.block(round)?,
        };
        logits.eval()?;
        self.caches.evaluate()?;
        Ok(logits)
    }

    fn chain(&mut self, ids: &[TokenId]) -> Result<Array> {
        let model = self.stage.chain;
        let mut session = Session::new(model, &self.options, &mut self.instrument)?;
        let mut rows = Vec::new();
        for id in ids {
            let row = session.plain_forward(&model.ids(&[*id])?, &mut self.caches)?; // [1, V]
            row.eval()?;
            self.caches.evaluate()?;
            rows.push(row);
        }
        Ok(concatenate(&rows, 0)?)
    }

    fn block(&mut self, round: &Round) -> Result<Array> {
        let mut session = Session::new(self.stage.block, &self.options, &mut self.instrument)?;
        let logits = session.verify_forward(&round.block, &mut self.caches)?; // [T, V]
        let kept = rows_of(&logits, 0, 0, count(round.kept))?;
        kept.eval()?;
        self.caches.commit(count(round.block.len()), count(round.kept))?;
        Ok(kept)
    }

    /// The tokens that rows of logits `[kept, vocabulary]` choose.
    ///
    /// # Errors
    /// When MLX refuses.
    pub(super) fn choices(&mut self, logits: &Array) -> Result<Vec<TokenId>> {
        let model = self.stage.chain;
        let session = Session::new(model, &self.options, &mut self.instrument)?;
        crate::engine::rows::tokens(&session.pick(logits)?)
    }

    /// What the instrument looked at in the forwards since the last time.
    ///
    /// # Errors
    /// When MLX refuses.
    pub(super) fn looked(&mut self) -> Result<Vec<Look>> {
        self.instrument.take()
    }
}

/// Passes over a script's tokens that so many fed tokens are.
#[must_use]
pub(super) fn passes(fed: u64, script: &Script) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "counts of tokens are far below 2⁵²")]
    let (fed, all) = (fed as f64, script.tokens().max(1) as f64);
    fed / all
}

fn count(rows: usize) -> i32 {
    i32::try_from(rows).unwrap_or(i32::MAX)
}
