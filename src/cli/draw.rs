//! A round drawn for a person: drafts over what the target's rows chose, the accepted run, and where it broke.

use crate::transcript::{Round, TokenId};
use std::fmt::Write as _;

/// Rows beyond this many are left out around the interesting one.
const MOST_ROWS: usize = 24;

/// Draws a round; `broke` is the row to point at.
#[must_use]
pub fn round(round: &Round, broke: Option<i64>) -> String {
    let rows = round.target.len().max(round.draft.len() + 1).max(round.emitted.len());
    let broke = broke.and_then(|row| usize::try_from(row).ok()).filter(|row| *row < rows);
    let columns = Columns::new(round, rows, broke);
    let mut text = String::new();
    let mut line = |name: &str, cells: &dyn Fn(usize) -> String, after: &str| {
        // Writing into a String cannot fail.
        let drawn = format!("{name:<9}{}{after}", columns.cells(cells));
        if !drawn.trim().is_empty() {
            let _ = writeln!(text, "{}", drawn.trim_end());
        }
    };
    line("row", &|row| row.to_string(), "");
    line("draft", &|row| id(&round.draft, row), "");
    line("target", &|row| id(&round.target, row), "");
    line("", &|row| agreement(round, row), "");
    line("accepted", &|row| accepted(round, row), &format!("  {} of {}", round.accepted, round.draft.len()));
    line("emitted", &|row| id(&round.emitted, row), "");
    if let Some(broke) = broke {
        line("broke", &|row| if row == broke { "^".to_owned() } else { String::new() }, "");
    }
    let length = |length: Option<i64>| length.map_or_else(|| "?".to_owned(), |length| length.to_string());
    let (before, after) = (length(round.cache_before), length(round.cache_after));
    let _ = write!(text, "bonus {}, cache {before} → {after}", round.bonus);
    text
}

fn id(ids: &[TokenId], row: usize) -> String {
    ids.get(row).map_or_else(String::new, ToString::to_string)
}

fn agreement(round: &Round, row: usize) -> String {
    match (round.draft.get(row), round.target.get(row)) {
        (Some(draft), Some(target)) => if draft == target { "=" } else { "≠" }.to_owned(),
        _ => String::new(),
    }
}

fn accepted(round: &Round, row: usize) -> String {
    let accepted = i64::try_from(row).is_ok_and(|row| row < round.accepted);
    if accepted { "━".to_owned() } else { String::new() }
}

/// Which rows are drawn, and how wide.
struct Columns {
    shown: std::ops::Range<usize>,
    rows: usize,
    width: usize,
}

impl Columns {
    fn new(round: &Round, rows: usize, broke: Option<usize>) -> Self {
        let middle = broke.or_else(|| usize::try_from(round.accepted).ok()).unwrap_or(0);
        let start = middle.saturating_sub(MOST_ROWS / 2).min(rows.saturating_sub(MOST_ROWS));
        let shown = start..rows.min(start + MOST_ROWS);
        let ids = [&round.draft, &round.target, &round.emitted];
        let widths = ids.iter().flat_map(|ids| ids.iter()).map(|id| id.to_string().len());
        let width = widths.max().unwrap_or(1).max(shown.end.to_string().len());
        Self { shown, rows, width }
    }

    fn cells(&self, cell: &dyn Fn(usize) -> String) -> String {
        let left = if self.shown.start > 0 { " …" } else { "" };
        let right = if self.shown.end < self.rows { " …" } else { "" };
        let cells = self.shown.clone().map(|row| format!("  {:>width$}", cell(row), width = self.width));
        let cells = cells.collect::<Vec<_>>().concat();
        format!("{left}{cells}{right}")
    }
}
