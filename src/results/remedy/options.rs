//! What one may do, from not speculating to not caring, with what each option costs and whom; and the line to take.

use super::answers::{Candidate, Changed, Ending, Kind, Measured, WidthRemedy};
use super::choice::{Choice, Pace, or_defaults};
use crate::results::probe::{First, Outcome, Place};
use crate::results::{Table, counted, part_of};

impl WidthRemedy {
    /// The options, the cheapest exact one that needs nothing first.
    #[must_use]
    pub fn options_table(&self) -> Table {
        let mut table = Table::new().text("option").text("exact").text("routes");
        table = table.text("plain decoding").text("who pays");
        if self.plain.is_some() {
            table = table.number("tok/s").number("× plain").number("accepted");
        }
        let plain = self.plain.as_ref().map_or_else(dash, |plain| format!("{:.1}", plain.plain));
        let says = "every request: no speculation";
        table.row(["decline", "yes", "–", "unchanged", says, &plain, "1.00", "–"]);
        for one in self.candidates.iter().filter(|one| one.exact() && one.kind != Kind::BothSides) {
            let pays = format!(
                "blocks of {}: {} for {}",
                self.width,
                counted(one.calls, "call"),
                self.requested.calls
            );
            option(&mut table, ("verify alone", "yes"), one, [unchanged(), pays]);
        }
        self.whole_process(&mut table);
        if self.ending != Ending::NothingToCure {
            let exact = format!("no: {}", inexact(&self.requested));
            let pays = "whoever relies on the text".to_owned();
            option(&mut table, ("inexact", &exact), &self.requested, [unchanged(), pays]);
        }
        table
    }

    /// Both sides together, or why that was not tried.
    fn whole_process(&self, table: &mut Table) {
        let mut tried = self.candidates.iter().filter(|one| one.kind == Kind::BothSides).peekable();
        if tried.peek().is_none() {
            let says = if self.ending == Ending::NothingToCure { "not needed" } else { "not tried" };
            table.row(["whole process", says, "–", "–", "–", "–", "–", "–"]);
        }
        for one in tried {
            let exact = if one.exact() { "yes".to_owned() } else { format!("no: {}", inexact(one)) };
            let changed = one.run.as_ref().and_then(|run| run.changed);
            let changed = changed.map_or_else(|| "changed".to_owned(), Changed::says);
            let plain = one.measured.as_ref().and_then(|measured| measured.plain.as_ref());
            let pays = plain.map_or_else(
                || format!("every request: plain steps of {}", counted(self.width, "row")),
                |plain| format!("every request: plain decoding {:.2} ×", plain.ratio),
            );
            option(table, ("whole process", &exact), one, [changed, pays]);
        }
    }

    /// What is to be said of both sides together.
    pub(super) fn both_sides(&self) -> Vec<String> {
        let tried = self.candidates.iter().filter(|one| one.kind == Kind::BothSides);
        let mut says: Vec<String> = tried.map(|one| both_sides(one, self.width)).collect();
        let untried = |why: &String| format!("No setting of both sides was tried: {why}.");
        says.extend(self.one_sided.iter().map(untried));
        says
    }

    /// How it came out, in the words of the verdict.
    pub(super) fn outcome(&self) -> String {
        let width = self.width;
        match &self.choice {
            Some(_) if self.ending == Ending::NothingToCure => format!("width {width}: nothing to cure"),
            Some(choice) if choice.pace.is_some_and(Pace::loses) => {
                format!("width {width}: decline, or {} and slower", setting(&choice.routes, &choice.plain))
            }
            Some(choice) => format!("width {width}: {}", setting(&choice.routes, &choice.plain)),
            None => format!("width {width}: {}", self.ending),
        }
    }

    /// The line to take.
    #[must_use]
    pub fn flag(&self) -> Option<String> {
        let choice = self.choice.as_ref()?;
        let (width, flags) = (self.width, flags(choice));
        let mut notes: Vec<String> = Vec::new();
        let both = choice.plain != self.requested.plain;
        notes.extend(both.then(|| "changes plain decoding, too".to_owned()));
        notes.extend(match (self.ending, choice.pace) {
            (Ending::NothingToCure, _) => None,
            (_, None) => Some("speed not measured".to_owned()),
            (_, Some(pace)) if pace.resolved => Some(format!("{:.2} × plain decoding", pace.ratio)),
            (_, Some(pace)) => Some(format!("{:.2} × plain decoding, which is not told from 1", pace.ratio)),
        });
        notes.extend(self.stored.then(|| "kept: --routes auto takes it".to_owned()));
        let notes = if notes.is_empty() { String::new() } else { format!("   ({})", notes.join("; ")) };
        Some(match choice.pace {
            Some(pace) if pace.loses() => format!(
                "width {width}: decline it, plain decoding is exact and faster\n\
                 width {width}, to speculate all the same: {flags}{notes}"
            ),
            _ if flags.is_empty() => format!("width {width}: exact without --routes{notes}"),
            _ => format!("width {width}: {flags}{notes}"),
        })
    }
}

impl Changed {
    fn says(self) -> String {
        let Self { rows, tokens } = self;
        format!("changed: {}, {} ≠", part_of(rows.0, rows.1, "row"), part_of(tokens.0, tokens.1, "token"))
    }
}

fn both_sides(one: &Candidate, width: u64) -> String {
    let setting = setting(&one.routes, &one.plain);
    let Some(changed) = one.run.as_ref().and_then(|run| run.changed) else {
        return format!("Both sides together by {setting} are not exact: {}.", inexact(one));
    };
    let Changed { rows, tokens } = changed;
    let agree = if one.exact() { "agree" } else { "do not agree" };
    let itself = if rows.0 > 0 { "gives other bytes than as requested" } else { "keeps its bytes here" };
    let speed = one.measured.as_ref().and_then(|one| Some((one, one.plain.as_ref()?))).map(|(own, plain)| {
        let told = if plain.resolved { "" } else { ", which is not told from 1" };
        let ratio = own.tokens_per_second / plain.tokens_per_second;
        let plain = plain.ratio;
        format!("; it then runs at {plain:.2} × its speed as requested{told}, and width {width} at {ratio:.2} × that")
    });
    format!(
        "Both sides together by {setting}: blocks and plain decoding {agree}. Plain decoding itself {itself}: {} and {} \
         differ{}.",
        part_of(rows.0, rows.1, "row"),
        part_of(tokens.0, tokens.1, "token"),
        speed.unwrap_or_default()
    )
}

/// Why a setting is not proven.
fn inexact(one: &Candidate) -> String {
    let probed = match &one.probed.outcome {
        Outcome::Differs { first: First { place: Place::State { part }, .. }, .. } => {
            Some(format!("state {part} ≠ in the probe"))
        }
        Outcome::Differs { .. } => Some("a row ≠ in the probe".to_owned()),
        Outcome::Equal { .. } | Outcome::NotRun { .. } => None,
    };
    match (&one.run, probed) {
        (Some(run), _) if run.rows.0 > 0 => format!("{} ≠", part_of(run.rows.0, run.rows.1, "row")),
        (Some(run), _) if run.other_states() > 0 => {
            let (differ, all) = run.states.unwrap_or_default();
            format!("{} ≠", part_of(differ, all, "state"))
        }
        (Some(run), _) if run.code == 1 => format!("run {}", run.verdict),
        // The run is of other tokens, and may have come by nothing.
        (_, Some(probed)) => probed,
        (Some(run), None) => format!("run {}", run.verdict),
        (None, None) => format!("probe {}", one.probed.outcome.word()),
    }
}

fn option(table: &mut Table, (option, exact): (&str, &str), one: &Candidate, [plain, pays]: [String; 2]) {
    let [speed, ratio] = speed(one.measured.as_ref());
    let accepted = one.measured.as_ref().and_then(|measured| measured.accepted);
    table.row([
        option.to_owned(),
        exact.to_owned(),
        cell(one),
        plain,
        pays,
        speed,
        ratio,
        accepted.map_or_else(dash, |share| format!("{:.1} %", share * 100.0)),
    ]);
}

/// The flags that select a choice; none where the defaults do.
fn flags(choice: &Choice) -> String {
    let flag = |name: &str, value: &str| (!value.is_empty()).then(|| format!("{name} {value}"));
    let both = [flag("--routes", &choice.routes), flag("--plain-routes", &choice.plain)];
    both.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// Routes of blocks and of plain decoding in one text, as headers have them.
pub(super) fn setting(routes: &str, plain: &str) -> String {
    let all = both(routes, plain);
    if all.is_empty() { "(defaults)".to_owned() } else { all }
}

impl Candidate {
    /// Its routes as a sentence names them.
    #[must_use]
    pub fn said(&self) -> String {
        or_defaults(&both(&self.routes, &self.plain)).to_owned()
    }
}

fn both(routes: &str, plain: &str) -> String {
    let parts = |text: &'static str, routes: &str| {
        let parts = routes.split(',').filter(|part| !part.is_empty());
        parts.map(|part| format!("{text}{part}")).collect::<Vec<String>>()
    };
    [parts("", routes), parts("plain.", plain)].concat().join(",")
}

/// A setting in a table's cell: the last resort names every operation, which is said shorter.
pub(super) fn cell(one: &Candidate) -> String {
    match one.kind {
        Kind::Everything => "(every operation)".to_owned(),
        _ => setting(&one.routes, &one.plain),
    }
}

pub(super) fn speed(measured: Option<&Measured>) -> [String; 2] {
    measured.map_or_else(
        || [dash(), dash()],
        |one| [format!("{:.1}", one.tokens_per_second), format!("{:.2}", one.ratio)],
    )
}

fn unchanged() -> String {
    "unchanged".to_owned()
}

pub(super) fn dash() -> String {
    "–".to_owned()
}
