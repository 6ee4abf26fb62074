//! Reading checkpoints: configuration, tensors under one set of names, quantization. No array library is named
//! here; tensors are bytes that can be lent.
//!
//! [`Checkpoint::open`] does all the checking. What it returns has every tensor of the architecture in the right
//! shape, so the model code looks weights up and does not have to doubt them.

mod bytes;
mod config;
mod digest;
mod error;
mod experts;
mod family;
mod fields;
mod form;
mod gguf;
mod header;
pub mod layout;
mod matrix;
mod names;
mod open;
mod quantization;
mod source;
mod summary;
mod tensor;

pub use bytes::{Bytes, Lent};
pub use config::{Attention, Config, DeltaNet, Experts, Family, FeedForward, Llama3, Mixer};
pub use error::CheckpointError;
pub use experts::Stack;
pub use form::Form;
pub use matrix::Matrix;
pub use names::Ignored;
pub use open::Checkpoint;
pub use quantization::{Mode, Quantization};
pub use summary::Summary;
pub use tensor::{Dtype, Kind, TensorView};
