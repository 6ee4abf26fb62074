//! Importers: other engines' logs and answers as transcripts. What a source lacks stays unknown, never invented.

pub mod error;
pub mod mlxcel;
pub mod openai;
pub mod record;

pub use error::ImportError;
pub use record::{Extras, Imported};
