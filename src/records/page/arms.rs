//! What ran in which order, and how each run came out.

use super::document::{Block, Section};
use crate::records::experiment::{Experiment, Run};
use crate::records::gather::Gathered;
use crate::results::Table;
use crate::results::stored::{Arm, Judgement, Part};
use crate::transcript::ArmKind;

const DASH: &str = "–";
/// The most findings of a comparison that are told one by one.
const MOST_FINDINGS: usize = 40;

/// Arms in the order in which they started.
#[must_use]
pub fn order(all: &Gathered) -> Section {
    let mut blocks = Vec::new();
    for one in &all.experiments {
        let mut table =
            Table::new().number("#").text("arm").text("file").number("width").text("drafter").text("routes");
        table = table.number("prompts").number("prompt ids").number("budget").text("started");
        for (index, run) in one.runs.iter().enumerate() {
            table.row(run_row(index, run));
        }
        blocks.extend(Block::heading(&one.folder, all.experiments.len() > 1));
        blocks.push(Block::named(table));
    }
    if blocks.is_empty() {
        blocks.push(Block::absent(format!("arms: {} (exactness run-arm)", all.no_arm(""))));
    }
    Section::new("arms", "Arms, in the order in which they ran", blocks)
}

fn run_row(index: usize, run: &Run) -> Vec<String> {
    let header = &run.header;
    let known = |number: Option<i64>| number.map_or_else(|| DASH.to_owned(), |number| number.to_string());
    vec![
        (index + 1).to_string(),
        run.label(),
        run.file.clone(),
        known(header.width),
        header.drafter.as_ref().and_then(|drafter| drafter.name.clone()).unwrap_or_else(|| DASH.to_owned()),
        header.routes.clone().unwrap_or_else(|| DASH.to_owned()),
        run.prompts.to_string(),
        run.prompt_ids.map_or_else(|| "not known".to_owned(), |ids| ids.to_string()),
        known(header.max_tokens),
        header.started.clone().unwrap_or_else(|| "not known".to_owned()),
    ]
}

/// How each run came out.
#[must_use]
pub fn verdicts(all: &Gathered) -> Section {
    let mut blocks: Vec<Block> = Vec::new();
    for one in &all.experiments {
        blocks.extend(Block::heading(&one.folder, all.experiments.len() > 1));
        blocks.push(table(&one.judgement, Some(one)));
        blocks.extend(findings(&one.judgement));
        if !one.says.is_empty() {
            blocks.push(Block::List { items: one.says.clone() });
        }
        if !one.has_reference {
            blocks.push(Block::missing(format!(
                "plain decoding of {}: no classic run stands beside the arms, so that they were judged by their own laws alone",
                one.folder
            )));
        }
    }
    for one in &all.judgements {
        blocks.push(Block::text(format!("As stored in {}:", one.file)));
        blocks.push(table(&one.result, None));
        blocks.extend(findings(&one.result));
    }
    if blocks.is_empty() {
        blocks.push(Block::absent(format!(
            "verdicts of arms: {} (exactness compare --format json)",
            all.no_arm(" and no stored comparison")
        )));
    }
    Section::new("verdicts", "Verdicts", blocks)
}

fn table(judgement: &Judgement, experiment: Option<&Experiment>) -> Block {
    let mut table =
        Table::new().text("arm").text("file").text("verdict").number("prompts identical").number("tokens");
    table =
        table.number("rounds").number("rewinds").number("accepted").number("rows ≠").text("stream sha256");
    let states = judgement.arms.iter().any(|arm| states(arm).is_some());
    if states {
        table = table.number("states ≠");
    }
    let run = |arm: &Arm| experiment.and_then(|one| one.runs.iter().find(|run| run.file == arm.file));
    let mut arms: Vec<(usize, &Arm)> =
        judgement.arms.iter().map(|arm| (order_of(arm, experiment), arm)).collect();
    arms.sort_by_key(|(place, _)| *place);
    for (_, arm) in arms {
        let mut row = verdict_row(arm, run(arm), judgement.part(arm));
        row.extend(states.then(|| states_cell(arm)));
        table.row(row);
    }
    Block::named(table)
}

/// States with other bytes, and all that were compared.
fn states(arm: &Arm) -> Option<(usize, usize)> {
    let compared = arm.sequences.iter().filter_map(|one| one.against.as_ref()?.states.as_ref());
    compared
        .map(|states| (states.differ(), states.states))
        .reduce(|sum, states| (sum.0.saturating_add(states.0), sum.1.saturating_add(states.1)))
}

fn states_cell(arm: &Arm) -> String {
    states(arm).map_or_else(|| DASH.to_owned(), |(differ, compared)| format!("{differ} of {compared}"))
}

/// The place of an arm among those that ran.
fn order_of(arm: &Arm, experiment: Option<&Experiment>) -> usize {
    let place = experiment.and_then(|one| one.runs.iter().position(|run| run.file == arm.file));
    place.unwrap_or(usize::MAX)
}

fn verdict_row(arm: &Arm, run: Option<&Run>, part: Part) -> Vec<String> {
    let pairings = arm.sequences.iter().filter_map(|one| one.against.as_ref());
    // Of a repeat the word says it; the counts are those of arms.
    let pairings: Vec<_> = pairings.filter(|_| part != Part::NullArm).collect();
    let identical = pairings.iter().filter(|one| one.verdict.exit_code() == 0).count();
    let rows: Vec<_> = pairings.iter().filter_map(|one| one.rows.as_ref()).collect();
    let (compared, differ) = rows.iter().fold((0, 0), |(all, differ): (usize, usize), rows| {
        (all.saturating_add(rows.rows), differ.saturating_add(rows.bytes_differ))
    });
    let of = |part: u64, all: u64| if all == 0 { DASH.to_owned() } else { format!("{part} of {all}") };
    let stream = run.and_then(|run| run.stream.as_ref());
    vec![
        run.map_or_else(|| arm.arm.clone(), Run::label),
        arm.file.clone(),
        word(arm, run, part),
        of(identical as u64, pairings.len() as u64),
        arm.compared.tokens.to_string(),
        arm.compared.rounds.to_string(),
        arm.compared.rewinds.to_string(),
        of(arm.compared.accepted, arm.compared.proposed),
        if rows.is_empty() { DASH.to_owned() } else { format!("{differ} of {compared}") },
        stream.map_or_else(|| DASH.to_owned(), |digest| digest.chars().take(16).collect()),
    ]
}

/// A reference is compared with nothing, and a repeat with its own run.
fn word(arm: &Arm, run: Option<&Run>, part: Part) -> String {
    let plain = arm.verdict.exit_code() == 0;
    match run {
        Some(Run { null: Some((_, differing)), .. }) if plain => {
            if *differing == 0 {
                "null arm: identical".to_owned()
            } else {
                "null arm: differs".to_owned()
            }
        }
        Some(run) if plain && run.header.kind == ArmKind::Classic => "reference".to_owned(),
        Some(_) => arm.verdict.to_string(),
        None => match part {
            // A run that differs from its repeat is not comparable, and says so itself.
            Part::NullArm if plain => "null arm: identical".to_owned(),
            Part::NullArm => format!("null arm: {}", arm.verdict),
            Part::Reference if plain => "reference".to_owned(),
            Part::Reference | Part::Arm => arm.verdict.to_string(),
        },
    }
}

/// Broken laws in words, one sentence for all sequences of a file that break the same one in the same way.
fn findings(judgement: &Judgement) -> Option<Block> {
    let mut items: Vec<String> = Vec::new();
    for arm in &judgement.arms {
        items.extend(arm.cut.iter().map(|cut| format!("{}: cut run: {cut}.", arm.file)));
        items.extend(broken(arm).into_iter().map(|(says, sequences)| {
            let sequences: Vec<String> = sequences.iter().map(ToString::to_string).collect();
            format!("{}: {says} (sequence {}).", arm.file, sequences.join(", "))
        }));
    }
    let more = items.len().saturating_sub(MOST_FINDINGS);
    items.truncate(MOST_FINDINGS);
    items.extend((more > 0).then(|| format!("And {more} more; exactness check-algebra prints them.")));
    (!items.is_empty()).then_some(Block::List { items })
}

/// What an arm's findings say, with the sequences that say it; where streams part is told elsewhere.
fn broken(arm: &Arm) -> Vec<(String, Vec<i64>)> {
    let mut told: Vec<(String, Vec<i64>)> = Vec::new();
    for sequence in &arm.sequences {
        let Some(breach) =
            sequence.finding.as_ref().filter(|one| !["stream", "length"].contains(&one.law.as_str()))
        else {
            continue;
        };
        let place = |name: &str, number: Option<i64>| {
            number.map_or_else(String::new, |number| format!(", {name} {number}"))
        };
        let (round, row) = (place("round", breach.round), place("row", breach.row));
        let says = format!("law {} is broken{round}{row}: {}", breach.law, breach.says);
        match told.iter_mut().find(|(known, _)| *known == says) {
            Some((_, sequences)) => sequences.push(sequence.sequence),
            None => told.push((says, vec![sequence.sequence])),
        }
    }
    told
}
