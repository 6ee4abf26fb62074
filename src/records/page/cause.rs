//! The place that a bisect named, with its proof; and the remedy.

use super::document::{Block, Document, Section};
use super::{interrupted, remedy};
use crate::records::explore;
use crate::records::gather::{From, Gathered};
use crate::records::pictures::layers;
use crate::results::Table;
use crate::results::bisect::{Bisected, Class};

/// The section.
#[must_use]
pub fn section(all: &Gathered, document: &mut Document) -> Section {
    let mut blocks = Vec::new();
    for one in &all.bisects {
        blocks.extend(Block::heading(&one.file, all.bisects.len() > 1));
        blocks.extend(bisect(one));
        // One picture: of several bisects it would have to say which is which.
        if all.bisects.len() == 1
            && let Some(grid) = layers::grid(&one.result)
        {
            let explored = explore::grid(&grid);
            blocks.push(document.picture(grid.draw(), Some(explored)));
        }
    }
    if all.bisects.is_empty() {
        let says = "the frontier of a bisect: no bisect.json is among the inputs (exactness bisect), so that no layer and no \
                    operation is named";
        blocks.push(Block::absent(says));
    }
    blocks.extend(remedy::blocks(all));
    blocks.extend(interrupted::blocks(all));
    Section::new("cause", "Cause and remedy", blocks)
}

/// What was asked, what was found, the proof, and the trail's tables.
fn bisect(one: &From<Bisected>) -> Vec<Block> {
    let Bisected { class, reading, .. } = &one.result;
    let sources = || vec![one.file.clone()];
    let mut items = vec![format!("Asked: {}.", one.result.asked()), found(*class, &one.result.summary())];
    items.extend(reading.map(|reading| format!("Patterns: {reading}.")));
    items.extend(one.result.row_sentences());
    items.extend(one.result.place_sentences());
    items.extend(one.result.closing_sentences());
    let mut blocks = vec![Block::List { items }];
    let tables: [Table; 5] = [
        one.result.screened_table(),
        one.result.layers_table(true),
        one.result.operations_table(),
        one.result.arguments_table(),
        one.result.sources_table(),
    ];
    blocks.extend(
        tables.into_iter().filter(|table| !table.is_empty()).map(|table| Block::table(table, sources())),
    );
    blocks
}

/// The class and the verdict, which may be the same word.
fn found(class: Class, summary: &str) -> String {
    let summary = summary.trim_start_matches("verdict: ");
    let class = class.to_string();
    if summary.starts_with(&class) {
        format!("Found: {summary}.")
    } else {
        format!("Found: {class}; {summary}.")
    }
}
