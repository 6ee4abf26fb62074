//! What a page lets one walk through with mouse or arrow keys: lines of stretches, each with a sentence, and where they
//! lie in the picture.

use super::pictures::Grid;
use super::pictures::canvas::harmless;
use super::pictures::grid::Geometry;
use super::pictures::rounds::{self, Window};
use super::timeline::Timeline;
use serde_json::{Value, json};

/// A grid.
#[must_use]
pub fn grid(grid: &Grid) -> Value {
    let lines = grid.lines.iter().map(|line| {
        let runs: Vec<Value> =
            line.stretches.iter().map(|one| json!([one.from, one.to, harmless(&one.says)])).collect();
        json!({"name": harmless(&line.name), "runs": runs})
    });
    value(grid.geometry(), grid.columns, &lines.collect::<Vec<_>>())
}

/// A timeline: one line, a column a round.
#[must_use]
pub fn rounds(timeline: &Timeline, window: Window) -> Value {
    let beats = window.beats(timeline).enumerate();
    let runs: Vec<Value> = beats.map(|(place, beat)| json!([place, place, rounds::says(beat)])).collect();
    let name = format!("{}, sequence {}", timeline.arm, timeline.sequence);
    value(rounds::geometry(timeline), window.rounds, &[json!({"name": harmless(&name), "runs": runs})])
}

fn value(place: Geometry, columns: usize, lines: &[Value]) -> Value {
    let Geometry { left, top, cell: (width, height) } = place;
    json!({"left": left, "top": top, "width": width, "height": height, "columns": columns, "lines": lines})
}
