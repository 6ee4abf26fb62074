//! The third level: the first operation whose inputs have the same bytes on both sides and whose output has not.

use super::amplitude;
use super::frontier::Frontier;
use super::held;
use super::instrument::{Input, Seen};
use super::layer::Looked;
use super::script::Script;
use super::side::Stage;
use crate::engine::error::{Error, Result};
use crate::engine::raw::rows_of;
use crate::engine::routes::{Defaults, Plan, Route};
use crate::engine::rows::dtype_name;
use crate::engine::tap::Site;
use crate::results::bisect::{Amplitude, Argument, Operation};
use mlx_rs::Array;

/// Describes the operation at the frontier: what it read and gave on both sides, and by how much its row differs.
///
/// # Errors
/// When MLX refuses.
pub(super) fn operation(
    (stage, script): (&Stage<'_>, &Script),
    looked: &Looked,
    found: &Frontier,
) -> Result<Operation> {
    let block = &looked.block.seen[found.order];
    let chain = held::of_rows(&looked.chain, block.site)?[found.row];
    let round = usize::try_from(looked.walk.round).unwrap_or(0);
    let routes = routes(stage, block.site);
    Ok(Operation {
        site: block.site.to_string(),
        layer: block.site.layer.map(|layer| layer as u64),
        op: block.site.op.name().to_owned(),
        round: looked.walk.round,
        row: found.row as u64,
        position: script.position(round, found.row),
        in_state: found.in_state,
        inputs: inputs(chain, block),
        output: output(chain, block)?,
        amplitude: amplitude(chain, block, found)?,
        routes: (routes.0.to_string(), routes.1.to_string()),
        calls: (calls(chain), calls(block)),
    })
}

/// The routes of a site: plain decoding's, the block's.
pub(super) fn routes(stage: &Stage<'_>, site: Site) -> (Route, Route) {
    let layers = stage.chain.config().layers.len();
    let plain = Plan::new(Defaults::Plain, &stage.routes.plain, layers);
    let verify = Plan::new(Defaults::Verify, &stage.routes.block, layers);
    (plain.route(site.op, site.layer), verify.route(site.op, site.layer))
}

fn calls(seen: &Seen) -> Vec<u64> {
    seen.calls.iter().map(|rows| *rows as u64).collect()
}

fn inputs(chain: &Seen, block: &Seen) -> Vec<Argument> {
    let pairs = chain.inputs.iter().zip(&block.inputs);
    pairs.map(|(chain, block): (&Input, &Input)| argument(block.name, &chain.array, &block.array)).collect()
}

fn output(chain: &Seen, block: &Seen) -> Result<Argument> {
    let both = chain.output.as_ref().zip(block.output.as_ref());
    let (chain, block) = both.ok_or_else(|| unseen(block.site))?;
    Ok(argument("output", chain, block))
}

fn argument(name: &str, chain: &Array, block: &Array) -> Argument {
    let described = |array: &Array| {
        (array.shape().to_vec(), array.strides().iter().map(|stride| *stride as u64).collect())
    };
    let dtype = match dtype_name(block.dtype()) {
        "other" => format!("{:?}", block.dtype()).to_lowercase(),
        name => name.to_owned(),
    };
    Argument { name: name.to_owned(), dtype, chain: described(chain), block: described(block) }
}

/// The row's numbers on both sides; where the output is equal, those of the state.
fn amplitude(chain: &Seen, block: &Seen, found: &Frontier) -> Result<Amplitude> {
    let row = i32::try_from(found.row).unwrap_or(i32::MAX);
    let (left, right) = if found.in_state {
        let (left, right) = (chain.states.last(), block.states.get(found.row).or(block.states.last()));
        left.zip(right)
            .map(|(left, right)| (left.clone(), right.clone()))
            .ok_or_else(|| unseen(block.site))?
    } else {
        let both = chain.output.as_ref().zip(block.output.as_ref());
        let (left, right) = both.ok_or_else(|| unseen(block.site))?;
        (left.clone(), rows_of(right, block.site.op.row_axis(), row, row + 1)?)
    };
    amplitude::amplitude(&left, &right)
}

fn unseen(site: Site) -> Error {
    Error::Request(format!("describe {site}: it gave nothing to describe"))
}
