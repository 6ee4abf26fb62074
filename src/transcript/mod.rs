//! The record of a run: the format, its reader and writer, digests and the importers of other engines' logs.
//!
//! A transcript is judged with its bytes and the laws alone, so this module uses nothing else of the crate.

pub mod arm;
pub mod blocks;
pub mod clock;
pub mod counted;
pub mod digest;
pub mod export;
pub mod fault;
pub mod files;
pub mod format;
pub mod import;
pub mod kept;
pub mod lean;
mod object;
pub mod order;
pub mod parse;
pub mod read;
pub mod said;
pub mod writer;

pub use arm::{Arm, Sequence};
pub use fault::{Cut, LineFault, ReadError};
pub use format::{ArmKind, Footer, Header, Line, Prefill, Round, Row, Step, TokenId};
pub use kept::Kept;
pub use read::Reader;
pub use writer::Writer;
