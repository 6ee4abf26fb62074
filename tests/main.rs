//! The one integration binary.

mod check_algebra;
mod commands;
mod lawful;
mod laws;
mod layers;
mod odd;
mod reader;
mod recorder;
mod schema;
