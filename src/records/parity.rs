//! Op parity as a record shows it, from the measurement's JSON or from its CSV, which has the same cells.

use crate::results::Table;
use crate::results::parity::{Agreement, Parity};

/// One measurement.
#[derive(Debug)]
pub struct ParityResult {
    /// Whose shapes, on what; unknown from CSV.
    pub subject: Option<String>,
    /// How it ended; unknown from CSV, which has no control.
    pub verdict: Option<crate::results::Word>,
    /// Controls that were found, of how many; none from CSV.
    pub controls: Option<(usize, usize)>,
    /// The command line.
    pub command: Vec<String>,
    /// One entry an operation.
    pub lines: Vec<ParityLine>,
}

/// One operation at one dtype, storage and shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParityLine {
    /// The cells of `op-parity`'s full table.
    pub cells: Vec<String>,
}

/// Columns of the full table.
pub(super) const COLUMNS: [&str; 13] = [
    "operation",
    "route",
    "dtype",
    "mode",
    "shape",
    "at",
    "rows tried",
    "parts at",
    "bytes",
    "values",
    "ulp",
    "predicted",
    "and",
];

impl ParityLine {
    /// A column's cell.
    #[must_use]
    pub fn cell(&self, column: &str) -> &str {
        let place = COLUMNS.iter().position(|name| *name == column);
        place.and_then(|place| self.cells.get(place)).map_or("", String::as_str)
    }

    /// From how many rows on bytes part.
    #[must_use]
    pub fn parts_at(&self) -> Option<u32> {
        leading(self.cell("parts at"))
    }

    /// From how many rows on they were expected to.
    #[must_use]
    pub fn predicted(&self) -> Option<u32> {
        leading(self.cell("predicted"))
    }

    /// The most rows that were tried.
    #[must_use]
    pub fn most_rows(&self) -> Option<u32> {
        self.cell("rows tried").rsplit([',', '-', ' ']).find_map(leading)
    }
}

/// The number that a cell begins with.
fn leading(text: &str) -> Option<u32> {
    let end = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    text[..end].parse().ok()
}

impl ParityResult {
    /// From the measurement. How it stands to its prediction follows from both: an older program had fewer words for it.
    #[must_use]
    pub fn of(mut parity: Parity) -> Self {
        for line in &mut parity.lines {
            line.agreement = Agreement::of(&line.found, &line.predicted);
        }
        let seen = parity.controls.iter().filter(|line| line.found.boundary() == Some(1)).count();
        Self {
            subject: Some(format!("{} on {}", parity.subject, parity.backend)),
            verdict: Some(parity.verdict),
            controls: Some((seen, parity.controls.len())),
            lines: lines(&parity.table()),
            command: parity.command,
        }
    }

    /// From CSV.
    ///
    /// # Errors
    /// With what is wrong with it.
    pub fn parse(csv: &[u8]) -> Result<Self, String> {
        let mut reader = csv::ReaderBuilder::new().from_reader(csv);
        let mut lines = Vec::new();
        for record in reader.records() {
            let record = record.map_err(|error| error.to_string())?;
            lines.push(ParityLine { cells: record.iter().map(str::to_owned).collect() });
        }
        Ok(Self { subject: None, verdict: None, controls: None, command: Vec::new(), lines })
    }

    /// Lines whose `and` column says this.
    #[must_use]
    pub fn count(&self, word: &str) -> usize {
        self.lines.iter().filter(|line| line.cell("and") == word).count()
    }
}

fn lines(table: &Table) -> Vec<ParityLine> {
    table.cells().map(|cells| ParityLine { cells: cells.to_vec() }).collect()
}

#[cfg(test)]
mod tests {
    use super::{COLUMNS, ParityLine};

    #[test]
    fn numbers_are_taken_from_the_cells() {
        let mut cells = vec![String::new(); COLUMNS.len()];
        cells[6] = "1-16, 20, 64".to_owned();
        cells[7] = "8, equal at 12".to_owned();
        cells[11] = "8: qmv → qmm [S]".to_owned();
        let line = ParityLine { cells };
        assert_eq!((line.most_rows(), line.parts_at(), line.predicted()), (Some(64), Some(8), Some(8)));
        let none = ParityLine { cells: vec!["–".to_owned(); COLUMNS.len()] };
        assert_eq!((none.most_rows(), none.parts_at(), none.predicted()), (None, None, None));
    }
}
