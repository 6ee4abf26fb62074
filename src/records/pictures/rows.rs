//! Which rows of which arm have other bytes than plain decoding's, over the tokens.

use super::grid::{Grid, GridLine, Level, Stretch};
use crate::records::experiment::Experiment;
use crate::records::marks::{Mark, RowLine};
use crate::results::{counted, part_of};

/// The most lines; a picture of more cannot be read, and the counts of all stand in the data.
const MOST_LINES: usize = 40;
/// The most columns.
const MOST_COLUMNS: usize = 200;

/// Draws the rows of all experiments; nothing where no row is known on both sides.
#[must_use]
pub fn grid(experiments: &[Experiment]) -> Option<Grid> {
    let several = experiments.len() > 1;
    let all: Vec<(&str, &RowLine)> =
        experiments.iter().flat_map(|one| one.lines.iter().map(|line| (one.folder.as_str(), line))).collect();
    let longest = all.iter().map(|(_, line)| line.marks.len()).max()?;
    let chosen = chosen(&all);
    let bin = longest.div_ceil(MOST_COLUMNS);
    let columns = longest.div_ceil(bin);
    let lines = chosen.iter().map(|(folder, line)| GridLine {
        name: name(if several { folder } else { "" }, line),
        stretches: stretches(&line.marks, bin),
    });
    let across = if bin == 1 {
        "token of the stream".to_owned()
    } else {
        format!("token of the stream, {bin} a column")
    };
    Some(Grid {
        name: "rows",
        title: "Rows with other bytes than plain decoding's".to_owned(),
        alt: alt(&all, chosen.len()),
        across,
        mark: "other choice (▼)",
        ticks: ticks(columns, bin),
        columns,
        lines: lines.collect(),
    })
}

/// All lines, or of too many those that differ first; in their order.
fn chosen<'a>(all: &[(&'a str, &'a RowLine)]) -> Vec<(&'a str, &'a RowLine)> {
    let mut places: Vec<usize> = (0..all.len()).collect();
    places.sort_by_key(|&place| !differs(all[place].1));
    places.truncate(MOST_LINES);
    places.sort_unstable();
    places.into_iter().map(|place| all[place]).collect()
}

fn differs(line: &RowLine) -> bool {
    line.marks.iter().any(|mark| matches!(mark, Mark::Bytes | Mark::Choice))
}

fn name(folder: &str, line: &RowLine) -> String {
    let folder = folder.rsplit('/').next().unwrap_or(folder);
    let prefix = if folder.is_empty() { String::new() } else { format!("{folder} ") };
    format!("{prefix}{}, seq {}", line.arm, line.sequence)
}

fn alt(all: &[(&str, &RowLine)], shown: usize) -> String {
    let differing = all.iter().filter(|(_, line)| differs(line)).count();
    let rows = |wanted: fn(Mark) -> bool| -> usize {
        all.iter().flat_map(|(_, line)| &line.marks).filter(|mark| wanted(**mark)).count()
    };
    let known = rows(|mark| mark != Mark::Unknown);
    let (bytes, choice) = (rows(|mark| mark >= Mark::Bytes), rows(|mark| mark == Mark::Choice));
    let cut = if shown < all.len() { format!(" {shown} lines are drawn.") } else { String::new() };
    format!(
        "A line for each sequence of each arm ({} in all), a column for each token. In {differing} of them some row has \
         other bytes: {}, {choice} of those with another choice.{cut}",
        all.len(),
        part_of(bytes, known, "row")
    )
}

fn ticks(columns: usize, bin: usize) -> Vec<(usize, String)> {
    let step = [1, 2, 5, 10, 20, 50, 100].into_iter().find(|step| columns / step <= 12).unwrap_or(100);
    (0..columns).step_by(step).map(|column| (column, (column * bin).to_string())).collect()
}

fn stretches(marks: &[Mark], bin: usize) -> Vec<Stretch> {
    let mut joined: Vec<(Stretch, Counts)> = Vec::new();
    for (column, marks) in marks.chunks(bin).enumerate() {
        let counts = Counts::of(marks);
        match joined.last_mut() {
            Some((last, sum)) if last.level == counts.level() && counts.level() != Level::Choice => {
                last.to = column;
                sum.add(&counts);
            }
            _ => joined.push((
                Stretch { from: column, to: column, level: counts.level(), says: String::new() },
                counts,
            )),
        }
    }
    let said = joined.into_iter().map(|(stretch, counts)| {
        let last = (stretch.to + 1) * bin - 1;
        let says = counts.says(stretch.from * bin, last.min(marks.len() - 1));
        Stretch { says, ..stretch }
    });
    said.collect()
}

/// The marks of some neighbouring tokens.
struct Counts {
    known: usize,
    bytes: usize,
    choice: usize,
}

impl Counts {
    fn of(marks: &[Mark]) -> Self {
        let count = |wanted: fn(&Mark) -> bool| marks.iter().filter(|mark| wanted(mark)).count();
        Self {
            known: count(|mark| *mark != Mark::Unknown),
            bytes: count(|mark| *mark >= Mark::Bytes),
            choice: count(|mark| *mark == Mark::Choice),
        }
    }

    fn add(&mut self, other: &Self) {
        self.known += other.known;
        self.bytes += other.bytes;
        self.choice += other.choice;
    }

    fn level(&self) -> Level {
        match (self.known, self.bytes, self.choice) {
            (0, ..) => Level::Unknown,
            (_, 0, _) => Level::Equal,
            (_, _, 1..) => Level::Choice,
            (known, bytes, _) => Level::Differs(u8::try_from((bytes * 4).div_ceil(known)).unwrap_or(4)),
        }
    }

    fn says(&self, first: usize, last: usize) -> String {
        let place = if first == last { format!("token {first}") } else { format!("tokens {first}–{last}") };
        let Self { known, bytes, choice } = self;
        match (known, bytes, choice) {
            (0, ..) => format!("{place}: no row is known on both sides"),
            (_, 0, _) => format!("{place}: {} equal", counted(*known, "row")),
            (_, _, 0) => format!("{place}: {} with other bytes", part_of(bytes, *known, "row")),
            _ => format!(
                "{place}: {} with other bytes, {choice} with another choice",
                part_of(bytes, *known, "row")
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::stretches;
    use crate::records::marks::Mark::{Bytes, Choice, Equal, Unknown};
    use crate::records::pictures::grid::Level;

    #[test]
    fn neighbours_that_say_the_same_are_one_stretch() {
        let marks = [Unknown, Equal, Equal, Bytes, Bytes, Choice, Choice];
        let found = stretches(&marks, 1);
        let places: Vec<(usize, usize, Level)> =
            found.iter().map(|one| (one.from, one.to, one.level)).collect();
        let all = Level::Differs(4);
        let expected = [
            (0, 0, Level::Unknown),
            (1, 2, Level::Equal),
            (3, 4, all),
            (5, 5, Level::Choice),
            (6, 6, Level::Choice),
        ];
        assert_eq!(places, expected);
        assert_eq!(found[2].says, "tokens 3–4: 2 of 2 rows with other bytes");
    }

    #[test]
    fn a_column_of_several_tokens_says_how_many_differ() {
        let found = stretches(&[Equal, Equal, Equal, Bytes, Equal], 4);
        assert_eq!(found[0].level, Level::Differs(1));
        assert_eq!(found[0].says, "tokens 0–3: 1 of 4 rows with other bytes");
        assert_eq!(found[1].says, "token 4: 1 row equal");
    }
}
