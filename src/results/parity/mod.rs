//! What `op-parity` measured: one line an operation, with the rows at which its bytes part and what was predicted.

mod found;
mod lines;
mod predicted;
mod shown;

pub use found::{Found, Worst, ranges};
pub use lines::{Line, PARITY_VERSION, Parity};
pub use predicted::{Agreement, Predicted};
