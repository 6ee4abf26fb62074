//! What `op-parity` measured: one line an operation, with the rows at which its bytes part and what was predicted.

use super::Table;
use crate::algebra::bits::RowBits;
use serde::Serialize;
use std::collections::BTreeMap;

/// Version of the JSON form.
pub const PARITY_VERSION: u32 = 1;

/// All operations that were measured.
#[derive(Debug, Clone, Serialize)]
pub struct Parity {
    /// [`PARITY_VERSION`].
    pub version: u32,
    /// How it ended.
    pub verdict: Word,
    /// Whose shapes.
    pub subject: String,
    /// The library, its version and the device.
    pub backend: String,
    /// Routes of the block beyond the defaults.
    pub routes: String,
    /// Draws of the inputs.
    pub seeds: Vec<u64>,
    /// Faults that were put in.
    pub planted: Vec<String>,
    /// One line an operation, dtype, storage, shape and position.
    pub lines: Vec<Line>,
    /// Operations that must be found as differing, whatever the machine.
    pub controls: Vec<Line>,
    /// The command line.
    pub command: Vec<String>,
}

/// How a measurement of operations ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Word {
    /// No byte differs.
    Identical,
    /// Some byte differs.
    Differs,
    /// Nothing was compared, or a control was not found.
    NotRun,
}

impl Word {
    /// The word that is printed.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Identical => "identical",
            Self::Differs => "differs",
            Self::NotRun => "not run",
        }
    }

    /// The exit code that belongs to it.
    #[must_use]
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::Identical => 0,
            Self::Differs => 1,
            Self::NotRun => 3,
        }
    }
}

/// One operation.
#[derive(Debug, Clone, Serialize)]
pub struct Line {
    /// Its name.
    pub op: String,
    /// How the block computed it.
    pub route: String,
    /// Dtype of activations.
    pub dtype: String,
    /// Storage of its matrix, where it has one.
    pub mode: Option<String>,
    /// Its shape without rows.
    pub shape: String,
    /// Positions before the block, where the operation reads them.
    pub position: Option<usize>,
    /// What was found.
    pub found: Found,
    /// What was to be expected.
    pub predicted: Predicted,
    /// Whether that was found.
    pub agreement: Agreement,
}

/// What was found at each number of rows, over all draws.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Found {
    /// Rows that were compared, in all.
    pub rows: u64,
    /// Bytes that were compared, in all.
    pub bytes: u64,
    /// The worst row at each number of rows.
    pub worst: BTreeMap<u32, Worst>,
}

/// The row with the most differing bytes, and the largest step of any row.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Worst {
    /// Its differing bytes.
    pub differing_bytes: u64,
    /// Its bytes.
    pub bytes: u64,
    /// Its differing values, signed zeros and NaN among them.
    pub values: u64,
    /// Most representable steps between two values.
    pub max_ulps: u64,
}

impl Found {
    /// Adds a row of a block of `rows` rows.
    pub fn add(&mut self, rows: u32, row: &RowBits) {
        self.rows += 1;
        self.bytes += row.bytes;
        let worst = self.worst.entry(rows).or_default();
        let values = row.differing_values + row.signed_zeros + row.nans;
        if row.differing_bytes > worst.differing_bytes || worst.bytes == 0 {
            (worst.differing_bytes, worst.bytes, worst.values) = (row.differing_bytes, row.bytes, values);
        }
        worst.max_ulps = worst.max_ulps.max(row.max_ulps);
    }

    /// Numbers of rows that were tried, ascending.
    pub fn tested(&self) -> impl Iterator<Item = u32> {
        self.worst.keys().copied()
    }

    /// The smallest number of rows at which some draw differs.
    #[must_use]
    pub fn boundary(&self) -> Option<u32> {
        self.worst.iter().find(|(_, worst)| worst.differing_bytes > 0).map(|(rows, _)| *rows)
    }

    /// Numbers of rows past the boundary at which every draw is equal again.
    #[must_use]
    pub fn equal_again(&self) -> Vec<u32> {
        let Some(boundary) = self.boundary() else { return Vec::new() };
        let past = self.worst.range(boundary..).filter(|(_, worst)| worst.differing_bytes == 0);
        past.map(|(rows, _)| *rows).collect()
    }

    /// Numbers of rows between two neighbours of which one differs and the other does not: where a boundary hides.
    #[must_use]
    pub fn gaps(&self) -> Vec<u32> {
        let differs: Vec<(u32, bool)> =
            self.worst.iter().map(|(rows, worst)| (*rows, worst.differing_bytes > 0)).collect();
        let turns = differs.windows(2).filter(|pair| pair[0].1 != pair[1].1);
        turns.flat_map(|pair| pair[0].0 + 1..pair[1].0).collect()
    }

    /// The worst over all numbers of rows.
    #[must_use]
    pub fn overall(&self) -> Worst {
        let worst =
            self.worst.values().copied().max_by_key(|worst| worst.differing_bytes).unwrap_or_default();
        let max_ulps = self.worst.values().map(|worst| worst.max_ulps).max().unwrap_or(0);
        Worst { max_ulps, ..worst }
    }

    /// Such as `1-16, 20, 24`.
    #[must_use]
    pub fn tested_text(&self) -> String {
        ranges(&self.tested().collect::<Vec<_>>())
    }
}

/// What a dispatch table expects.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "bytes", rename_all = "kebab-case")]
pub enum Predicted {
    /// Equal bytes at every number of rows.
    Equal {
        /// The kernel.
        kernel: String,
        /// Where that was read.
        source: String,
    },
    /// Another kernel from so many rows on.
    Change {
        /// Rows.
        from: u32,
        /// The kernel at one row.
        one: String,
        /// The kernel from there on.
        many: String,
        /// Where that was read.
        source: String,
    },
    /// The tables do not say.
    Unknown,
}

/// How a measurement stands to its prediction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Agreement {
    /// As predicted.
    Agrees,
    /// Not as predicted.
    Surprise,
    /// Nothing was predicted.
    Unknown,
}

impl Agreement {
    /// Holds what was found against what was predicted. A predicted change that no tried number of rows reaches says
    /// nothing against equal bytes.
    #[must_use]
    pub fn of(found: &Found, predicted: &Predicted) -> Self {
        let reached = |from: u32| found.tested().any(|rows| rows >= from);
        let agrees = match (predicted, found.boundary()) {
            (Predicted::Unknown, _) => return Self::Unknown,
            (Predicted::Equal { .. }, boundary) => boundary.is_none(),
            (Predicted::Change { from, .. }, Some(boundary)) => *from == boundary,
            (Predicted::Change { from, .. }, None) => !reached(*from),
        };
        if agrees { Self::Agrees } else { Self::Surprise }
    }

    const fn word(self) -> &'static str {
        match self {
            Self::Agrees => "agrees",
            Self::Surprise => "surprise",
            Self::Unknown => "unknown",
        }
    }
}

impl Predicted {
    fn text(&self) -> String {
        match self {
            Self::Equal { kernel, source } => format!("equal: {kernel} [{source}]"),
            Self::Change { from, one, many, source } => format!("{from}: {one} → {many} [{source}]"),
            Self::Unknown => "?".to_owned(),
        }
    }
}

impl Parity {
    /// Judges the lines: a control that was not found means that nothing was seen, whatever the lines say.
    pub fn judge(&mut self) {
        let blind = self.controls.iter().any(|line| line.found.boundary().is_none());
        let compared: u64 = self.lines.iter().map(|line| line.found.bytes).sum();
        let differs = self.lines.iter().any(|line| line.found.boundary().is_some());
        self.verdict = match (compared == 0, differs, blind) {
            (true, _, _) | (_, false, true) => Word::NotRun,
            (_, true, _) => Word::Differs,
            (_, false, false) => Word::Identical,
        };
    }

    /// One row a line, controls last.
    #[must_use]
    pub fn table(&self) -> Table {
        let mut table = Table::new().text("operation").text("route").text("dtype").text("mode").text("shape");
        table = table.number("at").text("rows tried").text("parts at").number("bytes").number("values");
        table = table.number("ulp").text("predicted").text("");
        for line in &self.lines {
            table.row(line.cells(""));
        }
        for line in &self.controls {
            table.row(line.cells(" (control)"));
        }
        table
    }

    /// What the lines come to, in one sentence each.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        let count = |agreement| self.lines.iter().filter(|line| line.agreement == agreement).count();
        let (agrees, surprise) = (count(Agreement::Agrees), count(Agreement::Surprise));
        let mut says: Vec<String> =
            self.planted.iter().map(|plant| format!("A fault was planted: {plant}.")).collect();
        says.push(format!(
            "Predictions: {agrees} as predicted, {surprise} not, {} without one.",
            count(Agreement::Unknown)
        ));
        for control in &self.controls {
            says.push(control.control_sentence());
        }
        says
    }

    /// The verdict and how much was compared.
    #[must_use]
    pub fn summary(&self) -> String {
        let rows: u64 = self.lines.iter().map(|line| line.found.rows).sum();
        let bytes: u64 = self.lines.iter().map(|line| line.found.bytes).sum();
        let parted = self.lines.iter().filter(|line| line.found.boundary().is_some()).count();
        format!(
            "verdict: {} ({}, {}: {} lines, {parted} with other bytes; {rows} rows, {bytes} bytes, seeds {})",
            self.verdict.word(),
            self.subject,
            self.backend,
            self.lines.len(),
            self.seeds.iter().map(u64::to_string).collect::<Vec<_>>().join(", "),
        )
    }
}

impl Line {
    fn cells(&self, after: &str) -> Vec<String> {
        let worst = self.found.overall();
        let none = || "–".to_owned();
        let differs = worst.differing_bytes > 0;
        let count = |count: u64| if differs { count.to_string() } else { "0".to_owned() };
        vec![
            format!("{}{after}", self.op),
            self.route.clone(),
            self.dtype.clone(),
            self.mode.clone().unwrap_or_else(none),
            self.shape.clone(),
            self.position.map_or_else(none, |position| position.to_string()),
            self.found.tested_text(),
            self.boundary_text(),
            if differs { format!("{} of {}", worst.differing_bytes, worst.bytes) } else { "0".to_owned() },
            count(worst.values),
            count(worst.max_ulps),
            self.predicted.text(),
            self.agreement.word().to_owned(),
        ]
    }

    fn boundary_text(&self) -> String {
        let Some(boundary) = self.found.boundary() else { return "–".to_owned() };
        match self.found.equal_again().as_slice() {
            [] => boundary.to_string(),
            again => format!("{boundary}, equal at {}", ranges(again)),
        }
    }

    fn control_sentence(&self) -> String {
        let (op, route) = (&self.op, &self.route);
        match self.found.boundary() {
            Some(rows) => {
                format!("Control: {op}={route} ({}) is found from {rows} rows on, as it must be.", self.dtype)
            }
            None => format!(
                "Control: {op}={route} ({}) is another arithmetic and was not found: nothing else here counts.",
                self.dtype
            ),
        }
    }
}

/// Ascending numbers, neighbours drawn together: `1-16, 20`.
fn ranges(numbers: &[u32]) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for &number in numbers {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => runs.push((number, number)),
        }
    }
    let text = |&(first, last): &(u32, u32)| match last - first {
        0 => first.to_string(),
        1 => format!("{first}, {last}"),
        _ => format!("{first}-{last}"),
    };
    runs.iter().map(text).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::{Agreement, Found, Predicted, ranges};
    use crate::algebra::bits::RowBits;

    fn found(tried: &[(u32, u64)]) -> Found {
        let mut found = Found::default();
        for (rows, differing_bytes) in tried {
            let row = RowBits { bytes: 64, differing_bytes: *differing_bytes, ..RowBits::default() };
            found.add(*rows, &row);
        }
        found
    }

    #[test]
    fn a_boundary_is_the_first_that_differs_whatever_comes_after() {
        let wavy = found(&[(1, 0), (2, 0), (8, 3), (8, 0), (12, 0), (16, 5)]);
        assert_eq!((wavy.boundary(), wavy.equal_again()), (Some(8), vec![12]));
        assert_eq!(wavy.gaps(), [3, 4, 5, 6, 7, 9, 10, 11, 13, 14, 15]);
        assert_eq!(wavy.overall().differing_bytes, 5);
        assert!(found(&[(1, 0), (64, 0)]).gaps().is_empty());
    }

    #[test]
    fn a_prediction_agrees_at_its_own_boundary_and_no_other() {
        let change =
            |from| Predicted::Change { from, one: String::new(), many: String::new(), source: String::new() };
        let at_8 = found(&[(1, 0), (7, 0), (8, 1)]);
        assert_eq!(Agreement::of(&at_8, &change(8)), Agreement::Agrees);
        assert_eq!(Agreement::of(&at_8, &change(7)), Agreement::Surprise);
        assert_eq!(Agreement::of(&at_8, &Predicted::Unknown), Agreement::Unknown);
        let equal = found(&[(1, 0), (7, 0)]);
        assert_eq!(Agreement::of(&equal, &change(8)), Agreement::Agrees, "8 rows were not tried");
        assert_eq!(Agreement::of(&equal, &change(7)), Agreement::Surprise);
    }

    #[test]
    fn neighbours_are_drawn_together() {
        assert_eq!(ranges(&[1, 2, 3, 4, 8, 9, 16]), "1-4, 8, 9, 16");
        assert_eq!(ranges(&[]), "");
    }
}
