//! Op parity: T rows in one call against T one-row calls, for every operation of the engine, on the same inputs.
//!
//! Nothing is computed here that the engine would compute otherwise. The chain is run once, a row at a time, and the
//! output of every operation is kept ([`Truth`]). Then a block of T rows is run through the same model: at each
//! operation the tap compares the block's rows with the chain's and hands the chain's on, so that the next operation
//! has exactly the chain's inputs and answers for itself alone. A new operation of the engine is measured as soon as it
//! passes through the tap.

mod forced;
mod measure;
mod question;
mod settings;
mod ties;
mod truth;

pub(super) use question::stored_matrix;

pub use measure::{Measured, Subject, measure};
pub use question::{Asked, predicted};
pub use settings::{Settings, Wanted};
