//! The command lines that make the data and the record again, as the inputs recorded them.

use super::document::{Block, Section};
use crate::records::Settings;
use crate::records::experiment::Run;
use crate::records::gather::Gathered;
use crate::records::input::folder_of;
use crate::results::agreed;
use crate::results::quoted::quoted;
use crate::transcript::Header;

/// The section.
#[must_use]
pub fn section(all: &Gathered, settings: &Settings) -> Section {
    let commands = commands(all, settings);
    let above = commands.iter().any(|line| line.contains("../"));
    let beside = if above { " that has a folder of its own around it, for what begins with .." } else { "" };
    let mut blocks = vec![Block::text(format!(
        "In an empty folder{beside}, on the machine and library named above, with REPOSITORY set to a clone in which cargo \
         build --release was run. Digests of streams, rows and states, laws, verdicts, named places and chosen routes come out \
         the same on the same kernels. Times, speeds, moments and the host's name do not, nor do the digests of files, which \
         have them inside. The clone's harness/repeat.py runs these lines in a folder and says what came out the same.",
    ))];
    if commands.is_empty() {
        blocks.push(Block::missing("the command lines that made the data: no input recorded its own"));
    } else {
        let untold = untold(all, &commands);
        if !untold.is_empty() {
            blocks.push(Block::missing(format!(
                "the {} that made {}, which {} no command line (report --made-by COMMAND says it)",
                agreed(untold.len(), "line", "lines"),
                untold.join(", "),
                agreed(untold.len(), "records", "record")
            )));
        }
        let unmade = unmade(&commands);
        if !unmade.is_empty() {
            blocks.push(Block::missing(format!(
                "what makes or brings {}, which these lines read and none makes (report --setup COMMAND says it)",
                unmade.join(", ")
            )));
        }
        blocks.push(Block::code(commands.join("\n")));
    }
    blocks.push(Block::text("Whether this record still is what its data gives, in its folder:"));
    blocks.push(Block::code("exactness report --check .".to_owned()));
    Section::new("repeat", "Repeat", blocks)
}

/// Stored comparisons that no line names.
fn untold(all: &Gathered, commands: &[String]) -> Vec<String> {
    let names = |file: &&String| {
        let name = file.rsplit('/').next().unwrap_or(file.as_str());
        !commands.iter().any(|line| line.contains(name))
    };
    all.judgements.iter().map(|one| &one.file).filter(names).cloned().collect()
}

/// Flags whose value is a file or a folder to read.
const READING: [&str; 4] = ["--prompts", "--prompt-file", "--model", "--from"];

/// Files that a line reads and no line before it names: a reader does not have them.
fn unmade(commands: &[String]) -> Vec<String> {
    let mut unmade: Vec<String> = Vec::new();
    for (place, line) in commands.iter().enumerate().filter(|(_, line)| line.starts_with("exactness ")) {
        for path in read_by(line) {
            let folders = path.char_indices().filter(|(_, letter)| *letter == '/').map(|(at, _)| &path[..at]);
            let names = folders.chain([path]).filter(|name| !["", ".", ".."].contains(name));
            let made = |name: &str| commands[..place].iter().any(|before| makes(before, name));
            if !path.contains('$') && !names.into_iter().any(made) && !unmade.iter().any(|one| one == path) {
                unmade.push(path.to_owned());
            }
        }
    }
    unmade
}

/// The paths that a command line reads.
fn read_by(line: &str) -> Vec<&str> {
    let words: Vec<&str> = line.split(' ').collect();
    let value =
        |(place, word): (usize, &&'_ str)| -> Option<usize> { READING.contains(word).then_some(place + 1) };
    let after = words.iter().enumerate().filter_map(value).filter_map(|place| words.get(place).copied());
    let joined = words.iter().filter_map(|word| word.split_once('='));
    let joined = joined.filter(|(flag, _)| READING.contains(flag)).map(|(_, value)| value);
    after.chain(joined).map(|path| path.trim_matches('\'')).collect()
}

/// A line that puts something under this name: it is a word of it, and no file that it reads itself.
fn makes(line: &str, name: &str) -> bool {
    let words = line.split([' ', '=']).map(|word| word.trim_matches(['"', '\'']).trim_end_matches('/'));
    let read = if line.starts_with("exactness ") { read_by(line) } else { Vec::new() };
    words.into_iter().any(|word| word == name) && !read.contains(&name)
}

/// What prepares, then recorded command lines, runs in the order in which they started, each once, and the record of what
/// they make.
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
    let sweeps = all.sweeps.iter().map(|one| swept(&one.result.header.definition, &one.file));
    let results = bisects.chain(remedies).chain(stopped).chain(parities).chain(probes).chain(sweeps);
    let mut told: Vec<String> = Vec::new();
    for command in recorded.chain(results).chain(settings.commands.iter().cloned()) {
        if !command.is_empty() && !told.contains(&command) {
            told.push(command);
        }
    }
    if told.is_empty() {
        return told;
    }
    let mut lines = vec!["export PATH=\"$REPOSITORY/target/release:$PATH\"".to_owned()];
    lines.extend(settings.setup.iter().cloned().chain(["exactness doctor".to_owned()]).chain(told));
    lines.push("exactness report . --out record".to_owned());
    lines
}

/// A run's command line; one that is not this program's, as an imported one, is told and not to be pasted.
fn ran(header: &Header) -> Option<String> {
    let command = header.command.as_ref()?;
    let words = quoted(command);
    let own = command.first().is_some_and(|program| program.starts_with("exactness"));
    Some(if (header.source.is_some() || !own) && !words.is_empty() {
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
    format!("{} > {}", quoted(command), quoted(&[typed(file).to_owned()]))
}

/// A file's place as it was most likely typed: where the record lies beside the data, from the folder that both are
/// in; where the data lies in the record, from the folder of the data.
fn typed(file: &str) -> &str {
    let above = file.trim_start_matches("../");
    if above.len() < file.len() { above } else { file.split_once('/').map_or(file, |(_, rest)| rest) }
}

/// A sweep's definition as its command line.
fn swept(definition: &crate::results::sweep::Definition, file: &str) -> String {
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
    let folder = folder_of(typed(file));
    let folder = if folder == "." { "sweep" } else { folder };
    words.extend(["--out".to_owned(), folder.to_owned()]);
    quoted(&words)
}

#[cfg(test)]
mod tests {
    use super::{typed, unmade};

    #[test]
    fn a_file_is_where_it_was_typed() {
        assert_eq!(typed("../../d/probe.json"), "d/probe.json");
        assert_eq!(typed("data/arms/compare.json"), "arms/compare.json");
        assert_eq!(typed("probe.json"), "probe.json");
    }

    #[test]
    fn what_no_line_makes_is_named() {
        let of = |lines: &[&str]| unmade(&lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>());
        let run = "exactness run-arm --prompts=../settings/p.jsonl --model ../models/4b --out a";
        assert_eq!(of(&[run]), ["../models/4b", "../settings/p.jsonl"]);
        let settings = "ln -s \"$REPOSITORY/harness/gpu\" ../settings";
        assert_eq!(of(&[settings, run]), ["../models/4b"]);
        assert_eq!(of(&[settings, "exactness synth --geometry 4b --out ../models/4b", run]), [""; 0]);
        assert_eq!(
            of(&["exactness run-arm --prompts=p.jsonl", "exactness bench --prompts=p.jsonl"]),
            ["p.jsonl"]
        );
        assert_eq!(of(&["exactness run-arm --out a", "exactness bisect --from a/w4.jsonl"]), [""; 0]);
        assert_eq!(of(&["exactness bisect --from a/w4.jsonl", "exactness run-arm --out a"]), ["a/w4.jsonl"]);
        assert_eq!(of(&["exactness run-arm --prompts \"$REPOSITORY/p.jsonl\""]), [""; 0]);
    }
}
