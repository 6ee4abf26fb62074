//! What `remedy` found: which operations part, what makes them agree, what was proven and what it costs.

mod answers;
mod ranked;
mod shown;

pub use answers::{
    Candidate, Ending, Kind, Measured, Named, REMEDY_VERSION, Ran, Remedy, Timed, WidthRemedy,
};
pub use ranked::{Rank, rank};
