//! Plants: deliberate faults at known places, to prove that whoever looks for a difference finds this one.
//!
//! A plant is a value with a text form (`op=o_proj,layer=5,row=2,from=40,ulp=1`), so that it can be given on a
//! command line, printed in a report and drawn at random by a test. It acts through the tap: neither the model files
//! nor the round loop know of it.

mod bits;
mod books;
mod error;
mod fault;
mod grammar;
mod planted;

pub use error::PlantError;
pub use fault::{Bookkeeping, Change, Fault, OpFault, Plant, Sides};
pub use planted::Planted;
