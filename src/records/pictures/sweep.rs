//! Which widths hold at which prompt length.

use super::grid::{Grid, GridLine, Level, Stretch};
use crate::results::sweep::{Cell, End, Journal, Outcome};
use crate::results::{agreed, counted};

/// The most columns.
const MOST_COLUMNS: usize = 120;

/// A line a width, a column a length and seed.
#[must_use]
pub fn grid(journal: &Journal) -> Option<Grid> {
    let mut cells = journal.cells();
    let all = cells.len();
    cells.truncate(MOST_COLUMNS);
    if cells.is_empty() {
        return None;
    }
    let widths = &journal.header.definition.widths;
    let lines = widths.iter().enumerate().map(|(index, width)| GridLine {
        name: format!("width {width}"),
        stretches: cells
            .iter()
            .enumerate()
            .map(|(column, cell)| stretch(journal, *cell, (column, index)))
            .collect(),
    });
    let lines: Vec<GridLine> = lines.collect();
    let count = |wanted: fn(&Level) -> bool| {
        lines.iter().flat_map(|line| &line.stretches).filter(|stretch| wanted(&stretch.level)).count()
    };
    let (equal, differs) =
        (count(|level| *level == Level::Equal), count(|level| matches!(level, Level::Differs(_))));
    let cut =
        if cells.len() < all { format!(" {MOST_COLUMNS} of {all} cells are drawn.") } else { String::new() };
    Some(Grid {
        name: "sweep",
        title: "Blocks against single rows by prompt length".to_owned(),
        alt: format!(
            "A line a width, a column a prompt length and seed: {} equal, {differs} different, {} not made.{cut}",
            counted(equal, "comparison"),
            count(|level| *level == Level::Unknown)
        ),
        across: "prompt length, seeds side by side".to_owned(),
        mark: "other choice (▼)",
        ticks: ticks(&cells),
        columns: cells.len(),
        lines,
    })
}

/// A name at the first seed of each length.
fn ticks(cells: &[Cell]) -> Vec<(usize, String)> {
    let first = |place: &usize| *place == 0 || cells[*place - 1].length != cells[*place].length;
    (0..cells.len()).filter(first).map(|place| (place, cells[place].length.to_string())).collect()
}

fn stretch(journal: &Journal, cell: Cell, (column, index): (usize, usize)) -> Stretch {
    let end = journal.entry(cell).map(|entry| &entry.end);
    let (level, says) = match end {
        None => (Level::Unknown, "not run".to_owned()),
        Some(End::Crashed(how)) => (Level::Unknown, format!("crashed ({how})")),
        Some(End::Measured(outcomes)) => match outcomes.get(index).map(|one| &one.outcome) {
            Some(Outcome::Equal { first, last, .. }) => {
                (Level::Equal, format!("equal at positions {first}–{last}"))
            }
            Some(Outcome::Differs { position, bytes, .. }) => {
                let verb = agreed(*bytes, "differs", "differ");
                (Level::Differs(4), format!("{} {verb} at position {position}", counted(*bytes, "byte")))
            }
            Some(Outcome::NotRun { reason }) => (Level::Unknown, format!("not run: {reason}")),
            None => (Level::Unknown, "not run".to_owned()),
        },
    };
    Stretch { from: column, to: column, level, says: format!("{cell}: {says}") }
}
