//! A whole bisect: controls, prompt, rows, layers, operation, confirmation, and what else was asked for, in order.
//!
//! Each answer bounds the next question, and each is written to the trail before the next is asked.

use super::confirm::confirm;
use super::controls::{controls, parts};
use super::cupti::Cupti;
use super::frontier::{Frontier, frontier, layers, operations};
use super::kernel::{as_predicted, kernel};
use super::layer::{Looked, look};
use super::lockstep::{FirstRound, Pair, Until, walk};
use super::measured::{Spot, measured};
use super::op::operation;
use super::record::{Written, record};
use super::reproducer::About;
use super::rewind;
use super::row::{self, Prefilled};
use super::script::Script;
use super::side::{Kind, Stage, Start, passes};
use super::trail::{TrailFile, TrailFileError};
use super::{reduce, sources};
use crate::engine::checkpoint::{Checkpoint, Mixer};
use crate::engine::inventory;
use crate::engine::tap::Site;
use crate::probe::dispatch::Machine;
use crate::results::bisect::{
    Class, Confirmation, Control, Cost, Handled, HeatRow, Kernels, LayerLine, Measured, OpLine, Operation,
    Predicted, PrefillAnswer, Reduced, RewindAnswer, RowWalk, SiteWalk, Source, Sources,
};
use crate::transcript::format::{Backend, Model};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::rc::Rc;

/// A bisect that could not be made. Each text fits after "failed to ".
#[derive(Debug, thiserror::Error)]
pub enum BisectError {
    /// The engine stopped.
    #[error(transparent)]
    Engine(#[from] crate::engine::Error),
    /// The trail cannot be read or written.
    #[error(transparent)]
    Trail(#[from] TrailFileError),
}

type Result<T> = std::result::Result<T, BisectError>;

/// What is asked besides the walk itself.
#[derive(Clone, Copy)]
pub struct Ask<'a> {
    /// Where the chain's weights came from.
    pub checkpoint: &'a Checkpoint,
    /// Whose dispatch table predicts.
    pub machine: Machine,
    /// Null arms of each side.
    pub repeat: u32,
    /// The rounds were made in this process, so that what the arm chose is what this machine chooses.
    pub live: bool,
    /// Go on until all sources are known.
    pub all_sources: bool,
    /// Look for a smaller run.
    pub reduce: bool,
    /// What tells which kernels ran, or why nothing does; absent where kernels have no names.
    pub tracer: Option<std::result::Result<&'a Rc<Cupti>, &'a str>>,
    /// Where the operation is to be written down, and what is said about it there.
    pub write: Option<(&'a Path, &'a Model, &'a Backend, &'a [String])>,
    /// Told what is being done.
    pub progress: &'a dyn Fn(&str),
}

/// Every answer of a bisect.
#[derive(Debug, Clone, PartialEq)]
pub struct Answers {
    /// What parted.
    pub class: Class,
    /// Null arms and observers.
    pub controls: Vec<Control>,
    /// The state that round 0 starts from.
    pub prefill: PrefillAnswer,
    /// All kept rows.
    pub rows: RowWalk,
    /// What was seen in the round that first differs.
    pub seen: Option<SeenRound>,
    /// The intervention that confirms the place.
    pub confirmation: Option<Confirmation>,
    /// Kernels that the named operation launched.
    pub measured: Option<Measured>,
    /// The reproducer's folder, or why there is none.
    pub reproducer: Option<std::result::Result<String, String>>,
    /// All sources.
    pub sources: Option<Sources>,
    /// A smaller run.
    pub reduced: Option<Reduced>,
    /// Planted faults that changed something.
    pub struck: Vec<String>,
    /// Passes over the tokens.
    pub cost: Cost,
}

/// What was seen in the round that first differs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeenRound {
    /// All operations of all kept rows.
    pub sites: SiteWalk,
    /// The layers on the frontier's row.
    pub layers: Vec<LayerLine>,
    /// The operations of the frontier's layer on its row.
    pub operations: Vec<OpLine>,
    /// How much of each layer differs on each row.
    pub heat: Vec<HeatRow>,
    /// The named operation.
    pub operation: Option<Operation>,
    /// Its inputs that differ: then it was not named.
    pub inherited: Vec<String>,
    /// What the dispatch table says of it.
    pub kernel: Option<Predicted>,
    /// What the rewind left, where nothing that was computed differs.
    pub rewind: Option<RewindAnswer>,
}

/// An answer, and the tokens that went in for it: chain, block.
#[derive(Serialize, Deserialize)]
struct Costed<T> {
    answer: T,
    fed: (u64, u64),
}

#[derive(Serialize, Deserialize)]
struct Rows {
    walk: RowWalk,
    struck: Vec<String>,
}

struct Bisect<'a, 'm> {
    stage: &'a Stage<'m>,
    script: &'a Script,
    ask: Ask<'a>,
    trail: &'a mut TrailFile,
    start: Start,
    first: Option<FirstRound>,
    looked: Option<Looked>,
}

/// Asks everything in order.
///
/// # Errors
/// When MLX refuses or the trail cannot be written. What was answered stays in the trail.
pub fn bisect(stage: &Stage<'_>, script: &Script, ask: Ask<'_>, trail: &mut TrailFile) -> Result<Answers> {
    (ask.progress)("prompt");
    let Prefilled { answer: prefill, start } = row::prefill(stage, &script.prompt)?;
    if trail.answer::<PrefillAnswer>("prefill").is_none() {
        trail.keep("prefill", &prefill)?;
    }
    let mut bisect = Bisect { stage, script, ask, trail, start, first: None, looked: None };
    let controls = bisect.controls()?;
    let mut answers = Answers {
        class: Class::NotComparable,
        cost: Cost { controls: passes(controls.fed.0, script), ..Cost::default() },
        controls: controls.answer,
        prefill,
        rows: RowWalk::default(),
        seen: None,
        confirmation: None,
        measured: None,
        reproducer: None,
        sources: None,
        reduced: None,
        struck: Vec::new(),
    };
    if answers.controls.iter().any(|control| control.parts.is_some()) {
        return Ok(answers);
    }
    bisect.walk(&mut answers)?;
    if answers.class != Class::Identical && answers.rows.root().is_some() {
        bisect.further(&mut answers)?;
    }
    Ok(answers)
}

impl Bisect<'_, '_> {
    /// The answer to a step: from the trail, or computed and written to it.
    fn step<T: Serialize + DeserializeOwned>(
        &mut self,
        name: &str,
        compute: impl FnOnce(&mut Self) -> Result<Costed<T>>,
    ) -> Result<Costed<T>> {
        if let Some(known) = self.trail.answer(name) {
            return Ok(known);
        }
        (self.ask.progress)(name);
        let answer = compute(self)?;
        self.trail.keep(name, &answer)?;
        Ok(answer)
    }

    fn controls(&mut self) -> Result<Costed<Vec<Control>>> {
        self.step("controls", |own| {
            let (answer, fed) = controls(own.stage, own.script, &own.start, own.ask.repeat)?;
            Ok(Costed { answer, fed: (fed, 0) })
        })
    }

    /// Rows, and if they differ layers, operation and confirmation.
    fn walk(&mut self, answers: &mut Answers) -> Result<()> {
        let rows = self.step("rows", |own| {
            let (walked, fed, struck) = row::rows(own.stage, own.script, &own.start)?;
            own.first = walked.first;
            Ok(Costed { answer: Rows { walk: walked.answer, struck }, fed })
        })?;
        answers.struck = rows.answer.struck;
        answers.rows = rows.answer.walk;
        let mut fed = rows.fed;
        if answers.rows.root().is_some() {
            let seen = self.step("round", Self::seen)?;
            fed = (fed.0 + seen.fed.0, fed.1 + seen.fed.1);
            answers.seen = Some(seen.answer);
        }
        answers.cost.walk = (passes(fed.0, self.script), passes(fed.1, self.script));
        answers.class = class(answers, self.ask.live);
        answers.confirmation = self.confirmed(answers)?;
        Ok(())
    }

    /// The first round that differs, walked again where its answer came from the trail.
    fn first(&mut self) -> Result<Option<&FirstRound>> {
        if self.first.is_none() {
            let mut pair = Pair::new(self.stage, (Kind::Chain, Kind::Block), &self.start);
            self.first = walk(&mut pair, self.script, Until::Difference)?.first;
        }
        Ok(self.first.as_ref())
    }

    fn look(&mut self) -> Result<&Looked> {
        if self.looked.is_none() {
            let (about, start) = ((self.stage, self.script), self.start.clone());
            let differs =
                || crate::engine::Error::Request("look at a round that differs: none does".to_owned());
            let first = self.first()?.ok_or_else(differs)?;
            let round = (first.round, Some(first));
            self.looked = Some(look(about, &start, round, &BTreeSet::new(), true)?);
        }
        let none = || crate::engine::Error::Request("look at a round: it is not there".to_owned());
        self.looked.as_ref().ok_or_else(|| none().into())
    }

    /// Everything that the round that first differs tells.
    fn seen(&mut self) -> Result<Costed<SeenRound>> {
        let (stage, script, ask) = (self.stage, self.script, self.ask);
        let looked = self.look()?;
        let found = frontier(&looked.walk);
        let row = found.as_ref().map_or(0, |found| found.row);
        let site = found.as_ref().map(|found| looked.block.seen[found.order].site);
        let mixers: Vec<&str> = stage.chain.config().layers.iter().map(mixer).collect();
        let named = found.as_ref().filter(|found| looked.walk.valid && found.inherited.is_empty());
        let operation = named.map(|found| operation((stage, script), looked, found)).transpose()?;
        let kernel = site.zip(operation.as_ref());
        let kernel = kernel.map(|about| kernel_of(stage, ask, about));
        let round = &script.rounds[usize::try_from(looked.walk.round).unwrap_or(0)];
        let rewind = match &found {
            None => Some(rewind::rewind(looked, round)?),
            Some(_) => None,
        };
        let answer = SeenRound {
            layers: layers(&looked.walk, row, &mixers),
            operations: operations(
                &looked.walk,
                row,
                site.and_then(|site| site.layer).map(|layer| layer as u64),
            ),
            heat: looked.heat.clone(),
            operation,
            inherited: found.map(|found| found.inherited).unwrap_or_default(),
            kernel,
            rewind,
            sites: looked.walk.clone(),
        };
        Ok(Costed { answer, fed: looked.fed })
    }

    fn confirmed(&mut self, answers: &mut Answers) -> Result<Option<Confirmation>> {
        match answers.class {
            Class::Operation => {
                let confirmed = self.step("confirmation", |own| {
                    let (stage, script, start) = (own.stage, own.script, own.start.clone());
                    let looked = own.look()?;
                    let order = frontier(&looked.walk).map_or(0, |Frontier { order, .. }| order);
                    let (answer, fed) = confirm((stage, script), &start, looked, order)?;
                    Ok(Costed { answer, fed: (fed, 0) })
                })?;
                answers.cost.confirmation += passes(confirmed.fed.0, self.script);
                Ok(Some(confirmed.answer))
            }
            Class::RejectedRow | Class::SkippedRewind | Class::StateAhead | Class::Rewind => {
                let confirmed = self.step("confirmation", |own| {
                    let before = own.look()?.walk.round;
                    let about = (own.stage, own.script);
                    let (answer, fed) = rewind::confirm(about, &own.start, before)?;
                    Ok(Costed { answer, fed: (fed, 0) })
                })?;
                answers.cost.confirmation += passes(confirmed.fed.0, self.script);
                Ok(Some(confirmed.answer))
            }
            // The rows were walked from plain decoding's state on both sides.
            Class::Prefill => Ok(Some(Confirmation {
                handled: Handled::State,
                before: "the state after the prompt".to_owned(),
                after: parts(&answers.rows),
                moved: true,
                tried: Vec::new(),
                control: None,
                control_moved: None,
            })),
            _ => Ok(None),
        }
    }

    /// Writes the operation down by itself.
    fn written(&mut self, operation: &Operation) -> Result<Option<std::result::Result<String, String>>> {
        let Some((folder, model, backend, command)) = self.ask.write else { return Ok(None) };
        let about = About {
            site: operation.site.clone(),
            op: operation.op.clone(),
            route_chain: operation.routes.0.clone(),
            route_block: operation.routes.1.clone(),
            model: model.clone(),
            backend: backend.clone(),
            position: operation.position,
            row: operation.row,
            command: command.to_vec(),
        };
        let answer = self.step("reproducer", |own| {
            let (about_run, start) = ((own.stage, own.script), own.start.clone());
            let looked = own.look()?;
            let written = Written { folder, about: &about };
            let made = record(about_run, &start, looked, operation, &written);
            let answer = match made {
                Ok(true) => Ok(folder.display().to_string()),
                Ok(false) => Err(format!(
                    "Run by itself ({}) it gives equal bytes: what parts it lies outside of its kernels, as a planted \
                     fault does.",
                    folder.display()
                )),
                Err(error) => Err(format!("The operation could not be written down by itself: failed to {error}.")),
            };
            Ok(Costed { answer, fed: (0, 0) })
        })?;
        Ok(Some(answer.answer))
    }

    /// Which kernels the named operation launched.
    fn measured(&mut self, operation: &Operation, said: Option<&Predicted>) -> Result<Option<Measured>> {
        let Some(tracer) = self.ask.tracer else { return Ok(None) };
        let tracer = match tracer {
            Ok(tracer) => tracer,
            Err(why) => return Ok(Some(Measured::Missing { why: why.to_owned() })),
        };
        let answer = self.step("kernels", |own| {
            let place = (operation.site.as_str(), operation.round, operation.row);
            let answer = match own.launched(tracer, &[place]) {
                Ok(mut kernels) => {
                    let kernels = kernels.pop().unwrap_or_default();
                    let predicted = said.and_then(|said| as_predicted(said, &kernels));
                    Measured::Seen { kernels, predicted }
                }
                Err(why) => Measured::Missing { why },
            };
            Ok(Costed { answer, fed: (0, 0) })
        })?;
        Ok(Some(answer.answer))
    }

    /// What operations launched at their places (site, round, row), one answer each, or why that cannot be told.
    fn launched(
        &self,
        tracer: &Rc<Cupti>,
        places: &[(&str, u64, u64)],
    ) -> std::result::Result<Vec<Kernels>, String> {
        let sites: BTreeMap<String, Site> =
            inventory::sites(self.stage.chain.config()).map(|site| (site.to_string(), site)).collect();
        let number = |count: &u64| usize::try_from(*count).unwrap_or(usize::MAX);
        let spot = |(site, round, row): &(&str, u64, u64)| {
            let known = sites.get(*site).ok_or_else(|| format!("{site} is no operation of this model"))?;
            Ok::<_, String>(Spot { site: *known, round: number(round), row: number(row) })
        };
        let spots = places.iter().map(spot).collect::<std::result::Result<Vec<_>, _>>()?;
        measured(tracer, (self.stage, self.script), &self.start, &spots)
            .map_err(|error| format!("failed to {error}"))
    }

    /// Which kernels each source launched; where they cannot be told the sources stay without.
    fn source_kernels(&mut self, sources: &mut [Source]) -> Result<()> {
        let Some(Ok(tracer)) = self.ask.tracer else { return Ok(()) };
        let kernels = self.step("source kernels", |own| {
            let places: Vec<(&str, u64, u64)> =
                sources.iter().map(|one| (one.site.as_str(), one.round, one.row)).collect();
            Ok(Costed { answer: own.launched(tracer, &places).unwrap_or_default(), fed: (0, 0) })
        })?;
        for (source, kernels) in sources.iter_mut().zip(kernels.answer) {
            source.kernels = Some(kernels);
        }
        Ok(())
    }

    /// The operation by itself, all sources and a smaller run, where they are asked for.
    fn further(&mut self, answers: &mut Answers) -> Result<()> {
        if let Some(seen) = &answers.seen
            && let Some(operation) = &seen.operation
        {
            answers.reproducer = self.written(operation)?;
            answers.measured = self.measured(operation, seen.kernel.as_ref())?;
        }
        if self.ask.all_sources && answers.class == Class::Operation {
            let found = self.step("sources", |own| {
                let (answer, fed) = sources::all((own.stage, own.script), &own.start)?;
                Ok(Costed { answer, fed: (fed, 0) })
            })?;
            answers.cost.confirmation += passes(found.fed.0, self.script);
            let mut sources = found.answer;
            self.source_kernels(&mut sources.sources)?;
            answers.sources = Some(sources);
        }
        let last = answers.rows.root().and_then(|round| usize::try_from(round).ok());
        if let Some(last) = last.filter(|_| self.ask.reduce) {
            let reduced = self.step("reduced", |own| {
                let (answer, fed) = reduce::reduce(own.stage, own.script, last)?;
                Ok(Costed { answer, fed: (fed, 0) })
            })?;
            answers.reduced = Some(reduced.answer);
        }
        Ok(())
    }
}

fn kernel_of(
    stage: &Stage<'_>,
    ask: Ask<'_>,
    (site, operation): (crate::engine::tap::Site, &Operation),
) -> Predicted {
    kernel(stage, (ask.machine, ask.checkpoint), (site, operation))
}

fn mixer(mixer: &Mixer) -> &'static str {
    match mixer {
        Mixer::Attention(_) => "attention",
        Mixer::DeltaNet(_) => "delta net",
    }
}

/// What parted. The prompt comes first, whatever follows; then whatever comes first in the order of rounds and rows.
fn class(answers: &Answers, live: bool) -> Class {
    if answers.prefill.state.is_some() {
        return Class::Prefill;
    }
    if answers.prefill.tokens.0 != answers.prefill.tokens.1 {
        return Class::Selection;
    }
    let Some(seen) = &answers.seen else {
        return unparted(answers.rows.selection.is_some(), answers.rows.unlike_recorded, live);
    };
    if !seen.sites.valid || !seen.inherited.is_empty() {
        return Class::InvalidCapture;
    }
    let place = match &seen.operation {
        Some(operation) => (operation.round, operation.row),
        None => (seen.sites.round, u64::MAX),
    };
    let chosen = answers.rows.selection.as_ref().map(|row| (row.round, row.row));
    if chosen.is_some_and(|chosen| chosen < place) && reproduced(answers.rows.unlike_recorded, live) {
        return Class::Selection;
    }
    seen.rewind.as_ref().map_or(Class::Operation, rewind::class)
}

/// Whether what the arm chose was chosen from the bytes that are here: recorded rounds count only where their rows have
/// the recorded bytes.
fn reproduced(unlike_recorded: Option<(u64, u64)>, live: bool) -> bool {
    live || matches!(unlike_recorded, Some((0, _)))
}

/// What equal rows and states come to.
fn unparted(selection: bool, unlike_recorded: Option<(u64, u64)>, live: bool) -> Class {
    let reproduced = reproduced(unlike_recorded, live);
    match (selection, unlike_recorded) {
        (_, Some((1.., _))) => Class::NotReproduced,
        (true, _) if reproduced => Class::Selection,
        (true, _) => Class::NotReproduced,
        (false, _) => Class::Identical,
    }
}
