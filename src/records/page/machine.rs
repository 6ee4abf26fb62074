//! What computed, and on what: as headers and results say it, each different machine once. A program that is not named
//! is said not to be recorded: the engine is part of what is measured.

use super::document::{Block, Section, sources};
use crate::records::experiment::Run;
use crate::records::gather::{From, Gathered};
use crate::records::input::folder_of;
use crate::records::interrupted::Interrupted;
use crate::results::Table;
use crate::results::stored::Probe;
use crate::results::sweep::Journal;
use crate::transcript::Header;

/// What stands where no version of the program is known.
const UNKNOWN: &str = "not recorded";

/// The section.
#[must_use]
pub fn section(all: &Gathered) -> Section {
    let runs = all.experiments.iter().flat_map(|one| &one.runs);
    let mut said: Vec<Said> = runs.map(recorded).collect();
    said.extend(all.sweeps.iter().map(swept));
    said.extend(all.bisects.iter().map(|one| {
        let facts =
            vec![fact("model", &one.result.model), fact("library, device and program", &one.result.machine)];
        Said { facts, files: vec![&one.file] }
    }));
    said.extend(all.remedies.iter().map(|one| {
        // The result does not name the program; the trail beside it does.
        let trail = all.trails.iter().find(|trail| folder_of(&trail.file) == folder_of(&one.file));
        let program = trail.map(|trail| format!("exactness {}", trail.result.program));
        let facts = vec![
            fact("model", &one.result.model),
            fact("library and device", &one.result.machine),
            fact("program", program.as_deref().unwrap_or(UNKNOWN)),
        ];
        Said {
            facts,
            files: std::iter::once(&one.file)
                .chain(trail.map(|trail| &trail.file))
                .map(String::as_str)
                .collect(),
        }
    }));
    said.extend(all.interrupted.iter().map(stopped));
    said.extend(all.probes.iter().map(probed));
    said.extend(all.parities.iter().map(|one| {
        let subject = one.result.subject.as_ref();
        let facts = subject.map(|subject| vec![fact("operations of", subject), fact("program", UNKNOWN)]);
        Said { facts: facts.unwrap_or_default(), files: vec![&one.file] }
    }));
    let mut blocks: Vec<Block> =
        grouped(said).into_iter().map(|(facts, files)| block(facts, files)).collect();
    if blocks.is_empty() {
        blocks.push(Block::absent("machine and build: no input says on what it ran"));
    }
    Section::new("machine", "Machine and build", blocks)
}

type Fact = [String; 2];

/// What an input says, and the files that say it.
struct Said<'a> {
    facts: Vec<Fact>,
    files: Vec<&'a str>,
}

fn fact(what: &str, value: &str) -> Fact {
    [what.to_owned(), value.to_owned()]
}

/// Files that say the same, in the order in which each machine first appears.
fn grouped(said: Vec<Said<'_>>) -> Vec<(Vec<Fact>, Vec<&str>)> {
    let mut kinds: Vec<(Vec<Fact>, Vec<&str>)> = Vec::new();
    for Said { facts, files } in said {
        match kinds.iter_mut().find(|(known, _)| *known == facts) {
            Some((_, known)) => known.extend(files),
            None => kinds.push((facts, files)),
        }
    }
    kinds
}

fn block(facts: Vec<Fact>, files: Vec<&str>) -> Block {
    let files = sources(files.into_iter());
    if facts.is_empty() {
        return Block::missing(format!(
            "machine, library and program of {}: it does not say",
            files.join(", ")
        ));
    }
    let mut table = Table::new().text("what").text("as recorded");
    for fact in facts {
        table.row(fact);
    }
    Block::table(table, files)
}

/// What a header says of machine, library, model and program.
fn recorded(run: &Run) -> Said<'_> {
    let header: &Header = &run.header;
    let mut facts: Vec<Fact> = Vec::new();
    let mut add = |what: &str, parts: &[Option<String>]| {
        let known = known(parts);
        if !known.is_empty() {
            facts.push([what.to_owned(), known]);
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
    if !facts.is_empty() {
        facts.push(fact("program", header.program.as_deref().unwrap_or(UNKNOWN)));
    }
    Said { facts, files: vec![&run.file] }
}

fn known(parts: &[Option<String>]) -> String {
    let known = parts.iter().flatten().filter(|part| !part.is_empty());
    known.cloned().collect::<Vec<_>>().join(", ")
}

/// Sweeps carry the same in their definition.
fn swept(one: &From<Journal>) -> Said<'_> {
    let definition = &one.result.header.definition;
    let (model, backend) = (definition.model.clone(), definition.backend.clone());
    let digest = model.digest.as_deref().unwrap_or("not known");
    let facts = vec![
        fact("model", &known(&[model.name, model.quantization, model.dtype])),
        fact("model digest", digest),
        fact("library and device", &known(&[backend.name, backend.version, backend.device])),
        fact("program", &format!("exactness {}", definition.program)),
    ];
    Said { facts, files: vec![&one.file] }
}

/// A probe's verdicts carry it in their keys; all of one command have the same.
fn probed(one: &From<Probe>) -> Said<'_> {
    let key = one.result.widths.first().map(|line| &line.key);
    let facts = key.map(|key| {
        vec![
            fact("model", &format!("{}, activations {}", one.result.model, key.dtype)),
            fact("model digest", &key.model),
            fact("library and device", &format!("{} {}, {}", key.backend, key.version, key.device)),
            fact("program", &format!("exactness {}", key.program)),
        ]
    });
    Said { facts: facts.unwrap_or_default(), files: vec![&one.file] }
}

/// An interrupted search has its trail alone.
fn stopped(one: &Interrupted) -> Said<'_> {
    let key = one.trail.key();
    let facts = vec![
        fact("model", &format!("{}, activations {}", key.model, key.dtype)),
        fact("model digest", &key.digest),
        fact("library and device", &key.machine),
        fact("program", &format!("exactness {}", key.program)),
    ];
    Said { facts, files: vec![&one.file] }
}
