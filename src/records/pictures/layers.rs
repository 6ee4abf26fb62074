//! How much of each layer's output differs on each row, with the place that a bisect named.

use super::grid::{Grid, GridLine, Level, Stretch};
use crate::results::bisect::{Bisected, HeatRow};
use crate::results::{agreed, counted, part_of};

/// The most rows; the first ones are those around the place where it begins.
const MOST_ROWS: usize = 40;
/// The most layers that a column each can show.
const MOST_LAYERS: usize = 400;

/// A line a kept row, a column a layer, the logits last; nothing where no layer was looked at.
#[must_use]
pub fn grid(bisected: &Bisected) -> Option<Grid> {
    let layers = bisected
        .heat
        .iter()
        .map(|row| row.layers.len())
        .max()
        .filter(|layers| (1..=MOST_LAYERS).contains(layers))?;
    let shown = &bisected.heat[..bisected.heat.len().min(MOST_ROWS)];
    let lines = shown.iter().map(|row| GridLine {
        name: format!("round {} row {}, pos. {}", row.round, row.row, row.position),
        stretches: stretches(row, layers, named(bisected, row)),
    });
    Some(Grid {
        name: "layers",
        title: "Bytes that differ by row and layer".to_owned(),
        alt: alt(bisected, layers, shown.len()),
        across: "layer; the last column is the logits".to_owned(),
        mark: "the place that was named (▼)",
        ticks: ticks(layers),
        columns: layers + 1,
        lines: lines.collect(),
    })
}

/// The layer that was named, where it is of this row.
fn named(bisected: &Bisected, row: &HeatRow) -> Option<usize> {
    let one = bisected.operation.as_ref()?;
    let here = (one.round, one.row) == (row.round, row.row);
    here.then_some(one.layer).flatten().and_then(|layer| usize::try_from(layer).ok())
}

fn stretches(row: &HeatRow, layers: usize, named: Option<usize>) -> Vec<Stretch> {
    let layer = |column: usize| {
        let differing = row.layers.get(column).copied().unwrap_or(0);
        (format!("layer {column}"), differing, row.layer_bytes)
    };
    let logits = std::iter::once(("logits".to_owned(), row.logits, row.logit_bytes));
    let cells = (0..layers).map(layer).chain(logits).enumerate();
    let cells = cells.map(|(column, (what, differing, bytes))| {
        let place = named == Some(column);
        let mark = if place { "; the first operation with equal inputs is in it" } else { "" };
        Stretch {
            from: column,
            to: column,
            level: if place { Level::Choice } else { level(differing, bytes) },
            says: format!(
                "{what}: {} {}{mark}",
                part_of(differing, bytes, "byte"),
                agreed(differing, "differs", "differ")
            ),
        }
    });
    cells.collect()
}

/// To an eighth of the bytes, a quarter, a half, and more; as on the terminal.
fn level(differing: u64, bytes: u64) -> Level {
    let eighths = differing.saturating_mul(8).div_ceil(bytes.max(1));
    match eighths {
        0 => Level::Equal,
        1 => Level::Differs(1),
        2 => Level::Differs(2),
        3 | 4 => Level::Differs(3),
        _ => Level::Differs(4),
    }
}

fn ticks(layers: usize) -> Vec<(usize, String)> {
    let step = [1, 2, 4, 8, 16].into_iter().find(|step| layers / step <= 12).unwrap_or(32);
    let mut ticks: Vec<(usize, String)> =
        (0..layers).step_by(step).map(|layer| (layer, layer.to_string())).collect();
    // The last layer's name would run into the word beside it.
    ticks.retain(|(layer, _)| layers <= 16 || layer + 2 < layers);
    ticks.push((layers, "logits".to_owned()));
    ticks
}

fn alt(bisected: &Bisected, layers: usize, shown: usize) -> String {
    let differing = bisected.heat.iter().filter(|row| row.layers.iter().any(|bytes| *bytes > 0)).count();
    let place = bisected.operation.as_ref().map_or_else(String::new, |one| {
        format!(" The named operation is {} on row {} of round {}.", one.site, one.row, one.round)
    });
    let all = bisected.heat.len();
    let cut = if shown < all { format!(" {shown} rows are drawn.") } else { String::new() };
    format!(
        "A line for each of {}, a column for each of {}: in {} some layer differs.{place}{cut}",
        counted(all, "kept row"),
        counted(layers, "layer"),
        counted(differing, "row")
    )
}

#[cfg(test)]
mod tests {
    use super::level;
    use crate::records::pictures::grid::Level;

    #[test]
    fn shades_are_those_of_the_terminal() {
        let levels = [0, 1, 8, 9, 16, 17, 32, 33, 64].map(|differing| level(differing, 64));
        let shade = Level::Differs;
        let expected =
            [Level::Equal, shade(1), shade(1), shade(2), shade(2), shade(3), shade(3), shade(4), shade(4)];
        assert_eq!(levels, expected);
        assert_eq!(level(u64::MAX, 0), shade(4), "a size from a file may be anything");
    }
}
