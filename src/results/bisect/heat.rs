//! The heat map of a bisect: how much of each layer's output differs on each row, for the terminal.

use crate::results::counted;
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;

/// Rows that a terminal gets; pictures have them all.
const MOST_ROWS: usize = 24;
/// From nothing to everything: equal, up to an eighth of the bytes, a quarter, a half, and more.
const SHADES: [char; 5] = ['·', '░', '▒', '▓', '█'];

/// One kept row, from the first round in which something differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeatRow {
    /// Round, from 0.
    pub round: u64,
    /// Row of the block, from 0.
    pub row: u64,
    /// Absolute position.
    pub position: u64,
    /// Bytes of each layer's output that differ.
    pub layers: Vec<u64>,
    /// Bytes of a layer's output.
    pub layer_bytes: u64,
    /// Bytes of the logits that differ.
    pub logits: u64,
    /// Bytes of the logits.
    pub logit_bytes: u64,
}

/// The map as text: a line a row, a column a layer, the logits last. At most `width` columns wide.
#[must_use]
pub fn heat_map(rows: &[HeatRow], width: usize) -> String {
    let Some(layers) = rows.iter().map(|row| row.layers.len()).max().filter(|layers| *layers > 0) else {
        return String::new();
    };
    // The head line is the longest: what stands before the columns and behind them.
    let margin = 28;
    // Where there are more layers than columns, one column shows the worst of several.
    let each = layers.div_ceil(width.saturating_sub(margin).max(8));
    let columns = layers.div_ceil(each);
    let mut text = format!(" {:<19}{}  logits\n", "round row position", ruler(columns, each));
    for row in rows.iter().take(MOST_ROWS) {
        let cells: String = (0..columns).map(|column| shade(row, column * each, each)).collect();
        let logits = symbol(row.logits, row.logit_bytes);
        // Writing into a String cannot fail.
        let _ = writeln!(text, " {:>5} {:>3} {:>8} {cells}  {logits}", row.round, row.row, row.position);
    }
    if rows.len() > MOST_ROWS {
        let more = counted(rows.len() - MOST_ROWS, "row");
        let _ = writeln!(text, " … and {more} after them");
    }
    let several = if each > 1 { format!(", a column is the worst of {each} layers") } else { String::new() };
    let _ = write!(
        text,
        " columns are layers: · equal  ░ to 1/8 of the bytes  ▒ to 1/4  ▓ to 1/2  █ more{several}"
    );
    text
}

/// Every tenth column carries its layer.
fn ruler(columns: usize, each: usize) -> String {
    let mut text = String::new();
    for column in (0..columns).step_by(10) {
        let _ = write!(text, "{:<10}", column * each);
    }
    text.truncate(columns.max(1));
    format!("{text:<columns$}")
}

fn shade(row: &HeatRow, from: usize, each: usize) -> char {
    let worst = row.layers.iter().skip(from).take(each).max().copied().unwrap_or(0);
    symbol(worst, row.layer_bytes)
}

fn symbol(differing: u64, of: u64) -> char {
    let eighths = if of == 0 { 0 } else { (8 * differing).div_ceil(of) };
    SHADES[match eighths {
        0 => 0,
        1 => 1,
        2 => 2,
        3 | 4 => 3,
        _ => 4,
    }]
}

#[cfg(test)]
mod tests {
    use super::{HeatRow, heat_map};

    fn row(row: u64, layers: &[u64], logits: u64) -> HeatRow {
        let layers = layers.to_vec();
        HeatRow { round: 3, row, position: 40 + row, layers, layer_bytes: 64, logits, logit_bytes: 100 }
    }

    #[test]
    fn a_line_a_row_and_a_column_a_layer() {
        let rows = [row(0, &[0, 0, 0, 0], 0), row(1, &[0, 1, 16, 32], 77)];
        insta::assert_snapshot!(heat_map(&rows, 80), @r"
         round row position 0     logits
             3   0       40 ····  ·
             3   1       41 ·░▒▓  █
         columns are layers: · equal  ░ to 1/8 of the bytes  ▒ to 1/4  ▓ to 1/2  █ more
        ");
        assert_eq!(heat_map(&[], 80), "");
    }

    #[test]
    fn it_fits_whatever_the_number_of_layers_and_rows() {
        for layers in [1, 9, 10, 11, 48, 200] {
            let rows: Vec<HeatRow> = (0..40).map(|number| row(number, &vec![1; layers], 1)).collect();
            let text = heat_map(&rows, 60);
            assert!(text.lines().take(25).all(|line| line.chars().count() <= 60), "{layers}\n{text}");
            assert!(text.contains("16 rows after them"));
        }
    }
}
