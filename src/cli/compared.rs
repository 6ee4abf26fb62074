//! A comparison for eyes: one line an arm, then what each arm's line rests on, then one verdict.
//!
//! Both the terminal and the markdown come from the same tables, so that a report cannot say what the screen did not.

use super::judged::{self, Style};
use crate::algebra::between::unit_name;
use crate::algebra::divergence::Unit;
use crate::algebra::judgement::{ArmJudgement, SequenceJudgement};
use crate::algebra::near_tie::{Judged, Margin};
use crate::algebra::pairing::First;
use crate::algebra::quantum::Drift;
use crate::algebra::rows::RowsCompared;
use crate::algebra::states::StatesCompared;
use crate::algebra::{Pairing, Verdict};
use crate::results::{Judgement, Table, counted};
use crate::transcript::counted::form;
use std::fmt::Write as _;

/// The arms of a comparison, one row a sequence.
#[must_use]
pub fn overview(judgement: &Judgement) -> Table {
    let mut table = Table::new().text("arm").number("seq").number("equal").number("of").number("first");
    table =
        table.number("round").number("row").number("rows ≠ bytes").number("rows ≠ argmax").text("verdict");
    let pairings =
        || judgement.arms.iter().flat_map(|arm| &arm.sequences).filter_map(|one| one.against.as_ref());
    let states = pairings().any(|pairing| pairing.states.is_some());
    if states {
        table = table.number("states ≠ bytes");
    }
    for arm in &judgement.arms {
        let name = name(judgement, arm);
        for sequence in &arm.sequences {
            let Some(pairing) = &sequence.against else { continue };
            let mut row = overview_row(&name, sequence, pairing);
            row.extend(states.then(|| states_cell(pairing)));
            table.row(row);
        }
    }
    table
}

/// An arm's label, with its file where several compared arms have that label.
fn name(judgement: &Judgement, arm: &ArmJudgement) -> String {
    let compared = |arm: &&ArmJudgement| arm.sequences.iter().any(|sequence| sequence.against.is_some());
    let alike = judgement.arms.iter().filter(compared).filter(|other| other.arm == arm.arm).count();
    if alike > 1 { format!("{} ({})", arm.arm, arm.file) } else { arm.arm.clone() }
}

fn states_cell(pairing: &Pairing) -> String {
    let states = pairing.states.as_ref();
    states.map_or_else(|| "–".to_owned(), |states| format!("{} of {}", states.differ(), states.states))
}

fn overview_row(name: &str, sequence: &SequenceJudgement, pairing: &Pairing) -> Vec<String> {
    let first = pairing.first.as_ref();
    let cell = |number: Option<i64>| number.map_or_else(|| "–".to_owned(), |number| number.to_string());
    let rows = pairing.rows.as_ref();
    let of = |part: Option<usize>, all: Option<usize>| {
        part.zip(all).map_or_else(|| "–".to_owned(), |(part, all)| format!("{part} of {all}"))
    };
    let null = if pairing.null_arm { "null arm: " } else { "" };
    let length = |count: usize| pairing.unit.map_or_else(|| "–".to_owned(), |_| count.to_string());
    vec![
        name.to_owned(),
        sequence.sequence.to_string(),
        length(pairing.equal),
        length(pairing.arm.max(pairing.reference)),
        first.map_or_else(|| "–".to_owned(), |first| first.index.to_string()),
        cell(first.and_then(|first| first.round)),
        cell(first.and_then(|first| first.row)),
        of(rows.map(|rows| rows.bytes_differ), rows.map(|rows| rows.rows)),
        of(rows.map(|rows| rows.argmax_differ), rows.map(RowsCompared::recorded)),
        format!("{null}{}", sequence_verdict(sequence, pairing).word()),
    ]
}

/// A law that the sequence breaks by itself outweighs what the comparison found.
fn sequence_verdict(sequence: &SequenceJudgement, pairing: &Pairing) -> Verdict {
    let own = sequence.finding.iter().chain(&sequence.later);
    let own = own.filter(|breach| !crate::algebra::outcome::BETWEEN.contains(&breach.law)).count() > 0;
    let both = [pairing.verdict, if own { Verdict::Inconsistent } else { pairing.verdict }];
    crate::algebra::outcome::strongest(both).unwrap_or(pairing.verdict)
}

/// What one arm's lines in the overview rest on; of several sequences, those of which the line does not say it all.
fn details(name: &str, arm: &ArmJudgement) -> Table {
    let mut table = Table::new().text(name).text("against its reference");
    for sequence in &arm.sequences {
        let Some(pairing) = &sequence.against else { continue };
        if arm.sequences.len() > 1 {
            if says_it_all(sequence, pairing) {
                continue;
            }
            table.row(["sequence".to_owned(), sequence.sequence.to_string()]);
        }
        pairing_rows(&mut table, pairing);
    }
    table
}

/// Equal in text and rows, with nothing to remark.
fn says_it_all(sequence: &SequenceJudgement, pairing: &Pairing) -> bool {
    let plain = pairing.drift.is_none()
        && pairing.flip.is_none()
        && pairing.margin.is_none()
        && pairing.notes.is_empty();
    let rows = pairing.rows.as_ref().is_none_or(RowsCompared::all_equal);
    let states = pairing.states.as_ref().is_none_or(StatesCompared::all_equal);
    plain && rows && states && sequence_verdict(sequence, pairing) == Verdict::Identical
}

fn pairing_rows(table: &mut Table, pairing: &Pairing) {
    if let Some(unit) = pairing.unit {
        table.row(["stream".to_owned(), stream(pairing, unit)]);
    }
    if let Some(rows) = &pairing.rows {
        table.row(["rows".to_owned(), rows_text(rows)]);
    }
    if let Some(states) = &pairing.states {
        table.row(["states".to_owned(), states_text(states)]);
    }
    if let Some(drift) = &pairing.drift {
        table.row(["log-probs".to_owned(), drift_text(drift, pairing.flip.as_ref())]);
    }
    if let Some(flip) = &pairing.flip {
        table.row(["flip".to_owned(), flip_text(flip)]);
    }
    if let Some(margin) = &pairing.margin {
        let known = pairing.flip.as_ref().is_some_and(|flip| flip.gap.is_some());
        table.row(["margin".to_owned(), margin_text(margin, known)]);
    }
    pairing.notes.iter().for_each(|note| table.row(["note", note]));
}

fn stream(pairing: &Pairing, unit: Unit) -> String {
    let Pairing { equal, arm, reference, .. } = pairing;
    let Some(first) = &pairing.first else {
        return match equal {
            1 => format!("the one {} is equal", unit_name(unit, 1)),
            _ => format!("all {equal} {} equal", unit_name(unit, *equal)),
        };
    };
    let lengths = if arm == reference { format!("{arm}") } else { format!("{arm} against {reference}") };
    format!("{equal} {} equal of {lengths}; {}", unit_name(unit, *equal), first_text(first))
}

fn first_text(first: &First) -> String {
    let show = |token: &Option<String>| token.clone().unwrap_or_else(|| "nothing".to_owned());
    let round = first.round.zip(first.row).map(|(round, row)| format!(", round {round} row {row}"));
    let kind = first.row_kind.map(|kind| format!(" ({kind})"));
    let position = first.position.map(|position| format!(", position {position}"));
    format!(
        "first difference at index {}{}{}{}: reference {}, arm {}",
        first.index,
        round.unwrap_or_default(),
        kind.unwrap_or_default(),
        position.unwrap_or_default(),
        show(&first.expected),
        show(&first.found)
    )
}

fn rows_text(rows: &RowsCompared) -> String {
    // Writing into a String cannot fail.
    let mut text = format!(
        "{} compared: {} equal, {} differ in bytes, {} differ in argmax",
        rows.rows, rows.equal, rows.bytes_differ, rows.argmax_differ
    );
    if rows.unknown > 0 {
        let _ = write!(text, ", {} without digest or bytes", rows.unknown);
    }
    let Some(first) = &rows.first else { return text };
    let round = first.round.zip(first.row).map(|(round, row)| format!(", round {round} row {row}"));
    let _ = write!(text, "; first at index {}{}", first.index, round.unwrap_or_default());
    match &first.bits {
        None => text += " (by digest; keep the bytes to see what differs)",
        Some(bits) => {
            let _ = write!(
                text,
                ": {} of {} bytes, {} of {} values (up to {}), {} signed zeros, {} NaN",
                bits.differing_bytes,
                bits.bytes,
                bits.differing_values,
                bits.values,
                counted(bits.max_ulps, "ulp"),
                bits.signed_zeros,
                bits.nans
            );
        }
    }
    text
}

fn states_text(states: &StatesCompared) -> String {
    let text =
        format!("{} compared: {} equal, {} differ in bytes", states.states, states.equal, states.differ());
    let unplaced = match states.unplaced {
        0 => String::new(),
        count => {
            format!(", {count} without cache_len or cache_after, so of unknown positions and not compared")
        }
    };
    let text = text + &unplaced;
    let Some(first) = &states.first else { return text };
    let round = first.round.map_or_else(String::new, |round| format!("after round {round}, "));
    format!("{text}; first {round}with {} positions", first.positions)
}

fn drift_text(drift: &Drift, flip: Option<&Judged>) -> String {
    let quantum = flip.and_then(|flip| flip.quantum);
    let mut text = format!("{} compared: {} equal", drift.compared, drift.equal);
    if drift.differing > 0 {
        let by = quantum.map(|quantum| format!("{} by one quantum of {quantum}, ", drift.by_one_quantum));
        let at: Vec<String> = drift.indices.iter().map(ToString::to_string).collect();
        let more = if drift.differing > drift.indices.len() { ", …" } else { "" };
        let _ = write!(
            text,
            ", {} differ ({}largest {}) at {}{more}",
            drift.differing,
            by.unwrap_or_default(),
            drift.largest,
            at.join(", ")
        );
    }
    text
}

fn flip_text(flip: &Judged) -> String {
    let mut units = Vec::new();
    units.extend(flip.gap.map(|gap| format!("gap {gap} logits")));
    units.extend(flip.reported_gap.map(|gap| format!("reported gap {gap}")));
    units.extend(flip.ulps.map(|ulps| decimals(ulps, "ulp", "ulps")));
    units.extend(flip.quanta.map(|quanta| decimals(quanta, "quantum", "quanta")));
    let units = if units.is_empty() { String::new() } else { format!(" ({})", units.join(", ")) };
    format!("{}{units}: {}", flip.verdict, flip.says)
}

/// Whole counts without decimals, others with two.
fn decimals(number: f64, one: &str, many: &str) -> String {
    let text = format!("{number:.2}");
    let text = text.strip_suffix(".00").unwrap_or(&text);
    format!("{text} {}", if text == "1" { one } else { many })
}

fn margin_text(margin: &Margin, known: bool) -> String {
    if !known {
        return format!("the gap is not known, so no margin holds: neither {} logits nor 0", margin.margin);
    }
    let word = |within: bool| if within { "within" } else { "not within" };
    format!(
        "{} {} logits; control at margin 0: {}. The verdict does not follow a margin.",
        word(margin.within),
        margin.margin,
        word(margin.within_zero)
    )
}

/// The readings with their evidence.
#[must_use]
pub fn patterns(judgement: &Judgement) -> Table {
    let mut table = Table::new().text("reading").text("evidence");
    for pattern in &judgement.patterns {
        table.row([pattern.pattern.clone(), pattern.says.clone()]);
        pattern.evidence.iter().for_each(|line| table.row(["", line]));
    }
    table
}

/// The last line: one verdict and how much was compared. Tokens after a flip are not counted: from there on the two
/// arms read different texts.
fn conclusion(judgement: &Judgement, style: Style) -> String {
    let sequences = judgement.arms.iter().flat_map(|arm| &arm.sequences);
    let pairings = sequences.filter_map(|sequence| sequence.against.as_deref());
    // What was ended before a stream was looked at, or proves nothing, was not compared.
    let compared: Vec<&Pairing> =
        pairings.filter(|one| one.unit.is_some() && one.verdict != Verdict::Vacuous).collect();
    let covered: usize = compared.iter().map(|pairing| pairing.past_prompt).sum();
    let sum = |count: fn(&ArmJudgement) -> u64| judgement.arms.iter().map(count).sum::<u64>();
    let unit = compared.iter().find_map(|pairing| pairing.unit);
    let unit =
        unit.filter(|unit| compared.iter().all(|pairing| pairing.unit.is_none_or(|other| other == *unit)));
    let verdict = match style {
        Style::Markdown => format!("**{}**", judgement.verdict),
        Style::Terminal(_) => judgement.verdict.to_string(),
    };
    format!(
        "{verdict}: {} compared with the reference, {covered} {} past the prompt, {}; {} and {} judged.",
        counted(compared.len(), "sequence"),
        unit.map_or_else(|| form(covered, "token"), |unit| unit_name(unit, covered)),
        bytes_text(&compared),
        counted(sum(|arm| arm.compared.rounds), "round"),
        counted(sum(|arm| arm.compared.proposed), "proposal")
    )
}

/// How many rows and states were held against the reference's, and how many have other bytes: equal text alone would
/// read as if nothing differed.
fn bytes_text(compared: &[&Pairing]) -> String {
    let rows = || compared.iter().filter_map(|pairing| pairing.rows.as_ref());
    let states = || compared.iter().filter_map(|pairing| pairing.states.as_ref());
    let part = |all: usize, differ: usize, what: &str| {
        let other = if differ == 0 { String::new() } else { format!(" ({differ} with other bytes)") };
        counted(all, what) + &other
    };
    let mut text =
        part(rows().map(|rows| rows.rows).sum(), rows().map(|rows| rows.bytes_differ).sum(), "row");
    if let unknown @ 1.. = rows().map(|rows| rows.unknown).sum::<usize>() {
        text = format!("{text} and {unknown} more without digest");
    }
    if states().next().is_some() {
        let (all, differ) = (states().map(|found| found.states), states().map(StatesCompared::differ));
        text = format!("{text}, {}", part(all.sum(), differ.sum(), "state"));
    }
    if let unplaced @ 1.. = states().map(|found| found.unplaced).sum::<usize>() {
        text = format!("{text} and {unplaced} more of unknown positions");
    }
    text
}

/// Everything: the overview, each arm's evidence and broken laws, what could not be asked, the readings, the verdict.
#[must_use]
pub fn text(judgement: &Judgement, style: Style) -> String {
    let form = |table: &Table| match style {
        Style::Terminal(width) => table.terminal(Some(width.unwrap_or(110))),
        Style::Markdown => table.markdown(),
    };
    let some = |table: Table| (!table.is_empty()).then(|| form(&table));
    let mut parts: Vec<String> = some(overview(judgement)).into_iter().collect();
    for arm in &judgement.arms {
        parts.extend(some(details(&name(judgement, arm), arm)));
        parts.extend(judged::arm_text(arm, style));
    }
    parts.push(judged::coverage(&judgement.arms, style));
    parts.extend(some(patterns(judgement)));
    parts.push(conclusion(judgement, style));
    parts.iter().map(|part| part.trim_end()).collect::<Vec<_>>().join("\n\n")
}
