//! One of the two runs that are held against each other: plain decoding or verify blocks, over the same script.

use super::instrument::{Instrument, Look};
use super::script::{Round, Script};
use crate::engine::Result;
use crate::engine::cache::{Caches, Rewind};
use crate::engine::model::TextModel;
use crate::engine::plant::{Plant, Planted};
use crate::engine::raw::rows_of;
use crate::engine::rows::{RowDetail, tokens};
use crate::engine::session::{Options, Request, Session, Unrecorded};
use crate::engine::side_routes::SideRoutes;
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
    /// How blocks compute, and plain decoding.
    pub routes: SideRoutes,
    /// How recurrent states go back.
    pub rewind: Rewind,
    /// Prompt ids fed at once.
    pub prefill_chunk: usize,
    /// Ids that are never chosen.
    pub banned: Vec<TokenId>,
    /// Faults in blocks; plain decoding gets those that say so.
    pub plants: Vec<Plant>,
}

/// What a prompt left.
pub(super) struct Fed {
    pub(super) caches: Caches,
    /// What its last row chose.
    pub(super) token: TokenId,
    /// The faults, with what they remember.
    pub(super) planted: Planted,
}

/// Where both runs begin: plain decoding's state, and each side's faults as their prompts left them.
#[derive(Clone)]
pub(super) struct Start {
    pub(super) caches: Caches,
    pub(super) chain: Planted,
    pub(super) block: Planted,
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

    /// The faults of a run of `kind`, before they have done anything.
    pub(super) fn planted(&self, kind: Kind) -> Planted {
        let here = |plant: &&Plant| kind == Kind::Block || plant.reaches_chain();
        Planted::new(&self.plants.iter().filter(here).copied().collect::<Vec<_>>())
    }

    pub(super) fn options(&self) -> Options {
        Options {
            end_ids: self.banned.clone(),
            ignore_eos: !self.banned.is_empty(),
            prefill_chunk: self.prefill_chunk,
            rewind: self.rewind,
            detail: RowDetail::None,
            states: false,
            routes: self.routes.clone(),
        }
    }

    /// The prompt as a run of `kind` feeds it.
    ///
    /// # Errors
    /// When the prompt is not one, or MLX refuses.
    pub(super) fn prefill(&self, kind: Kind, prompt: &[TokenId]) -> Result<Fed> {
        let options = self.options();
        let mut tap = Instrument::new(self.planted(kind));
        let mut session = Session::new(self.chain, &options, &mut tap)?;
        let request = Request { sequence: 0, prompt, max_tokens: 1 };
        let (caches, token) = session.prefill(&request, &mut Unrecorded)?;
        Ok(Fed { caches, token, planted: tap.into_planted() })
    }

    /// Plain decoding's first `tokens` tokens after a prompt, the prompt's own first one included, past end ids.
    ///
    /// # Errors
    /// When the prompt is not one, or MLX refuses.
    pub fn decode(&self, prompt: &[TokenId], tokens: usize) -> Result<Vec<TokenId>> {
        let fed = self.prefill(Kind::Chain, prompt)?;
        let mut stream = vec![fed.token];
        let start = Start { caches: fed.caches, chain: fed.planted.clone(), block: fed.planted };
        let mut side = self.begin(Kind::Chain, &start);
        while stream.len() < tokens {
            let next = side.chain(&stream[stream.len() - 1..])?.chosen;
            stream.extend(next);
        }
        Ok(stream)
    }

    /// A run that begins after the prompt.
    pub(super) fn begin(&self, kind: Kind, start: &Start) -> Side<'_, 'm> {
        let planted = if kind == Kind::Block { &start.block } else { &start.chain };
        let instrument = Instrument::new(planted.clone());
        Side { stage: self, kind, options: self.options(), caches: start.caches.clone(), instrument, fed: 0 }
    }
}

/// The kept rows of a round.
pub(super) struct Rows {
    /// `[kept, vocabulary]`, computed.
    pub(super) logits: Array,
    /// The token that each chooses.
    pub(super) chosen: Vec<TokenId>,
}

impl Side<'_, '_> {
    /// Runs a round and gives its kept rows.
    ///
    /// # Errors
    /// When MLX refuses.
    pub(super) fn round(&mut self, round: &Round) -> Result<Rows> {
        self.fed += round.kept as u64;
        let rows = match self.kind {
            Kind::Chain => self.chain(&round.block[..round.kept])?,
            Kind::Block => self.block(round)?,
        };
        self.caches.evaluate()?;
        Ok(rows)
    }

    fn chain(&mut self, ids: &[TokenId]) -> Result<Rows> {
        let model = self.stage.chain;
        let mut session = Session::new(model, &self.options, &mut self.instrument)?;
        let (mut rows, mut chosen) = (Vec::new(), Vec::new());
        for id in ids {
            let row = session.plain_forward(&model.ids(&[*id])?, &mut self.caches)?; // [1, V]
            chosen.extend(tokens(&session.pick(&row)?)?);
            self.caches.evaluate()?;
            rows.push(row);
        }
        let logits = concatenate(&rows, 0)?;
        logits.eval()?;
        Ok(Rows { logits, chosen })
    }

    fn block(&mut self, round: &Round) -> Result<Rows> {
        let mut session = Session::new(self.stage.block, &self.options, &mut self.instrument)?;
        let logits = session.verify_forward(&round.block, &mut self.caches)?; // [T, V]
        let mut chosen = tokens(&session.pick(&logits)?)?;
        chosen.truncate(round.kept);
        let logits = rows_of(&logits, 0, 0, count(round.kept))?.contiguous()?;
        logits.eval()?;
        session.commit(&mut self.caches, count(round.block.len()), count(round.kept))?;
        Ok(Rows { logits, chosen })
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
