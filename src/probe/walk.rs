//! Blocks against the chain, from one state, over the same tokens: the measurement that probes and sweeps are made of.
//!
//! The chain is plain greedy decoding of a drawn prompt, past end ids, as serving would go on from it. It is walked
//! once and shared by all widths; digests of its rows are kept, not their bytes. Blocks then walk the same tokens
//! several times. One walk rejects 0 to `width − 1` proposals in turn, so that every rewind is part of what is
//! compared. `width` further walks accept all, each shifted by one, so that every position is computed and committed
//! at every row of a block: a fault of one row at one position is not stepped over. Rows that do not fit before the
//! end are wrong proposals, so every block has all its rows. Digests of the state cost a copy of the caches; they are
//! taken at the end of every walk and, where a commit falls on them, at a few drawn positions.

use super::draw::drawn_ids;
use super::unseen;
use crate::engine::cache::{Caches, Rewind, StateDigest};
use crate::engine::error::{Error, Result};
use crate::engine::model::TextModel;
use crate::engine::plant::{Plant, Planted};
use crate::engine::raw::bytes_of;
use crate::engine::routes::Routes;
use crate::engine::rows::{RowDetail, tokens};
use crate::engine::session::{Options, Request, Session, Unrecorded};
use crate::engine::side_routes::SideRoutes;
use crate::engine::tap::{Silent, Tap};
use crate::results::probe::{First, Place};
use crate::transcript::TokenId;
use crate::transcript::digest::sha256;
use std::collections::BTreeMap;

/// Drawn positions at which states are compared, beside the end.
const DRAWN_STATES: usize = 3;

/// What a chain walks.
#[derive(Debug, Clone)]
pub struct Walk {
    /// Ids of the prompt; at least 1.
    pub length: usize,
    /// Draws the prompt.
    pub seed: u64,
    /// Tokens past the prompt: rows to compare.
    pub tokens: usize,
    /// Prompt ids fed at once.
    pub prefill_chunk: usize,
    /// How plain decoding computes: the chain, and the prompt.
    pub plain: Routes,
    /// How recurrent states go back.
    pub rewind: Rewind,
    /// Faults to put in; those of a block act in blocks alone.
    pub plants: Vec<Plant>,
}

/// How blocks walk a chain.
#[derive(Debug, Clone)]
pub struct Blocks {
    /// Rows of every block; at least 1.
    pub width: usize,
    /// How they compute.
    pub routes: Routes,
    /// How much is walked.
    pub reach: Reach,
}

/// How much of what a block of some width can do is walked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Each position once, at whatever row it falls on. `width` times cheaper, and blind to a fault of one row at one
    /// position: for maps of where widths part, not for deciding that one may be used.
    Once,
    /// Each position at every row of a block.
    EveryRow,
}

/// What blocks left, held against the chain.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Compared {
    /// Rows of logits.
    pub rows: u64,
    /// Their bytes.
    pub bytes: u64,
    /// States.
    pub states: u64,
    /// The difference at the lowest position; every walk ends at its own first one.
    pub first: Option<First>,
}

/// A row of the chain.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Kept {
    sha256: String,
    bytes: usize,
}

/// Plain decoding of a drawn prompt, recorded.
#[derive(Clone)]
pub struct Chain<'m> {
    model: &'m TextModel,
    walk: Walk,
    /// After the prompt.
    start: Caches,
    /// The token fed at each position past the prompt.
    tokens: Vec<TokenId>,
    rows: Vec<Kept>,
    /// By the number of tokens fed since the prompt.
    states: BTreeMap<usize, StateDigest>,
}

/// One walk of blocks.
#[derive(Debug, Clone, Copy)]
enum Pass {
    /// Keeps 1 to `width` rows in turn, and meets every position whose state is known.
    Cycle,
    /// Keeps so many rows of the first block, then all.
    Shifted(usize),
}

impl<'m> Chain<'m> {
    /// Feeds the prompt and walks on from it.
    ///
    /// # Errors
    /// When the prompt would be empty, no walk can show one of the faults, or MLX refuses.
    pub fn record(model: &'m TextModel, walk: Walk) -> Result<Self> {
        unseen::refuse(&walk.plants)?;
        let options = walk.options(&Routes::default());
        let mut tap = walk.tap();
        let mut session = Session::new(model, &options, tap.as_mut())?;
        let prompt = walk.prompt(model.config().vocab_size);
        let request = Request { sequence: 0, prompt: &prompt, max_tokens: walk.tokens };
        let (mut caches, mut token) = session.prefill(&request, &mut Unrecorded)?;
        let start = caches.clone();
        let (mut fed, mut rows, mut states) = (Vec::new(), Vec::new(), BTreeMap::new());
        let stops = walk.stops();
        while fed.len() < walk.tokens {
            let logits = session.plain_forward(&model.ids(&[token])?, &mut caches)?; // [1, V]
            fed.push(token);
            token = tokens(&session.pick(&logits)?)?[0];
            let bytes = bytes_of(&logits)?;
            rows.push(Kept { sha256: sha256(&bytes), bytes: bytes.len() });
            if stops.contains(&fed.len()) {
                states.insert(fed.len(), caches.digest()?);
            }
        }
        Ok(Self { model, walk, start, tokens: fed, rows, states })
    }

    /// The first and the last position whose rows are known; `None` when the walk has no tokens.
    #[must_use]
    pub fn covered(&self) -> Option<(u64, u64)> {
        let last = self.rows.len().checked_sub(1)?;
        Some((self.position(0), self.position(last)))
    }

    /// What was fed: the prompt, and the token at each position past it.
    #[must_use]
    pub fn fed(&self) -> (Vec<TokenId>, &[TokenId]) {
        (self.walk.prompt(self.model.config().vocab_size), &self.tokens)
    }

    /// The same chain with faults in blocks, and none in the chain itself.
    ///
    /// # Errors
    /// When a fault acts in plain decoding, too, so that the chain would be another one, or no walk can show it.
    pub fn planted(&self, plants: &[Plant]) -> Result<Self> {
        unseen::refuse(plants)?;
        if let Some(plant) = plants.iter().find(|plant| plant.reaches_chain()) {
            return Err(Error::Request(format!("put {plant} into a chain that was walked without it")));
        }
        let walk = Walk { plants: plants.to_vec(), ..self.walk.clone() };
        Ok(Self { walk, ..self.clone() })
    }

    /// Walks again from the prompt on and tells whether every token, row and state is the same: the null arm.
    ///
    /// # Errors
    /// When MLX refuses.
    pub fn repeats(&self) -> Result<bool> {
        let again = Chain::record(self.model, self.walk.clone())?;
        let same_state = self.start.digest()? == again.start.digest()?;
        Ok(same_state
            && (&self.tokens, &self.rows, &self.states) == (&again.tokens, &again.rows, &again.states))
    }

    /// Walks blocks over the chain's tokens and compares every row that is kept.
    ///
    /// # Errors
    /// When the model cannot follow the routes, or MLX refuses.
    pub fn against(&self, blocks: &Blocks) -> Result<Compared> {
        let shifts = match blocks.reach {
            Reach::Once => 0,
            Reach::EveryRow => blocks.width,
        };
        let mut all = Compared::default();
        for pass in std::iter::once(Pass::Cycle).chain((1..=shifts).map(Pass::Shifted)) {
            all.add(self.pass(blocks, pass)?);
        }
        Ok(all)
    }

    fn pass(&self, blocks: &Blocks, pass: Pass) -> Result<Compared> {
        let options = self.walk.options(&blocks.routes);
        let mut tap = self.walk.tap();
        let mut session = Session::new(self.model, &options, tap.as_mut())?;
        let mut caches = self.start.clone();
        let (mut compared, mut done, mut round) = (Compared::default(), 0, 0);
        while done < self.rows.len() && compared.first.is_none() {
            let kept = self.kept(pass, (round, done), blocks.width);
            let block = self.block(done, kept, blocks.width);
            let logits = session.verify_forward(&block, &mut caches)?; // [T, V]
            let bytes = bytes_of(&logits)?;
            let row = self.compare_rows(&bytes, (done, kept, blocks.width), &mut compared)?;
            session.commit(&mut caches, to_i32(blocks.width), to_i32(kept))?;
            caches.evaluate()?;
            done += kept;
            let place = match row {
                Some((index, place)) => Some((index, place)),
                None => self.compare_state(&caches, done, &mut compared)?.map(|place| (done - 1, place)),
            };
            compared.first = place.map(|(index, place)| self.first(pass, round, index, place));
            round += 1;
        }
        Ok(compared)
    }

    /// How many rows of a round are kept; the last round ends with the chain.
    fn kept(&self, pass: Pass, (round, done): (usize, usize), width: usize) -> usize {
        let (wanted, stop) = match pass {
            Pass::Cycle => {
                let next = self.states.range(done + 1..).next().map(|(stop, _)| *stop);
                (round % width + 1, next.unwrap_or(self.rows.len()))
            }
            Pass::Shifted(first) if round == 0 => (first, self.rows.len()),
            Pass::Shifted(_) => (width, self.rows.len()),
        };
        wanted.min(stop - done)
    }

    /// The chain's tokens for the rows that are kept, and wrong ones after them.
    fn block(&self, done: usize, kept: usize, width: usize) -> Vec<TokenId> {
        let vocabulary = i64::try_from(self.model.config().vocab_size).unwrap_or(i64::MAX);
        let mut block = self.tokens[done..done + kept].to_vec();
        let wrong = |index: usize| self.tokens.get(index).map_or(0, |token| (token + 1) % vocabulary);
        block.extend((done + kept..done + width).map(wrong));
        block
    }

    /// The first kept row with other bytes than the chain's, by its number in the chain.
    fn compare_rows(
        &self,
        bytes: &[u8],
        (done, kept, width): (usize, usize, usize),
        compared: &mut Compared,
    ) -> Result<Option<(usize, Place)>> {
        let length = bytes.len() / width;
        for (row, bytes) in bytes.chunks_exact(length.max(1)).take(kept).enumerate() {
            let chain = &self.rows[done + row];
            compared.rows += 1;
            compared.bytes += length as u64;
            if chain.bytes != length || chain.sha256 != sha256(bytes) {
                let differing = differing(&self.bytes_at(done + row)?, bytes);
                let place = Place::Row { row: row as u64, differing, bytes: length as u64 };
                return Ok(Some((done + row, place)));
            }
        }
        Ok(None)
    }

    fn compare_state(&self, caches: &Caches, done: usize, compared: &mut Compared) -> Result<Option<Place>> {
        let Some(chain) = self.states.get(&done) else { return Ok(None) };
        compared.states += 1;
        let block = caches.digest()?;
        let pairs = chain.parts.iter().zip(&block.parts);
        let part = pairs.into_iter().find(|(chain, block)| chain != block).map(|(chain, _)| chain.0.clone());
        let missing = (chain.parts.len() != block.parts.len()).then(|| "number of parts".to_owned());
        Ok(part.or(missing).map(|part| Place::State { part }))
    }

    /// The bytes of a row, computed again: they are wanted only where something differs.
    fn bytes_at(&self, index: usize) -> Result<Vec<u8>> {
        let options = self.walk.options(&Routes::default());
        let mut tap = self.walk.tap();
        let mut session = Session::new(self.model, &options, tap.as_mut())?;
        let mut caches = self.start.clone();
        for token in &self.tokens[..index] {
            session.plain_forward(&self.model.ids(&[*token])?, &mut caches)?;
            caches.evaluate()?;
        }
        bytes_of(&session.plain_forward(&self.model.ids(&[self.tokens[index]])?, &mut caches)?)
    }

    fn first(&self, pass: Pass, round: usize, index: usize, place: Place) -> First {
        let pass = match pass {
            Pass::Cycle => "rejecting in turn".to_owned(),
            Pass::Shifted(first) => format!("accepting all, shifted by {first}"),
        };
        First { position: self.position(index), pass, round: round as u64, place }
    }

    fn position(&self, index: usize) -> u64 {
        (self.walk.length + index) as u64
    }
}

impl Walk {
    /// The prompt's ids.
    #[must_use]
    pub fn prompt(&self, vocabulary: usize) -> Vec<TokenId> {
        drawn_ids(self.seed, self.length, vocabulary)
    }

    fn options(&self, routes: &Routes) -> Options {
        Options {
            end_ids: Vec::new(),
            ignore_eos: false,
            prefill_chunk: self.prefill_chunk,
            rewind: self.rewind,
            detail: RowDetail::None,
            states: false,
            routes: SideRoutes { block: routes.clone(), plain: self.plain.clone() },
        }
    }

    fn tap(&self) -> Box<dyn Tap> {
        if self.plants.is_empty() { Box::new(Silent) } else { Box::new(Planted::new(&self.plants)) }
    }

    /// Numbers of tokens after which the state is compared: the end, and a few drawn ones.
    fn stops(&self) -> Vec<usize> {
        let drawn = drawn_ids(!self.seed, DRAWN_STATES, self.tokens.max(1));
        let drawn = drawn.into_iter().filter_map(|id| usize::try_from(id).ok());
        drawn.filter(|stop| *stop > 0).chain([self.tokens]).collect()
    }
}

impl Compared {
    /// Adds another walk of the same blocks.
    fn add(&mut self, other: Self) {
        self.rows += other.rows;
        self.bytes += other.bytes;
        self.states += other.states;
        let both = self.first.take().into_iter().chain(other.first);
        self.first = both.min_by_key(|first| first.position);
    }
}

fn differing(chain: &[u8], block: &[u8]) -> u64 {
    let both = chain.iter().zip(block).filter(|(chain, block)| chain != block).count();
    (both + chain.len().abs_diff(block.len())) as u64
}

fn to_i32(count: usize) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}
