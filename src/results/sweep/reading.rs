//! What a sweep found, in words: which widths hold, to which position, and where those that differ part from those
//! that do not.
//!
//! It never says more than the cells do: positions that no walk reached are not covered, and a width with a cell that
//! was not run does not hold.

use super::definition::Cell;
use super::journal::Journal;
use super::outcome::{End, Outcome};
use crate::algebra::verdict::worst;
use crate::results::{Table, Word, agreed, counted, part_of};
use std::collections::BTreeSet;

/// Cells named in a sentence before it counts the others.
const NAMED: usize = 6;

/// A sweep that was read.
#[derive(Debug, Clone)]
pub struct Reading {
    /// How it ended.
    pub verdict: Word,
    /// One entry a width.
    pub widths: Vec<WidthReading>,
    /// Sentences.
    pub says: Vec<String>,
}

/// One width over all cells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WidthReading {
    /// Rows of a block.
    pub width: usize,
    /// Cells with equal bytes.
    pub equal: usize,
    /// Cells with a byte that differs, in order.
    pub differs: Vec<Cell>,
    /// Cells that say nothing of this width: not run, crashed or missing.
    pub silent: usize,
    /// Rows compared in all its cells.
    pub rows: u64,
    /// Positions that were walked with equal bytes at every seed of a length, as closed intervals.
    pub covered: Vec<(u64, u64)>,
    /// First position that differs, over all cells.
    pub first: Option<u64>,
}

impl WidthReading {
    /// Every cell was measured and is equal.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.equal > 0 && self.differs.is_empty() && self.silent == 0
    }

    /// The covered positions as text: `8–191, 256–319`.
    #[must_use]
    pub fn spans(&self) -> String {
        let spans: Vec<String> = self.covered.iter().map(|(a, b)| format!("{a}–{b}")).collect();
        if spans.is_empty() { "–".to_owned() } else { spans.join(", ") }
    }

    fn of(journal: &Journal, index: usize, width: usize) -> Self {
        let mut read = Self {
            width,
            equal: 0,
            differs: Vec::new(),
            silent: 0,
            rows: 0,
            covered: Vec::new(),
            first: None,
        };
        for cell in journal.cells() {
            match outcome(journal, cell, index) {
                Some(Outcome::Equal { rows, .. }) => {
                    read.equal += 1;
                    read.rows = read.rows.saturating_add(*rows);
                }
                Some(Outcome::Differs { rows, position, .. }) => {
                    read.differs.push(cell);
                    read.rows = read.rows.saturating_add(*rows);
                    read.first = Some(read.first.map_or(*position, |first| first.min(*position)));
                }
                Some(Outcome::NotRun { .. }) | None => read.silent += 1,
            }
        }
        read.covered = covered(journal, index);
        read
    }
}

/// What a cell says of one width, if it says anything.
fn outcome(journal: &Journal, cell: Cell, index: usize) -> Option<&Outcome> {
    match &journal.entry(cell)?.end {
        // Nothing compared is not equal, whatever a journal says.
        End::Measured(outcomes) => outcomes
            .get(index)
            .map(|one| &one.outcome)
            .filter(|outcome| !matches!(outcome, Outcome::Equal { rows: 0, .. })),
        End::Crashed(_) => None,
    }
}

/// Positions walked with equal bytes at every seed, length by length, joined where they touch.
fn covered(journal: &Journal, index: usize) -> Vec<(u64, u64)> {
    let cells = journal.cells();
    let span = |length: usize| {
        let seeds = cells.iter().filter(|cell| cell.length == length);
        let spans = seeds.map(|cell| match outcome(journal, *cell, index) {
            Some(Outcome::Equal { first, last, .. }) => Some((*first, *last)),
            _ => None,
        });
        let spans: Option<Vec<(u64, u64)>> = spans.collect();
        spans?.into_iter().reduce(|a, b| (a.0.max(b.0), a.1.min(b.1))).filter(|(a, b)| a <= b)
    };
    let mut all: Vec<(u64, u64)> =
        journal.header.definition.lengths.iter().filter_map(|&one| span(one)).collect();
    all.sort_unstable();
    all.into_iter().fold(Vec::new(), |mut joined: Vec<(u64, u64)>, (a, b)| {
        match joined.last_mut() {
            Some(last) if a <= last.1.saturating_add(1) => last.1 = last.1.max(b),
            _ => joined.push((a, b)),
        }
        joined
    })
}

impl Reading {
    /// Reads a journal.
    #[must_use]
    pub fn new(journal: &Journal) -> Self {
        let widths = journal.header.definition.widths.iter().enumerate();
        let widths: Vec<WidthReading> =
            widths.map(|(index, &width)| WidthReading::of(journal, index, width)).collect();
        let verdict = verdict(&widths);
        let mut says = vec![asked(journal)];
        says.extend(holding(&widths));
        says.extend(widths.iter().filter(|one| !one.differs.is_empty()).map(|one| differing(journal, one)));
        says.extend(boundary(&widths));
        says.extend(dependence(journal, &widths));
        says.extend(silence(journal));
        Self { verdict, widths, says }
    }

    /// One row a width.
    #[must_use]
    pub fn table(&self) -> Table {
        let mut table = Table::new().number("width").number("equal").number("differs").number("not run");
        table = table.number("rows").number("first ≠").text("equal at positions");
        for one in &self.widths {
            let first = one.first.map_or_else(|| "–".to_owned(), |first| first.to_string());
            let numbers =
                [one.width, one.equal, one.differs.len(), one.silent].map(|number| number.to_string());
            table.row(numbers.into_iter().chain([one.rows.to_string(), first, one.spans()]));
        }
        table
    }

    /// The last line.
    #[must_use]
    pub fn verdict_line(&self) -> String {
        let sum = |of: fn(&WidthReading) -> usize| self.widths.iter().map(of).sum::<usize>();
        let (equal, differs) = (sum(|one| one.equal), sum(|one| one.differs.len()));
        let all = equal + differs + sum(|one| one.silent);
        let rows: u64 = self.widths.iter().map(|one| one.rows).sum();
        format!(
            "verdict: {} ({} made: {equal} equal, {differs} different, {} compared)",
            self.verdict,
            part_of(equal + differs, all, "comparison"),
            counted(rows, "row"),
        )
    }
}

fn verdict(widths: &[WidthReading]) -> Word {
    let codes = widths.iter().flat_map(|one| {
        let code = |there: bool, code: u8| there.then_some(code);
        let codes = [code(one.equal > 0, 0), code(!one.differs.is_empty(), 1), code(one.silent > 0, 3)];
        codes.into_iter().flatten()
    });
    let codes: Vec<u8> = codes.collect();
    match (codes.is_empty(), worst(codes)) {
        (false, 0) => Word::Identical,
        (false, 1) => Word::Differs,
        _ => Word::NotRun,
    }
}

fn asked(journal: &Journal) -> String {
    let definition = &journal.header.definition;
    let or = |text: &Option<String>| text.clone().unwrap_or_else(|| "unknown".to_owned());
    let shard = journal.header.shard.map_or_else(String::new, |shard| format!(" of shard {shard}"));
    let routes = if definition.routes.is_empty() { "the default routes" } else { &definition.routes };
    let cells = counted(journal.cells().len(), "cell");
    format!(
        "{} in {}, {} {} on {}, {routes}: {cells}{shard}, each walked {} past its prompt.",
        or(&definition.model.name),
        or(&definition.model.dtype),
        or(&definition.backend.name),
        or(&definition.backend.version),
        or(&definition.backend.device),
        counted(definition.walk, "position"),
    )
}

/// Widths that hold, those with the same covered positions in one sentence.
fn holding(widths: &[WidthReading]) -> Vec<String> {
    let mut groups: Vec<(&WidthReading, Vec<usize>)> = Vec::new();
    for one in widths.iter().filter(|one| one.holds()) {
        match groups.iter_mut().find(|(first, _)| first.covered == one.covered) {
            Some((_, group)) => group.push(one.width),
            None => groups.push((one, vec![one.width])),
        }
    }
    let sentence = |(first, group): (&WidthReading, Vec<usize>)| {
        let widths = agreed(group.len(), "Width", "Widths");
        let verb = agreed(group.len(), "holds", "hold");
        let cells = agreed(first.equal, "the one cell".to_owned(), format!("all {} cells", first.equal));
        let (group, spans) = (listed(&group), first.spans());
        format!(
            "{widths} {group} {verb} on this machine: equal in {cells}, at positions {spans}; of other positions nothing is known."
        )
    };
    groups.into_iter().map(sentence).collect()
}

fn differing(journal: &Journal, one: &WidthReading) -> String {
    let seeds = journal.header.definition.seeds.len();
    let at = |length: usize| one.differs.iter().filter(|cell| cell.length == length).count();
    let lengths = journal.header.definition.lengths.iter().filter(|&&length| at(length) > 0);
    let places: Vec<String> = lengths
        .map(|&length| match at(length) {
            all if all == seeds => format!("{length}"),
            some => format!("{length} ({})", part_of(some, seeds, "seed")),
        })
        .collect();
    format!(
        "Width {} differs in {}, at {} {}; the first position with other bytes is {}.",
        one.width,
        part_of(one.differs.len(), one.equal + one.differs.len(), "measured cell"),
        agreed(places.len(), "length", "lengths"),
        places.join(", "),
        one.first.unwrap_or_default(),
    )
}

/// Where the widths that differ begin.
fn boundary(widths: &[WidthReading]) -> Option<String> {
    let smallest = widths.iter().find(|one| !one.differs.is_empty())?.width;
    let wider: Vec<usize> =
        widths.iter().filter(|one| one.width > smallest && one.holds()).map(|one| one.width).collect();
    let all = widths.iter().filter(|one| one.width > smallest).all(|one| !one.differs.is_empty());
    Some(match (wider.is_empty(), all) {
        (false, _) => format!(
            "The smallest width that differs is {smallest}, but wider blocks hold: {}. There is no one boundary.",
            listed(&wider)
        ),
        (true, true) => {
            format!("The smallest width that differs is {smallest}; no wider one of this sweep holds.")
        }
        (true, false) => format!("The smallest width that differs is {smallest}."),
    })
}

/// On what it depends whether a cell differs, as far as measured cells tell.
fn dependence(journal: &Journal, widths: &[WidthReading]) -> Option<String> {
    widths.iter().find(|one| !one.differs.is_empty())?;
    let verdicts = widths.iter().enumerate().flat_map(|(index, one)| {
        let known = move |cell: Cell| match outcome(journal, cell, index)? {
            Outcome::Equal { .. } => Some((one.width, cell, false)),
            Outcome::Differs { .. } => Some((one.width, cell, true)),
            Outcome::NotRun { .. } => None,
        };
        journal.cells().into_iter().filter_map(known)
    });
    let verdicts: Vec<(usize, Cell, bool)> = verdicts.collect();
    // A verdict depends on a coordinate when it changes while the other two stay.
    let changes = |others: fn(&(usize, Cell, bool)) -> (u64, u64)| {
        let of = |wanted: bool| {
            verdicts.iter().filter(move |one| one.2 == wanted).map(others).collect::<BTreeSet<(u64, u64)>>()
        };
        !of(true).is_disjoint(&of(false))
    };
    let on = [
        ("width", changes(|(_, cell, _)| (cell.length as u64, cell.seed))),
        ("prompt length", changes(|(width, cell, _)| (*width as u64, cell.seed))),
        ("seed", changes(|(width, cell, _)| (*width as u64, cell.length as u64))),
    ];
    let names = |wanted: bool| {
        let chosen: Vec<&str> = on.iter().filter(|one| one.1 == wanted).map(|one| one.0).collect();
        chosen.join(" or ")
    };
    let (depends, free) = (names(true).replace(" or ", " and "), names(false));
    Some(match (depends.is_empty(), free.is_empty()) {
        (true, _) => "Every measured cell differs at every width.".to_owned(),
        (false, true) => format!("Whether a cell differs depends on {depends}."),
        (false, false) => format!("Whether a cell differs depends on {depends}, not on {free}."),
    })
}

/// Cells that say nothing.
fn silence(journal: &Journal) -> Vec<String> {
    let crashed = journal.entries().filter_map(|entry| match &entry.end {
        End::Crashed(how) => Some(format!("{} ({how})", entry.cell)),
        End::Measured(_) => None,
    });
    let mut reasons: Vec<String> = Vec::new();
    for (index, width) in journal.header.definition.widths.iter().enumerate() {
        for cell in journal.cells() {
            if let Some(Outcome::NotRun { reason }) = outcome(journal, cell, index) {
                reasons.push(format!("width {width} at {cell} ({reason})"));
            }
        }
    }
    let missing = journal.open(false).iter().map(ToString::to_string).collect();
    let sentence = |what: &str, cells: Vec<String>, more: &str| {
        (!cells.is_empty()).then(|| format!("{what}: {}.{more}", bounded(&cells)))
    };
    let parts = [
        sentence("Crashed", crashed.collect(), " --retry runs them again."),
        sentence("Not run", reasons, ""),
        sentence("Missing", missing, ""),
    ];
    parts.into_iter().flatten().collect()
}

fn bounded(names: &[String]) -> String {
    let shown = names[..names.len().min(NAMED)].join(", ");
    let more = names.len().saturating_sub(NAMED);
    if more == 0 { shown } else { format!("{shown} and {more} more") }
}

/// `2, 3 and 4`.
fn listed(numbers: &[usize]) -> String {
    let words: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    match words.split_last() {
        Some((last, before)) if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        _ => words.concat(),
    }
}
