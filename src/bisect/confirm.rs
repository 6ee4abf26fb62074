//! Confirmation by intervention: the named operation alone is made to agree, and the frontier has to move past it;
//! another operation that is treated in the same way must not move it.
//!
//! A place that only looks like the cause, because something else happens to differ with it, does not survive this.

use super::layer::{Looked, Place, look};
use super::lockstep::{Pair, Until, walk};
use super::op;
use super::script::Script;
use super::side::{Stage, Start};
use crate::engine::error::{Error, Result};
use crate::engine::routes::Route;
use crate::engine::tap::Site;
use crate::results::bisect::{Confirmation, Handled};
use std::collections::BTreeSet;

/// How some operations are made to agree.
#[derive(Debug, Clone, Default)]
pub(super) struct Cures {
    /// Routes beside the stage's own.
    pub(super) routes: Vec<String>,
    /// Operations whose outputs come from plain decoding.
    pub(super) handed: BTreeSet<Site>,
}

impl Cures {
    /// The stage with the routes of the cures.
    ///
    /// # Errors
    /// Never for routes that this program wrote.
    pub(super) fn applied<'m>(&self, stage: &Stage<'m>) -> Result<Stage<'m>> {
        let parts = std::iter::once(stage.routes.to_string()).chain(self.routes.iter().cloned());
        let text = parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(",");
        let routes = text.parse().map_err(|error| Error::Request(format!("{error}")))?;
        Ok(Stage { routes, ..stage.clone() })
    }

    fn of(site: Site, handled: &Handled) -> Self {
        match handled {
            Handled::Route { routes } => Self { routes: vec![routes.clone()], handed: BTreeSet::new() },
            _ => Self { routes: Vec::new(), handed: BTreeSet::from([site]) },
        }
    }
}

/// The route setting by which a block computes a site's operation as the chain does, where the block has another.
pub(super) fn chain_route(stage: &Stage<'_>, site: Site) -> Option<String> {
    let (plain, verify) = op::routes(stage, site);
    let target = match plain {
        Route::Padded(_) | Route::Contiguous => plain,
        _ => Route::by_single_rows(site.op),
    };
    (verify != target).then(|| match site.layer {
        Some(layer) => format!("layer.{layer}.{}={target}", site.op.name()),
        None => format!("{}={target}", site.op.name()),
    })
}

/// Where chain and block first part under cures, or none when they do not; also the tokens that went in.
///
/// # Errors
/// When MLX refuses.
pub(super) fn parting(
    (stage, script): (&Stage<'_>, &Script),
    start: &Start,
    cures: &Cures,
) -> Result<(Option<Place>, u64)> {
    let stage = cures.applied(stage)?;
    let mut pair = Pair::treated(&stage, start, &cures.handed);
    let walked = walk(&mut pair, script, Until::Difference)?;
    let Some(first) = walked.first else { return Ok((None, pair.fed())) };
    let looked = look((&stage, script), start, (first.round, Some(&first)), &cures.handed, false)?;
    let fed = pair.fed() + looked.fed.0 + looked.fed.1;
    Ok((Some(Place::of(&looked.walk)), fed))
}

/// Treats the named operation, by its route where that is another than the chain's and else by the chain's output, and
/// then another operation.
///
/// # Errors
/// When MLX refuses.
pub(super) fn confirm(
    about: (&Stage<'_>, &Script),
    start: &Start,
    looked: &Looked,
    order: usize,
) -> Result<(Confirmation, u64)> {
    let site = looked.block.seen[order].site;
    let before = Place::of(&looked.walk);
    let route = chain_route(about.0, site).map(|routes| Handled::Route { routes });
    let (mut tried, mut fed) = (Vec::new(), 0);
    let mut last = None;
    for handled in route.into_iter().chain([Handled::Output]) {
        let (after, cost) = parting(about, start, &Cures::of(site, &handled))?;
        fed += cost;
        let moved = after.as_ref().is_none_or(|after| *after > before);
        if let Some((handled, ..)) = last.replace((handled, after, moved)) {
            tried.push(handled);
        }
        if moved {
            break;
        }
    }
    let (handled, after, moved) = last.ok_or_else(|| Error::Request("confirm nothing".to_owned()))?;
    let (control, control_moved, cost) = other(about, start, (looked, order), &before)?;
    let confirmation = Confirmation {
        handled,
        before: before.says(),
        after: after.map(|after| after.says()),
        moved,
        tried,
        control,
        control_moved,
    };
    Ok((confirmation, fed + cost))
}

type Other = (Option<String>, Option<bool>, u64);

/// Hands over the output of the operation that is computed next, or of the one before the last, and looks at the round
/// again: rows may well be equal then, where all goes through that operation, and the named one has to differ still.
fn other(
    about: (&Stage<'_>, &Script),
    start: &Start,
    (looked, order): (&Looked, usize),
    before: &Place,
) -> Result<Other> {
    let seen = &looked.block.seen;
    let neighbour = seen.get(order + 1).or_else(|| seen.get(order.checked_sub(1)?));
    let Some(neighbour) = neighbour else { return Ok((None, None, 0)) };
    let looked = look(about, start, (before.round, None), &BTreeSet::from([neighbour.site]), false)?;
    let moved = Place::of(&looked.walk) != *before;
    Ok((Some(neighbour.site.to_string()), Some(moved), looked.fed.0 + looked.fed.1))
}
