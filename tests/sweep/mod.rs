//! Sweeps: what the journal survives, what shards come to, what a crash leaves, and what the reading says.

mod fake;
mod journals;
mod reading;
#[cfg(feature = "engine")]
mod resumed;
#[cfg(feature = "engine")]
mod whole;
