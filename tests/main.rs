//! The one integration binary.
#![expect(clippy::unwrap_used, reason = "a test ends where something is not as it expects")]

#[cfg(feature = "engine")]
mod checkpoint;
mod compare;
#[cfg(feature = "engine")]
mod engine;
mod import;
mod kit;
mod printed;
mod readings;
