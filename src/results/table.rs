//! The one table builder: terminal, markdown and CSV come from the same rows.
//!
//! Whoever prints a result builds a [`Table`] once; that the three forms agree is then not a matter of care.

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, Width, presets};
use serde::Serialize;
use std::fmt::Write as _;

/// Rows under named columns, as text.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
}

#[derive(Debug, Clone, Serialize)]
struct Column {
    name: String,
    numeric: bool,
}

/// The most characters of a cell. Nobody reads more, and laying out a cell of a megabyte takes minutes.
const LONGEST_CELL: usize = 2000;

/// Spaces around a cell.
const PADDING: usize = 2;
/// Room that is left for a column whose words do not fit.
const LEAST_COLUMN: usize = 10;

/// Both ends of a text that is too long for a cell.
fn bounded(text: String) -> String {
    let length = if text.len() > LONGEST_CELL { text.chars().count() } else { 0 };
    if length <= LONGEST_CELL {
        return text;
    }
    let start: String = text.chars().take(LONGEST_CELL / 2).collect();
    let end: String = text.chars().skip(length - LONGEST_CELL / 2).collect();
    format!("{start} … {end} ({length} characters)")
}

impl Table {
    /// A table without columns.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a column of text.
    #[must_use]
    pub fn text(mut self, name: &str) -> Self {
        self.columns.push(Column { name: bounded(name.to_owned()), numeric: false });
        self
    }

    /// Adds a column of numbers, set flush right.
    #[must_use]
    pub fn number(mut self, name: &str) -> Self {
        self.columns.push(Column { name: name.to_owned(), numeric: true });
        self
    }

    /// Adds a row; missing cells are empty, cells beyond the columns are dropped.
    pub fn row<I, T>(&mut self, cells: I)
    where
        I: IntoIterator<Item = T>,
        T: Into<String>,
    {
        let mut row: Vec<String> = cells.into_iter().map(|cell| bounded(cell.into())).collect();
        row.resize(self.columns.len(), String::new());
        self.rows.push(row);
    }

    /// The rows' cells.
    pub fn cells(&self) -> impl Iterator<Item = &[String]> {
        self.rows.iter().map(Vec::as_slice)
    }

    /// How many rows were added.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Drops the rows beyond `most`; gives back how many those were.
    pub fn shorten(&mut self, most: usize) -> usize {
        let beyond = self.rows.len().saturating_sub(most);
        self.rows.truncate(most);
        beyond
    }

    /// True when no row was added.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// For a terminal of `width` columns; `None` lets lines be as long as they are.
    #[must_use]
    pub fn terminal(&self, width: Option<u16>) -> String {
        let mut table = comfy_table::Table::new();
        table.load_style(presets::NOTHING.header_separator(LineStyle::none().fill('─').junction('─')));
        table.set_header(self.columns.iter().map(|column| column.name.clone()));
        table.add_rows(self.rows.iter().cloned());
        for (index, column) in self.columns.iter().enumerate() {
            if let (true, Some(target)) = (column.numeric, table.column_mut(index)) {
                target.set_cell_alignment(CellAlignment::Right);
            }
        }
        if let Some(width) = width {
            table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
            for (index, least) in self.whole_words(width) {
                if let Some(column) = table.column_mut(index) {
                    column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(least)));
                }
            }
        }
        trim_line_ends(&table.to_string())
    }

    /// Columns whose words all stay whole in a terminal of `width` columns, with the least width that this takes: those of
    /// short words first, as long as the others keep some room.
    fn whole_words(&self, width: u16) -> Vec<(usize, u16)> {
        let longest = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column)).map(String::as_str);
            let texts = cells.chain([self.columns[column].name.as_str()]);
            texts.flat_map(str::split_whitespace).map(|word| word.chars().count()).max().unwrap_or(0)
        };
        let mut least: Vec<(usize, usize)> =
            (0..self.columns.len()).map(|column| (longest(column) + PADDING, column)).collect();
        least.sort_unstable();
        // A blank stands between two columns.
        let (mut taken, mut kept) = (least.len().saturating_sub(1), Vec::new());
        for (place, (own, column)) in least.iter().enumerate() {
            taken += own;
            let others = (least.len() - place - 1) * LEAST_COLUMN;
            match u16::try_from(*own) {
                Ok(own) if taken + others <= usize::from(width) => kept.push((*column, own)),
                _ => break,
            }
        }
        kept
    }

    /// For a terminal of `width` columns, in as many pieces as it takes, each beginning with the first column.
    ///
    /// For tables of many short cells: a number broken over lines cannot be read, a second piece can.
    #[must_use]
    pub fn folded(&self, width: u16) -> String {
        let fits = |columns: &[usize]| {
            let lines = self.piece(columns).terminal(None);
            lines.lines().all(|line| line.chars().count() <= usize::from(width))
        };
        let (mut pieces, mut current) = (Vec::new(), vec![0]);
        for column in 1..self.columns.len() {
            current.push(column);
            if !fits(&current) && current.len() > 2 {
                current.pop();
                pieces.push(std::mem::replace(&mut current, vec![0, column]));
            }
        }
        pieces.push(current);
        let texts: Vec<String> =
            pieces.iter().map(|columns| self.piece(columns).terminal(Some(width))).collect();
        texts.join("\n\n")
    }

    /// Some of the columns.
    fn piece(&self, columns: &[usize]) -> Self {
        let cells =
            |row: &Vec<String>| columns.iter().filter_map(|&column| row.get(column).cloned()).collect();
        Self {
            columns: columns.iter().filter_map(|&column| self.columns.get(column).cloned()).collect(),
            rows: self.rows.iter().map(cells).collect(),
        }
    }

    /// As GitHub-flavoured markdown.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut text = String::new();
        let escape = |cell: &str| cell.replace('|', "\\|").replace('\n', " ");
        let mut line = |cells: Vec<String>| {
            // Writing into a String cannot fail.
            let _ = writeln!(text, "| {} |", cells.join(" | "));
        };
        line(self.columns.iter().map(|column| escape(&column.name)).collect());
        line(
            self.columns
                .iter()
                .map(|column| if column.numeric { "---:" } else { "---" }.to_owned())
                .collect(),
        );
        for row in &self.rows {
            line(row.iter().map(|cell| escape(cell)).collect());
        }
        text
    }

    /// As CSV with a header line.
    ///
    /// # Errors
    /// Never in practice: it writes into memory; the CSV writer's signature has an error.
    pub fn csv(&self) -> Result<String, csv::Error> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(self.columns.iter().map(|column| &column.name))?;
        for row in &self.rows {
            writer.write_record(row)?;
        }
        let bytes = writer.into_inner().map_err(csv::IntoInnerError::into_error)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

fn trim_line_ends(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::Table;

    fn sample() -> Table {
        let mut table = Table::new().text("arm").number("tokens");
        table.row(["w4 | cold", "200"]);
        table.row(["classic"]);
        table
    }

    #[test]
    fn a_table_that_is_too_wide_continues_below() {
        let mut table = Table::new().text("arm").number("tokens").number("rounds").text("verdict");
        table.row(["classic", "200", "–", "reference"]);
        table.row(["w4", "200", "61", "identical"]);
        insta::assert_snapshot!(table.folded(30), @r"
         arm       tokens   rounds
        ───────────────────────────
         classic      200        –
         w4           200       61

         arm       verdict
        ─────────────────────
         classic   reference
         w4        identical
        ");
        assert_eq!(table.folded(80), table.terminal(Some(80)));
        assert_eq!(table.folded(1).split("\n\n").count(), 3, "every column has its own piece");
    }

    #[test]
    fn words_break_only_where_they_are_longer_than_their_column() {
        let mut table = Table::new().text("what").text("says").number("count");
        table.row([
            "digest",
            "two sentences in a cell, which fold between words and nowhere else",
            "1234567",
        ]);
        table.row(["path/of/a/file/that/is/long", "short", "1"]);
        for width in 40..120 {
            let text = table.terminal(Some(width));
            assert!(text.lines().all(|line| line.chars().count() <= usize::from(width)), "{width}\n{text}");
            for word in ["digest", "sentences", "between", "nowhere", "1234567"] {
                assert!(text.split_whitespace().any(|found| found == word), "{word} at {width}\n{text}");
            }
        }
    }

    #[test]
    fn the_three_forms_carry_the_same_cells() {
        insta::assert_snapshot!(sample().terminal(None), @r"
         arm         tokens
        ────────────────────
         w4 | cold      200
         classic
        ");
        insta::assert_snapshot!(sample().markdown(), @r"
        | arm | tokens |
        | --- | ---: |
        | w4 \| cold | 200 |
        | classic |  |
        ");
        insta::assert_snapshot!(sample().csv().unwrap(), @r"
        arm,tokens
        w4 | cold,200
        classic,
        ");
    }
}
