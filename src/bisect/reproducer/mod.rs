//! Reproducer folders: one operation's two calls, chain and block, with their inputs and weights and nothing else.
//!
//! A finding inside a model asks its reader for the checkpoint, the prompt and this program. A folder asks for MLX: the
//! two calls are exported as functions, their inputs lie beside them, and a short script runs both and compares the row.
//! What the folder gives is held against what the model gave when it is written, so that it never claims what it does
//! not show.

mod error;
mod folder;
mod readme;
mod tensors;
mod write;

pub use crate::results::reproducer::{About, Which};
pub use error::{Error, Result};
pub use folder::Folder;
pub use write::{Call, Reproducer};
