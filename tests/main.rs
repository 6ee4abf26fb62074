//! The one integration binary.

#[cfg(feature = "engine")]
mod checkpoint;
