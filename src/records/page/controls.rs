//! Controls, before anything that rests on them: each arm against its own repeat, recording against not recording,
//! planted faults that had to be found.

use super::document::{Block, Section};
use crate::records::experiment::{Experiment, Run};
use crate::records::gather::Gathered;
use crate::records::planted;
use crate::results::{Table, part_of};
use std::collections::BTreeMap;

/// The section.
#[must_use]
pub fn section(all: &Gathered) -> Section {
    let mut blocks: Vec<Block> = nulls(&all.experiments);
    blocks.extend(observer(all));
    for one in &all.parities {
        blocks.push(match one.result.controls {
            Some((seen, of)) => Block::text(format!(
                "Op parity ({}): the planted fault of one step was found in {}.",
                one.file,
                part_of(seen, of, "run")
            )),
            None => Block::missing(format!(
                "op parity's control: {} is CSV, which does not carry it; --out FILE.json does",
                one.file
            )),
        });
    }
    for one in all.bisects.iter().filter(|one| !one.result.controls.is_empty()) {
        blocks.push(Block::table(one.result.controls_table(), vec![one.file.clone()]));
    }
    blocks.extend(plants(all));
    if blocks.is_empty() {
        blocks.push(Block::absent(format!("null arms: {} (exactness run-arm)", all.no_arm(""))));
    }
    Section::new("controls", "Controls", blocks)
}

/// Each repeat against the first run of its arm.
fn nulls(all: &[Experiment]) -> Vec<Block> {
    let mut table =
        Table::new().text("file").text("repeat").number("prompts").number("identical").text("null arm");
    for run in all.iter().flat_map(|one| &one.runs) {
        let Some((prompts, differing)) = run.null else { continue };
        let word = match (prompts, differing) {
            (0, _) => "not run",
            (_, 0) => "identical",
            _ => "differs",
        };
        table.row([
            run.file.as_str(),
            &run.label(),
            &prompts.to_string(),
            &(prompts - differing).to_string(),
            word,
        ]);
    }
    let mut blocks = if table.is_empty() { Vec::new() } else { vec![Block::named(table)] };
    let alone = all.iter().filter(|one| one.runs.iter().all(|run| run.null.is_none()));
    blocks.extend(alone.map(|one| {
        Block::missing(format!(
            "null arm of {}: no run was repeated, so that nothing shows that an arm equals itself (run-arm --repeat)",
            one.folder
        ))
    }));
    blocks
}

/// Runs that decode the same thing, once with their rows recorded and once without: their streams have to be equal.
fn observer(all: &Gathered) -> Vec<Block> {
    let mut watched: BTreeMap<String, [Option<&Run>; 2]> = BTreeMap::new();
    for one in &all.experiments {
        for run in one.runs.iter().filter(|run| run.header.repeat.unwrap_or(0) == 0) {
            let judged = one.judgement.arms.iter().find(|arm| arm.file == run.file);
            let rows = judged.map_or(0, |arm| arm.compared.rows);
            watched.entry(what_is_decoded(run)).or_default()[usize::from(rows > 0)] = Some(run);
        }
    }
    let mut table = Table::new().text("without rows").text("with rows").text("streams");
    for pair in watched.into_values() {
        let [Some(without), Some(with)] = pair else { continue };
        let same = without.stream.is_some() && without.stream == with.stream;
        table.row([without.file.as_str(), &with.file, if same { "identical" } else { "differ" }]);
    }
    if !table.is_empty() {
        let says = "Recording rows against not recording them (observer control):";
        return vec![Block::text(says), Block::named(table)];
    }
    // A bisect looks at both sides and walks them unseen, and says so in its own controls.
    if all.experiments.is_empty() || !all.bisects.is_empty() {
        return Vec::new();
    }
    vec![Block::missing(
        "observer control: no arm was recorded both with and without its rows (--rows=none), so that nothing here shows \
         that recording changes no token",
    )]
}

/// Everything in a header that decides which tokens come out.
fn what_is_decoded(run: &Run) -> String {
    let header = &run.header;
    let plants = planted::of(header);
    format!(
        "{:?}",
        (
            (&header.arm, header.width, &header.drafter, header.seed, &header.routes, plants),
            (&run.prompts_sha256, header.max_tokens, header.ignore_eos, &header.model, &header.backend),
        )
    )
}

/// Faults that were put in on purpose stand before anything that they explain.
fn plants(all: &Gathered) -> Option<Block> {
    let runs = all.experiments.iter().flat_map(|one| &one.runs);
    let runs = runs.map(|run| (&run.file, planted::of(&run.header)));
    let sweeps = all.sweeps.iter().map(|one| (&one.file, one.result.header.definition.plants.clone()));
    let bisects = all.bisects.iter().map(|one| (&one.file, one.result.question.planted.clone()));
    let remedies = all.remedies.iter().map(|one| (&one.file, one.result.planted.clone()));
    let probes = all.probes.iter().map(|one| (&one.file, one.result.planted.clone()));
    let told = runs.chain(sweeps).chain(bisects).chain(remedies).chain(probes);
    let told = told.filter(|(_, plants)| !plants.is_empty());
    let items: Vec<String> = told
        .map(|(file, plants)| format!("{file}: a fault was planted on purpose: {}.", plants.join("; ")))
        .collect();
    (!items.is_empty()).then_some(Block::List { items })
}
