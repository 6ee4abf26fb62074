//! The stack: ids, embedding, layers, final norm, head.

use super::layer::Layer;
use crate::engine::blocks::{Embedding, Linear, RmsNorm, Weights, dim};
use crate::engine::cache::{Caches, Rewind};
use crate::engine::checkpoint::{Checkpoint, Config, Mixer};
use crate::engine::error::{Error, Result};
use crate::engine::op::Op;
use crate::engine::pass::Pass;
use crate::engine::raw::rows_of;
use crate::engine::tap::{Forward, Side};
use crate::transcript::TokenId;
use mlx_rs::{Array, Dtype};

/// Which rows of a forward get logits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Logits {
    /// Every row.
    All,
    /// The last row.
    Last,
    /// None: the forward only fills the caches.
    None,
}

/// A text model with its weights on the device.
#[derive(Debug)]
pub struct TextModel {
    config: Config,
    dtype: Dtype,
    embedding: Embedding,
    layers: Vec<Layer>,
    norm: RmsNorm,
    head: Linear,
}

impl TextModel {
    /// Reads all weights, with float tensors turned into `dtype`.
    ///
    /// # Errors
    /// When a tensor is missing or has another shape than the configuration says.
    pub fn load(checkpoint: &Checkpoint, dtype: Dtype) -> Result<Self> {
        let config = checkpoint.config().clone();
        let weights = Weights::new(checkpoint, dtype);
        let (vocabulary, hidden) = (config.vocab_size, config.hidden_size);
        let embedding = weights.matrix("model.embed_tokens", vocabulary, hidden)?;
        let head = if config.tie_word_embeddings {
            embedding.as_head()?
        } else {
            weights.linear("lm_head", vocabulary, hidden)?
        };
        weights.settle()?;
        let layers = (0..config.layers.len()).map(|index| {
            let layer = Layer::load(&weights, index, &config)?;
            weights.settle().map(|()| layer)
        });
        let layers = layers.collect::<Result<_>>()?;
        let norm = weights.norm("model.norm", hidden, config.rms_norm_eps)?;
        weights.settle()?;
        Ok(Self { config, dtype, embedding, layers, norm, head })
    }

    /// The configuration.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Dtype of activations and logits.
    #[must_use]
    pub fn dtype(&self) -> Dtype {
        self.dtype
    }

    /// Empty caches for one sequence.
    #[must_use]
    pub fn new_caches(&self, rewind: Rewind) -> Caches {
        let kinds = self.config.layers.iter().map(|layer| matches!(layer, Mixer::Attention(_)));
        Caches::new(kinds, rewind)
    }

    /// Feeds `ids` after what `caches` hold, and gives logits `[T, vocabulary]` for the rows asked for.
    ///
    /// With `record` the recurrent layers keep what a later [`Caches::commit`] needs.
    ///
    /// # Errors
    /// When there is no id, one lies outside the vocabulary, or MLX refuses.
    pub fn forward(
        &self,
        pass: &mut Pass<'_>,
        ids: &[TokenId],
        caches: &mut Caches,
        wanted: (Logits, bool),
    ) -> Result<Option<Array>> {
        self.forward_ids(pass, &self.ids(ids)?, caches, wanted)
    }

    /// [`TextModel::forward`] for ids `[1, T]` that are on the device already and known to be in the vocabulary.
    ///
    /// # Errors
    /// When MLX refuses.
    pub fn forward_ids(
        &self,
        pass: &mut Pass<'_>,
        ids: &Array,
        caches: &mut Caches,
        (wanted, record): (Logits, bool),
    ) -> Result<Option<Array>> {
        let rows = ids.dim(1);
        pass.begin(Forward { side: side(wanted, record), position: caches.length(), rows });
        let record = record.then_some(caches.rewind);
        pass.enter(None);
        let mut x = self.embedding.forward(pass, ids)?; // [1, T, h]
        for (index, (layer, cache)) in self.layers.iter().zip(&mut caches.layers).enumerate() {
            pass.enter(Some(index));
            x = layer.forward(pass, &x, cache, record)?;
        }
        pass.enter(None);
        caches.advance(rows);
        match wanted {
            Logits::None => Ok(None),
            Logits::Last => self.logits(pass, &rows_of(&x, 1, rows - 1, rows)?).map(Some),
            Logits::All => self.logits(pass, &x).map(Some),
        }
    }

    /// Final norm and head: `[1, T, h]` to `[T, vocabulary]`.
    fn logits(&self, pass: &mut Pass<'_>, x: &Array) -> Result<Array> {
        let normed = self.norm.forward(pass, Op::FinalNorm, x)?;
        let logits = self.head.forward(pass, Op::LmHead, &normed)?; // [1, T, V]
        Ok(logits.squeeze_axes(&[0])?)
    }

    /// Ids as `[1, T]`, checked against the vocabulary.
    ///
    /// # Errors
    /// When there is none or one lies outside.
    pub fn ids(&self, ids: &[TokenId]) -> Result<Array> {
        let checked = ids.iter().map(|&id| self.id(id)).collect::<Result<Vec<i32>>>()?;
        let count = i32::try_from(checked.len()).unwrap_or(0);
        if count == 0 {
            return Err(Error::Request("run a forward over no ids".to_owned()));
        }
        Ok(Array::from_slice(&checked, &[1, count]))
    }

    fn id(&self, id: TokenId) -> Result<i32> {
        let size = dim(self.config.vocab_size);
        let inside = i32::try_from(id).ok().filter(|id| (0..size).contains(id));
        inside
            .ok_or_else(|| Error::Request(format!("feed id {id}: the vocabulary has ids 0 to {}", size - 1)))
    }
}

/// A block is recorded so that it can be taken back; of the prompt nobody wants the logits of every row.
fn side(wanted: Logits, record: bool) -> Side {
    match (wanted, record) {
        (_, true) => Side::Block,
        (Logits::All, false) => Side::Chain,
        (Logits::Last | Logits::None, false) => Side::Prefill,
    }
}
