//! What `bisect` and `remedy` say of their trails: what one is about, and why one cannot be gone on with.

use super::exit::Failure;
use super::model::Loaded;
use super::routed::machine;
use crate::bisect::trail::TrailFileError;
use crate::engine::rows::dtype_name;
use crate::results::bisect::{Key, TrailError};

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

impl From<TrailFileError> for Failure {
    fn from(error: TrailFileError) -> Self {
        let says = format!("failed to {error}");
        match error {
            TrailFileError::Trail { source: TrailError::Other(_), .. } => Self::usage(says),
            TrailFileError::Trail { .. } => Self::unparseable(says),
            _ => Self::unavailable(says),
        }
    }
}
