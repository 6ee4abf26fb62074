//! What `remedy` found: which operations part, what makes them agree, what was proven and what it costs.

mod answers;
mod choice;
mod options;
mod ranked;
mod shown;
mod sound;
pub mod steps;

pub use answers::{
    Candidate, Changed, Ending, Kind, Measured, Named, PlainMeasured, REMEDY_VERSION, Ran, Remedy, Timed,
    WidthRemedy,
};
pub use choice::{Choice, Pace, or_defaults};
pub use ranked::{Rank, rank};
