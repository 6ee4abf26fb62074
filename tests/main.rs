//! The one integration binary.

#[cfg(feature = "engine")]
mod checkpoint;
#[cfg(feature = "engine")]
mod engine;
#![expect(clippy::unwrap_used, reason = "a test ends where something is not as it expects")]

mod compare;
mod import;
mod kit;
mod printed;
mod readings;
