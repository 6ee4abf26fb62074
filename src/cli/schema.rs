//! `exactness schema`: the JSON Schema of one transcript line, made from the types that read and write it.

use super::console;
use crate::transcript::Line;
use anyhow::Context as _;
use clap::Args;

/// Prints the JSON Schema (draft 2020-12) of a transcript's lines.
#[derive(Debug, Args)]
pub struct Schema {}

impl Schema {
    /// Runs the verb.
    ///
    /// # Errors
    /// Never in practice.
    pub fn run(&self) -> anyhow::Result<u8> {
        console::out(&text().context("print the schema")?);
        Ok(0)
    }
}

/// The schema.
///
/// # Errors
/// Never in practice.
pub fn text() -> serde_json::Result<String> {
    serde_json::to_string_pretty(&schemars::schema_for!(Line))
}
