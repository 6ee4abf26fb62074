//! Writes a transcript line by line, so that a run killed at any moment leaves whole lines.

use super::files::{Appender, WriteError};
use super::format::{Line, Row};
use std::path::{Path, PathBuf};

/// One transcript being written, with its side file of kept rows when rows are kept.
#[derive(Debug)]
pub struct Writer {
    lines: Appender,
    rows: Option<Appender>,
    buffer: Vec<u8>,
}

impl Writer {
    /// Starts `path`; with `keep_rows` also `<name>.rows.bin` beside it.
    ///
    /// # Errors
    /// When a file cannot be made or is already there.
    pub fn create(path: &Path, keep_rows: bool) -> Result<Self, WriteError> {
        let lines = Appender::create(path)?;
        let rows = keep_rows.then(|| Appender::create(&rows_path(path))).transpose()?;
        Ok(Self { lines, rows, buffer: Vec::new() })
    }

    /// Appends one line.
    ///
    /// # Errors
    /// When the system refuses; the file then ends with the line before.
    pub fn line(&mut self, line: &Line) -> Result<(), WriteError> {
        self.buffer.clear();
        if let Err(error) = serde_json::to_writer(&mut self.buffer, line) {
            return Err(WriteError { path: PathBuf::from("a transcript line"), source: error.into() });
        }
        self.buffer.push(b'\n');
        self.lines.append(&self.buffer)
    }

    /// Keeps a row's raw logit bytes and notes in `row` where they lie; does nothing when rows are not kept.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn keep(&mut self, row: &mut Row, bytes: &[u8]) -> Result<(), WriteError> {
        let Some(file) = &mut self.rows else { return Ok(()) };
        let start = file.length();
        file.append(bytes)?;
        row.at = Some([start, bytes.len() as u64]);
        Ok(())
    }
}

/// The side file of a transcript: `w4.jsonl` keeps its rows in `w4.rows.bin`.
#[must_use]
pub fn rows_path(transcript: &Path) -> PathBuf {
    transcript.with_extension("rows.bin")
}
