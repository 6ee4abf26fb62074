//! Sweeps: prompt lengths × seeds × widths, each cell in a process of its own, resumed where they stopped.
//!
//! The order of work: [`store`] keeps the journal, [`run`] goes through the open cells, [`child`] starts the process
//! that measures one, and [`measure`] is what that process does.

pub mod child;
pub mod error;
pub mod measure;
pub mod run;
pub mod store;

pub use child::Children;
pub use error::SweepError;
pub use run::{Cells, Step, run};
pub use store::Store;
