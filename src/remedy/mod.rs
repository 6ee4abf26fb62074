//! The cheapest exact setting for a width: from the operations that part to routes of the block that are proven to
//! agree.
//!
//! Reading order: `candidates` (pure: which settings are worth trying), `spelling` (a setting in the fewest words), `name`
//! (which operations part, with every input made equal), `safe` (how many rows a call they bear), and `run`, which proves,
//! has runs made and writes the trail.

pub mod candidates;
mod name;
pub mod run;
mod safe;
mod spelling;
