//! Below the text: operations, prompt lengths, and a probe's blocks against its chain.

use super::document::{Block, Document, Section};
use crate::records::explore;
use crate::records::gather::Gathered;
use crate::records::parity::COLUMNS;
use crate::records::pictures::{parity, sweep};
use crate::results::probe::Outcome;
use crate::results::sweep::Reading;
use crate::results::{Table, counted};

/// Op parity.
#[must_use]
pub fn operations(all: &Gathered, document: &mut Document) -> Section {
    let mut blocks = Vec::new();
    let results: Vec<_> = all.parities.iter().map(|one| &one.result).collect();
    blocks.extend(parity::draw(&results).map(|canvas| document.picture(canvas, None)));
    for one in &all.parities {
        let of = one.result.subject.as_ref().map_or_else(String::new, |subject| format!(" ({subject})"));
        let [agrees, later, surprise, unknown] =
            ["agrees", "later", "surprise", "unknown"].map(|word| one.result.count(word));
        blocks.push(Block::text(format!(
            "{}{of}: {agrees} as predicted, {later} parting only at more rows than \
             predicted, or in no draw, {surprise} contradicted, {unknown} without a prediction.",
            counted(one.result.lines.len(), "operation")
        )));
        let mut table = COLUMNS.iter().fold(Table::new(), |table, name| table.text(name));
        one.result.lines.iter().for_each(|line| table.row(line.cells.iter().cloned()));
        blocks.push(Block::table(table, vec![one.file.clone()]));
    }
    if blocks.is_empty() {
        blocks.push(Block::absent("op parity: no result of exactness op-parity is among the inputs"));
    }
    Section::new("operations", "Operations", blocks)
}

/// Prompt lengths.
#[must_use]
pub fn sweeps(all: &Gathered, document: &mut Document) -> Section {
    let mut blocks = Vec::new();
    for one in &all.sweeps {
        let reading = Reading::new(&one.result);
        blocks.push(Block::table(reading.table(), vec![one.file.clone()]));
        blocks.push(Block::List { items: reading.says });
        if all.sweeps.len() == 1
            && let Some(grid) = sweep::grid(&one.result)
        {
            let explored = explore::grid(&grid);
            blocks.push(document.picture(grid.draw(), Some(explored)));
        }
    }
    if blocks.is_empty() {
        blocks.push(Block::absent("prompt lengths: no journal of exactness sweep is among the inputs"));
    }
    Section::new("lengths", "Prompt lengths", blocks)
}

/// Probes.
#[must_use]
pub fn probes(all: &Gathered) -> Section {
    let mut blocks = Vec::new();
    for one in &all.probes {
        let mut table =
            Table::new().text("model").number("width").text("routes").text("verdict").text("positions");
        table = table.text("what");
        for line in &one.result.widths {
            let positions =
                line.probed.covered.map_or_else(|| "–".to_owned(), |(from, to)| format!("{from}–{to}"));
            let (word, what) = match &line.probed.outcome {
                Outcome::Equal { inputs, rows, .. } => {
                    ("equal", format!("{} of {}", counted(*rows, "row"), counted(*inputs, "input")))
                }
                Outcome::Differs { seed, first } => ("differs", format!("input {seed}: {first}")),
                Outcome::NotRun { reason } => ("not run", reason.to_string()),
            };
            let (width, routes) = (line.key.width.to_string(), &line.key.routes);
            table.row([&one.result.model, &width, routes, word, &positions, &what]);
        }
        blocks.push(Block::table(table, vec![one.file.clone()]));
        let hazards: Vec<String> = one
            .result
            .widths
            .iter()
            .flat_map(|line| line.probed.uncovered.iter().map(|one| (line.key.width, one)))
            .map(|(width, one)| {
                format!("Not covered at width {width}, {}: {} ({}).", one.begins, one.hazard, one.source)
            })
            .collect();
        if !hazards.is_empty() {
            blocks.push(Block::List { items: hazards });
        }
    }
    if blocks.is_empty() {
        blocks.push(Block::absent("probe: no result of exactness probe --format json is among the inputs"));
    }
    Section::new("probe", "Probe", blocks)
}
