//! The cheapest exact setting of each width: what was asked, what parts, what was tried and proven, the options, and
//! the line to take. The sentences and tables are those of the result itself, so that a record and the command's own
//! output cannot say different things.

use super::document::Block;
use crate::records::gather::{From, Gathered};
use crate::results::remedy::{Remedy, WidthRemedy, or_defaults};
use crate::results::{Table, agreed};

/// The blocks of all remedies.
#[must_use]
pub fn blocks(all: &Gathered) -> Vec<Block> {
    if all.remedies.is_empty() && !(all.interrupted.is_empty() && all.unreadable.is_empty()) {
        return Vec::new();
    }
    if all.remedies.is_empty() {
        let says = "the cheapest exact setting: no remedy.json is among the inputs (exactness remedy)";
        return vec![Block::absent(says)];
    }
    all.remedies.iter().flat_map(one).collect()
}

fn one(remedy: &From<Remedy>) -> Vec<Block> {
    let Remedy { model, requested, planted, widths, .. } = &remedy.result;
    let list: Vec<String> = widths.iter().map(|one| one.width.to_string()).collect();
    let routes = or_defaults(requested);
    let faults = if planted.is_empty() { String::new() } else { format!(", planted {}", planted.join("; ")) };
    let of = agreed(list.len(), "width", "widths");
    let asked = format!("Asked: {model}, {of} {}, under {routes}{faults}.", list.join(", "));
    let mut blocks = vec![
        Block::Heading { text: format!("The cheapest exact setting ({})", remedy.file) },
        Block::List {
            items: vec![
                asked,
                format!("Found: {}.", remedy.result.summary().trim_start_matches("verdict: ")),
            ],
        },
    ];
    blocks.extend(widths.iter().flat_map(|one| width(one, &remedy.file)));
    blocks
}

fn width(one: &WidthRemedy, file: &str) -> Vec<Block> {
    let mut blocks = vec![Block::text(one.found())];
    let tables = [one.named_table(), one.candidates_table(), one.options_table()];
    blocks.extend(tables.into_iter().filter(|table| !table.is_empty()).map(|table| said(table, file)));
    let mut items = one.sentences();
    items.extend(extent(one));
    items.extend(std::iter::once(&one.requested).chain(&one.candidates).filter_map(|tried| {
        let run = tried.run.as_ref()?;
        Some(format!("The run under {} was recorded in {}.", tried.said(), run.file))
    }));
    items.push(one.flag().map_or_else(
        || format!("Width {}: no setting to take.", one.width),
        |flag| format!("The line to take: {flag}."),
    ));
    blocks.push(Block::List { items });
    blocks
}

fn said(table: Table, file: &str) -> Block {
    Block::table(table, vec![file.to_owned()])
}

/// The positions that the proof speaks of, and what it cannot see.
fn extent(one: &WidthRemedy) -> Vec<String> {
    let proof = one.candidates.iter().find(|tried| tried.exact()).unwrap_or(&one.requested);
    let seeds: Vec<String> = proof.probed.seeds.iter().map(ToString::to_string).collect();
    let covered = proof.probed.covered.map(|(from, to)| {
        format!(
            "The probes speak of positions {from}..{to} and {} {}, and of no others.",
            agreed(seeds.len(), "input", "inputs"),
            seeds.join(", ")
        )
    });
    let uncovered = proof.probed.uncovered.iter().map(|more| {
        format!("Not covered at width {}, {}: {} ({}).", one.width, more.begins, more.hazard, more.source)
    });
    covered.into_iter().chain(uncovered).collect()
}
