//! Goes through the open cells of a sweep, one at a time, and writes each down when it is done.

use super::error::SweepError;
use super::store::Store;
use crate::results::sweep::{Cell, Definition, End, Entry};
use crate::transcript::clock::Stopwatch;
use std::time::Duration;

/// Who measures a cell.
pub trait Cells {
    /// Measures one cell at all widths.
    ///
    /// # Errors
    /// With what would stop every other cell too.
    fn run(&mut self, cell: Cell) -> Result<End, SweepError>;
}

/// A cell that has just been written down.
#[derive(Debug, Clone, Copy)]
pub struct Step<'a> {
    /// Which, how it ended and how long it took.
    pub entry: &'a Entry,
    /// Finished cells, those of earlier runs included.
    pub done: usize,
    /// All cells of this journal.
    pub total: usize,
    /// What is left to do, by what was done so far.
    pub left: Duration,
}

/// Runs what is open; `retry` runs crashed cells again, `watch` is told of each finished cell.
///
/// # Errors
/// When the journal cannot be written or the cells cannot be measured at all. What was written stays.
pub fn run(
    store: &mut Store,
    cells: &mut dyn Cells,
    retry: bool,
    watch: &mut dyn FnMut(&Step<'_>),
) -> Result<(), SweepError> {
    let open = store.journal().open(retry);
    let total = store.journal().cells().len();
    let works: Vec<u64> = open.iter().map(|cell| work(&store.journal().header.definition, *cell)).collect();
    let all = Stopwatch::start();
    for (index, cell) in open.iter().enumerate() {
        let own = Stopwatch::start();
        let end = cells.run(*cell)?;
        let entry = Entry { cell: *cell, seconds: own.elapsed().as_secs_f64(), end };
        store.add(entry.clone())?;
        let left = left(all.elapsed(), &works[..=index], &works[index + 1..]);
        watch(&Step { entry: &entry, done: total - (open.len() - index - 1), total, left });
    }
    Ok(())
}

/// How much there is to do in a cell, in forwards: the prompt counts by its chunks, the chain by its steps and each
/// width by its blocks.
fn work(definition: &Definition, cell: Cell) -> u64 {
    let blocks: usize = definition.widths.iter().map(|width| definition.walk.div_ceil((*width).max(1))).sum();
    let prompt = cell.length.div_ceil(64);
    (prompt + definition.walk + blocks) as u64
}

fn left(passed: Duration, done: &[u64], open: &[u64]) -> Duration {
    let sum = |works: &[u64]| Duration::from_secs(works.iter().sum()).as_secs_f64();
    passed.mul_f64(sum(open) / sum(done).max(1.0))
}

#[cfg(test)]
mod tests {
    use super::left;
    use std::time::Duration;

    #[test]
    fn the_time_left_goes_by_the_work() {
        let passed = Duration::from_secs(6);
        assert_eq!(left(passed, &[1, 2], &[3, 1, 1]), Duration::from_secs(10));
        assert_eq!(left(passed, &[4], &[]), Duration::ZERO);
    }
}
