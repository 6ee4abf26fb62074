//! What a probe found: a checkpoint's blocks held against its chain, and how far it looked.

mod outcome;

pub use outcome::{First, Outcome, Place, Reason};
