//! A model set up for one arm: its plans, its chooser, what is recorded. Plain decoding and rounds share it.

use super::cache::{Caches, Rewind};
use super::error::{Error, Result};
use super::inventory;
use super::model::{Logits, TextModel};
use super::pass::Pass;
use super::routes::{Defaults, Plan};
use super::rows::{Chooser, RowDetail, best, tokens};
use super::side_routes::SideRoutes;
use super::tap::{Rewinding, Tap};
use crate::transcript::format::FinishReason;
use crate::transcript::{Line, Prefill, Row, TokenId};
use mlx_rs::Array;

/// What an arm is asked to decode.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The sequence's number in the transcript.
    pub sequence: i64,
    /// At least one id.
    pub prompt: &'a [TokenId],
    /// Token budget, the prefill token included; at least 1.
    pub max_tokens: usize,
}

/// How an arm decodes.
#[derive(Debug, Clone)]
pub struct Options {
    /// Ids that end a text.
    pub end_ids: Vec<TokenId>,
    /// End ids are never chosen.
    pub ignore_eos: bool,
    /// Prompt rows fed at once; at least 1.
    pub prefill_chunk: usize,
    /// How recurrent states go back.
    pub rewind: Rewind,
    /// What is said about rows.
    pub detail: RowDetail,
    /// The state after every step and round is digested, which brings all of it to the host each time.
    pub states: bool,
    /// Overrides for the verify block and for plain decoding, which also feeds the prompt.
    pub routes: SideRoutes,
}

/// Where an arm's lines go.
pub trait Recorder {
    /// One line of the transcript.
    ///
    /// # Errors
    /// When it cannot be written.
    fn line(&mut self, line: Line) -> Result<()>;

    /// The bytes of a row, on the way into its line.
    ///
    /// # Errors
    /// When they cannot be kept.
    fn keep(&mut self, _row: &mut Row, _bytes: &[u8]) -> Result<()> {
        Ok(())
    }

    /// The caches after a prefill, a step or a round; for tests of the state left behind.
    ///
    /// # Errors
    /// When they cannot be looked at.
    fn state(&mut self, _caches: &Caches) -> Result<()> {
        Ok(())
    }
}

/// Records nothing: for runs that are looked at by other means.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unrecorded;

impl Recorder for Unrecorded {
    fn line(&mut self, _line: Line) -> Result<()> {
        Ok(())
    }
}

/// How a sequence ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decoded {
    /// The whole stream.
    pub tokens: Vec<TokenId>,
    /// Why it ended.
    pub finish: FinishReason,
}

/// A model, its plans and its watcher, for the time of one arm.
pub struct Session<'a> {
    /// The model.
    pub model: &'a TextModel,
    /// How it decodes.
    pub options: &'a Options,
    chooser: Chooser,
    plain: Plan,
    verify: Plan,
    tap: &'a mut dyn Tap,
}

/// What came out of a forward: the tokens chosen and what is said about their rows.
pub struct Chosen {
    /// One id a row.
    pub tokens: Vec<TokenId>,
    /// One entry a row with its bytes, or none at all when rows are not described.
    pub rows: Vec<(Row, Vec<u8>)>,
}

impl<'a> Session<'a> {
    /// Sets `model` up; `tap` watches every forward.
    ///
    /// # Errors
    /// When the routes name a layer, or an operation of a layer, that the model does not have.
    pub fn new(model: &'a TextModel, options: &'a Options, tap: &'a mut dyn Tap) -> Result<Self> {
        let config = model.config();
        let layers = config.layers.len();
        if let Some(says) = options.routes.misplaced(&inventory::layers(config)) {
            return Err(Error::Request(format!("set routes: {says}")));
        }
        let banned: &[TokenId] = if options.ignore_eos { &options.end_ids } else { &[] };
        Ok(Self {
            model,
            options,
            chooser: Chooser::new(config.vocab_size, banned),
            plain: Plan::new(Defaults::Plain, &options.routes.plain, layers),
            verify: Plan::new(Defaults::Verify, &options.routes.block, layers),
            tap,
        })
    }

    /// Feeds the prompt in chunks and chooses the first token.
    ///
    /// # Errors
    /// When the prompt is empty, an id lies outside the vocabulary, MLX refuses or a line cannot be written.
    pub fn prefill(
        &mut self,
        request: &Request<'_>,
        recorder: &mut dyn Recorder,
    ) -> Result<(Caches, TokenId)> {
        let mut caches = self.model.new_caches(self.options.rewind);
        let prompt = self.tap.prompt(request.prompt);
        let chunks: Vec<&[TokenId]> = prompt.chunks(self.options.prefill_chunk.max(1)).collect();
        let Some((last, before)) = chunks.split_last() else {
            return Err(Error::Request(format!(
                "decode sequence {}: the prompt has no ids",
                request.sequence
            )));
        };
        for chunk in before {
            let mut pass = Pass::new(&self.plain, self.tap);
            self.model.forward(&mut pass, chunk, &mut caches, (Logits::None, false))?;
            caches.evaluate()?;
        }
        let mut pass = Pass::new(&self.plain, self.tap);
        let logits = self.model.forward(&mut pass, last, &mut caches, (Logits::Last, false))?;
        let chosen = self.choose(&logits.ok_or_else(no_logits)?)?;
        caches.evaluate()?;
        let token = chosen.tokens[0];
        let length = i64::from(caches.length());
        let row = self.first_row(chosen, length - 1, recorder)?;
        let cache_len = Some(length);
        let state_sha256 = match self.options.detail {
            RowDetail::None => None,
            _ => Some(caches.digest()?.total()),
        };
        let line = Prefill { sequence: request.sequence, token, cache_len, row, state_sha256 };
        recorder.line(Line::Prefill(line))?;
        recorder.state(&caches)?;
        Ok((caches, token))
    }

    fn first_row(&self, chosen: Chosen, position: i64, recorder: &mut dyn Recorder) -> Result<Option<Row>> {
        let Some((row, bytes)) = chosen.rows.into_iter().next() else { return Ok(None) };
        self.placed(row, &bytes, (Some(0), position), recorder).map(Some)
    }

    /// Feeds one token `[1, 1]` the plain way; logits `[1, vocabulary]`, not waited for.
    ///
    /// # Errors
    /// When MLX refuses.
    pub fn plain_forward(&mut self, token: &Array, caches: &mut Caches) -> Result<Array> {
        let mut pass = Pass::new(&self.plain, self.tap);
        let logits = self.model.forward_ids(&mut pass, token, caches, (Logits::All, false))?;
        logits.ok_or_else(no_logits)
    }

    /// Feeds a block to verify; the caches record what a rewind needs. Logits `[T, vocabulary]`, not waited for.
    ///
    /// # Errors
    /// When MLX refuses.
    pub fn verify_forward(&mut self, block: &[TokenId], caches: &mut Caches) -> Result<Array> {
        let mut pass = Pass::new(&self.verify, self.tap);
        self.model.forward(&mut pass, block, caches, (Logits::All, true))?.ok_or_else(no_logits)
    }

    /// Keeps `kept` of the `rows` rows that were verified last, and takes the others back.
    ///
    /// # Errors
    /// When there was no such block, or MLX refuses.
    pub fn commit(&mut self, caches: &mut Caches, rows: i32, kept: i32) -> Result<()> {
        let kept = self.tap.rewind(Rewinding { position: caches.length() - rows, rows, kept });
        caches.commit(rows, kept)
    }

    /// The best token of each of the last forward's rows of logits `[T, vocabulary]`, still on the device, `[T]`.
    ///
    /// # Errors
    /// When MLX refuses.
    pub fn pick(&mut self, logits: &Array) -> Result<Array> {
        let allowed = self.chooser.allowed(logits)?;
        self.tap.picked(&allowed, best(&allowed)?)
    }

    /// Picks a token a row and describes the rows; waits for the forward.
    ///
    /// # Errors
    /// When MLX refuses.
    pub fn choose(&mut self, logits: &Array) -> Result<Chosen> {
        let picked = self.pick(logits)?;
        self.chosen(&picked, logits)
    }

    /// Fetches picked tokens and describes their rows as the options say; waits for the forward.
    ///
    /// # Errors
    /// When MLX refuses.
    pub fn chosen(&self, picked: &Array, logits: &Array) -> Result<Chosen> {
        let tokens = tokens(picked)?;
        let rows = match self.options.detail {
            RowDetail::None => Vec::new(),
            _ => self.chooser.describe(logits)?,
        };
        Ok(Chosen { tokens, rows })
    }

    /// Notes a row's place and keeps its bytes when bytes are kept.
    ///
    /// # Errors
    /// When the bytes cannot be kept.
    pub fn placed(
        &self,
        mut row: Row,
        bytes: &[u8],
        (index, position): (Option<i64>, i64),
        recorder: &mut dyn Recorder,
    ) -> Result<Row> {
        (row.index, row.position) = (index, Some(position));
        if self.options.detail == RowDetail::Bytes {
            recorder.keep(&mut row, bytes)?;
        }
        Ok(row)
    }

    /// The digest of what the caches hold after a step or a round, where it is asked for.
    ///
    /// # Errors
    /// When MLX refuses.
    pub fn state(&self, caches: &Caches) -> Result<Option<String>> {
        self.options.states.then(|| Ok(caches.digest()?.total())).transpose()
    }

    /// Why the stream ends here, if it does: an end id as its last token, or the budget.
    #[must_use]
    pub fn finished(&self, stream: &[TokenId], request: &Request<'_>) -> Option<FinishReason> {
        let at_end = stream.last().is_some_and(|last| self.options.end_ids.contains(last));
        if at_end && !self.options.ignore_eos {
            return Some(FinishReason::Stop);
        }
        (stream.len() >= request.max_tokens).then_some(FinishReason::Length)
    }
}

fn no_logits() -> Error {
    Error::Request("choose from a forward without logits".to_owned())
}
