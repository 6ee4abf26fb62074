//! The command lines that make the data and the record again, as the inputs recorded them.

use super::document::{Block, Section};
use crate::records::Settings;
use crate::records::experiment::Run;
use crate::records::gather::Gathered;
use crate::results::quoted::quoted;
use crate::transcript::Header;

/// The section.
#[must_use]
pub fn section(all: &Gathered, settings: &Settings) -> Section {
    let mut blocks = vec![Block::text(
        "In an empty folder, on the machine and library named above, with REPOSITORY set to a clone in which cargo build --release \
         was run. Digests of streams, rows and states, laws, verdicts, named places and chosen routes come out the same on the \
         same kernels. Times, speeds, moments and the host's name do not, nor do the digests of files, which have them inside. \
         The clone's harness/repeat.py runs these lines in a folder and says what came out the same.",
    )];
    let commands = commands(all, settings);
    if commands.is_empty() {
        blocks.push(Block::missing("the command lines that made the data: no input recorded its own"));
    } else {
        blocks.push(Block::code(commands.join("\n")));
    }
    blocks.push(Block::text("Whether this record still is what its data gives, in its folder:"));
    blocks.push(Block::code("exactness report --check .".to_owned()));
    Section::new("repeat", "Repeat", blocks)
}

/// Recorded command lines, runs in the order in which they started, each once, and the record of what they make.
fn commands(all: &Gathered, settings: &Settings) -> Vec<String> {
    let mut runs: Vec<&Run> = all.experiments.iter().flat_map(|one| &one.runs).collect();
    // A later command may read what an earlier one wrote.
    runs.sort_by_key(|run| (&run.header.started, &run.file));
    let recorded = runs.iter().filter_map(|run| ran(&run.header));
    let parities = all.parities.iter().map(|one| printed(&one.result.command, &one.file));
    let probes = all.probes.iter().map(|one| printed(&one.result.command, &one.file));
    let bisects = all.bisects.iter().map(|one| quoted(&one.result.command));
    let remedies = all.remedies.iter().map(|one| quoted(&one.result.command));
    let stopped = all.interrupted.iter().map(|one| quoted(&one.command));
    let sweeps = all.sweeps.iter().map(|one| swept(&one.result.header.definition));
    let mut told: Vec<String> = settings.commands.clone();
    for command in
        recorded.chain(bisects).chain(remedies).chain(stopped).chain(parities).chain(probes).chain(sweeps)
    {
        if !command.is_empty() && !told.contains(&command) {
            told.push(command);
        }
    }
    if !told.is_empty() {
        let start =
            ["export PATH=\"$REPOSITORY/target/release:$PATH\"", "exactness doctor"].map(str::to_owned);
        told.splice(0..0, start);
        told.push("exactness report . --out record".to_owned());
    }
    told
}

/// A run's command line; an imported one is another program's, on a machine that need not be there.
fn ran(header: &Header) -> Option<String> {
    let words = quoted(header.command.as_ref()?);
    Some(if header.source.is_some() && !words.is_empty() {
        format!("# recorded there: {words}")
    } else {
        words
    })
}

/// A command line whose result went to standard output has to say where.
fn printed(command: &[String], file: &str) -> String {
    let writes = |word: &String| word == "--out" || word.starts_with("--out=");
    if command.is_empty() || command.iter().any(writes) {
        return quoted(command);
    }
    let name = file.rsplit('/').next().unwrap_or(file).to_owned();
    format!("{} > {}", quoted(command), quoted(&[name]))
}

/// A sweep's definition as its command line.
fn swept(definition: &crate::results::sweep::Definition) -> String {
    let list = |numbers: &[usize]| numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    let seeds: Vec<String> = definition.seeds.iter().map(ToString::to_string).collect();
    let mut words = vec![
        "exactness".to_owned(),
        "sweep".to_owned(),
        "--lengths".to_owned(),
        list(&definition.lengths),
        "--widths".to_owned(),
        list(&definition.widths),
        "--seeds".to_owned(),
        seeds.join(","),
        "--walk".to_owned(),
        definition.walk.to_string(),
    ];
    if !definition.routes.is_empty() {
        words.push(format!("--routes={}", definition.routes));
    }
    words.extend(definition.plants.iter().map(|plant| format!("--plant={plant}")));
    words.extend(["--out".to_owned(), "sweep".to_owned()]);
    quoted(&words)
}
