//! Writes the named operation down as a reproducer: both sides are driven to its round once more, and its calls are
//! exported where their kernels come by.

use super::held;
use super::instrument::{Export, Input, Seen};
use super::layer::Looked;
use super::lockstep::Pair;
use super::op;
use super::reproducer::{About, Call, Error, Folder, Reproducer, Result, Which};
use super::script::Script;
use super::side::{Kind, Stage, Start};
use crate::engine::attention::{by_route, scale};
use crate::engine::checkpoint::Mixer;
use crate::engine::delta_rule::{self, Recurrence};
use crate::engine::op::Op;
use crate::engine::raw::{bytes_of, rows_of};
use crate::engine::routes::Route;
use crate::results::bisect::Operation;
use mlx_rs::Array;
use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;

/// What is written down, besides what the bisect found.
pub(super) struct Written<'a> {
    pub(super) folder: &'a Path,
    pub(super) about: &'a About,
}

/// Writes the folder; true when it shows the difference.
///
/// # Errors
/// When a call cannot be exported, or the folder cannot be written.
pub(super) fn record(
    (stage, script): (&Stage<'_>, &Script),
    start: &Start,
    looked: &Looked,
    operation: &Operation,
    written: &Written<'_>,
) -> Result<bool> {
    let order = looked.block.seen.iter().position(|seen| seen.site.to_string() == operation.site);
    let missing = || Error::Call { side: Which::Block, says: "it was not looked at".to_owned() };
    let block = &looked.block.seen[order.ok_or_else(missing)?];
    let row = usize::try_from(operation.row).unwrap_or(0);
    let chain = held::of_rows(&looked.chain, block.site)?[row];
    let to = Rc::new(RefCell::new(Reproducer::create(written.folder)?));
    if matches!(block.site.op, Op::Attention | Op::Delta) {
        let routes = op::routes(stage, block.site);
        by_formula(stage, (Which::Chain, 0), (chain, routes.0), (operation, &to))?;
        by_formula(stage, (Which::Block, row), (block, routes.1), (operation, &to))?;
    } else {
        by_kernels((stage, script), start, (looked, block, row), &to)?;
    }
    let mut to = Rc::into_inner(to).ok_or_else(missing)?.into_inner();
    to.went_on_with(Which::Chain, &row_bytes(chain, 0, operation)?)?;
    to.went_on_with(Which::Block, &row_bytes(block, row, operation)?)?;
    to.finish(written.about)?;
    Ok(Folder::open(written.folder)?.index().outside.differing_bytes > 0)
}

/// The row as the model went on with it.
fn row_bytes(seen: &Seen, row: usize, operation: &Operation) -> Result<Vec<u8>> {
    let none = || Error::Call { side: Which::Block, says: "it gave nothing".to_owned() };
    if operation.in_state {
        let state = seen.states.get(row).or(seen.states.last()).ok_or_else(none)?;
        return Ok(bytes_of(state)?);
    }
    let output = seen.output.as_ref().ok_or_else(none)?;
    let first = i32::try_from(row).unwrap_or(i32::MAX);
    Ok(bytes_of(&rows_of(output, seen.site.op.row_axis(), first, first + 1)?)?)
}

/// Drives both sides to the round and exports the calls as their kernels are handed to the tap.
fn by_kernels(
    (stage, script): (&Stage<'_>, &Script),
    start: &Start,
    (looked, block, row): (&Looked, &Seen, usize),
    to: &Rc<RefCell<Reproducer>>,
) -> Result<()> {
    let mut pair = Pair::new(stage, (Kind::Chain, Kind::Block), start);
    let round = usize::try_from(looked.walk.round).unwrap_or(0);
    for round in &script.rounds[..round] {
        pair.round(round)?;
    }
    // The forward that is asked for is counted down to 1 as it begins.
    let export = |which, before: usize, row: usize| {
        let row = i32::try_from(row).unwrap_or(i32::MAX);
        Some(Export { site: block.site, forwards: before + 2, row, which, to: Rc::clone(to), failed: None })
    };
    pair.left.instrument.export = export(Which::Chain, row, 0);
    pair.right.instrument.export = export(Which::Block, 0, row);
    pair.round(&script.rounds[round])?;
    let sides = [&mut pair.left, &mut pair.right];
    let failed = sides.into_iter().filter_map(|side| side.instrument.export.take()?.failed);
    { failed }.next().map_or(Ok(()), Err)
}

/// Exports attention or the delta rule, whose calls the tap is not handed, from what was looked at.
fn by_formula(
    stage: &Stage<'_>,
    (which, row): (Which, usize),
    (seen, route): (&Seen, Route),
    (operation, to): (&Operation, &Rc<RefCell<Reproducer>>),
) -> Result<()> {
    let inputs: Vec<(&str, &Array)> =
        seen.inputs.iter().map(|input: &Input| (input.name, &input.array)).collect();
    let in_state = operation.in_state;
    let kernels = formula(stage, seen, route, in_state.then_some(row));
    // A state is one row whatever the block's width.
    let (row, axis) = if in_state { (0, 0) } else { (row, seen.site.op.row_axis()) };
    let row = i32::try_from(row).unwrap_or(i32::MAX);
    to.borrow_mut().call(which, &Call { inputs: &inputs, kernels: &*kernels, row, axis })
}

/// An operation's arithmetic, over what it read.
type Formula<'a> = Box<dyn Fn(&[&Array]) -> crate::engine::Result<Array> + 'a>;

/// Attention or the delta rule by itself, over what it read: its output, or with `after` the state
/// after that row.
pub(super) fn formula<'a>(stage: &Stage<'_>, seen: &Seen, route: Route, after: Option<usize>) -> Formula<'a> {
    let layer = seen.site.layer.and_then(|layer| stage.chain.config().layers.get(layer));
    let head_dim = match layer {
        Some(Mixer::Attention(sizes)) => i32::try_from(sizes.head_dim).unwrap_or(1),
        _ => 1,
    };
    if seen.site.op == Op::Attention {
        return Box::new(move |part| by_route(route, (part[0], part[1], part[2]), scale(head_dim)));
    }
    Box::new(move |part| {
        let outcome = if route == Route::Chunked {
            delta_rule::chunked(part[0], &recurrence(part))?
        } else {
            delta_rule::chain(part[0], &recurrence(part))?
        };
        let left = after.and_then(|row| outcome.states.get(row).or(outcome.states.last()).cloned());
        Ok(left.unwrap_or(outcome.outputs))
    })
}

fn recurrence(part: &[&Array]) -> Recurrence {
    let [queries, keys, values, log_decay, beta] = [1, 2, 3, 4, 5].map(|place: usize| part[place].clone());
    Recurrence { queries, keys, values, log_decay, beta }
}
