//! The one integration binary.
#![expect(clippy::unwrap_used, reason = "a test ends where something is not as it expects")]
#![expect(clippy::disallowed_methods, reason = "tests write the files that they read")]

mod check_algebra;
#[cfg(feature = "engine")]
mod checkpoint;
mod cli;
mod commands;
mod compare;
#[cfg(feature = "engine")]
mod engine;
mod hostile;
mod import;
mod kit;
mod lawful;
mod laws;
mod layers;
mod odd;
mod printed;
mod reader;
mod readings;
mod recorder;
#[cfg(feature = "records")]
mod records;
mod schema;
mod sweep;
