//! The fourth level, measured: which kernels the named operations really ran on each side.
//!
//! Both sides are driven once more with every input made equal, and at each named place one call is run by itself
//! between two readings of the tracer: its inputs are computed before, its output after.

use super::cupti::{Cupti, CuptiError};
use super::instrument::{Look, Looks, Seen};
use super::lockstep::Pair;
use super::op;
use super::record::formula;
use super::script::{Round, Script};
use super::side::{Kind, Stage, Start};
use super::sources::equal_round;
use crate::engine::Error;
use crate::engine::op::Op;
use crate::engine::routes::Route;
use crate::engine::tap::{Call, Kernels as Calls, Site};
use crate::results::bisect::{Kernels, Launch};
use mlx_rs::Array;
use mlx_rs::transforms::eval;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Where an operation is to be measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Spot {
    pub(super) site: Site,
    pub(super) round: usize,
    pub(super) row: usize,
}

/// What stops a measurement. Each text fits after "failed to …".
#[derive(Debug, thiserror::Error)]
pub(super) enum MeasureError {
    #[error(transparent)]
    Engine(#[from] Error),
    #[error(transparent)]
    Tracer(#[from] CuptiError),
    #[error("measure {site}: its call did not come by")]
    Unseen { site: Site },
}

type Result<T> = std::result::Result<T, MeasureError>;

/// Reads the tracer around the calls that compute the wanted rows.
pub(super) struct Meter {
    tracer: Rc<Cupti>,
    kind: Kind,
    /// Row of its round by site.
    wanted: BTreeMap<Site, i32>,
    /// Forwards that have begun.
    forwards: i32,
    found: BTreeMap<Site, Vec<Launch>>,
    failed: Option<CuptiError>,
}

impl Meter {
    fn new(tracer: &Rc<Cupti>, kind: Kind, spots: &[Spot]) -> Self {
        let wanted = spots.iter().map(|spot| (spot.site, i32::try_from(spot.row).unwrap_or(i32::MAX)));
        let (wanted, found) = (wanted.collect(), BTreeMap::new());
        Self { tracer: Rc::clone(tracer), kind, wanted, forwards: 0, found, failed: None }
    }

    /// A forward begins.
    pub(super) fn next(&mut self) {
        self.forwards += 1;
    }

    /// Runs a call, and where it computes a wanted row keeps what it launched.
    ///
    /// # Errors
    /// When MLX refuses.
    pub(super) fn run(
        &mut self,
        call: &Call<'_>,
        kernels: Calls<'_>,
        compute: impl FnOnce(&Call<'_>, Calls<'_>) -> crate::engine::Result<Array>,
    ) -> crate::engine::Result<Array> {
        let here = self.wanted.get(&call.site).is_some_and(|row| match self.kind {
            Kind::Chain => self.forwards == row + 1,
            Kind::Block => call.has_row(*row),
        });
        if !here {
            return compute(call, kernels);
        }
        eval(call.inputs.iter().copied())?;
        let (output, launched) = traced(&self.tracer, || compute(call, kernels))?;
        match launched {
            Ok(launched) => drop(self.found.insert(call.site, launched)),
            Err(error) => self.failed = Some(error),
        }
        Ok(output)
    }
}

type Traced = (Array, std::result::Result<Vec<Launch>, CuptiError>);

/// Runs `work` and its kernels, traced; what it reads has to be computed.
fn traced(
    tracer: &Cupti,
    work: impl FnOnce() -> crate::engine::Result<Array>,
) -> crate::engine::Result<Traced> {
    let (output, launched) = tracer.trace(|| {
        let output = work()?;
        output.eval()?;
        Ok::<_, Error>(output)
    });
    Ok((output?, launched))
}

/// What each of the operations launched, in the order of `spots`.
///
/// # Errors
/// When MLX or the tracer refuses.
pub(super) fn measured(
    tracer: &Rc<Cupti>,
    (stage, script): (&Stage<'_>, &Script),
    start: &Start,
    spots: &[Spot],
) -> Result<Vec<Kernels>> {
    let mut pair = Pair::new(stage, (Kind::Chain, Kind::Block), start);
    let mut found: BTreeMap<(usize, Site), Kernels> = BTreeMap::new();
    let rounds = spots.iter().map(|spot| spot.round + 1).max().unwrap_or(0);
    for (number, round) in script.rounds.iter().enumerate().take(rounds) {
        let here: Vec<Spot> = spots.iter().filter(|spot| spot.round == number).copied().collect();
        if here.is_empty() {
            pair.left.round(round)?;
        } else {
            let kernels = in_round((tracer, stage), &mut pair, round, &here)?;
            found.extend(here.iter().map(|spot| (number, spot.site)).zip(kernels));
        }
    }
    let of = |spot: &Spot| found.get(&(spot.round, spot.site)).cloned();
    spots.iter().map(|spot| of(spot).ok_or(MeasureError::Unseen { site: spot.site })).collect()
}

/// Drives a round with every input made equal, and measures the spots in it.
fn in_round(
    (tracer, stage): (&Rc<Cupti>, &Stage<'_>),
    pair: &mut Pair<'_, '_>,
    round: &Round,
    spots: &[Spot],
) -> Result<Vec<Kernels>> {
    pair.look(&Looks::Everywhere);
    pair.left.instrument.meter = Some(Meter::new(tracer, Kind::Chain, spots));
    pair.right.instrument.meter = Some(Meter::new(tracer, Kind::Block, spots));
    let (chain, block) = equal_round(pair, round)?;
    pair.look(&Looks::Nowhere);
    let [left, right] = [&mut pair.left, &mut pair.right].map(|side| launched(side.instrument.meter.take()));
    let (left, right) = (left?, right?);
    let kernels = spots.iter().map(|spot| match (left.get(&spot.site), right.get(&spot.site)) {
        (Some(chain), Some(block)) => Ok(Kernels { chain: chain.clone(), block: block.clone() }),
        _ => by_formula((tracer, stage), (&chain, &block), *spot),
    });
    kernels.collect()
}

fn launched(meter: Option<Meter>) -> Result<BTreeMap<Site, Vec<Launch>>> {
    let Some(meter) = meter else { return Ok(BTreeMap::new()) };
    meter.failed.map_or(Ok(meter.found), |error| Err(error.into()))
}

/// Runs attention or the delta rule, whose calls the tap is not handed, over what was looked at.
fn by_formula(
    (tracer, stage): (&Rc<Cupti>, &Stage<'_>),
    (chain, block): (&[Look], &Look),
    spot: Spot,
) -> Result<Kernels> {
    let site = spot.site;
    let seen = (chain.get(spot.row).and_then(|look| look.of(site)), block.of(site));
    let (Some(chain), Some(block)) = seen else { return Err(MeasureError::Unseen { site }) };
    if !matches!(site.op, Op::Attention | Op::Delta) {
        return Err(MeasureError::Unseen { site });
    }
    let routes = op::routes(stage, site);
    let run = |seen: &Seen, route: Route| -> Result<Vec<Launch>> {
        let inputs: Vec<&Array> = seen.inputs.iter().map(|input| &input.array).collect();
        let compute = formula(stage, seen, route, None);
        Ok(traced(tracer, || compute(&inputs))?.1?)
    };
    Ok(Kernels { chain: run(chain, routes.0)?, block: run(block, routes.1)? })
}
