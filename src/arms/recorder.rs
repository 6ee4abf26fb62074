//! Writes an arm's lines to its file as they come, and stops the time of its decoding.

use crate::engine::Result;
use crate::engine::session::Recorder;
use crate::transcript::clock::Stopwatch;
use crate::transcript::{Line, Row, Writer};
use std::time::Duration;

/// A transcript being recorded.
pub struct FileRecorder<'a> {
    writer: &'a mut Writer,
    watch: Stopwatch,
    prefill: Duration,
    blank_rows: u64,
    progress: &'a dyn Fn(u64),
}

impl<'a> FileRecorder<'a> {
    /// Starts the time of a sequence; `progress` is told how many tokens each line brought.
    pub fn new(writer: &'a mut Writer, progress: &'a dyn Fn(u64)) -> Self {
        Self { writer, watch: Stopwatch::start(), prefill: Duration::ZERO, blank_rows: 0, progress }
    }

    /// Rows whose best entry is no finite number, or that have none.
    #[must_use]
    pub fn blank_rows(&self) -> u64 {
        self.blank_rows
    }

    /// Time for the prompt, and time since.
    #[must_use]
    pub fn times(&self) -> (Duration, Duration) {
        (self.prefill, self.watch.elapsed())
    }
}

impl Recorder for FileRecorder<'_> {
    fn line(&mut self, line: Line) -> Result<()> {
        self.writer.line(&line)?;
        let blank = |rows: &mut dyn Iterator<Item = &Row>| rows.filter(|row| is_blank(row)).count() as u64;
        self.blank_rows += match &line {
            Line::Prefill(prefill) => blank(&mut prefill.row.iter()),
            Line::Step(step) => blank(&mut step.row.iter()),
            Line::Round(round) => blank(&mut round.rows.iter().flatten()),
            Line::Header(_) | Line::Footer(_) => 0,
        };
        match &line {
            Line::Prefill(_) => self.prefill = self.watch.lap(),
            Line::Step(_) => (self.progress)(1),
            Line::Round(round) => (self.progress)(round.emitted.len() as u64),
            Line::Header(_) | Line::Footer(_) => {}
        }
        Ok(())
    }

    fn keep(&mut self, row: &mut Row, bytes: &[u8]) -> Result<()> {
        Ok(self.writer.keep(row, bytes)?)
    }
}

/// Whether a row was described and no entry of it is a number to be the best.
fn is_blank(row: &Row) -> bool {
    row.top.as_ref().is_some_and(|top| top.first().is_none_or(|(_, value)| value.is_none()))
}
