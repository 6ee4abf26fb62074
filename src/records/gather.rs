//! Everything that a record is made of, read from the files of an experiment.

use super::error::{RecordError, refused_version};
use super::experiment::{self, Experiment};
use super::input::{self, Input};
use super::interrupted::{self, Interrupted};
use super::kind::Kind;
use super::parity::ParityResult;
use super::placed;
use super::unreadable::{self, Unreadable};
use crate::results::bench::BENCH_VERSION;
use crate::results::bisect::{BISECT_VERSION, Bisected, Key};
use crate::results::judgement::JUDGEMENT_VERSION;
use crate::results::parity::PARITY_VERSION;
use crate::results::probe::PROBE_VERSION;
use crate::results::remedy::{REMEDY_VERSION, Remedy, WidthRemedy};
use crate::results::stored;
use crate::results::sweep::Journal;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A result with the file that it stands in.
#[derive(Debug)]
pub struct From<T> {
    /// The file.
    pub file: String,
    /// What it says.
    pub result: T,
}

/// All data of a record.
#[derive(Debug, Default)]
pub struct Gathered {
    /// Every file, read or not.
    pub inputs: Vec<Input>,
    /// Transcripts, folder by folder.
    pub experiments: Vec<Experiment>,
    /// Stored comparisons.
    pub judgements: Vec<From<stored::Judgement>>,
    /// Speed.
    pub benches: Vec<From<stored::Bench>>,
    /// Blocks against chains over lengths, seeds and widths.
    pub sweeps: Vec<From<Journal>>,
    /// Operations.
    pub parities: Vec<From<ParityResult>>,
    /// Places that a bisect named.
    pub bisects: Vec<From<Bisected>>,
    /// Blocks against chains of one model.
    pub probes: Vec<From<stored::Probe>>,
    /// The cheapest exact settings.
    pub remedies: Vec<From<Remedy>>,
    /// Searches for one that were stopped.
    pub interrupted: Vec<Interrupted>,
    /// Searches of which the trail cannot be read.
    pub unreadable: Vec<Unreadable>,
    /// What trails are about: the program that wrote one wrote the result beside it.
    pub trails: Vec<From<Key>>,
}

/// Reads all files under `folders`, named as the record in `record` names them.
///
/// # Errors
/// When a file of a kind that is read cannot be read as such, or there is none.
pub fn gather(folders: &[PathBuf], record: &Path) -> Result<Gathered, RecordError> {
    let mut all = Gathered { inputs: input::find(folders, record)?, ..Gathered::default() };
    let damaged = |input: &&Input| input.kind == Kind::Other && OWN_NAMES.contains(&input.file_name());
    if let Some(input) = all.inputs.iter().find(damaged) {
        let says = "it is cut or damaged; make it again, or take it out of the folder".to_owned();
        return Err(wrong(input, says));
    }
    all.unreadable = unreadable::set_aside(&mut all.inputs)?;
    all.interrupted = interrupted::set_aside(&mut all.inputs)?;
    if !all.inputs.iter().any(|input| input.kind.is_read()) {
        let names: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
        return Err(match all.inputs.iter().find(|input| input.kind == Kind::Trail) {
            Some(trail) => RecordError::Unfinished(trail.path.clone()),
            None => RecordError::Nothing(names.join(", ")),
        });
    }
    let mut folders: BTreeMap<&str, Vec<&Input>> = BTreeMap::new();
    for input in all.inputs.iter().filter(|input| input.kind == Kind::Transcript) {
        folders.entry(input.folder()).or_default().push(input);
    }
    let read = folders.iter().map(|(folder, inputs)| experiment::read(folder, inputs));
    all.experiments = read.collect::<Result<_, _>>()?;
    let inputs = std::mem::take(&mut all.inputs);
    inputs.iter().try_for_each(|input| all.add(input, &inputs))?;
    all.inputs = inputs;
    Ok(all)
}

impl Gathered {
    fn add(&mut self, input: &Input, inputs: &[Input]) -> Result<(), RecordError> {
        match input.kind {
            Kind::Judgement => {
                let mut one: From<stored::Judgement> = json(input, JUDGEMENT_VERSION)?;
                placed::rename(&mut one.result, input, inputs, |arm, name| self.judged_alike(arm, name));
                self.judgements.push(one);
            }
            Kind::Bench => {
                let mut bench: From<stored::Bench> = json(input, BENCH_VERSION)?;
                borne_out(input, bench.result.contradiction())?;
                for run in &mut bench.result.experiment.runs {
                    run.file = placed::of_remedy(inputs, input, &run.file);
                }
                self.benches.push(bench);
            }
            Kind::Probe => self.probes.push(json(input, PROBE_VERSION)?),
            Kind::Bisect => {
                let mut bisect: From<Bisected> = json(input, BISECT_VERSION)?;
                borne_out(input, bisect.result.contradiction())?;
                placed::of_rounds(&mut bisect.result.question.rounds, inputs, input);
                self.bisects.push(bisect);
            }
            Kind::Remedy => {
                let mut remedy: From<Remedy> = json(input, REMEDY_VERSION)?;
                borne_out(input, remedy.result.contradiction())?;
                for run in remedy.result.widths.iter_mut().flat_map(WidthRemedy::runs_mut) {
                    run.file = placed::of_remedy(inputs, input, &run.file);
                }
                self.remedies.push(remedy);
            }
            Kind::Trail => {
                let trail = interrupted::trail(input)?;
                let key = trail.map(|trail| From { file: input.name.clone(), result: trail.key().clone() });
                self.trails.extend(key);
            }
            Kind::Parity => {
                let From { file, result } = json(input, PARITY_VERSION)?;
                self.parities.push(From { file, result: ParityResult::of(result) });
            }
            Kind::ParityTable => {
                let result = ParityResult::parse(&whole(input)?).map_err(|says| wrong(input, says))?;
                self.parities.push(From { file: input.name.clone(), result });
            }
            Kind::Sweep => {
                let journal =
                    Journal::parse(&whole(input)?).map_err(|error| wrong(input, error.to_string()))?;
                let (result, _) =
                    journal.ok_or_else(|| wrong(input, "its header is not whole".to_owned()))?;
                cells_in_bounds(&result).map_err(|says| wrong(input, says))?;
                self.sweeps.push(From { file: input.name.clone(), result });
            }
            Kind::Transcript
            | Kind::Experiment
            | Kind::Interrupted
            | Kind::Unreadable
            | Kind::Unjudged
            | Kind::Other => {}
        }
        Ok(())
    }

    /// A transcript of the record and a file of a stored comparison have the same label and the same counts.
    fn judged_alike(&self, arm: &stored::Arm, name: &str) -> bool {
        let mut own = self.experiments.iter().flat_map(|one| &one.judgement.arms);
        own.any(|own| own.file == name && own.arm == arm.arm && own.compared == arm.compared)
    }

    /// Why there is no arm: no transcript at all, with `more` that is not there, or none but those of a remedy.
    #[must_use]
    pub fn no_arm(&self, more: &str) -> String {
        match self.inputs.iter().filter(|input| input.kind == Kind::Unjudged).count() {
            0 => format!("no transcript{more} is among the inputs"),
            1 => "the one transcript among the inputs is a remedy's and no arm".to_owned(),
            aside => format!("the {aside} transcripts among the inputs are a remedy's and no arms"),
        }
    }

    /// Why there are no rounds.
    #[must_use]
    pub fn no_rounds(&self) -> String {
        if self.experiments.is_empty() {
            return self.no_arm("");
        }
        "no speculative arm with rounds is among the inputs".to_owned()
    }
}

/// Between a comparison and a file that it names.
pub const BEHIND: &str = ": ";

/// What this program calls its results; a file of such a name that is none is damaged.
const OWN_NAMES: [&str; 3] = ["bench.json", "bisect.json", "remedy.json"];

/// The most cells of a sweep: its header says how many there are, and nobody runs more.
const MOST_CELLS: usize = 1_000_000;

/// Lengths, seeds and widths multiply: a short header may ask for more cells than memory has.
fn cells_in_bounds(journal: &Journal) -> Result<(), String> {
    let definition = &journal.header.definition;
    let sizes = [definition.lengths.len(), definition.seeds.len(), definition.widths.len()];
    let cells = sizes.into_iter().try_fold(1_usize, usize::checked_mul);
    match cells.filter(|cells| *cells <= MOST_CELLS) {
        Some(_) => Ok(()),
        None => Err(format!("it lists more than {MOST_CELLS} lengths × seeds × widths; is this a sweep?")),
    }
}

pub(super) fn whole(input: &Input) -> Result<Vec<u8>, RecordError> {
    if input.bytes > super::kind::LARGEST_RESULT {
        return Err(wrong(input, "it is larger than 64 MiB; is this a result?".to_owned()));
    }
    std::fs::read(&input.path).map_err(|source| RecordError::Read { path: input.path.clone(), source })
}

pub(super) fn wrong(input: &Input, says: String) -> RecordError {
    RecordError::Result { file: input.name.clone(), says }
}

/// A result whose parts do not give what it says is no result.
fn borne_out(input: &Input, contradiction: Option<String>) -> Result<(), RecordError> {
    contradiction
        .map_or(Ok(()), |says| Err(wrong(input, format!("it contradicts itself: {says}; make it again"))))
}

/// The version of a stored result.
#[derive(serde::Deserialize)]
struct Version {
    version: u64,
}

/// A result of a version from 1 to `newest`.
pub(super) fn json<T: DeserializeOwned>(input: &Input, newest: u32) -> Result<From<T>, RecordError> {
    let bytes = whole(input)?;
    let version: Version = parsed(input, &bytes)?;
    if let Some(says) = refused_version(version.version, newest) {
        return Err(wrong(input, says));
    }
    Ok(From { file: input.name.clone(), result: parsed(input, &bytes)? })
}

fn parsed<T: DeserializeOwned>(input: &Input, bytes: &[u8]) -> Result<T, RecordError> {
    let mut source = serde_json::Deserializer::from_slice(bytes);
    serde_path_to_error::deserialize(&mut source).map_err(|error| {
        let (path, says) = (error.path().to_string(), error.inner().to_string());
        wrong(input, format!("field `{path}`: {says}"))
    })
}
