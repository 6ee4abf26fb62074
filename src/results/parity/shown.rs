//! A measurement as people read it: the table, the sentences, the verdict.

use super::found::ranges;
use super::{Agreement, Line, Parity};
use crate::results::{Table, agreed, counted, part_of};

/// How much a table says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Detail {
    /// What fits a terminal: routes with their operation, no sources, rows tried in a sentence.
    Short,
    /// Every column.
    Full,
}

impl Parity {
    /// One row a line with every column; for files and reports.
    #[must_use]
    pub fn table(&self) -> Table {
        let mut table = Table::new().text("operation").text("route").text("dtype").text("mode").text("shape");
        table = table.number("at").text("rows tried");
        self.fill(measured(table), Detail::Full)
    }

    /// The same lines with fewer columns, for a terminal.
    #[must_use]
    pub fn short_table(&self) -> Table {
        let table = Table::new().text("operation").text("dtype").text("mode").text("shape").number("at");
        self.fill(measured(table), Detail::Short)
    }

    fn fill(&self, mut table: Table, detail: Detail) -> Table {
        self.lines.iter().for_each(|line| table.row(line.cells(detail)));
        table
    }

    /// What the lines come to, one sentence each.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        let mut says = self.tried();
        says.extend(self.planted.iter().map(|plant| {
            if self.struck.contains(plant) {
                return format!("A fault was planted: {plant}.");
            }
            format!("The fault {plant} never struck: nothing that was measured computes what it names.")
        }));
        let count = |agreement| self.lines.iter().filter(|line| line.agreement == agreement).count();
        says.push(format!(
            "Predictions: {} as predicted, {} parting only at more rows than predicted, or in no draw, {} \
             contradicted, {} without one.",
            count(Agreement::Agrees),
            count(Agreement::Later),
            count(Agreement::Surprise),
            count(Agreement::Unknown)
        ));
        says.extend(self.control());
        if self.lines.is_empty() {
            says.push("Nothing was compared: this model has none of the operations asked for.".to_owned());
        }
        says
    }

    /// Whether the planted faults that had to be found were.
    fn control(&self) -> Option<String> {
        let first = self.controls.first()?;
        let seen = self.controls.iter().filter(|line| line.found.boundary() == Some(1)).count();
        let runs = part_of(seen, self.controls.len(), "run");
        let fault = format!("Control: the fault {} was found in {runs}", first.route);
        let blind = seen < self.controls.len();
        Some(if blind { format!("{fault}: nothing else here counts.") } else { format!("{fault}.") })
    }

    /// Which numbers of rows were tried, by dtype and storage where these differ.
    fn tried(&self) -> Vec<String> {
        let mut kinds: Vec<String> = self.lines.iter().map(|line| line.found.tested_text()).collect();
        kinds.sort();
        kinds.dedup();
        match kinds.as_slice() {
            [] => Vec::new(),
            [only] => vec![format!("Rows of a block that were tried: {only}.")],
            _ => {
                let all: Vec<u32> = self.lines.iter().flat_map(|line| line.found.tested()).collect();
                let most = all.iter().copied().max().unwrap_or(0);
                vec![format!(
                    "Rows of a block that were tried: up to {most}, more where some operation parts; --format csv has \
                     them line by line."
                )]
            }
        }
    }

    /// The verdict and how much it rests on.
    #[must_use]
    pub fn summary(&self) -> String {
        let rows: u64 = self.lines.iter().map(|line| line.found.rows).sum();
        let bytes: u64 = self.lines.iter().map(|line| line.found.bytes).sum();
        let parted = self.lines.iter().filter(|line| line.found.boundary().is_some()).count();
        let seeds: Vec<String> = self.seeds.iter().map(u64::to_string).collect();
        format!(
            "verdict: {} ({} on {}: {} with other bytes; {}, {} compared, {} {})",
            self.verdict,
            self.subject,
            self.backend,
            part_of(parted, self.lines.len(), "line"),
            counted(rows, "row"),
            counted(bytes, "byte"),
            agreed(seeds.len(), "seed", "seeds"),
            seeds.join(", "),
        )
    }
}

fn measured(table: Table) -> Table {
    let table = table.text("parts at").number("bytes").number("values").number("ulp");
    table.text("predicted").text("and")
}

impl Line {
    fn cells(&self, detail: Detail) -> Vec<String> {
        let none = || "–".to_owned();
        let plain = matches!(self.route.as_str(), "whole");
        let mut cells = match (detail, plain) {
            (Detail::Full, _) => vec![self.op.clone(), self.route.clone()],
            (Detail::Short, true) => vec![self.op.clone()],
            (Detail::Short, false) => vec![format!("{}={}", self.op, self.route)],
        };
        cells.extend([self.dtype.clone(), self.mode.clone().unwrap_or_else(none), self.shape.clone()]);
        cells.push(self.position.map_or_else(none, |position| position.to_string()));
        if detail == Detail::Full {
            cells.push(self.found.tested_text());
        }
        cells.push(self.boundary_text());
        cells.extend(self.sizes());
        cells.push(self.predicted.text(detail == Detail::Full));
        cells.push(self.agreement.word().to_owned());
        cells
    }

    /// Differing bytes and values of the worst row, and the largest step.
    fn sizes(&self) -> [String; 3] {
        let worst = self.found.overall();
        if worst.differing_bytes == 0 {
            return ["0", "0", "0"].map(str::to_owned);
        }
        let bytes = format!("{} of {}", worst.differing_bytes, worst.bytes);
        [bytes, worst.values.to_string(), worst.max_ulps.to_string()]
    }

    fn boundary_text(&self) -> String {
        let Some(boundary) = self.found.boundary() else { return "–".to_owned() };
        match self.found.equal_again().as_slice() {
            [] => boundary.to_string(),
            again => format!("{boundary}, equal at {}", ranges(again)),
        }
    }
}
