//! What computed, and on what: as the transcripts' headers say it, each different machine once.

use super::document::{Block, Section, sources};
use crate::records::experiment::Run;
use crate::records::gather::Gathered;
use crate::results::Table;
use crate::transcript::Header;

/// The section.
#[must_use]
pub fn section(all: &Gathered) -> Section {
    let mut kinds: Vec<(Vec<[String; 2]>, Vec<&Run>)> = Vec::new();
    for run in all.experiments.iter().flat_map(|one| &one.runs) {
        let facts = facts(&run.header);
        match kinds.iter_mut().find(|(known, _)| *known == facts) {
            Some((_, runs)) => runs.push(run),
            None => kinds.push((facts, vec![run])),
        }
    }
    let mut blocks: Vec<Block> = Vec::new();
    for (facts, runs) in kinds {
        let files = sources(runs.iter().map(|run| run.file.as_str()));
        if facts.is_empty() {
            blocks.push(Block::missing(format!(
                "machine, library and model of {}: its headers do not say",
                files.join(", ")
            )));
            continue;
        }
        let mut table = Table::new().text("what").text("as recorded");
        for fact in facts {
            table.row(fact);
        }
        blocks.push(Block::table(table, files));
    }
    blocks.extend(swept(all));
    blocks.extend(all.bisects.iter().map(|one| {
        let mut table = Table::new().text("what").text("as recorded");
        table.row(["model", &one.result.model]);
        table.row(["library, device and program", &one.result.machine]);
        Block::table(table, vec![one.file.clone()])
    }));
    if blocks.is_empty() {
        blocks.push(Block::missing("machine and build: no input says on what it ran"));
    }
    Section::new("machine", "Machine and build", blocks)
}

/// What a header says of machine, library, model and program.
fn facts(header: &Header) -> Vec<[String; 2]> {
    let mut facts: Vec<[String; 2]> = Vec::new();
    let mut add = |what: &str, parts: &[Option<String>]| {
        let known: Vec<String> = parts.iter().flatten().filter(|part| !part.is_empty()).cloned().collect();
        if !known.is_empty() {
            facts.push([what.to_owned(), known.join(", ")]);
        }
    };
    let model = header.model.clone().unwrap_or_default();
    let backend = header.backend.clone().unwrap_or_default();
    let host = header.host.clone().unwrap_or_default();
    add("model", &[model.name, model.quantization, model.dtype.map(|dtype| format!("activations {dtype}"))]);
    add("model digest", &[model.digest]);
    add("library", &[backend.name, backend.version]);
    add("device", &[backend.device, backend.driver.map(|driver| format!("driver {driver}"))]);
    add("host", &[host.os, host.arch, host.cpu, host.cores.map(|cores| format!("{cores} logical cores"))]);
    add("imported from", &[header.source.as_ref().and_then(|source| source.log.clone())]);
    facts
}

/// Sweeps carry the same in their definition, with the version of the program.
fn swept(all: &Gathered) -> Vec<Block> {
    let table = |one: &crate::records::gather::From<crate::results::sweep::Journal>| {
        let definition = &one.result.header.definition;
        let mut table = Table::new().text("what").text("as recorded");
        let known =
            |parts: [&Option<String>; 3]| parts.into_iter().flatten().cloned().collect::<Vec<_>>().join(", ");
        let (model, backend) = (&definition.model, &definition.backend);
        table.row(["model", &known([&model.name, &model.quantization, &model.dtype])]);
        table.row(["model digest", model.digest.as_deref().unwrap_or("not known")]);
        table.row(["library and device", &known([&backend.name, &backend.version, &backend.device])]);
        table.row(["program", &format!("exactness {}", definition.program)]);
        Block::table(table, vec![one.file.clone()])
    };
    all.sweeps.iter().map(table).collect()
}
