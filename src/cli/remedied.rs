//! A remedy as text: for each width what parts, what was tried, the options and the line to take.

use super::check_algebra::Format;
use super::judged::Style;
use super::settings;
use crate::results::remedy::{Ending, Remedy, WidthRemedy};
use std::path::Path;

/// The whole remedy; `taken` says how much of it was in the trail before.
#[must_use]
pub fn text(remedy: &Remedy, format: Format, (folder, taken): (&Path, &str)) -> String {
    let style = match format {
        Format::Markdown => Style::Markdown,
        _ => Style::Terminal(settings::columns()),
    };
    let mut parts: Vec<String> =
        remedy.planted.iter().map(|plant| format!("A fault was planted: {plant}.")).collect();
    parts.extend(remedy.widths.iter().flat_map(|one| width(one, style)));
    let flags: Vec<String> = remedy.widths.iter().filter_map(WidthRemedy::flag).collect();
    parts.push(flags.join("\n"));
    parts.push(remedy.summary());
    parts.push(format!("trail and runs: {}{taken}", folder.display()));
    parts.retain(|part| !part.is_empty());
    parts.join("\n\n")
}

fn width(one: &WidthRemedy, style: Style) -> Vec<String> {
    let mut parts = vec![one.found()];
    if matches!(one.ending, Ending::Exact | Ending::NoneFound) || !one.candidates.is_empty() {
        let tables = [one.named_table(), one.candidates_table(), one.options_table()];
        let shown = tables.iter().filter(|table| !table.is_empty());
        parts.extend(shown.map(|table| style.folded(table)));
    }
    parts.push(one.sentences().join("\n"));
    parts
}
