//! Pictures as SVG, the same bytes from the same data: legible on light and dark, with their content in words.

pub mod canvas;
pub mod flip;
pub mod grid;
pub mod layers;
pub mod parity;
pub mod rounds;
pub mod rows;
pub mod speed;
pub mod sweep;

pub use canvas::{Canvas, STYLE, escaped};
pub use grid::Grid;
