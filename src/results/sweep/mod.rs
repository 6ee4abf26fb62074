//! What a sweep stores and says: one definition, one journal, and everything else as a function of the two.
//!
//! A sweep asks block against chain over prompt lengths × seeds × widths. Here is what of it needs no engine: which
//! cells there are, the journal's lines, shards put together, the CSV files and the reading.

pub mod definition;
pub mod journal;
pub mod merge;
pub mod outcome;
pub mod reading;
pub mod tables;

pub use definition::{Cell, Definition, Shard};
pub use journal::{Entry, Header, Journal, JournalError};
pub use merge::merge;
pub use outcome::{End, Outcome, WidthOutcome};
pub use reading::Reading;
