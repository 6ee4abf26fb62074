//! Where a checkpoint's files come from: a folder, a GGUF file, or the program itself.

use super::bytes::Bytes;
use super::error::{CheckpointError, Result};
use super::fields::{Fields, parse};
use super::gguf::{self, Gguf};
use super::tensor::TensorView;
use super::{header, names};
use serde_json::Value;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

/// A set of named files.
#[derive(Debug, Clone)]
pub(super) enum Source {
    Folder(PathBuf),
    /// One file; what its metadata amounts to counts as files beside it.
    Gguf(Gguf),
    Embedded(String, Vec<(&'static str, Bytes)>),
}

impl Source {
    /// A folder or a GGUF file that has to be there.
    pub(super) fn open(path: &Path) -> Result<Self> {
        if gguf::is_gguf(path) && !path.is_dir() {
            return gguf::open(path).map(Self::Gguf);
        }
        let fail = |source| CheckpointError::Io { file: path.display().to_string(), source };
        if !fs::metadata(path).map_err(fail)?.is_dir() {
            return Err(fail(std::io::Error::other(
                "not a folder; a checkpoint is a folder with config.json, or a .gguf file",
            )));
        }
        Ok(Self::Folder(path.to_owned()))
    }

    /// The checkpoint's short name: the folder's own name.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Embedded(name, _) => name.clone(),
            Self::Gguf(file) => shown_name(file.path.file_stem()),
            Self::Folder(path) => {
                let full = fs::canonicalize(path).unwrap_or_else(|_| path.clone());
                shown_name(full.file_name())
            }
        }
    }

    /// How messages name the checkpoint.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Folder(path) => path.display().to_string(),
            Self::Gguf(file) => file.path.display().to_string(),
            Self::Embedded(name, _) => format!("{name} (embedded)"),
        }
    }

    /// How messages name one of its files.
    pub(super) fn label(&self, file: &str) -> String {
        match self {
            Self::Folder(path) => path.join(file).display().to_string(),
            Self::Gguf(whole) => format!("{} (as {file})", whole.path.display()),
            Self::Embedded(name, _) => format!("{name} (embedded)/{file}"),
        }
    }

    /// A file's bytes, `None` when there is no such file.
    pub(super) fn find(&self, file: &str) -> Result<Option<Bytes>> {
        match self {
            Self::Embedded(_, files) => {
                let found = files.iter().find(|(name, _)| *name == file);
                Ok(found.map(|(_, bytes)| bytes.clone()))
            }
            Self::Gguf(whole) => {
                Ok(whole.files.iter().find(|(name, _)| *name == file).map(|(_, bytes)| bytes.clone()))
            }
            Self::Folder(path) => match Bytes::map(&path.join(file)) {
                Err(CheckpointError::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
                    Ok(None)
                }
                other => other.map(Some),
            },
        }
    }

    /// A file's bytes; an error when there is no such file.
    pub(super) fn need(&self, file: &str) -> Result<Bytes> {
        self.find(file)?.ok_or_else(|| self.incomplete(format!("there is no {file} in it")))
    }

    /// The tensors of a weight file, by canonical names.
    pub(super) fn tensors(&self, file: &str) -> Result<Vec<(String, TensorView)>> {
        if let Self::Gguf(whole) = self {
            return Ok(whole.tensors.clone());
        }
        let found = header::tensors(&self.label(file).into(), &self.need(file)?)?;
        Ok(found.into_iter().map(|tensor| (names::canonical(&tensor.name_in_file), tensor)).collect())
    }

    /// The files that hold the weights: `model.safetensors`, else the shards of `model.safetensors.index.json`,
    /// else the only `.safetensors` file.
    pub(super) fn weight_files(&self) -> Result<Weights> {
        const SINGLE: &str = "model.safetensors";
        const INDEX: &str = "model.safetensors.index.json";
        if let Self::Gguf(whole) = self {
            let name = whole.path.display().to_string();
            return Ok(Weights { files: vec![name], promised: Vec::new() });
        }
        let names = self.safetensors()?;
        if names.iter().any(|name| name == SINGLE) {
            return Ok(Weights { files: vec![SINGLE.to_owned()], promised: Vec::new() });
        }
        if let Some(bytes) = self.find(INDEX)? {
            return index(&self.label(INDEX), &bytes);
        }
        match names.as_slice() {
            [] => Err(self.incomplete(format!("it has neither {SINGLE} nor {INDEX}"))),
            [only] => Ok(Weights { files: vec![only.clone()], promised: Vec::new() }),
            many => Err(self.incomplete(format!("it has {} safetensors files but no {INDEX}", many.len()))),
        }
    }

    fn safetensors(&self) -> Result<Vec<String>> {
        let mut names = match self {
            Self::Embedded(_, files) => files.iter().map(|(name, _)| (*name).to_owned()).collect(),
            Self::Gguf(_) => Vec::new(),
            Self::Folder(path) => file_names(path)
                .map_err(|source| CheckpointError::Io { file: path.display().to_string(), source })?,
        };
        names.retain(|name| Path::new(name).extension().is_some_and(|extension| extension == "safetensors"));
        names.sort();
        Ok(names)
    }

    fn incomplete(&self, says: String) -> CheckpointError {
        CheckpointError::Incomplete { checkpoint: self.shown(), says }
    }
}

/// The weight files of a checkpoint, and which tensor an index promises in which of them.
#[derive(Debug)]
pub(super) struct Weights {
    pub(super) files: Vec<String>,
    /// Tensor name as in the file, and file.
    pub(super) promised: Vec<(String, String)>,
}

fn shown_name(name: Option<&OsStr>) -> String {
    name.map_or_else(|| "checkpoint".to_owned(), |name| name.to_string_lossy().into_owned())
}

fn file_names(folder: &Path) -> std::io::Result<Vec<String>> {
    fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
}

/// Reads an index of shards. A shard is a file beside the index, never a path elsewhere.
fn index(file: &str, bytes: &[u8]) -> Result<Weights> {
    let value = parse(file, bytes)?;
    let top = Fields::top(file, &value)?;
    let Some(map) = top.nested("weight_map")? else { return Err(top.wrong("weight_map", "an object")) };
    let (mut files, mut promised) = (BTreeSet::new(), Vec::new());
    for (tensor, shard) in map.iter() {
        let plain = |name: &&str| Path::new(name).file_name().is_some_and(|last| last == *name);
        let Some(shard) = Value::as_str(shard).filter(plain) else {
            return Err(map.wrong(tensor, "the name of a file beside the index"));
        };
        files.insert(shard.to_owned());
        promised.push((tensor.clone(), shard.to_owned()));
    }
    if files.is_empty() {
        return Err(top.wrong("weight_map", "at least one tensor"));
    }
    Ok(Weights { files: files.into_iter().collect(), promised })
}
