//! What a probe found: a checkpoint's blocks held against its chain, how far it looked, and what it cannot see.

mod key;
mod outcome;
mod probed;
mod shown;

pub use key::Key;
pub use outcome::{First, Outcome, Place, Reason};
pub use probed::{PROBE_VERSION, Probe, Probed, Uncovered, WidthLine};
