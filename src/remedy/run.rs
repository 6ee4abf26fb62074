//! A whole remedy, width by width: the probe of what was asked for, the names of what parts, the settings worth a proof,
//! a probe and a run of each, and the measurement of those that are proven.
//!
//! Every answer is written to the trail before the next is asked for, so an interrupted search goes on where it was. How
//! arms are run and timed is handed in: whoever asks may leave speed out of it.

use super::candidates::{Cure, Cures, Shape, both_sides, by_operation, candidates, everything};
use super::name::{Part, Parts, parities, parting, scripts};
use super::safe::Bearing;
use super::spelling::shortest_pair;
use crate::bisect::script::Script;
use crate::bisect::side::Stage;
use crate::bisect::trail::{TrailFile, TrailFileError};
use crate::engine::error::Error;
use crate::engine::model::TextModel;
use crate::engine::op::Op;
use crate::engine::routes::{Route, Routes};
use crate::engine::side_routes::SideRoutes;
use crate::probe::exact::Inputs;
use crate::probe::hazards::About;
use crate::probe::walk::{Blocks, Reach, Walk};
use crate::results::probe::{Outcome, Probed};
use crate::results::remedy::{Candidate, Ending, Kind, Named, Ran, Timed, WidthRemedy, rank, steps};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// How often what still parts under the cures is named again.
const TURNS: usize = 4;

/// A remedy that could not be looked for. Each text fits after "failed to ".
#[derive(Debug, thiserror::Error)]
pub enum RemedyError {
    /// The engine stopped.
    #[error(transparent)]
    Engine(#[from] Error),
    /// The trail cannot be read or written.
    #[error(transparent)]
    Trail(#[from] TrailFileError),
}

/// What is looked for.
#[derive(Clone, Copy)]
pub struct Ask<'a> {
    /// Where the weights came from, and whose dispatch tables hold.
    pub about: About<'a>,
    /// The model.
    pub model: &'a TextModel,
    /// The operations of each layer.
    pub layers: &'a [Vec<Op>],
    /// Routes of blocks that were asked for.
    pub requested: &'a Routes,
    /// What a probe walks, faults and the routes of plain decoding included.
    pub walk: &'a Walk,
    /// A setting that changes plain decoding, too, may be chosen where one of blocks alone is exact.
    pub allow_both: bool,
    /// Runs of each setting where speed is measured.
    pub timed: Option<u32>,
    /// Draw the inputs of a probe.
    pub seeds: &'a [u64],
    /// Told what is being done.
    pub progress: &'a dyn Fn(&str),
}

/// How arms are run.
pub trait Arms<E> {
    /// Runs the arm over all prompts and has it judged against plain decoding under the same setting.
    ///
    /// # Errors
    /// When it cannot be run.
    fn run(&self, width: usize, routes: &SideRoutes) -> Result<Ran, E>;

    /// Times arms under these settings, each in so many runs, between runs of plain decoding as it was asked for;
    /// nothing where there is no setting.
    ///
    /// # Errors
    /// When one cannot be run.
    fn time(&self, width: usize, settings: &[SideRoutes], repeat: u32) -> Result<Option<Timed>, E>;
}

/// The operations that part under some routes, and what they bear.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Naming {
    named: Vec<Named>,
    struck: BTreeSet<String>,
    looks: u64,
}

struct Search<'a, 's, E> {
    ask: Ask<'a>,
    arms: &'s dyn Arms<E>,
    trail: &'s mut TrailFile,
    inputs: Option<Inputs<'a>>,
    /// Probes of this width.
    probes: BTreeSet<String>,
}

/// Looks for the cheapest exact setting of each width.
///
/// # Errors
/// When MLX refuses, an arm cannot be run or the trail cannot be written. What was answered stays in the trail.
pub fn remedy<E: From<RemedyError>>(
    ask: Ask<'_>,
    widths: &[usize],
    arms: &dyn Arms<E>,
    trail: &mut TrailFile,
) -> Result<Vec<WidthRemedy>, E> {
    let mut search = Search { ask, arms, trail, inputs: None, probes: BTreeSet::new() };
    widths.iter().map(|width| search.width(*width)).collect()
}

impl<'a, E: From<RemedyError>> Search<'a, '_, E> {
    /// The answer to a step: from the trail, or computed and written to it.
    fn step<T: Serialize + DeserializeOwned>(
        &mut self,
        name: &str,
        compute: impl FnOnce(&mut Self) -> Result<T, E>,
    ) -> Result<T, E> {
        if let Some(known) = self.trail.answer(name) {
            return Ok(known);
        }
        (self.ask.progress)(name);
        let answer = compute(self)?;
        self.trail.keep(name, &answer).map_err(RemedyError::from)?;
        Ok(answer)
    }

    fn width(&mut self, width: usize) -> Result<WidthRemedy, E> {
        self.probes.clear();
        let requested = self.requested();
        let probed = self.probe(width, &requested)?;
        let mut found = WidthRemedy {
            width: width as u64,
            ending: Ending::NotRun,
            requested: self.candidate(width, (Kind::Requested, &requested), probed),
            named: Vec::new(),
            one_sided: None,
            candidates: Vec::new(),
            plain: None,
            choice: None,
            stored: false,
            probes: 0,
            looks: 0,
            unmet: Vec::new(),
        };
        match found.requested.probed.outcome.clone() {
            Outcome::Equal { .. } => self.nothing(width, &mut found)?,
            Outcome::Differs { seed, .. } => self.cure(width, seed, &mut found)?,
            Outcome::NotRun { .. } => {}
        }
        found.probes = self.probes.len() as u64;
        Ok(found)
    }

    /// Blocks are equal as they are; with a planted fault that says something only where the fault was met.
    fn nothing(&mut self, width: usize, found: &mut WidthRemedy) -> Result<(), E> {
        if !self.ask.walk.plants.is_empty() {
            let seed = self.ask.seeds.first().copied().unwrap_or_default();
            let parts: Parts = self.step(&format!("w{width} struck"), |own| {
                let (stage, scripts) = own.forced(width, seed, own.ask.requested)?;
                Ok(parting(&stage, &scripts[..1]).map_err(RemedyError::from)?)
            })?;
            found.looks = parts.looks;
            found.unmet = self.unmet(&parts.struck);
        }
        if found.unmet.is_empty() {
            (found.ending, found.choice) = (Ending::NothingToCure, Some(found.requested.chosen()));
        }
        Ok(())
    }

    fn cure(&mut self, width: usize, seed: u64, found: &mut WidthRemedy) -> Result<(), E> {
        let requested = self.ask.requested;
        found.requested.run = Some(self.run(width, &self.requested())?);
        let naming = self.treated(width, seed)?;
        (found.looks, found.unmet) = (naming.looks, self.unmet(&naming.struck));
        let cures = cures(&naming.named);
        found.named = naming.named;
        let shape = Shape { layers: self.ask.layers, width };
        for (kind, routes) in candidates(shape, requested, &cures) {
            found.candidates.push(self.proven(width, (kind, &self.beside(&routes)))?);
        }
        if !found.candidates.iter().any(|one| one.exact() || one.half_proven()) {
            let routes = everything(&self.requested(), shape);
            found.candidates.push(self.proven(width, (Kind::Everything, &self.beside(&routes)))?);
        }
        match both_sides(width, &self.requested(), &cures) {
            Ok(routes) => {
                let routes = shortest_pair(shape, &routes);
                found.candidates.push(self.proven(width, (Kind::BothSides, &routes))?);
            }
            Err(why) => found.one_sided = Some(why),
        }
        self.time(width, found)?;
        rank(&mut found.candidates, found.plain.as_ref(), self.ask.allow_both);
        let best = found.candidates.first().filter(|best| best.exact());
        found.choice = best.map(Candidate::chosen);
        let unsaid = found.candidates.iter().any(Candidate::half_proven);
        found.ending = match (best, unsaid) {
            (Some(_), _) => Ending::Exact,
            (None, true) => Ending::NotRun,
            (None, false) => Ending::NoneFound,
        };
        Ok(())
    }

    /// Names what parts, and under the cures what still does, until a probe finds nothing or nothing new is named.
    fn treated(&mut self, width: usize, seed: u64) -> Result<Naming, E> {
        let requested = self.ask.requested.clone();
        let (mut all, mut routes, mut seed) = (BTreeMap::new(), requested.clone(), seed);
        let mut naming = Naming::default();
        for _ in 0..TURNS {
            let more = self.named(width, seed, &routes)?;
            naming.looks += more.looks;
            naming.struck.extend(more.struck);
            all.extend(more.named.into_iter().map(|named| (named.op.clone(), named)));
            let next = by_operation(&requested, &cures(&all.values().cloned().collect::<Vec<_>>()));
            if next == routes {
                break;
            }
            routes = next;
            match self.probe(width, &self.beside(&routes))?.outcome {
                Outcome::Differs { seed: other, .. } => seed = other,
                _ => break,
            }
        }
        let place = |named: &Named| Op::all().position(|op| op.name() == named.op);
        naming.named = all.into_values().collect();
        naming.named.sort_by_key(place);
        Ok(naming)
    }

    fn named(&mut self, width: usize, seed: u64, routes: &Routes) -> Result<Naming, E> {
        self.step(&format!("w{width} names, input {seed}: {routes}"), |own| {
            let (stage, scripts) = own.forced(width, seed, routes)?;
            let parts = parting(&stage, &scripts).map_err(RemedyError::from)?;
            let parities = parities(&own.ask, width, routes)?;
            let told: Vec<Script> = parts.scripts.iter().map(|number| scripts[*number].clone()).collect();
            let (layers, told) = (own.ask.layers, if told.is_empty() { &scripts[..1] } else { &told[..] });
            let bearing = Bearing { stage: &stage, scripts: told, layers, width, parities: &parities };
            let ops: BTreeMap<String, Part> = parts.ops;
            let (named, looks) = bearing.named(&ops)?;
            Ok(Naming { named, struck: parts.struck, looks: parts.looks + looks })
        })
    }

    /// Blocks over a probe's own tokens.
    fn forced(&mut self, width: usize, seed: u64, routes: &Routes) -> Result<(Stage<'a>, Vec<Script>), E> {
        let Ask { model, walk, .. } = self.ask;
        let stage = Stage {
            chain: model,
            block: model,
            routes: self.beside(routes),
            rewind: walk.rewind,
            prefill_chunk: walk.prefill_chunk,
            banned: Vec::new(),
            plants: walk.plants.clone(),
        };
        let unknown =
            || Error::Request(format!("name what parts on input {seed}: it is no input of the probe"));
        let chain = self.inputs()?.chain(seed).ok_or_else(unknown).map_err(RemedyError::from)?;
        let all = scripts(chain, width, model.config().vocab_size).map_err(RemedyError::from)?;
        Ok((stage, all))
    }

    fn inputs(&mut self) -> Result<&Inputs<'a>, E> {
        let Ask { model, walk, seeds, progress, .. } = self.ask;
        let inputs = if let Some(inputs) = self.inputs.take() {
            inputs
        } else {
            progress("plain decoding");
            Inputs::record(model, walk, seeds, &|| {}).map_err(RemedyError::from)?
        };
        Ok(self.inputs.insert(inputs))
    }

    /// Block routes beside plain decoding as it was asked for.
    fn beside(&self, block: &Routes) -> SideRoutes {
        SideRoutes { block: block.clone(), plain: self.ask.walk.plain.clone() }
    }

    fn requested(&self) -> SideRoutes {
        self.beside(self.ask.requested)
    }

    /// The inputs of a probe under other routes of plain decoding, whose own chains and null arm they are.
    fn inputs_under(&self, plain: &Routes) -> Result<Inputs<'a>, E> {
        let Ask { model, walk, seeds, .. } = self.ask;
        let walk = Walk { plain: plain.clone(), ..walk.clone() };
        Ok(Inputs::record(model, &walk, seeds, &|| {}).map_err(RemedyError::from)?)
    }

    fn probe(&mut self, width: usize, routes: &SideRoutes) -> Result<Probed, E> {
        let name = steps::probe(width, routes);
        self.probes.insert(name.clone());
        self.step(&name, |own| {
            let about = own.ask.about;
            let blocks = Blocks { width, routes: routes.block.clone(), reach: Reach::EveryRow };
            let probed = if routes.plain == own.ask.walk.plain {
                own.inputs()?.probe(&about, &blocks)
            } else {
                own.inputs_under(&routes.plain)?.probe(&about, &blocks)
            };
            Ok(probed.map_err(RemedyError::from)?)
        })
    }

    fn run(&mut self, width: usize, routes: &SideRoutes) -> Result<Ran, E> {
        self.step(&steps::run(width, routes), |own| own.arms.run(width, routes))
    }

    fn candidate(&self, width: usize, (kind, routes): (Kind, &SideRoutes), probed: Probed) -> Candidate {
        let calls = Shape { layers: self.ask.layers, width }.calls(&routes.block);
        let (routes, plain) = (routes.block.to_string(), routes.plain.to_string());
        Candidate { routes, plain, kind, calls, probed, run: None, measured: None }
    }

    /// A setting with its probe and, where that is equal, its run.
    fn proven(&mut self, width: usize, (kind, routes): (Kind, &SideRoutes)) -> Result<Candidate, E> {
        let probed = self.probe(width, routes)?;
        let mut candidate = self.candidate(width, (kind, routes), probed);
        if matches!(candidate.probed.outcome, Outcome::Equal { .. }) {
            candidate.run = Some(self.run(width, routes)?);
        }
        Ok(candidate)
    }

    /// Times what is proven, and what was asked for beside it. The step is named by its runs: a trail made without
    /// speeds is gone on with, and what was measured before stays where no speed is asked for.
    fn time(&mut self, width: usize, found: &mut WidthRemedy) -> Result<(), E> {
        let proven = || found.candidates.iter().filter(|one| one.exact());
        let texts = proven().chain([&found.requested]);
        // This program wrote them.
        let settings: Vec<SideRoutes> =
            texts.filter_map(|one| SideRoutes::of_texts(&one.routes, &one.plain).ok()).collect();
        let timed: Option<Timed> = match self.ask.timed {
            Some(repeat) => {
                self.step(&steps::time(width, repeat), |own| own.arms.time(width, &settings, repeat))?
            }
            None => self.trail.answer_beginning::<Option<Timed>>(&steps::timed(width)).flatten(),
        };
        let Some(timed) = timed else { return Ok(()) };
        let WidthRemedy { candidates, requested, .. } = found;
        let timed_ones = candidates.iter_mut().filter(|one| one.exact()).chain([requested]);
        for (one, measured) in timed_ones.zip(&timed.settings) {
            one.measured = Some(measured.clone());
        }
        found.plain = Some(timed);
        Ok(())
    }

    fn unmet(&self, struck: &BTreeSet<String>) -> Vec<String> {
        let planted = self.ask.walk.plants.iter().map(ToString::to_string);
        planted.filter(|plant| !struck.contains(plant)).collect()
    }
}

/// What the names come to; a name or a route that this program does not know is none of its own.
fn cures(named: &[Named]) -> Cures {
    let cure = |named: &Named| {
        let equal: Vec<Route> = named.equal.iter().filter_map(|route| route.parse().ok()).collect();
        Some((named.op.parse().ok()?, Cure { layers: named.layers.clone(), equal }))
    };
    named.iter().filter_map(cure).collect()
}
