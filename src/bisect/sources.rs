//! All sources at once: with every input made equal, each operation that differs still is a source of its own.
//!
//! Every operation of the block is given what plain decoding computed, so none inherits anything, and what each one
//! makes of it is compared. One pass finds them all. Then they are treated together, by route where that helps and by
//! the chain's output elsewhere, and block and chain have to be identical.

use super::confirm::{Cures, chain_route};
use super::controls::parts;
use super::frontier::local;
use super::held;
use super::instrument::{Handed, Look, Looks, Shown};
use super::lockstep::{Pair, Until, walk};
use super::row::prefill;
use super::script::{Round, Script};
use super::side::{Kind, Stage, Start};
use crate::engine::Result;
use crate::engine::tap::Site;
use crate::results::bisect::{Handled, SiteWalk, Source, Sources};
use std::collections::BTreeMap;

/// What was found of one script with every input made equal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Forced {
    /// Operations that differ, each with its first place and how often.
    pub found: BTreeMap<Site, Source>,
    /// Planted faults that changed something, on either side.
    pub struck: Vec<String>,
    /// Tokens that went in.
    pub fed: u64,
}

/// Every operation that differs on equal inputs, script by script; all scripts have the first one's prompt.
///
/// # Errors
/// When the prompt is not one, or MLX refuses.
pub fn differing(stage: &Stage<'_>, scripts: &[Script]) -> Result<Vec<Forced>> {
    let Some(first) = scripts.first() else { return Ok(Vec::new()) };
    let start = prefill(stage, &first.prompt)?.start;
    scripts.iter().map(|script| forced((stage, script), &start)).collect()
}

/// Finds all sources and treats them together; also the tokens that went in.
///
/// # Errors
/// When MLX refuses.
pub(super) fn all((stage, script): (&Stage<'_>, &Script), start: &Start) -> Result<(Sources, u64)> {
    let Forced { mut found, mut fed, .. } = forced((stage, script), start)?;
    let routes = Cures {
        routes: found.keys().filter_map(|site| chain_route(stage, *site)).collect(),
        ..Cures::default()
    };
    let rest = if routes.routes.is_empty() {
        found.keys().copied().collect()
    } else {
        let rest = forced((&routes.applied(stage)?, script), start)?;
        fed += rest.fed;
        rest.found.into_keys().collect::<Vec<Site>>()
    };
    let mut cures = Cures::default();
    for (site, source) in &mut found {
        match chain_route(stage, *site).filter(|_| !rest.contains(site)) {
            Some(routes) => {
                cures.routes.push(routes.clone());
                source.handled = Handled::Route { routes };
            }
            None => drop(cures.handed.insert(*site)),
        }
    }
    let treated = cures.applied(stage)?;
    let mut pair = Pair::treated(&treated, start, &cures.handed);
    let answer = walk(&mut pair, script, Until::End)?.answer;
    let rest = parts(&answer);
    let mut sources: Vec<Source> = found.into_values().collect();
    // Sorted by when they begin; equal places keep the order of computation, which the sites are in.
    sources.sort_by_key(|source| source.position);
    let identical = rest.is_none().then_some((answer.rows, answer.states));
    Ok((Sources { sources, identical, rest }, fed + pair.fed()))
}

/// Drives blocks whose every operation gets plain decoding's inputs, and gathers what differs still.
fn forced((stage, script): (&Stage<'_>, &Script), start: &Start) -> Result<Forced> {
    let mut pair = Pair::new(stage, (Kind::Chain, Kind::Block), start);
    pair.look(&Looks::Everywhere);
    pair.right.instrument.shown = Shown::Own;
    let mut found: BTreeMap<Site, Source> = BTreeMap::new();
    for (number, round) in script.rounds.iter().enumerate() {
        let (chain, block) = equal_round(&mut pair, round)?;
        gather(script, number, (&chain, &block), &mut found)?;
    }
    let mut struck = pair.right.instrument.struck();
    struck.extend(pair.left.instrument.struck());
    let fed = pair.fed();
    Ok(Forced { found, struck, fed })
}

/// Drives a round in which every input of the block is made equal; what was looked at: a look a kept row, and the block's.
///
/// # Errors
/// When MLX refuses.
pub(super) fn equal_round(pair: &mut Pair<'_, '_>, round: &Round) -> Result<(Vec<Look>, Look)> {
    // States are made equal like everything else.
    pair.right.caches = pair.left.caches.clone();
    pair.left.round(round)?;
    let chain = pair.left.looked()?;
    pair.right.instrument.handed = everything(&chain)?;
    pair.right.round(round)?;
    let block = pair.right.looked()?.pop().unwrap_or_default();
    Ok((chain, block))
}

/// Every output of plain decoding's rows.
fn everything(chain: &[Look]) -> Result<BTreeMap<Site, Handed>> {
    let sites = chain.first().into_iter().flat_map(|look| look.seen.iter().map(|seen| seen.site));
    sites.map(|site| Ok((site, held::handed(chain, site)?))).collect()
}

fn gather(
    script: &Script,
    number: usize,
    (chain, block): (&[Look], &Look),
    found: &mut BTreeMap<Site, Source>,
) -> Result<()> {
    let (round, rows) = (number as u64, script.rounds[number].kept as u64);
    let walk = SiteWalk { round, rows, valid: true, sites: held::sites(chain, block)? };
    for (row, order) in local(&walk) {
        let site = block.seen[order].site;
        let source = found.entry(site).or_insert_with(|| Source {
            site: site.to_string(),
            round,
            row: row as u64,
            position: script.position(number, row),
            rows: 0,
            handled: Handled::Output,
            kernels: None,
        });
        source.rows += 1;
    }
    Ok(())
}
