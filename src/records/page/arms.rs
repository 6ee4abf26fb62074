//! What ran in which order, and how each run came out.

use super::document::{Block, Section, sources};
use crate::records::experiment::{Experiment, Run};
use crate::records::gather::Gathered;
use crate::results::Table;
use crate::results::stored::{Arm, Judgement};
use crate::transcript::ArmKind;

const DASH: &str = "–";

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
        let files = sources(one.runs.iter().map(|run| run.file.as_str()));
        blocks.push(Block::table(table, files));
    }
    if blocks.is_empty() {
        blocks.push(Block::missing("arms: no transcript is among the inputs"));
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
        blocks.push(table(&one.judgement, Some(one)));
        blocks.extend(findings(&one.judgement));
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
        blocks.push(Block::missing(
            "verdicts of arms: no transcript and no stored comparison is among the inputs",
        ));
    }
    Section::new("verdicts", "Verdicts", blocks)
}

fn table(judgement: &Judgement, experiment: Option<&Experiment>) -> Block {
    let mut table =
        Table::new().text("arm").text("file").text("verdict").number("prompts identical").number("tokens");
    table =
        table.number("rounds").number("rewinds").number("accepted").number("rows ≠").text("stream sha256");
    let run = |arm: &Arm| experiment.and_then(|one| one.runs.iter().find(|run| run.file == arm.file));
    for arm in &judgement.arms {
        table.row(verdict_row(arm, run(arm)));
    }
    Block::table(table, sources(judgement.arms.iter().map(|arm| arm.file.as_str())))
}

fn verdict_row(arm: &Arm, run: Option<&Run>) -> Vec<String> {
    let pairings: Vec<_> = arm.sequences.iter().filter_map(|one| one.against.as_ref()).collect();
    let identical = pairings.iter().filter(|one| one.verdict.exit_code() == 0).count();
    let rows: Vec<_> = pairings.iter().filter_map(|one| one.rows.as_ref()).collect();
    let (compared, differ) =
        rows.iter().fold((0, 0), |(all, differ), rows| (all + rows.rows, differ + rows.bytes_differ));
    let of = |part: u64, all: u64| if all == 0 { DASH.to_owned() } else { format!("{part} of {all}") };
    let stream = run.and_then(|run| run.stream.as_ref());
    vec![
        run.map_or_else(|| arm.arm.clone(), Run::label),
        arm.file.clone(),
        word(arm, run),
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
fn word(arm: &Arm, run: Option<&Run>) -> String {
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
        _ => arm.verdict.to_string(),
    }
}

/// Broken laws, in words.
fn findings(judgement: &Judgement) -> Option<Block> {
    let mut items = Vec::new();
    for arm in &judgement.arms {
        items.extend(arm.cut.iter().map(|cut| format!("{}: cut run: {cut}.", arm.file)));
        for sequence in &arm.sequences {
            let broken =
                sequence.finding.iter().filter(|breach| !["stream", "length"].contains(&breach.law.as_str()));
            items.extend(broken.map(|breach| {
                let place = |name: &str, number: Option<i64>| {
                    number.map_or_else(String::new, |number| format!(", {name} {number}"))
                };
                let (round, row) = (place("round", breach.round), place("row", breach.row));
                format!(
                    "{}, sequence {}{round}{row}: law {} is broken: {}.",
                    arm.file, sequence.sequence, breach.law, breach.says
                )
            }));
        }
    }
    items.truncate(40);
    (!items.is_empty()).then_some(Block::List { items })
}
