//! Rounds as a timeline: what was proposed, accepted, rejected, chosen by the target itself, and where caches rewound.
//!
//! A round is a column. On top stands the bonus token, which row 0 was fed; below it, row by row and numbered as in every
//! table and by `exactness show`, the proposal that the row was held against, and where the target's own choice joined.

use super::canvas::{Anchor, Canvas};
use super::grid::{Geometry, count};
use crate::records::timeline::{Beat, Timeline};
use crate::results::{counted, part_of};

const LEFT: f64 = 62.0;
const TOP: f64 = 70.0;
const CELL: f64 = 17.0;
/// The most lines of a round that are drawn: the bonus token's, and one a row.
const MOST_LINES: usize = 17;

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
    Geometry { left: LEFT, top: TOP, cell: (CELL, CELL * count(lines(timeline))) }
}

/// The bonus token's line, and those of the rows: one more than there are proposals.
fn lines(timeline: &Timeline) -> usize {
    widest(timeline).min(MOST_LINES)
}

fn widest(timeline: &Timeline) -> usize {
    timeline.beats.iter().map(|beat| line(beat.draft.len()) + 1).max().unwrap_or(2)
}

/// The line of a row: the bonus token's is above them all.
const fn line(row: usize) -> usize {
    row + 1
}

/// Draws some rounds.
#[must_use]
pub fn draw(timeline: &Timeline, name: &'static str, window: Window) -> Canvas {
    let lines = lines(timeline);
    let bottom = TOP + CELL * count(lines);
    let width = (LEFT + CELL * count(window.rounds) + 16.0).max(800.0);
    let title = title(timeline);
    let mut canvas = Canvas::new(name, &title, &alt(timeline, window), (width, bottom + 62.0));
    canvas.text("xi", (12.0, 22.0), Anchor::Start, &title);
    legend(&mut canvas);
    canvas.text("xs", (LEFT - 8.0, TOP + 12.5), Anchor::End, "bonus");
    for row in 0..lines - 1 {
        let y = TOP + CELL * count(line(row)) + 12.5;
        canvas.text("xs", (LEFT - 8.0, y), Anchor::End, &format!("row {row}"));
    }
    for (place, beat) in window.beats(timeline).enumerate() {
        let x = LEFT + CELL * count(place);
        round(&mut canvas, (x, lines), beat);
        if place % 5 == 0 {
            canvas.text("xs", (x + CELL / 2.0, bottom + 28.0), Anchor::Middle, &beat.round.to_string());
        }
        if let Some((_, row)) = timeline.flip.filter(|(flip, _)| *flip == window.from + place) {
            flip(&mut canvas, (x, lines), row);
        }
    }
    let axis = "round; on each row's line: the proposal that the row was held against";
    canvas.text("xs", (LEFT, bottom + 48.0), Anchor::Start, axis);
    canvas
}

fn title(timeline: &Timeline) -> String {
    let Timeline { arm, sequence, sequences, .. } = timeline;
    let others = if *sequences > 1 { format!(", one of {sequences}") } else { String::new() };
    format!("Rounds of {arm}, sequence {sequence}{others}")
}

/// The round of the first difference, and the row that chose the differing token, where its line is drawn.
fn flip(canvas: &mut Canvas, (x, lines): (f64, usize), row: usize) {
    canvas.shape(
        "xc",
        &[(x + 3.0, TOP - 14.0), (x + CELL - 4.0, TOP - 14.0), (x + CELL / 2.0 - 0.5, TOP - 4.0)],
    );
    if line(row) < lines {
        let top = TOP + CELL * count(line(row));
        canvas.cell("xm", (x - 0.5, top - 0.5, CELL, CELL), "first difference");
    }
}

/// One round, a column: the bonus token, then the proposals, each at the row that it was held against.
fn round(canvas: &mut Canvas, (x, lines): (f64, usize), beat: &Beat) {
    let area = |at: usize| (x + 1.0, TOP + CELL * count(at) + 1.0, CELL - 3.0, CELL - 3.0);
    let middle = |at: usize| (x + CELL / 2.0 - 0.5, TOP + CELL * count(at) + CELL / 2.0 - 0.5);
    canvas.dot("xb", middle(0), 5.5);
    for row in 0..beat.draft.len().min(lines - 1) {
        if row < beat.accepted {
            canvas.cell("xk", area(line(row)), "");
        } else {
            let (left, top, width, height) = area(line(row));
            canvas.cell("xr", (left + 0.5, top + 0.5, width - 1.0, height - 1.0), "");
            canvas.line("xa", (left + 3.0, top + height - 3.0), (left + width - 3.0, top + 3.0));
        }
    }
    // The row after the accepted ones: its own choice joined the stream, and is the next round's bonus token.
    if beat.emitted > beat.accepted && line(beat.accepted) < lines {
        let (x, y) = middle(line(beat.accepted));
        canvas.shape("xi", &[(x, y - 4.5), (x + 4.5, y), (x, y + 4.5), (x - 4.5, y)]);
    }
    if beat.rewinds() {
        let y = TOP + CELL * count(lines) + 5.0;
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
    entry(canvas, "bonus, fed to row 0", &|canvas, x| canvas.dot("xb", (x + 6.0, 40.0), 5.5));
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
    format!(
        "{} of {}, sequence {}{}: {}, {accepted} accepted, {}.{}{}",
        part_of(window.rounds, timeline.sequence_rounds, "round"),
        timeline.arm,
        timeline.sequence,
        among(timeline),
        counted(proposed, "proposal"),
        counted(rewinds, "rewind"),
        told_flip(timeline),
        cut(timeline)
    )
}

/// What else the file has: one sequence is drawn.
fn among(timeline: &Timeline) -> String {
    if timeline.sequences < 2 {
        return String::new();
    }
    format!(" (the file has {} sequences with {})", timeline.sequences, counted(timeline.rounds, "round"))
}

fn told_flip(timeline: &Timeline) -> String {
    timeline.flip.map_or_else(
        || " No token differs in them.".to_owned(),
        |(place, row)| {
            let round = timeline.beats.get(place).map_or(0, |beat| beat.round);
            format!(" The first differing token is row {row} of round {round}.")
        },
    )
}

/// That the last rows of wide blocks are not drawn.
fn cut(timeline: &Timeline) -> String {
    if widest(timeline) <= MOST_LINES {
        return String::new();
    }
    format!(" Rows from {} on are not drawn.", MOST_LINES - 1)
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

#[cfg(test)]
mod tests {
    use super::{CELL, Window, draw};
    use crate::records::timeline::{Beat, Timeline};

    fn beat(round: i64, draft: usize, accepted: usize) -> Beat {
        Beat {
            round,
            index: 0,
            bonus: 7,
            draft: vec![1; draft],
            target: vec![2; draft + 1],
            accepted,
            emitted: accepted + 1,
            cache: (None, None),
        }
    }

    fn timeline(beats: Vec<Beat>, flip: Option<(usize, usize)>) -> Timeline {
        let (file, arm) = ("w4.jsonl".to_owned(), "w4".to_owned());
        let sequence_rounds = beats.len();
        Timeline { file, arm, sequence: 2, sequences: 4, beats, sequence_rounds, rounds: 105, flip }
    }

    /// The value of an attribute that is a number.
    fn number(element: &str, name: &str) -> f64 {
        let (_, rest) = element.split_once(&format!(" {name}=\"")).unwrap();
        rest.split('"').next().unwrap().parse().unwrap()
    }

    /// The labels of the lines, each with its height.
    fn labels(svg: &str) -> Vec<(String, f64)> {
        let margin =
            svg.lines().filter(|line| line.starts_with("<text") && line.contains("text-anchor=\"end\""));
        let text = |line: &str| line.split(['>', '<']).nth(2).unwrap().to_owned();
        margin.map(|line| (text(line), number(line, "y"))).collect()
    }

    /// The label of the line in which a height lies.
    fn line_at(svg: &str, y: f64) -> String {
        let near = |(_, at): &&(String, f64)| (*at - 12.5..*at - 12.5 + CELL).contains(&y);
        labels(svg).iter().find(near).map(|(name, _)| name.clone()).unwrap()
    }

    #[test]
    fn a_block_of_four_has_the_rows_0_to_3() {
        let timeline = timeline(vec![beat(0, 3, 3), beat(1, 3, 1)], None);
        let svg = draw(&timeline, "rounds", Window::of(&timeline, 42)).file();
        let names: Vec<String> = labels(&svg).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["bonus", "row 0", "row 1", "row 2", "row 3"]);
    }

    #[test]
    fn the_outlined_cell_is_on_the_line_of_the_row_that_the_caption_names() {
        for row in 0..4 {
            let timeline = timeline(vec![beat(6, 3, 3), beat(7, 3, row)], Some((1, row)));
            let canvas = draw(&timeline, "rounds", Window::of(&timeline, 42));
            let svg = canvas.file();
            assert!(canvas.alt().contains(&format!("token is row {row} of round 7.")), "{}", canvas.alt());
            let outlined = svg.lines().find(|line| line.contains("class=\"xm\"")).unwrap();
            let middle = number(outlined, "y") + CELL / 2.0;
            assert_eq!(line_at(&svg, middle), format!("row {row}"));
            // The target's own choice is drawn there too: the row after the accepted ones made it.
            let own = format!(",{}", crate::records::pictures::canvas::short(middle));
            let choices = svg.lines().filter(|line| line.starts_with("<polygon class=\"xi\""));
            assert_eq!(choices.filter(|line| line.contains(&own)).count(), if row == 3 { 2 } else { 1 });
        }
    }

    #[test]
    fn one_sequence_of_a_file_says_so_and_rows_that_are_not_drawn_too() {
        let mut told = timeline(vec![beat(0, 31, 25)], Some((0, 25)));
        let drawn = |timeline: &Timeline| draw(timeline, "rounds", Window::of(timeline, 42));
        let canvas = drawn(&told);
        assert!(
            canvas
                .alt()
                .starts_with("1 of 1 round of w4, sequence 2 (the file has 4 sequences with 105 rounds): "),
            "{}",
            canvas.alt()
        );
        assert!(
            canvas.alt().ends_with(" row 25 of round 0. Rows from 16 on are not drawn."),
            "{}",
            canvas.alt()
        );
        let svg = canvas.file();
        assert!(
            !svg.contains("class=\"xm\"") && svg.contains("<polygon class=\"xc\""),
            "no cell of another row"
        );
        assert_eq!(labels(&svg).last().unwrap().0, "row 15");
        (told.sequences, told.rounds) = (1, 1);
        assert!(drawn(&told).alt().starts_with("1 of 1 round of w4, sequence 2: "));
    }
}
