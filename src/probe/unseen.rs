//! Faults that no walk comes by. A probe that looked for one would end in `equal`, which would say nothing.

use crate::engine::error::{Error, Result};
use crate::engine::plant::{Bookkeeping, Fault, Plant, Sides};

/// The first plant that no walk can show, and why.
#[must_use]
pub fn first(plants: &[Plant]) -> Option<String> {
    plants.iter().find_map(|plant| Some(format!("{plant}: {}", why(plant)?)))
}

/// [`first`] as a request that cannot be served.
pub(super) fn refuse(plants: &[Plant]) -> Result<()> {
    first(plants).map_or(Ok(()), |says| Err(Error::Request(format!("plant {says}"))))
}

fn why(plant: &Plant) -> Option<&'static str> {
    match plant.fault {
        Fault::Bookkeeping(Bookkeeping::Selection) => {
            Some("a probe feeds the chain's tokens, whatever the rows of a block choose")
        }
        _ if plant.sides == Sides::Prefill => {
            Some("a probe begins after the prompt, which blocks and chain share")
        }
        _ => None,
    }
}
