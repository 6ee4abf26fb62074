//! The record of a run: the format, its reader and writer, digests and the importers of other engines' logs.
//!
//! A transcript is judged with its bytes and the laws alone, so this module uses nothing else of the crate.

pub mod clock;
pub mod digest;
pub mod files;
pub mod format;
pub mod kept;
pub mod writer;

pub use format::{ArmKind, Footer, Header, Line, Prefill, Round, Row, Step, TokenId};
pub use kept::Kept;
pub use writer::Writer;
