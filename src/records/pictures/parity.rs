//! From how many rows on each operation's bytes part, beside what was predicted.

use super::canvas::{Anchor, Canvas, fitted, margin};
use super::grid::count;
use crate::records::parity::{ParityLine, ParityResult};
use crate::results::{agreed, counted};

/// The least margin of names.
const LEFT: f64 = 300.0;
/// Room of the rows.
const ROOM: f64 = 476.0;
const TOP: f64 = 70.0;
const LINE: f64 = 17.0;
/// The most operations that are drawn.
const MOST_LINES: usize = 60;

/// Draws the operations; nothing without one.
#[must_use]
pub fn draw(results: &[&ParityResult]) -> Option<Canvas> {
    let all: Vec<&ParityLine> = results.iter().flat_map(|result| &result.lines).collect();
    let shown = chosen(&all);
    let most = shown.iter().filter_map(|line| line.most_rows()).max()?.max(2);
    let bottom = TOP + LINE * count(shown.len());
    let names: Vec<String> = shown.iter().map(|line| name(line)).collect();
    let scale = Scale { most, left: margin(names.iter().map(String::as_str), LEFT) };
    let title = "Rows in one call from which an operation's bytes part";
    let mut canvas =
        Canvas::new("parity", title, &alt(&all, shown.len()), (scale.left + ROOM + 24.0, bottom + 46.0));
    canvas.text("xi", (12.0, 22.0), Anchor::Start, title);
    legend(&mut canvas);
    for (index, line) in shown.iter().enumerate() {
        one(&mut canvas, TOP + LINE * count(index), line, &scale);
    }
    let ticks =
        std::iter::successors(Some(1_u32), |rows| rows.checked_mul(2)).take_while(|rows| *rows <= most);
    for rows in ticks {
        let x = scale.x(rows);
        canvas.line("xa", (x, bottom), (x, bottom + 5.0));
        canvas.text("xs", (x, bottom + 18.0), Anchor::Middle, &rows.to_string());
    }
    canvas.text("xs", (scale.left, bottom + 36.0), Anchor::Start, "rows in one call");
    Some(canvas)
}

/// All lines, or of too many those that part or surprise first; in their order.
fn chosen<'a>(all: &[&'a ParityLine]) -> Vec<&'a ParityLine> {
    let mut places: Vec<usize> = (0..all.len()).collect();
    places.sort_by_key(|&place| all[place].parts_at().is_none() && all[place].cell("and") != "surprise");
    places.truncate(MOST_LINES);
    places.sort_unstable();
    places.into_iter().map(|place| all[place]).collect()
}

/// Rows on a logarithmic axis.
struct Scale {
    most: u32,
    left: f64,
}

impl Scale {
    fn x(&self, rows: u32) -> f64 {
        let share = f64::from(rows.clamp(1, self.most)).log2() / f64::from(self.most).log2();
        self.left + share * ROOM
    }
}

fn name(line: &ParityLine) -> String {
    let route = line.cell("route");
    let route = if route == "whole" { String::new() } else { format!("={route}") };
    let mode = line.cell("mode");
    let mode = if mode == "–" { String::new() } else { format!(" {mode}") };
    let at = line.cell("at");
    let at = if ["", "–"].contains(&at) { String::new() } else { format!(" at {at}") };
    format!("{}{route} {}{mode} {}{at}", line.cell("operation"), line.cell("dtype"), line.cell("shape"))
}

fn one(canvas: &mut Canvas, top: f64, line: &ParityLine, scale: &Scale) {
    let end = scale.x(line.most_rows().unwrap_or(1));
    canvas.text("xi", (scale.left - 8.0, top + 12.0), Anchor::End, &fitted(&name(line), scale.left));
    canvas.cell("xe", (scale.left, top + 2.0, (end - scale.left).max(2.0), LINE - 5.0), "");
    if let Some(rows) = line.parts_at() {
        let x = scale.x(rows);
        canvas.cell(
            "xb",
            (x, top + 2.0, (end - x).max(3.0), LINE - 5.0),
            &format!("parts at {}", line.cell("parts at")),
        );
    }
    if let Some(rows) = line.predicted() {
        let x = scale.x(rows);
        canvas.shape("xi", &[(x - 4.0, top), (x + 4.0, top), (x, top + 6.0)]);
    }
    if line.cell("and") == "surprise" {
        canvas.text("xc", (scale.left + ROOM + 6.0, top + 12.0), Anchor::Start, "!");
    }
}

fn legend(canvas: &mut Canvas) {
    canvas.cell("xe", (12.0, 34.0, 12.0, 12.0), "");
    canvas.text("xs", (30.0, 44.0), Anchor::Start, "equal to one-row calls");
    canvas.cell("xb", (190.0, 34.0, 12.0, 12.0), "");
    canvas.text("xs", (208.0, 44.0), Anchor::Start, "other bytes");
    canvas.shape("xi", &[(306.0, 36.0), (314.0, 36.0), (310.0, 43.0)]);
    canvas.text("xs", (322.0, 44.0), Anchor::Start, "predicted");
    canvas.text("xc", (404.0, 44.0), Anchor::Start, "!");
    canvas.text("xs", (414.0, 44.0), Anchor::Start, "other than predicted");
}

fn alt(all: &[&ParityLine], shown: usize) -> String {
    let parted: Vec<u32> = all.iter().filter_map(|line| line.parts_at()).collect();
    let surprises = all.iter().filter(|line| line.cell("and") == "surprise").count();
    let lowest = parted
        .iter()
        .min()
        .map_or_else(String::new, |rows| format!(", the first at {}", counted(*rows, "row")));
    let cut = if shown < all.len() { format!(" {shown} are drawn.") } else { String::new() };
    format!(
        "{}: {} {}{lowest}; {surprises} {} other than predicted.{cut}",
        counted(all.len(), "operation"),
        parted.len(),
        agreed(parted.len(), "parts", "part"),
        agreed(surprises, "is", "are")
    )
}
