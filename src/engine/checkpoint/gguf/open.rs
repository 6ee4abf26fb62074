//! A GGUF file as the parts of a checkpoint.

use super::{config, header, tensors, tokenizer};
use crate::engine::checkpoint::bytes::Bytes;
use crate::engine::checkpoint::error::Result;
use crate::engine::checkpoint::tensor::TensorView;
use std::path::{Path, PathBuf};

/// An opened file.
#[derive(Debug, Clone)]
pub(in crate::engine::checkpoint) struct Gguf {
    pub(in crate::engine::checkpoint) path: PathBuf,
    /// What the metadata amounts to: config.json and, when there is a tokenizer, tokenizer.json.
    pub(in crate::engine::checkpoint) files: Vec<(&'static str, Bytes)>,
    /// Canonical names and tensors.
    pub(in crate::engine::checkpoint) tensors: Vec<(String, TensorView)>,
}

/// Whether a path names a GGUF file.
pub(in crate::engine::checkpoint) fn is_gguf(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gguf"))
}

/// Maps and reads a file. Tensors of plain numbers are lent from it, quantized ones are unpacked.
pub(in crate::engine::checkpoint) fn open(path: &Path) -> Result<Gguf> {
    let (label, bytes) = (path.display().to_string(), Bytes::map(path)?);
    let header = header::read(&label, &bytes)?;
    let mut files = vec![("config.json", Bytes::from_vec(config::text(&header)?.into_bytes()))];
    if let Some(text) = tokenizer::text(&header.metadata)? {
        files.push(("tokenizer.json", Bytes::from_vec(text.into_bytes())));
    }
    let tensors = tensors::views(&header, &bytes, config::heads(&header.metadata)?)?;
    Ok(Gguf { path: path.to_owned(), files, tensors })
}
