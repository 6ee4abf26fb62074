//! Writes a planned checkpoint, tensor by tensor and block by block, into a folder that appears when it is whole.

use super::Synth;
use super::packed::written;
use super::plan::{Plan, Stored, plan};
use super::values::{BLOCK, block};
use crate::engine::Error;
use crate::engine::checkpoint::{CheckpointError, Form};
use crate::transcript::files::{PartFolder, WriteError};
use rayon::prelude::*;
use serde_json::{Map, Value, json};
use std::path::Path;

/// Most tensor bytes of one file.
const SHARD: usize = 4_000_000_000;
/// Tensor bytes begin at a multiple of this, so that a mapped tensor is aligned to its elements.
const ALIGNMENT: usize = 64;
/// Blocks drawn at once; bounds the memory at some 32 MB.
const AT_ONCE: usize = 32;

/// A synthetic checkpoint could not be made.
#[derive(Debug, thiserror::Error)]
pub enum SynthError {
    /// A file could not be written; nothing is left behind.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The planned configuration cannot be read back: a bug of this program.
    #[error("plan a synthetic checkpoint: {0}")]
    Plan(#[from] CheckpointError),
    /// MLX refused to quantize.
    #[error(transparent)]
    Quantize(#[from] Error),
}

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The weight files' names.
    pub files: Vec<String>,
    /// Bytes of tensors.
    pub bytes: usize,
    /// Numbers before quantization.
    pub parameters: usize,
}

/// Writes a synthetic checkpoint into `folder`, which must not exist or be empty.
///
/// # Errors
/// When the folder is in use, or the system refuses (a full disk); nothing is left behind then.
pub fn write(what: &Synth, folder: &Path) -> Result<Written, SynthError> {
    write_sharded(what, folder, SHARD)
}

fn write_sharded(what: &Synth, folder: &Path, limit: usize) -> Result<Written, SynthError> {
    let plan = plan(what)?;
    let part = PartFolder::create(folder)?;
    write_json(&part, "config.json", &plan.config)?;
    let shards = split(&plan.tensors, limit);
    let mut files = Vec::new();
    for (index, shard) in shards.iter().enumerate() {
        let name = shard_name(index, shards.len());
        write_shard(&part, &name, shard, &plan, what.seed)?;
        files.push(name);
    }
    if shards.len() > 1 {
        write_json(&part, "model.safetensors.index.json", &index(&shards, &files))?;
    }
    part.finish()?;
    Ok(Written { files, bytes: plan.tensors.iter().map(size).sum(), parameters: plan.parameters })
}

fn size(stored: &Stored) -> usize {
    stored.count() * stored.width()
}

/// Cuts the list wherever a file would grow past `limit` bytes.
fn split(tensors: &[Stored], limit: usize) -> Vec<&[Stored]> {
    let (mut shards, mut start, mut bytes) = (Vec::new(), 0, 0);
    for (index, stored) in tensors.iter().enumerate() {
        if bytes + size(stored) > limit && index > start {
            shards.push(&tensors[start..index]);
            (start, bytes) = (index, 0);
        }
        bytes += size(stored);
    }
    shards.push(&tensors[start..]);
    shards
}

fn shard_name(index: usize, count: usize) -> String {
    match count {
        1 => "model.safetensors".to_owned(),
        _ => format!("model-{:05}-of-{count:05}.safetensors", index + 1),
    }
}

fn write_json(part: &PartFolder, name: &str, value: &Value) -> Result<(), WriteError> {
    let mut file = part.file(name)?;
    file.write(format!("{value:#}\n").as_bytes())?;
    file.finish()
}

fn write_shard(
    part: &PartFolder,
    name: &str,
    shard: &[Stored],
    plan: &Plan,
    seed: u64,
) -> Result<(), SynthError> {
    let mut file = part.file(name)?;
    file.write(&header(shard, plan.form))?;
    for stored in shard {
        draw(stored, seed, |bytes| Ok::<(), SynthError>(file.write(bytes)?))?;
    }
    Ok(file.finish()?)
}

/// Draws a tensor and hands over its bytes in order, some blocks at a time.
pub(super) fn draw<E: From<Error>>(
    stored: &Stored,
    seed: u64,
    mut take: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let blocks: Vec<usize> = (0..stored.draws().div_ceil(BLOCK)).collect();
    for some in blocks.chunks(AT_ONCE) {
        let drawn: Vec<Vec<u8>> = some.par_iter().map(|index| block(stored, seed, *index)).collect();
        for bytes in written(stored, drawn)? {
            take(&bytes)?;
        }
    }
    Ok(())
}

/// Length and table of a safetensors file, padded with blanks so that the data begins aligned.
pub(super) fn header(shard: &[Stored], form: Form) -> Vec<u8> {
    let format = if form == Form::HuggingFace { "pt" } else { "mlx" };
    let mut table = Map::from_iter([("__metadata__".to_owned(), json!({"format": format}))]);
    let mut from = 0;
    for stored in shard {
        let to = from + size(stored);
        let entry =
            json!({"dtype": stored.dtype.to_string(), "shape": stored.shape, "data_offsets": [from, to]});
        table.insert(stored.name.clone(), entry);
        from = to;
    }
    let mut text = Value::Object(table).to_string().into_bytes();
    text.resize((text.len() + 8).next_multiple_of(ALIGNMENT) - 8, b' ');
    let mut bytes = (text.len() as u64).to_le_bytes().to_vec();
    bytes.append(&mut text);
    bytes
}

fn index(shards: &[&[Stored]], files: &[String]) -> Value {
    let mut map = Map::new();
    for (shard, file) in shards.iter().zip(files) {
        for stored in *shard {
            map.insert(stored.name.clone(), Value::from(file.as_str()));
        }
    }
    let total: usize = shards.iter().flat_map(|shard| shard.iter()).map(size).sum();
    json!({"metadata": {"total_size": total}, "weight_map": map})
}

#[cfg(test)]
mod tests {
    use super::{Synth, write, write_sharded};
    use crate::engine::checkpoint::{Checkpoint, Form};
    use crate::engine::synth::{Geometry, Storage};

    fn tiny(storage: Storage, seed: u64) -> Synth {
        Synth { geometry: Geometry::Tiny, storage, seed }
    }

    fn opened(what: &Synth) -> (tempfile::TempDir, Checkpoint) {
        let folder = tempfile::tempdir().unwrap();
        write(what, &folder.path().join("made")).unwrap();
        let checkpoint = Checkpoint::open(&folder.path().join("made")).unwrap();
        (folder, checkpoint)
    }

    #[test]
    fn every_storage_opens_as_what_it_is() {
        let texts = [
            Some("affine 4-bit g64"),
            Some("affine 8-bit g64"),
            None,
            Some("mxfp4 4-bit g32"),
            Some("mxfp8 8-bit g32"),
            Some("nvfp4 4-bit g16"),
        ];
        for ((_, storage), text) in Storage::WIDTHS.into_iter().chain(Storage::MODES).zip(texts) {
            let (_folder, checkpoint) = opened(&tiny(storage, 1));
            let summary = checkpoint.summary();
            assert_eq!(summary.quantization.as_deref(), text);
            let form = if text.is_some() { Form::Mlx } else { Form::HuggingFace };
            assert_eq!((summary.form, summary.parameters), (form, 7_906_080));
            for (name, tensor) in checkpoint.tensors() {
                assert!(tensor.bytes.is_aligned(tensor.dtype.bitsize() / 8), "{name}");
            }
        }
    }

    #[test]
    fn one_seed_gives_one_digest() {
        let digest = |storage, seed| opened(&tiny(storage, seed)).1.digest();
        assert_eq!(
            digest(Storage::Four, 1),
            "a5c14dbd626d4459fdb3f086af170cb5ca10ab8988f80be12a81ac1ea7964853"
        );
        assert_eq!(
            digest(Storage::Sixteen, 1),
            "2995908de63555c772aaab63162df09b8c668faae38ca5bce47d881a3b787e3e"
        );
        assert_ne!(digest(Storage::Four, 1), digest(Storage::Four, 2));
    }

    #[test]
    fn shards_hold_the_same_model() {
        let folder = tempfile::tempdir().unwrap();
        let (whole, cut) = (folder.path().join("whole"), folder.path().join("cut"));
        assert_eq!(write(&tiny(Storage::Four, 1), &whole).unwrap().files, ["model.safetensors"]);
        let written = write_sharded(&tiny(Storage::Four, 1), &cut, 2_000_000).unwrap();
        assert_eq!(written.files.len(), 3);
        let digests = [whole, cut].map(|path| Checkpoint::open(&path).unwrap().digest());
        assert_eq!(digests[0], digests[1]);
    }

    #[test]
    fn a_folder_in_use_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        crate::transcript::files::write_whole(&folder.path().join("mine"), b"kept").unwrap();
        let says = write(&tiny(Storage::Four, 1), folder.path()).unwrap_err().to_string();
        assert!(says.ends_with("the folder is not empty"), "{says}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
