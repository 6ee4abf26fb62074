//! Experiments: which arms there are, and running one into a transcript.
//!
//! An arm is a setting. Running it gives a file that is judged like anybody else's; nothing that is printed comes
//! from a second, private path.

pub mod identity;
pub mod prompts;
pub mod recorder;
pub mod run;
pub mod spec;

pub use prompts::PromptSet;
pub use run::{Bench, ran};
pub use spec::{ArmSpec, REGISTRY};
