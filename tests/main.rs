//! The one integration binary.
#![expect(clippy::unwrap_used, reason = "a test ends where something is not as it expects")]
#![expect(clippy::disallowed_methods, reason = "tests write the files that they read")]

mod check_algebra;
mod commands;
mod lawful;
mod laws;
mod layers;
mod odd;
mod reader;
mod recorder;
mod schema;
