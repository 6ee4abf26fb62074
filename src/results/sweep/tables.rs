//! A sweep's two CSV files: what was found, a pure function of the outcomes, and how long it took, which never is.

use super::journal::Journal;
use super::outcome::{End, Outcome};
use crate::results::Table;

/// One row a length, seed and width, sorted so; cells without an entry are `not run`.
#[must_use]
pub fn outcomes(journal: &Journal) -> Table {
    let mut table = Table::new().number("length").number("seed").number("width").text("verdict");
    table = table.number("inputs").number("rows").number("bytes").number("first_position");
    table = table.number("last_position").number("differing_position").number("differing_row");
    table = table.number("differing_bytes").text("differing_state").text("reason");
    for cell in journal.cells() {
        let end = journal.entry(cell).map(|entry| &entry.end);
        for (index, width) in journal.header.definition.widths.iter().enumerate() {
            let place = [cell.length.to_string(), cell.seed.to_string(), width.to_string()];
            table.row(place.into_iter().chain(found(end, index)));
        }
    }
    table
}

/// The columns from `verdict` on.
fn found(end: Option<&End>, index: usize) -> Vec<String> {
    let said = |word: &str, reason: &str| {
        let mut cells = vec![String::new(); 11];
        (cells[0], cells[10]) = (word.to_owned(), reason.to_owned());
        cells
    };
    let outcomes = match end {
        None => return said("not run", "the cell is missing"),
        Some(End::Crashed(how)) => return said("crashed", how),
        Some(End::Measured(outcomes)) => outcomes,
    };
    match outcomes.get(index).map(|one| &one.outcome) {
        Some(Outcome::Equal { inputs, rows, bytes, first, last }) => {
            let mut cells = said("equal", "");
            let numbers = [inputs, rows, bytes, first, last].map(u64::to_string);
            cells[1..6].clone_from_slice(&numbers);
            cells
        }
        Some(Outcome::Differs { position, row, bytes, state, rows }) => {
            let mut cells = said("differs", "");
            let row = row.map_or_else(String::new, |row| row.to_string());
            cells[2] = rows.to_string();
            let place = [position.to_string(), row, bytes.to_string(), state.clone().unwrap_or_default()];
            cells[6..10].clone_from_slice(&place);
            cells
        }
        Some(Outcome::NotRun { reason }) => said("not run", reason),
        None => said("not run", "the width is missing"),
    }
}

/// One row a finished cell.
#[must_use]
pub fn times(journal: &Journal) -> Table {
    let mut table = Table::new().number("length").number("seed").number("seconds").text("end");
    for entry in journal.entries() {
        let end = match entry.end {
            End::Measured(_) => "measured",
            End::Crashed(_) => "crashed",
        };
        let (length, seed) = (entry.cell.length.to_string(), entry.cell.seed.to_string());
        table.row([length, seed, format!("{:.3}", entry.seconds), end.to_owned()]);
    }
    table
}
