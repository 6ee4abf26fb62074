//! A transcript as tables for eyes: its rounds, the rows of one round, or the steps of plain decoding.

use super::{Table, counted, part_of};
use crate::algebra::Side;
use crate::transcript::{Round, Row, Step, TokenId};

/// Spells tokens: by the stream index where a server spelled its tokens, else by id.
pub type Spell<'a> = &'a dyn Fn(Option<usize>, TokenId) -> String;

/// Every round of a sequence.
#[must_use]
pub fn rounds(side: &Side<'_>, spell: Spell<'_>) -> Table {
    let mut table =
        Table::new().number("round").number("index").number("width").text("bonus").text("accepted");
    table =
        table.text("rejected").text("own choice").number("rewind").text("cache").text("remark").text("text");
    side.starts().for_each(|(index, round)| table.row(round_row(round, index, spell)));
    table
}

fn round_row(round: &Round, index: usize, spell: Spell<'_>) -> Vec<String> {
    let accepted = accepted(round);
    let (kept, rejected) = round.draft.split_at(accepted.min(round.draft.len()));
    let text: String = round.emitted.iter().enumerate().map(|(k, id)| spell(Some(index + k), *id)).collect();
    vec![
        round.round.to_string(),
        index.to_string(),
        round.width.to_string(),
        round.bonus.to_string(),
        list(kept),
        list(rejected),
        round.target.get(accepted).map_or_else(|| "–".to_owned(), ToString::to_string),
        if rejected.is_empty() { "–".to_owned() } else { rejected.len().to_string() },
        format!("{} → {}", known(round.cache_before), known(round.cache_after)),
        remark(round, accepted),
        one_line(&text),
    ]
}

fn accepted(round: &Round) -> usize {
    usize::try_from(round.accepted).unwrap_or(0)
}

fn remark(round: &Round, accepted: usize) -> String {
    if round.emitted.len() < accepted + 1 {
        return format!("cut to {} of {}", round.emitted.len(), accepted + 1);
    }
    if accepted > 0 && accepted == round.draft.len() { "full accept".to_owned() } else { String::new() }
}

fn list(ids: &[TokenId]) -> String {
    if ids.is_empty() {
        return "–".to_owned();
    }
    ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

fn known(number: Option<i64>) -> String {
    number.map_or_else(|| "?".to_owned(), |number| number.to_string())
}

/// Line ends would tear a table's row.
fn one_line(text: &str) -> String {
    text.replace('\n', "⏎").replace('\t', "⇥")
}

/// The rows of one round, with what was fed, what was proposed and what became of it.
#[must_use]
pub fn rows(side: &Side<'_>, round: &Round, prompt: Option<usize>, spell: Spell<'_>) -> Table {
    let mut table =
        Table::new().number("row").text("fed").number("position").number("index").text("proposal");
    table = table.text("target").text("became").text("text").text("top").text("sha256");
    // The very line, because a doubled round has its number twice.
    let start = side.starts().find(|(_, other)| std::ptr::eq(*other, round)).map_or(1, |(start, _)| start);
    let rows = round.target.len().max(round.draft.len() + 1);
    let first = prompt.map(|length| length + start - 1);
    for row in 0..rows {
        let position = first.map(|first| first + row);
        table.row(row_row(round, row, (start, position), spell));
    }
    table
}

fn row_row(
    round: &Round,
    row: usize,
    (start, derived): (usize, Option<usize>),
    spell: Spell<'_>,
) -> Vec<String> {
    let id =
        |ids: &[TokenId], place: usize| ids.get(place).map_or_else(|| "–".to_owned(), ToString::to_string);
    let fed = match row.checked_sub(1) {
        None => format!("{} (bonus)", round.bonus),
        Some(draft) => format!("{} (draft)", id(&round.draft, draft)),
    };
    let recorded = round.rows.as_ref().and_then(|rows| rows.get(row));
    let emitted = row < round.emitted.len();
    let index = emitted.then(|| start + row);
    let told = recorded.and_then(|row| row.position).map(|position| position.to_string());
    let position = told.or_else(|| derived.map(|position| position.to_string()));
    vec![
        row.to_string(),
        fed,
        position.unwrap_or_else(|| "?".to_owned()),
        index.map_or_else(|| "–".to_owned(), |index| index.to_string()),
        id(&round.draft, row),
        id(&round.target, row),
        became(round, row, emitted).to_owned(),
        round.emitted.get(row).map_or_else(String::new, |id| one_line(&spell(index, *id))),
        recorded.map_or_else(String::new, top),
        recorded
            .and_then(|row| row.sha256.as_deref())
            .map_or_else(String::new, |digest| digest.chars().take(12).collect()),
    ]
}

fn became(round: &Round, row: usize, emitted: bool) -> &'static str {
    let accepted = accepted(round);
    match (row < accepted, row == accepted, emitted) {
        (true, _, true) => "proposal accepted",
        (_, true, true) => "the target's own choice",
        (true, _, false) | (_, true, false) => "cut",
        _ => "rejected",
    }
}

fn top(row: &Row) -> String {
    let Some(top) = &row.top else { return String::new() };
    let entry = |(id, logit): &(TokenId, Option<f64>)| match logit {
        Some(logit) => format!("{id}: {logit}"),
        None => format!("{id}: not finite"),
    };
    top.iter().take(3).map(entry).collect::<Vec<_>>().join(", ")
}

/// The steps of plain decoding.
#[must_use]
pub fn steps(side: &Side<'_>, spell: Spell<'_>) -> Table {
    let mut table =
        Table::new().number("index").text("input").text("token").number("cache").text("top").text("text");
    if let Some(prefill) = side.prefill {
        let row = prefill.row.as_ref().map_or_else(String::new, top);
        let text = one_line(&spell(Some(0), prefill.token));
        table.row([
            "0".to_owned(),
            "prompt".to_owned(),
            prefill.token.to_string(),
            known(prefill.cache_len),
            row,
            text,
        ]);
    }
    side.steps.iter().for_each(|step| table.row(step_row(step, spell)));
    table
}

fn step_row(step: &Step, spell: Spell<'_>) -> Vec<String> {
    vec![
        step.index.to_string(),
        step.input.to_string(),
        step.token.to_string(),
        known(step.cache_len),
        step.row.as_ref().map_or_else(String::new, top),
        one_line(&spell(usize::try_from(step.index).ok(), step.token)),
    ]
}

/// How much there is, in one line.
#[must_use]
pub fn summary(side: &Side<'_>) -> String {
    let tokens = side.ids().map(|ids| ids.len()).or_else(|| side.strings().map(<[String]>::len));
    let accepted: i64 = side.rounds.iter().fold(0, |sum: i64, round| sum.saturating_add(round.accepted));
    let footer = side
        .footer
        .map_or("no footer (cut run)", |footer| if footer.complete { "complete" } else { "not complete" });
    let rounds = if side.rounds.is_empty() {
        counted(side.steps.len(), "step")
    } else {
        let proposed: usize = side.rounds.iter().map(|round| round.draft.len()).sum();
        format!(
            "{}, {}, {} accepted",
            counted(side.rounds.len(), "round"),
            counted(side.rewinds(), "rewind"),
            part_of(accepted, proposed, "proposal")
        )
    };
    let tokens = tokens.map_or_else(|| "tokens not known".to_owned(), |tokens| counted(tokens, "token"));
    format!("sequence {}: {tokens}, {rounds}; {footer}", side.sequence)
}
