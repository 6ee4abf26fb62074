//! Which operations part, with every input made equal: by the tokens that the probe saw differ, and by op parity.
//!
//! The probe says that blocks differ; here every operation of the same blocks gets plain decoding's inputs and answers
//! for itself alone. Op parity puts every smaller number of rows through the operations on other inputs, so that one
//! that is equal by luck of these tokens is treated all the same.

use super::run::{Ask, RemedyError};
use crate::bisect::script::{Script, ScriptError};
use crate::bisect::side::Stage;
use crate::bisect::sources::{Forced, differing};
use crate::engine::error::Error;
use crate::engine::op::Op;
use crate::engine::routes::{Defaults, Plan, Routes};
use crate::engine::tap::Site;
use crate::probe::parity::{Settings, Subject, Wanted, measure};
use crate::probe::walk::Chain;
use crate::results::bisect::Source;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The fewest rows of one call at which each operation differs.
pub(super) type Parities = BTreeMap<String, u32>;

/// An operation that was seen to differ.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Part {
    /// In these layers.
    pub(super) layers: BTreeSet<u16>,
    /// In so many rows.
    pub(super) rows: u64,
}

/// What parts in some scripts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Parts {
    /// By the operation's name.
    pub(super) ops: BTreeMap<String, Part>,
    /// Numbers of the scripts in which something did.
    pub(super) scripts: Vec<usize>,
    /// Planted faults that changed something.
    pub(super) struck: BTreeSet<String>,
    /// Passes over the tokens.
    pub(super) looks: u64,
}

impl Parts {
    fn add(&mut self, number: usize, forced: &Forced) {
        self.looks += 1;
        self.struck.extend(forced.struck.iter().cloned());
        if !forced.found.is_empty() {
            self.scripts.push(number);
        }
        for (site, source) in &forced.found {
            self.site(*site, source);
        }
    }

    fn site(&mut self, site: Site, source: &Source) {
        let part = self.ops.entry(site.op.name().to_owned()).or_default();
        part.layers.extend(site.layer.and_then(|layer| u16::try_from(layer).ok()));
        part.rows += source.rows;
    }
}

/// The walks of a probe over a chain's tokens as scripts: blocks that accept all, then those that reject in turn, then
/// the shifted ones.
pub(super) fn scripts(chain: &Chain<'_>, width: usize, vocabulary: usize) -> Result<Vec<Script>, Error> {
    let (prompt, tokens) = chain.fed();
    // What the last row chooses is not fed; any id stands for it.
    let stream: Vec<_> = tokens.iter().copied().chain([0]).collect();
    let shaped = |shapes: &mut dyn Iterator<Item = (usize, usize)>| {
        Script::shaped(prompt.clone(), &stream, shapes, vocabulary)
    };
    let full = || std::iter::repeat((width, width));
    let cycle = shaped(&mut (1..=width).cycle().map(|kept| (width, kept)));
    let mut all = vec![shaped(&mut full()), cycle];
    all.extend((1..width).map(|first| shaped(&mut std::iter::once((width, first)).chain(full()))));
    all.into_iter().collect::<Result<_, ScriptError>>().map_err(|error| Error::Request(error.to_string()))
}

/// Everything that parts in the first two scripts, or where nothing does there in all of them.
pub(super) fn parting(stage: &Stage<'_>, scripts: &[Script]) -> Result<Parts, Error> {
    let mut parts = Parts::default();
    let (first, rest) = scripts.split_at(scripts.len().min(2));
    for (offset, some) in [(0, first), (first.len(), rest)] {
        if parts.ops.is_empty() {
            let forced = differing(stage, some)?;
            (offset..).zip(&forced).for_each(|(number, forced)| parts.add(number, forced));
        }
    }
    Ok(parts)
}

/// What differs in op parity under these routes, at any number of rows up to `width`; nothing where its own control is
/// not found.
pub(super) fn parities(ask: &Ask<'_>, width: usize, routes: &Routes) -> Result<Parities, RemedyError> {
    let subject = Subject { checkpoint: ask.about.checkpoint, model: ask.model, machine: ask.about.machine };
    let settings = Settings {
        wanted: Wanted::default(),
        most_rows: u32::try_from(width).unwrap_or(u32::MAX),
        exhaustive: true,
        seeds: vec![ask.walk.seed],
        positions: vec![ask.walk.length],
        routes: routes.clone(),
        plain: ask.walk.plain.clone(),
        plants: ask.walk.plants.clone(),
    };
    let measured = measure(&subject, &settings, &|| {})?;
    if measured.controls.iter().any(|line| line.found.boundary() != Some(1)) {
        return Ok(Parities::new());
    }
    let taken = taken(ask, routes);
    let here = measured.lines.iter().filter(|line| taken.contains(&(line.op.clone(), line.route.clone())));
    let mut parities = Parities::new();
    for (op, rows) in here.filter_map(|line| Some((line.op.clone(), line.found.boundary()?))) {
        let known = parities.entry(op).or_insert(rows);
        *known = rows.min(*known);
    }
    Ok(parities)
}

/// Operations with the routes that a block takes: op parity measures others, too.
fn taken(ask: &Ask<'_>, routes: &Routes) -> BTreeSet<(String, String)> {
    let plan = Plan::new(Defaults::Verify, routes, ask.layers.len());
    let layers = (0..ask.layers.len()).map(Some).chain([None]);
    let all = layers.flat_map(|layer| Op::all().map(move |op| (op, layer)));
    all.map(|(op, layer)| (op.name().to_owned(), plan.route(op, layer).to_string())).collect()
}
