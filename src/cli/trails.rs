//! What `bisect` and `remedy` say of their trails: what one is about, and why one cannot be gone on with.

use super::console;
use super::exit::Failure;
use super::model::Loaded;
use super::routed::machine;
use crate::bisect::trail::{TrailFile, TrailFileError};
use crate::engine::rows::dtype_name;
use crate::results::bisect::{Key, Trail, TrailError};
use crate::results::{agreed, counted};
use std::path::Path;

/// What a trail is about; `block` are the weights of blocks where they are others.
#[must_use]
pub fn key(loaded: &Loaded, block: Option<&Loaded>, question: String) -> Key {
    let (backend, version, device) = machine();
    Key {
        model: loaded.checkpoint.name(),
        digest: loaded.checkpoint.digest(),
        block_digest: block.map(|block| block.checkpoint.digest()),
        dtype: dtype_name(loaded.model.dtype()).to_owned(),
        machine: format!("{backend} {version}, {device}"),
        program: env!("CARGO_PKG_VERSION").to_owned(),
        question,
    }
}

/// Opens the trail in a folder, and says when a search goes on there: what it answers is not all its own then.
///
/// # Errors
/// When it is another question's, damaged or cannot be written.
pub fn open(folder: &Path, key: Key) -> Result<TrailFile, Failure> {
    let path = folder.join(Trail::FILE);
    let trail = TrailFile::open(&path, key)?;
    if trail.known() > 0 {
        console::note(&format!(
            "note: goes on with {}: {} there already",
            path.display(),
            answers(trail.known())
        ));
    }
    Ok(trail)
}

fn answers(count: usize) -> String {
    format!("{} {}", counted(count, "answer"), agreed(count, "is", "are"))
}

/// How much of what was found was there before; empty for a search of one piece.
#[must_use]
pub fn taken(trail: &TrailFile) -> String {
    match trail.taken() {
        0 => String::new(),
        taken => format!(" ({} from the trail, {} new)", counted(taken, "answer"), trail.added()),
    }
}

impl From<TrailFileError> for Failure {
    fn from(error: TrailFileError) -> Self {
        let says = format!("failed to {error}");
        match error {
            TrailFileError::Trail { source: TrailError::Other { .. }, .. } => Self::usage(says),
            TrailFileError::Trail { .. } => Self::unparseable(says),
            _ => Self::unavailable(says),
        }
    }
}
