//! Records: what an experiment showed, written from its stored data alone.
//!
//! Files are told apart by content (`kind`), read (`gather`, `experiment`), put into a document (`page`) with pictures,
//! and set as markdown, CSV and one HTML page (`render`). Nothing here runs anything or reads a clock, so the same data
//! gives the same bytes, and `check` holds a record against its data.

pub mod check;
pub mod error;
pub mod experiment;
pub mod explore;
pub mod gather;
pub mod input;
pub mod interrupted;
pub mod kind;
pub mod marks;
pub mod page;
pub mod parity;
pub mod pictures;
pub mod placed;
pub mod planted;
pub mod render;
pub mod settings;
pub mod timeline;
pub mod tried;
pub mod unreadable;
pub mod write;

pub use error::RecordError;
pub use input::names;
pub use kind::Kind;
pub use settings::{Settings, stored};
pub use write::{Made, OUTPUTS, PICTURES, make, write};
