//! A grid of cells with a name for each line: which rows differ over the tokens, and whatever else is a table of places.
//!
//! Neighbouring cells that say the same are one rectangle: a picture of a thousand tokens stays small, and a pointer
//! that rests on it reads what the stretch says.

use super::canvas::{Anchor, Canvas, fitted, margin};

/// How a cell looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Nothing is known.
    Unknown,
    /// Equal.
    Equal,
    /// Differs: in a quarter, half, three quarters or all of what the cell stands for.
    Differs(u8),
    /// Another choice.
    Choice,
}

/// Neighbouring cells that say the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stretch {
    /// First column.
    pub from: usize,
    /// Last column.
    pub to: usize,
    /// How it looks.
    pub level: Level,
    /// What it says.
    pub says: String,
}

/// One line of a grid.
#[derive(Debug, Clone)]
pub struct GridLine {
    /// Its name.
    pub name: String,
    /// Its cells.
    pub stretches: Vec<Stretch>,
}

/// A grid.
#[derive(Debug, Clone)]
pub struct Grid {
    /// Name of the file.
    pub name: &'static str,
    /// What it is.
    pub title: String,
    /// What it shows in words.
    pub alt: String,
    /// What the columns are.
    pub across: String,
    /// What a marked cell is.
    pub mark: &'static str,
    /// Names of columns that are written below.
    pub ticks: Vec<(usize, String)>,
    /// How many columns.
    pub columns: usize,
    /// The lines.
    pub lines: Vec<GridLine>,
}

/// Where the cells of a grid lie, for a page that lets one walk through them.
#[derive(Debug, Clone, Copy)]
pub struct Geometry {
    /// Left end of the first column.
    pub left: f64,
    /// Top of the first line.
    pub top: f64,
    /// Width and height of a cell.
    pub cell: (f64, f64),
}

/// Room of the cells.
const CELLS: f64 = 594.0;
/// The least margin of names.
const LEFT: f64 = 190.0;
const TOP: f64 = 64.0;
const LINE: f64 = 18.0;

impl Grid {
    /// Where its cells lie.
    #[must_use]
    pub fn geometry(&self) -> Geometry {
        let left = margin(self.lines.iter().map(|line| line.name.as_str()), LEFT);
        let width = CELLS / count(self.columns.max(1));
        Geometry { left, top: TOP, cell: (width.min(48.0), LINE) }
    }

    /// Draws it.
    #[must_use]
    pub fn draw(&self) -> Canvas {
        let height = TOP + LINE * count(self.lines.len()) + 44.0;
        let place = self.geometry();
        let size = (place.left + CELLS + 16.0, height);
        let mut canvas = Canvas::new(self.name, &self.title, &self.alt, size);
        canvas.text("xi", (12.0, 22.0), Anchor::Start, &self.title);
        legend(&mut canvas, self.mark);
        for (index, line) in self.lines.iter().enumerate() {
            let top = place.top + LINE * count(index);
            let name = fitted(&line.name, place.left);
            canvas.text("xi", (place.left - 8.0, top + 13.0), Anchor::End, &name);
            line.stretches.iter().for_each(|stretch| draw(&mut canvas, place, top, stretch));
        }
        self.axis(&mut canvas, place);
        canvas
    }

    fn axis(&self, canvas: &mut Canvas, place: Geometry) {
        let bottom = place.top + LINE * count(self.lines.len());
        for (column, name) in &self.ticks {
            let x = place.left + (count(*column) + 0.5) * place.cell.0;
            canvas.line("xa", (x, bottom + 1.0), (x, bottom + 5.0));
            canvas.text("xs", (x, bottom + 18.0), Anchor::Middle, name);
        }
        canvas.text("xs", (place.left, bottom + 36.0), Anchor::Start, &self.across);
    }
}

fn draw(canvas: &mut Canvas, place: Geometry, top: f64, stretch: &Stretch) {
    let x = place.left + count(stretch.from) * place.cell.0;
    let width = count(stretch.to + 1 - stretch.from) * place.cell.0;
    let area = (x, top + 1.0, width.max(0.6), LINE - 3.0);
    match stretch.level {
        Level::Unknown => canvas.cell("xu", area, &stretch.says),
        Level::Equal => canvas.cell("xe", area, &stretch.says),
        Level::Differs(quarters) => {
            canvas.shade("xb", area, 0.25 + 0.1875 * f64::from(quarters.min(4)), &stretch.says);
        }
        Level::Choice => {
            canvas.cell("xc", (x, top + 1.0, width.max(3.0), LINE - 3.0), &stretch.says);
            let middle = x + width / 2.0;
            canvas.shape("xi", &[(middle - 4.0, top - 3.0), (middle + 4.0, top - 3.0), (middle, top + 3.0)]);
        }
    }
}

/// What the looks mean; a choice has a mark of its own beside its colour.
fn legend(canvas: &mut Canvas, mark: &str) {
    let entries =
        [("xe", "equal bytes"), ("xb", "other bytes (stronger: more)"), ("xc", mark), ("xu", "not known")];
    let mut x = 12.0;
    for (class, text) in entries {
        canvas.cell(class, (x, 34.0, 12.0, 12.0), "");
        canvas.text("xs", (x + 18.0, 44.0), Anchor::Start, text);
        x += 46.0 + 6.6 * count(text.chars().count());
    }
}

/// A count as a coordinate.
#[expect(clippy::cast_precision_loss, reason = "coordinates of a picture are far below 2⁵²")]
pub(super) fn count(number: usize) -> f64 {
    number as f64
}
