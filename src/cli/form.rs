//! The forms that a measurement of many lines is printed in.

use clap::ValueEnum;

/// How a measurement is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Form {
    /// For a terminal
    Human,
    /// A table for a report
    Markdown,
    /// One line a measurement
    Csv,
    /// One JSON object
    Json,
}
