//! A comparison for eyes: one line an arm, then what each arm's line rests on, then one verdict.
//!
//! Both the terminal and the markdown come from the same tables, so that a report cannot say what the screen did not.

use super::Table;
use super::judgement::{ArmJudgement, Breach, Judgement, SequenceJudgement};
use crate::algebra::between::unit_name;
use crate::algebra::near_tie::{Judged, Margin};
use crate::algebra::pairing::First;
use crate::algebra::quantum::Drift;
use crate::algebra::rows::RowsCompared;
use crate::algebra::{Pairing, Verdict};
use std::fmt::Write as _;

/// The arms of a comparison, one row a sequence.
#[must_use]
pub fn overview(judgement: &Judgement) -> Table {
    let mut table = Table::new().text("arm").number("seq").number("equal").number("of").number("first");
    table =
        table.number("round").number("row").number("rows ≠ bytes").number("rows ≠ argmax").text("verdict");
    for arm in &judgement.arms {
        for sequence in &arm.sequences {
            if let Some(pairing) = &sequence.against {
                table.row(overview_row(arm, sequence, pairing));
            }
        }
    }
    table
}

fn overview_row(arm: &ArmJudgement, sequence: &SequenceJudgement, pairing: &Pairing) -> Vec<String> {
    let first = pairing.first.as_ref();
    let cell = |number: Option<i64>| number.map_or_else(|| "–".to_owned(), |number| number.to_string());
    let rows = pairing.rows.as_ref();
    let of = |part: usize| rows.map_or_else(|| "–".to_owned(), |rows| format!("{part} of {}", rows.rows));
    vec![
        arm.arm.clone(),
        sequence.sequence.to_string(),
        pairing.equal.to_string(),
        pairing.arm.max(pairing.reference).to_string(),
        first.map_or_else(|| "–".to_owned(), |first| first.index.to_string()),
        cell(first.and_then(|first| first.round)),
        cell(first.and_then(|first| first.row)),
        of(rows.map_or(0, |rows| rows.bytes_differ)),
        of(rows.map_or(0, |rows| rows.argmax_differ)),
        sequence_verdict(sequence, pairing).word().to_owned(),
    ]
}

/// A law that the sequence breaks by itself outweighs what the comparison found.
fn sequence_verdict(sequence: &SequenceJudgement, pairing: &Pairing) -> Verdict {
    let own = sequence.finding.iter().chain(&sequence.later);
    let own = own.filter(|breach| !crate::algebra::outcome::BETWEEN.contains(&breach.law)).count() > 0;
    let both = [pairing.verdict, if own { Verdict::Inconsistent } else { pairing.verdict }];
    crate::algebra::outcome::strongest(both).unwrap_or(pairing.verdict)
}

/// What one arm's lines in the overview rest on; empty when there is nothing to add.
#[must_use]
pub fn details(arm: &ArmJudgement) -> Table {
    let mut table = Table::new().text(&arm.arm).text(&arm.file);
    if let Some(cut) = &arm.cut {
        table.row(["cut run", cut]);
    }
    for sequence in &arm.sequences {
        if arm.sequences.len() > 1 {
            table.row(["sequence".to_owned(), sequence.sequence.to_string()]);
        }
        if let Some(pairing) = &sequence.against {
            pairing_rows(&mut table, pairing);
        }
        breaches(&mut table, sequence);
    }
    let lacks = arm.not_checkable.iter().map(|lack| format!("{} ({})", lack.law, lack.missing.join(", ")));
    let lacks: Vec<String> = lacks.collect();
    if !lacks.is_empty() {
        table.row(["not checkable", &lacks.join("; ")]);
    }
    table
}

fn breaches(table: &mut Table, sequence: &SequenceJudgement) {
    let mut add = |what: &str, breach: &Breach| {
        let round = breach.round.map(|round| format!(", round {round}"));
        let row = breach.row.map(|row| format!(" row {row}"));
        let place = round.unwrap_or_default() + &row.unwrap_or_default();
        table.row([what.to_owned(), format!("{}{place}: {}", breach.law, breach.says)]);
    };
    sequence.finding.iter().for_each(|breach| add("finding", breach));
    sequence.later.iter().for_each(|breach| add("later", breach));
    sequence.warnings.iter().for_each(|breach| add("warning", breach));
}

fn pairing_rows(table: &mut Table, pairing: &Pairing) {
    if let Some(unit) = pairing.unit {
        table.row(["stream".to_owned(), stream(pairing, unit_name(unit))]);
    }
    if let Some(rows) = &pairing.rows {
        table.row(["rows".to_owned(), rows_text(rows)]);
    }
    if let Some(drift) = &pairing.drift {
        table.row(["log-probs".to_owned(), drift_text(drift, pairing.flip.as_ref())]);
    }
    if let Some(flip) = &pairing.flip {
        table.row(["flip".to_owned(), flip_text(flip)]);
    }
    if let Some(margin) = &pairing.margin {
        table.row(["margin".to_owned(), margin_text(margin)]);
    }
    pairing.notes.iter().for_each(|note| table.row(["note", note]));
}

fn stream(pairing: &Pairing, unit: &str) -> String {
    let Pairing { equal, arm, reference, .. } = pairing;
    let Some(first) = &pairing.first else {
        return format!("all {equal} {unit} equal: {equal} past the prompt covered");
    };
    let lengths = if arm == reference { format!("{arm}") } else { format!("{arm} against {reference}") };
    format!("{equal} {unit} equal of {lengths}; {}", first_text(first))
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
                ": {} of {} bytes, {} of {} values (up to {} ulps), {} signed zeros, {} NaN",
                bits.differing_bytes,
                bits.bytes,
                bits.differing_values,
                bits.values,
                bits.max_ulps,
                bits.signed_zeros,
                bits.nans
            );
        }
    }
    text
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
    units.extend(flip.gap.map(|gap| format!("gap {gap}")));
    units.extend(flip.ulps.map(|ulps| format!("{} ulps", rounded(ulps))));
    units.extend(flip.quanta.map(|quanta| format!("{} quanta", rounded(quanta))));
    let units = if units.is_empty() { String::new() } else { format!(" ({})", units.join(", ")) };
    format!("{}{units}: {}", flip.verdict, flip.says)
}

/// Whole counts without decimals, others with two.
fn rounded(number: f64) -> String {
    let text = format!("{number:.2}");
    text.strip_suffix(".00").map_or(text.clone(), str::to_owned)
}

fn margin_text(margin: &Margin) -> String {
    let word = |within: bool| if within { "within" } else { "not within" };
    format!(
        "{} {}; control at 0: {}; the verdict does not follow it",
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

/// The last line: one verdict and how much was compared.
#[must_use]
pub fn verdict(judgement: &Judgement) -> String {
    let compared: Vec<&Pairing> = judgement
        .arms
        .iter()
        .flat_map(|arm| arm.sequences.iter().filter_map(|sequence| sequence.against.as_deref()))
        .collect();
    let tokens: usize = compared.iter().map(|pairing| pairing.arm.min(pairing.reference)).sum();
    let rows: usize = compared.iter().filter_map(|pairing| pairing.rows.as_ref()).map(|rows| rows.rows).sum();
    let sum = |count: fn(&ArmJudgement) -> u64| judgement.arms.iter().map(count).sum::<u64>();
    let unit = match compared.iter().find_map(|pairing| pairing.unit) {
        Some(unit) if compared.iter().all(|pairing| pairing.unit.is_none_or(|other| other == unit)) => {
            unit_name(unit)
        }
        _ => "tokens",
    };
    format!(
        "verdict: {} · compared {} with their reference: {tokens} {unit} past the prompt, {rows} rows; {} rounds, {} \
         proposals judged",
        judgement.verdict,
        plural(compared.len(), "sequence"),
        sum(|arm| arm.compared.rounds),
        sum(|arm| arm.compared.proposed)
    )
}

fn plural(count: usize, what: &str) -> String {
    if count == 1 { format!("{count} {what}") } else { format!("{count} {what}s") }
}

/// Everything, with the tables in the form that `form` makes of them.
#[must_use]
pub fn whole(judgement: &Judgement, form: impl Fn(&Table) -> String) -> String {
    let mut parts = vec![form(&overview(judgement))];
    parts.extend(
        judgement.arms.iter().map(details).filter(|table| !table.is_empty()).map(|table| form(&table)),
    );
    let patterns = patterns(judgement);
    if !patterns.is_empty() {
        parts.push(form(&patterns));
    }
    parts.push(verdict(judgement));
    parts.iter().map(|part| part.trim_end()).collect::<Vec<_>>().join("\n\n")
}
