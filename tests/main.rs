//! The one integration binary.

#[cfg(feature = "engine")]
mod checkpoint;
#[cfg(feature = "engine")]
mod engine;
