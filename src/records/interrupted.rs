//! What a remedy leaves beside its result: runs and timings of settings that it tried. They are no arms of the
//! experiment: the result says what they came to, and of a remedy that was stopped the trail does.

use super::error::RecordError;
use super::experiment::named;
use super::gather::{From, json, whole, wrong};
use super::input::Input;
use super::kind::Kind;
use crate::results::bisect::Trail;
use crate::results::parity::ranges;
use crate::results::probe::Probed;
use crate::results::remedy::steps::{Proof, QUESTION, setting, timed_width};
use crate::results::remedy::{REMEDY_VERSION, Ran, Remedy, Timed};
use crate::results::{counted, part_of};
use crate::transcript::Line;
use crate::transcript::read::Reader;
use std::collections::{BTreeMap, BTreeSet};

/// Folders of its runs and of its timings.
const FOLDERS: [&str; 2] = ["runs", "speed"];

/// A search that was stopped before it wrote its result.
#[derive(Debug)]
pub struct Interrupted {
    /// Its trail.
    pub file: String,
    /// What was answered.
    pub trail: Trail,
    /// Widths that a result beside it tells.
    pub told: BTreeSet<String>,
    /// The command line, as its runs recorded it; empty where there is none.
    pub command: Vec<String>,
    /// Its transcripts, which are not judged.
    pub runs: usize,
    /// Those of them that are timings, by their width.
    pub timings: BTreeMap<u32, usize>,
}

/// A setting, and what the trail says of it.
#[derive(Debug, Default)]
pub struct Tried {
    /// Rows of a block.
    pub width: String,
    /// Routes, those of plain decoding behind `plain.`.
    pub routes: String,
    /// Its probe.
    pub probed: Option<Probed>,
    /// Its run.
    pub run: Option<Ran>,
}

impl Tried {
    /// No byte differs, in the probe and in the run.
    #[must_use]
    pub fn proven(&self) -> bool {
        let equal = self.probed.as_ref().is_some_and(|probed| probed.outcome.exit_code() == 0);
        equal && self.run.as_ref().is_some_and(Ran::identical)
    }
}

impl Interrupted {
    /// The settings in the order in which they were first asked about.
    #[must_use]
    pub fn tried(&self) -> Vec<Tried> {
        let mut all: Vec<Tried> = Vec::new();
        for step in self.trail.steps() {
            let Some((width, proof, routes)) =
                setting(step).filter(|(width, ..)| !self.told.contains(*width))
            else {
                continue;
            };
            let known =
                all.iter().position(|one| (one.width.as_str(), one.routes.as_str()) == (width, routes));
            let place = known.unwrap_or_else(|| {
                all.push(Tried { width: width.to_owned(), routes: routes.to_owned(), ..Tried::default() });
                all.len() - 1
            });
            match proof {
                Proof::Probe => all[place].probed = self.trail.answer(step),
                Proof::Run => all[place].run = self.trail.answer(step),
            }
        }
        all
    }

    /// Widths whose proven settings were timed.
    #[must_use]
    pub fn timed(&self) -> Vec<u32> {
        let timed = |step: &&str| self.trail.answer::<Option<Timed>>(step).flatten().is_some();
        let widths = self.trail.steps().filter(timed).filter_map(timed_width);
        widths.filter(|width| !self.told.contains(&width.to_string())).collect()
    }

    /// Widths that have a proven setting and no speed, with the transcripts of a timing that was cut.
    #[must_use]
    pub fn untimed(&self) -> BTreeMap<u32, usize> {
        let timed = self.timed();
        let proven = self.tried().into_iter().filter(Tried::proven).filter_map(|one| one.width.parse().ok());
        let untimed = proven.filter(|width| !timed.contains(width));
        untimed.map(|width| (width, self.timings.get(&width).copied().unwrap_or_default())).collect()
    }

    /// `2 of 3 settings proven; 7 answers`.
    #[must_use]
    pub fn extent(&self) -> String {
        let tried = self.tried();
        let proven = tried.iter().filter(|one| one.proven()).count();
        let cut: Vec<u32> =
            self.untimed().into_iter().filter(|(_, runs)| *runs > 0).map(|(width, _)| width).collect();
        let cut = if cut.is_empty() {
            String::new()
        } else {
            format!("; cut while width {} was timed", ranges(&cut))
        };
        format!(
            "an interrupted remedy; {} proven so far; {}{cut}",
            part_of(proven, tried.len(), "setting"),
            counted(self.trail.steps().count(), "answer")
        )
    }

    /// `2, 4`.
    #[must_use]
    pub fn timed_text(&self) -> String {
        ranges(&self.timed())
    }
}

/// Finds searches that were stopped, and marks the runs of every search.
///
/// # Errors
/// When a trail or a transcript cannot be read.
pub(super) fn set_aside(inputs: &mut [Input]) -> Result<Vec<Interrupted>, RecordError> {
    let done: BTreeSet<String> = folders(inputs, &[Kind::Remedy]);
    let mut found = Vec::new();
    for place in 0..inputs.len() {
        if inputs[place].kind != Kind::Trail {
            continue;
        }
        let folder = inputs[place].folder().to_owned();
        let Some(trail) = remedy_trail(&inputs[place])? else { continue };
        let told = told(inputs, &folder)?;
        let command = commanded(inputs, &folder)?;
        let timings = timings(inputs, &folder);
        let runs = inputs.iter().filter(|input| lies_below(input, &folder)).count();
        let file = inputs[place].name.clone();
        let stopped = Interrupted { file, trail, told, command, runs, timings };
        if done.contains(&folder) && stopped.tried().is_empty() {
            continue;
        }
        inputs[place].kind = Kind::Interrupted;
        set_runs_aside(inputs, &folder);
        found.push(stopped);
    }
    for folder in &done {
        set_runs_aside(inputs, folder);
    }
    Ok(found)
}

/// Widths in the results of a folder.
fn told(inputs: &[Input], folder: &str) -> Result<BTreeSet<String>, RecordError> {
    let mut widths = BTreeSet::new();
    let results = inputs.iter().filter(|input| input.kind == Kind::Remedy && input.folder() == folder);
    for input in results {
        let remedy: From<Remedy> = json(input, REMEDY_VERSION)?;
        widths.extend(remedy.result.widths.iter().map(|one| one.width.to_string()));
    }
    Ok(widths)
}

/// Folders that have a file of one of these kinds.
pub(super) fn folders(inputs: &[Input], kinds: &[Kind]) -> BTreeSet<String> {
    let there = inputs.iter().filter(|input| kinds.contains(&input.kind));
    there.map(|input| input.folder().to_owned()).collect()
}

/// Marks the runs and timings of the search in `folder`, and counts them.
pub(super) fn set_runs_aside(inputs: &mut [Input], folder: &str) -> usize {
    let ours = inputs.iter_mut().filter(|input| belongs(input, folder));
    ours.map(|input| input.kind = Kind::Unjudged).count()
}

/// The command line that the first run with a header has.
fn commanded(inputs: &[Input], folder: &str) -> Result<Vec<String>, RecordError> {
    for input in inputs.iter().filter(|input| belongs(input, folder)) {
        let command = command(input)?;
        if !command.is_empty() {
            return Ok(command);
        }
    }
    Ok(Vec::new())
}

/// Transcripts of timings, which lie in `speed/w6-1` and below, by width.
fn timings(inputs: &[Input], folder: &str) -> BTreeMap<u32, usize> {
    let mut found = BTreeMap::new();
    let base = below(folder, FOLDERS[1]);
    let names = inputs.iter().filter(|input| belongs(input, folder)).map(|input| &input.name);
    for name in names.filter_map(|name| name.strip_prefix(&base)?.strip_prefix('w')) {
        let width = name.split_once('-').and_then(|(width, _)| width.parse().ok());
        if let Some(width) = width {
            *found.entry(width).or_default() += 1;
        }
    }
    found
}

fn below(folder: &str, part: &str) -> String {
    if folder == "." { format!("{part}/") } else { format!("{folder}/{part}/") }
}

/// The trail of a remedy; nothing where it is a bisect's.
fn remedy_trail(input: &Input) -> Result<Option<Trail>, RecordError> {
    Ok(trail(input)?.filter(|trail| trail.key().question.starts_with(QUESTION)))
}

/// A trail; nothing where it was stopped before its first line ended.
///
/// # Errors
/// When it was edited, or is of another version.
pub(super) fn trail(input: &Input) -> Result<Option<Trail>, RecordError> {
    let parsed = Trail::parse(&whole(input)?).map_err(|error| wrong(input, error.to_string()))?;
    Ok(parsed.map(|(trail, _)| trail))
}

/// A transcript among the runs and timings of the search in `folder`.
pub(super) fn belongs(input: &Input, folder: &str) -> bool {
    input.kind == Kind::Transcript && lies_below(input, folder)
}

fn lies_below(input: &Input, folder: &str) -> bool {
    let ours = matches!(input.kind, Kind::Transcript | Kind::Unjudged);
    ours && FOLDERS.iter().any(|part| input.name.starts_with(&below(folder, part)))
}

/// The command line in a header; nothing where the file was cut before that ended.
fn command(input: &Input) -> Result<Vec<String>, RecordError> {
    let mut reader = named(Reader::open(&input.path), &input.name)?;
    Ok(match named(reader.next().transpose(), &input.name)? {
        Some((_, Line::Header(header))) => header.command.unwrap_or_default(),
        _ => Vec::new(),
    })
}
