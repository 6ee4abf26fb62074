//! A checkpoint: configuration and lent tensors under canonical names, held against the architecture's list.

use super::bytes::Bytes;
use super::config::Config;
use super::error::{CheckpointError, Result};
use super::experts::Stack;
use super::fields::{Fields, parse};
use super::form::{self, Form};
use super::layout::{self, Role};
use super::matrix::Matrix;
use super::names::{self, Ignored};
use super::quantization::{Quantization, Table};
use super::source::Source;
use super::tensor::{Dtype, Kind, TensorView};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::OnceLock;

const CONFIG: &str = "config.json";
const GENERATION: &str = "generation_config.json";

/// An opened checkpoint. All tensors of the architecture are there, with the shapes that it asks for.
///
/// It is `Send` and `Sync` and holds no array: what the engine makes of the bytes is the engine's.
#[derive(Debug, Clone)]
pub struct Checkpoint {
    source: Source,
    config: Config,
    config_bytes: Bytes,
    form: Form,
    tensors: BTreeMap<String, TensorView>,
    ignored: BTreeMap<Ignored, usize>,
    quantization: Table,
    /// Known once it was asked for.
    digest: OnceLock<String>,
}

impl Checkpoint {
    /// Opens a folder with config.json and safetensors files, or a GGUF file. Files are mapped once and not copied,
    /// but for the quantized tensors of a GGUF file.
    ///
    /// # Errors
    /// When a file is unreadable or malformed, when the architecture is not supported, or when the tensors are
    /// not the architecture's.
    pub fn open(path: &Path) -> Result<Self> {
        Self::read(Source::open(path)?)
    }

    /// Opens a checkpoint whose files are part of the program.
    ///
    /// # Errors
    /// As [`Checkpoint::open`].
    pub fn embedded(name: &str, files: &[(&'static str, &'static [u8])]) -> Result<Self> {
        let files = files.iter().map(|(file, bytes)| (*file, Bytes::from_static(bytes)));
        Self::in_memory(name, files.collect())
    }

    /// Opens a checkpoint whose files were made in memory.
    ///
    /// # Errors
    /// As [`Checkpoint::open`].
    pub fn in_memory(name: &str, files: Vec<(&'static str, Bytes)>) -> Result<Self> {
        Self::read(Source::Embedded(name.to_owned(), files))
    }

    fn read(source: Source) -> Result<Self> {
        let (label, config_bytes) = (source.label(CONFIG), source.need(CONFIG)?);
        let (generation_label, generation) = (source.label(GENERATION), source.find(GENERATION)?);
        let generation = generation.as_ref().map(|bytes| (generation_label.as_str(), &**bytes));
        let config = Config::parse((&label, &config_bytes), generation)?;
        let value = parse(&label, &config_bytes)?;
        let quantization = Table::parse(&label, &Fields::top(&label, &value)?)?;
        let (tensors, ignored) = collect(&source, config.tie_word_embeddings)?;
        let form = form::decide(&tensors)?;
        let checkpoint = Self {
            source,
            config,
            config_bytes,
            form,
            tensors,
            ignored,
            quantization,
            digest: OnceLock::new(),
        };
        checkpoint.check_inventory()?;
        Ok(checkpoint)
    }

    /// The folder's own name, or the name given to an embedded checkpoint.
    #[must_use]
    pub fn name(&self) -> String {
        self.source.name()
    }

    /// The architecture.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Where the digest is kept once it was computed.
    pub(super) fn digest_cell(&self) -> &OnceLock<String> {
        &self.digest
    }

    /// config.json as it stands in the file.
    #[must_use]
    pub fn config_bytes(&self) -> &[u8] {
        &self.config_bytes
    }

    /// How convolutions and norms are stored.
    #[must_use]
    pub fn form(&self) -> Form {
        self.form
    }

    /// The type that the checkpoint computes in: that of the embedding, of its scales when they are floating point,
    /// or else that of the last norm.
    #[must_use]
    pub fn dtype(&self) -> Dtype {
        let names = ["model.embed_tokens.scales", "model.embed_tokens.weight", "model.norm.weight"];
        let mut stored = names.iter().filter_map(|name| Some(self.tensors.get(*name)?.dtype));
        stored.find(|dtype| matches!(dtype, Dtype::F32 | Dtype::F16 | Dtype::BF16)).unwrap_or(Dtype::F32)
    }

    /// All tensors of the text model by canonical name, in the order of the names.
    pub fn tensors(&self) -> impl Iterator<Item = (&str, &TensorView)> {
        self.tensors.iter().map(|(name, tensor)| (name.as_str(), tensor))
    }

    /// How many tensors of each part that the text model does not use.
    #[must_use]
    pub fn ignored(&self) -> &BTreeMap<Ignored, usize> {
        &self.ignored
    }

    /// A tensor by canonical name.
    #[must_use]
    pub fn tensor(&self, name: &str) -> Option<&TensorView> {
        self.tensors.get(name)
    }

    /// A tensor that has to be there with a shape and a kind of element.
    ///
    /// # Errors
    /// When it is missing, has another shape, or cannot be of that kind.
    pub fn expect_tensor(&self, name: &str, shape: &[usize], kind: Kind) -> Result<&TensorView> {
        let tensor = self.tensors.get(name).ok_or_else(|| CheckpointError::Missing {
            checkpoint: self.source.shown(),
            tensor: name.to_owned(),
            expected: shape.to_vec(),
        })?;
        tensor.check(shape, kind)?;
        Ok(tensor)
    }

    /// How a module's matrix is quantized, `None` when it is not. `module` is a canonical path.
    ///
    /// # Errors
    /// When the configuration and the tensors contradict each other.
    pub fn quantization(&self, module: &str) -> Result<Option<Quantization>> {
        self.quantization.of(module, self.tensors.contains_key(&format!("{module}.scales")))
    }

    /// A module's matrix `[outputs, inputs]`, quantized or not.
    ///
    /// # Errors
    /// When a tensor is missing or does not fit, or the quantization is contradictory.
    pub fn matrix(&self, module: &str, outputs: usize, inputs: usize) -> Result<Matrix<'_>> {
        Matrix::find(self, module, &[outputs, inputs])
    }

    /// One projection of all experts of a layer, `[experts, outputs, inputs]`, by its module in MLX form.
    ///
    /// # Errors
    /// As [`Checkpoint::matrix`].
    pub fn experts(&self, module: &str, shape: [usize; 3]) -> Result<Stack<'_>> {
        Stack::find(self, module, shape)
    }

    /// A file of the checkpoint beside config and weights, such as `tokenizer.json`.
    ///
    /// # Errors
    /// When there is no such file or it cannot be read.
    pub fn file(&self, name: &str) -> Result<Bytes> {
        self.source.need(name)
    }

    /// How messages name a file of the checkpoint.
    #[must_use]
    pub fn label(&self, file: &str) -> String {
        self.source.label(file)
    }

    /// Whether [`Checkpoint::file`] would find a file of this name.
    ///
    /// # Errors
    /// When the folder cannot be looked into.
    pub fn has_file(&self, name: &str) -> Result<bool> {
        Ok(self.source.find(name)?.is_some())
    }

    /// Every tensor of the architecture fits, and there is none that it does not have.
    fn check_inventory(&self) -> Result<()> {
        let mut used = BTreeSet::new();
        for parameter in layout::parameters(&self.config, self.form) {
            match (parameter.role, parameter.shape.as_slice()) {
                (Role::Matrix | Role::Embedding, &[outputs, inputs]) => {
                    let matrix = self.matrix(&parameter.path, outputs, inputs)?;
                    used.extend(matrix.tensors().map(|tensor| tensor.name_in_file.as_str()));
                }
                (Role::Experts, &[experts, outputs, inputs]) => {
                    let stack = self.experts(&parameter.path, [experts, outputs, inputs])?;
                    used.extend(stack.tensors().iter().map(|tensor| tensor.name_in_file.as_str()));
                }
                (_, shape) => {
                    let tensor = self.expect_tensor(&parameter.tensor(), shape, Kind::Float)?;
                    used.insert(tensor.name_in_file.as_str());
                }
            }
        }
        match self.tensors.values().find(|tensor| !used.contains(tensor.name_in_file.as_str())) {
            None => Ok(()),
            Some(surplus) => Err(CheckpointError::Tensor {
                file: surplus.file.to_string(),
                tensor: surplus.name_in_file.clone(),
                says: format!("{} has no such tensor", self.config.model_type),
            }),
        }
    }
}

type Tensors = (BTreeMap<String, TensorView>, BTreeMap<Ignored, usize>);

/// Maps the weight files and puts their tensors under canonical names.
fn collect(source: &Source, tied: bool) -> Result<Tensors> {
    let weights = source.weight_files()?;
    let (mut tensors, mut ignored) = (BTreeMap::new(), BTreeMap::new());
    for file in &weights.files {
        let found = source.tensors(file)?;
        check_promise(&source.label(file), file, &weights.promised, &found)?;
        for (name, tensor) in found {
            if let Some(part) = names::ignored(&name, tied) {
                *ignored.entry(part).or_default() += 1;
                continue;
            }
            if let Some(first) = tensors.insert(name, tensor.clone()) {
                let says = format!("means the same as {} of {}", first.name_in_file, first.file);
                let (file, tensor) = (tensor.file.to_string(), tensor.name_in_file);
                return Err(CheckpointError::Tensor { file, tensor, says });
            }
        }
    }
    Ok((tensors, ignored))
}

/// A shard holds what the index says that it holds.
fn check_promise(
    label: &str,
    file: &str,
    promised: &[(String, String)],
    found: &[(String, TensorView)],
) -> Result<()> {
    let names: BTreeSet<&str> = found.iter().map(|(_, tensor)| tensor.name_in_file.as_str()).collect();
    match promised.iter().find(|(tensor, shard)| shard == file && !names.contains(tensor.as_str())) {
        None => Ok(()),
        Some((tensor, _)) => Err(CheckpointError::Tensor {
            file: label.to_owned(),
            tensor: tensor.clone(),
            says: "the index places it in this file, which does not hold it".to_owned(),
        }),
    }
}
