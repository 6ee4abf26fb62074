//! The flags that name a model, and loading it.

use super::exit::Failure;
use crate::arms::identity;
use crate::engine::checkpoint::{Checkpoint, Dtype as StoredDtype};
use crate::engine::demo;
use crate::engine::model::TextModel;
use crate::engine::tokenizer::Tokenizer;
use clap::ValueEnum;
use mlx_rs::Dtype;
use std::path::PathBuf;

/// Which model, and in which dtype it computes.
#[derive(Debug, Clone, clap::Args)]
pub struct ModelArgs {
    /// Checkpoint folder (config.json, *.safetensors, tokenizer.json) or .gguf file; default: the embedded demo.
    #[arg(long, value_name = "DIR")]
    pub model: Option<PathBuf>,
    /// Dtype of activations; default: f32 on the CPU (bf16 products of quantized weights are inaccurate there), the
    /// checkpoint's own on a GPU.
    #[arg(long, value_enum)]
    pub dtype: Option<Activations>,
}

/// Dtypes of activations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Activations {
    /// 32-bit float
    F32,
    /// 16-bit float
    F16,
    /// bfloat16
    Bf16,
}

/// A model on the device, and what belongs to it.
pub struct Loaded {
    /// What was read.
    pub checkpoint: Checkpoint,
    /// What computes.
    pub model: TextModel,
    /// Absent where the checkpoint has none.
    pub tokenizer: Option<Tokenizer>,
}

impl ModelArgs {
    /// Opens the checkpoint, without its weights going anywhere.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn open(&self) -> Result<Checkpoint, Failure> {
        let opened = match &self.model {
            Some(folder) => Checkpoint::open(folder),
            None => demo::checkpoint(),
        };
        opened.map_err(|error| Failure::unavailable(format!("failed to {error}")))
    }

    /// Loads model and tokenizer.
    ///
    /// # Errors
    /// When the checkpoint or its tokenizer is not one; a missing tokenizer is no error yet.
    pub fn load(&self) -> Result<Loaded, Failure> {
        let checkpoint = self.open()?;
        let model = TextModel::load(&checkpoint, self.activations(&checkpoint)).map_err(|error| {
            Failure::unavailable(format!("failed to load {}: {error}", checkpoint.name()))
        })?;
        let failed = |error: &dyn std::fmt::Display| Failure::unavailable(format!("failed to {error}"));
        let tokenizer = if checkpoint.has_file("tokenizer.json").map_err(|error| failed(&error))? {
            Some(Tokenizer::of(&checkpoint).map_err(|error| failed(&error))?)
        } else {
            None
        };
        Ok(Loaded { checkpoint, model, tokenizer })
    }

    /// The dtype to compute in.
    #[must_use]
    pub fn activations(&self, checkpoint: &Checkpoint) -> Dtype {
        match (self.dtype, identity::on_gpu()) {
            (Some(told), _) => told.dtype(),
            (None, false) => Dtype::Float32,
            (None, true) => match checkpoint.dtype() {
                StoredDtype::F16 => Dtype::Float16,
                StoredDtype::BF16 => Dtype::Bfloat16,
                _ => Dtype::Float32,
            },
        }
    }
}

impl Activations {
    /// As MLX names it.
    #[must_use]
    pub const fn dtype(self) -> Dtype {
        match self {
            Self::F32 => Dtype::Float32,
            Self::F16 => Dtype::Float16,
            Self::Bf16 => Dtype::Bfloat16,
        }
    }
}
