//! Rounds as a timeline: what was proposed, accepted, rejected, chosen by the target itself, and where caches rewound.

use super::canvas::{Anchor, Canvas};
use super::grid::{Geometry, count};
use crate::records::timeline::{Beat, Timeline};
use crate::results::{counted, part_of};

const LEFT: f64 = 62.0;
const TOP: f64 = 70.0;
const CELL: f64 = 17.0;
/// The most rows of a round that are drawn.
const MOST_ROWS: usize = 17;

/// What is drawn of a timeline.
#[derive(Debug, Clone, Copy)]
pub struct Window {
    /// The first round.
    pub from: usize,
    /// How many.
    pub rounds: usize,
}

impl Window {
    /// At most `most` rounds, the flip among them.
    #[must_use]
    pub fn of(timeline: &Timeline, most: usize) -> Self {
        let rounds = timeline.beats.len().min(most);
        let middle = timeline.flip.map_or(0, |(place, _)| place);
        let from = middle.saturating_sub(most * 3 / 4).min(timeline.beats.len() - rounds);
        Self { from, rounds }
    }

    /// The rounds of the window.
    pub fn beats<'a>(&self, timeline: &'a Timeline) -> impl Iterator<Item = &'a Beat> + use<'a> {
        timeline.beats.iter().skip(self.from).take(self.rounds)
    }
}

/// Where the rounds lie.
#[must_use]
pub fn geometry(timeline: &Timeline) -> Geometry {
    Geometry { left: LEFT, top: TOP, cell: (CELL, CELL * count(rows(timeline))) }
}

fn rows(timeline: &Timeline) -> usize {
    let widest = timeline.beats.iter().map(|beat| beat.draft.len() + 2).max().unwrap_or(2);
    widest.min(MOST_ROWS)
}

/// Draws some rounds.
#[must_use]
pub fn draw(timeline: &Timeline, name: &'static str, window: Window) -> Canvas {
    let rows = rows(timeline);
    let width = (LEFT + CELL * count(window.rounds) + 16.0).max(800.0);
    let height = TOP + CELL * count(rows) + 62.0;
    let Timeline { arm, sequence, .. } = timeline;
    let title = format!("Rounds of {arm}, sequence {sequence}");
    let mut canvas = Canvas::new(name, &title, &alt(timeline, window), (width, height));
    canvas.text("xi", (12.0, 22.0), Anchor::Start, &title);
    legend(&mut canvas);
    for row in 0..rows {
        let label = if row == 0 { "bonus".to_owned() } else { format!("row {row}") };
        canvas.text("xs", (LEFT - 8.0, TOP + CELL * count(row) + 12.5), Anchor::End, &label);
    }
    for (place, beat) in window.beats(timeline).enumerate() {
        let x = LEFT + CELL * count(place);
        round(&mut canvas, (x, rows), beat);
        if place % 5 == 0 {
            canvas.text(
                "xs",
                (x + CELL / 2.0, TOP + CELL * count(rows) + 28.0),
                Anchor::Middle,
                &beat.round.to_string(),
            );
        }
        if let Some((_, row)) = timeline.flip.filter(|(flip, _)| *flip == window.from + place) {
            flip(&mut canvas, x, (row + 1).min(rows - 1));
        }
    }
    canvas.text("xs", (LEFT, TOP + CELL * count(rows) + 48.0), Anchor::Start, "round");
    canvas
}

/// The round of the first difference, and the place that the differing token took.
fn flip(canvas: &mut Canvas, x: f64, row: usize) {
    let top = TOP + CELL * count(row);
    canvas.shape(
        "xc",
        &[(x + 3.0, TOP - 14.0), (x + CELL - 4.0, TOP - 14.0), (x + CELL / 2.0 - 0.5, TOP - 4.0)],
    );
    canvas.cell("xm", (x - 0.5, top - 0.5, CELL, CELL), "first difference");
}

/// One round, a column: the bonus token, then the proposals, each in the row that it was fed to.
fn round(canvas: &mut Canvas, (x, rows): (f64, usize), beat: &Beat) {
    let area = |row: usize| (x + 1.0, TOP + CELL * count(row) + 1.0, CELL - 3.0, CELL - 3.0);
    let middle = |row: usize| (x + CELL / 2.0 - 0.5, TOP + CELL * count(row) + CELL / 2.0 - 0.5);
    canvas.dot("xb", middle(0), 5.5);
    for row in 1..=beat.draft.len().min(rows - 1) {
        if row <= beat.accepted {
            canvas.cell("xk", area(row), "");
        } else {
            let (left, top, width, height) = area(row);
            canvas.cell("xr", (left + 0.5, top + 0.5, width - 1.0, height - 1.0), "");
            canvas.line("xa", (left + 3.0, top + height - 3.0), (left + width - 3.0, top + 3.0));
        }
    }
    if beat.emitted > beat.accepted && beat.accepted + 1 < rows {
        let (x, y) = middle(beat.accepted + 1);
        canvas.shape("xi", &[(x, y - 4.5), (x + 4.5, y), (x, y + 4.5), (x - 4.5, y)]);
    }
    if beat.rewinds() {
        let y = TOP + CELL * count(rows) + 5.0;
        let x = x + CELL / 2.0 - 0.5;
        canvas.shape("xs", &[(x - 4.0, y + 4.0), (x + 4.0, y), (x + 4.0, y + 8.0)]);
    }
}

fn legend(canvas: &mut Canvas) {
    let mut x = 12.0;
    let mut entry = |canvas: &mut Canvas, text: &str, mark: &dyn Fn(&mut Canvas, f64)| {
        mark(canvas, x);
        canvas.text("xs", (x + 17.0, 44.0), Anchor::Start, text);
        x += 32.0 + 6.6 * count(text.chars().count());
    };
    entry(canvas, "bonus", &|canvas, x| canvas.dot("xb", (x + 6.0, 40.0), 5.5));
    entry(canvas, "accepted", &|canvas, x| canvas.cell("xk", (x, 34.0, 12.0, 12.0), ""));
    entry(canvas, "rejected", &|canvas, x| {
        canvas.cell("xr", (x + 0.5, 34.5, 11.0, 11.0), "");
        canvas.line("xa", (x + 3.0, 43.0), (x + 9.0, 37.0));
    });
    entry(canvas, "the target's own choice", &|canvas, x| {
        canvas.shape("xi", &[(x + 6.0, 35.5), (x + 10.5, 40.0), (x + 6.0, 44.5), (x + 1.5, 40.0)]);
    });
    entry(canvas, "rewind", &|canvas, x| {
        canvas.shape("xs", &[(x + 2.0, 40.0), (x + 10.0, 36.0), (x + 10.0, 44.0)]);
    });
    entry(canvas, "first difference", &|canvas, x| {
        canvas.shape("xc", &[(x + 1.0, 35.5), (x + 11.0, 35.5), (x + 6.0, 44.5)]);
    });
}

fn alt(timeline: &Timeline, window: Window) -> String {
    let sum = |of: fn(&Beat) -> usize| window.beats(timeline).map(of).sum::<usize>();
    let (proposed, accepted) =
        (sum(|beat| beat.draft.len()), sum(|beat| beat.accepted.min(beat.draft.len())));
    let rewinds = sum(|beat| usize::from(beat.rewinds()));
    let flip = timeline.flip.map_or_else(
        || " No token differs in them.".to_owned(),
        |(place, row)| {
            let round = timeline.beats.get(place).map_or(0, |beat| beat.round);
            format!(" The first differing token is row {row} of round {round}.")
        },
    );
    format!(
        "{} of {}, sequence {}: {}, {accepted} accepted, {}.{flip}",
        part_of(window.rounds, timeline.rounds, "round"),
        timeline.arm,
        timeline.sequence,
        counted(proposed, "proposal"),
        counted(rewinds, "rewind")
    )
}

/// One round in words.
#[must_use]
pub fn says(beat: &Beat) -> String {
    let ids = |ids: &[i64]| ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    let cache = |length: Option<i64>| length.map_or_else(|| "?".to_owned(), |length| length.to_string());
    let rewound = if beat.rewinds() { ", rewound" } else { "" };
    format!(
        "round {}, from token {}: bonus {}; proposed {}; the target chose {}; {} of {} accepted, {} emitted; cache {} → {}{rewound}",
        beat.round,
        beat.index,
        beat.bonus,
        if beat.draft.is_empty() { "nothing".to_owned() } else { ids(&beat.draft) },
        ids(&beat.target),
        beat.accepted,
        beat.draft.len(),
        beat.emitted,
        cache(beat.cache.0),
        cache(beat.cache.1),
    )
}
