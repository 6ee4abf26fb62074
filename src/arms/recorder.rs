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
    progress: &'a dyn Fn(u64),
}

impl<'a> FileRecorder<'a> {
    /// Starts the time of a sequence; `progress` is told how many tokens each line brought.
    pub fn new(writer: &'a mut Writer, progress: &'a dyn Fn(u64)) -> Self {
        Self { writer, watch: Stopwatch::start(), prefill: Duration::ZERO, progress }
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
