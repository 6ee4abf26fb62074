//! A bisect as text: what was asked, the controls, the rows, the place, and a block to paste.

use super::check_algebra::Format;
use super::judged::Style;
use super::settings;
use crate::results::Table;
use crate::results::bisect::{Bisected, Trail, heat_map};
use std::path::Path;

/// Columns of a heat map where nothing says how many there are.
const COLUMNS: u16 = 100;

/// The whole bisect; `walks` say whether all layers and all operations of the named one are listed.
#[must_use]
pub fn text(bisected: &Bisected, format: Format, walks: (bool, bool), folder: &Path) -> String {
    let style = match format {
        Format::Markdown => Style::Markdown,
        _ => Style::Terminal(settings::columns()),
    };
    let mut parts = vec![bisected.asked()];
    let mut add = |table: &Table| {
        if !table.is_empty() {
            parts.push(style.table(table).trim_end().to_owned());
        }
    };
    add(&bisected.screened_table());
    add(&bisected.controls_table());
    parts.extend(bisected.reading.map(|reading| format!("Patterns: {reading}.")));
    parts.push(bisected.row_sentences().join("\n"));
    parts.push(heat(bisected, style));
    parts.push(bisected.place_sentences().join("\n"));
    let mut add = |table: &Table| {
        if !table.is_empty() {
            parts.push(style.table(table).trim_end().to_owned());
        }
    };
    add(&bisected.layers_table(walks.0));
    if walks.1 {
        add(&bisected.operations_table());
    }
    add(&bisected.arguments_table());
    add(&bisected.sources_table());
    parts.push(bisected.closing_sentences().join("\n"));
    parts.push(format!("To paste:\n{}", bisected.paste()));
    parts.push(bisected.summary());
    parts.push(format!("trail: {}", folder.join(Trail::FILE).display()));
    parts.retain(|part| !part.is_empty());
    parts.join("\n\n")
}

fn heat(bisected: &Bisected, style: Style) -> String {
    let width = match style {
        Style::Terminal(width) => width.unwrap_or(COLUMNS),
        Style::Markdown => COLUMNS,
    };
    let map = heat_map(&bisected.heat, usize::from(width));
    match style {
        Style::Markdown if !map.is_empty() => format!("```\n{map}\n```"),
        _ => map,
    }
}
