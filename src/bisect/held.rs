//! A looked-at round of plain decoding held against the same rows of a looked-at block, operation by operation.

use super::compare::{differing_bytes, differing_pairs, differing_rows};
use super::instrument::{Handed, Input, Look, Seen};
use crate::engine::error::{Error, Result};
use crate::engine::raw::rows_of;
use crate::engine::tap::{Reach, Site};
use crate::results::bisect::{InputRows, SiteRows};
use mlx_rs::Array;
use mlx_rs::ops::concatenate;

/// Every operation of a round: `chain` has one look a kept row, `block` is the whole block's.
///
/// # Errors
/// When an operation is missing on one side, or MLX refuses.
pub(super) fn sites(chain: &[Look], block: &Look) -> Result<Vec<SiteRows>> {
    block.seen.iter().map(|seen| site(&of_rows(chain, seen.site)?, seen)).collect()
}

/// What each kept row's forward did at `site`.
///
/// # Errors
/// When one of them has no such operation.
pub(super) fn of_rows(chain: &[Look], site: Site) -> Result<Vec<&Seen>> {
    let missing = || Error::Request(format!("compare {site}: plain decoding has no such operation"));
    chain.iter().map(|look| look.of(site).ok_or_else(missing)).collect()
}

fn site(chain: &[&Seen], block: &Seen) -> Result<SiteRows> {
    let inputs = block.inputs.iter().enumerate().flat_map(|(place, input)| {
        let theirs: Vec<&Input> = chain.iter().filter_map(|seen| seen.inputs.get(place)).collect();
        rows_of_input(&theirs, input)
    });
    let inputs = inputs.map(|one| one.map(|(name, differs)| InputRows { name, differs }));
    Ok(SiteRows {
        site: block.site.to_string(),
        layer: block.site.layer.map(|layer| layer as u64),
        op: block.site.op.name().to_owned(),
        inputs: inputs.collect::<Result<_>>()?,
        output: output_rows(chain, block, differing_rows)?,
        state: state_rows(chain, block)?,
    })
}

type Named = Result<(String, Vec<bool>)>;

/// Whether what each kept row depends on differs; what was cached before the forward is told apart from its own rows.
fn rows_of_input(chain: &[&Input], block: &Input) -> Vec<Named> {
    let name = block.name.to_owned();
    match block.reach {
        Reach::Own(axis) => vec![own(chain, block, axis).map(|flags| (name, flags))],
        Reach::Before(axis) => vec![own(chain, block, axis).map(|flags| (name, spread(flags)))],
        Reach::State => {
            let first = chain.first().map(|input| (input.array.clone(), block.array.clone()));
            let pairs: Vec<(Array, Array)> = first.into_iter().collect();
            let entering = differing_pairs(&pairs).map(|flags| flags.contains(&true));
            vec![entering.map(|differs| (name, vec![differs; chain.len()]))]
        }
        Reach::Upto(axis) => {
            let before = cached(chain, block, axis).map(|flags| (format!("{name} before"), flags));
            vec![before, up_to(chain, block, axis).map(|flags| (name, flags))]
        }
    }
}

/// A row differs as soon as one before it does.
fn spread(flags: Vec<bool>) -> Vec<bool> {
    let mut any = false;
    flags
        .into_iter()
        .map(|flag| {
            any |= flag;
            any
        })
        .collect()
}

fn own(chain: &[&Input], block: &Input, axis: i32) -> Result<Vec<bool>> {
    let rows: Vec<Array> = chain.iter().map(|input| input.array.clone()).collect();
    let theirs = concatenate(&rows, axis)?;
    differing_rows(&theirs, &rows_of(&block.array, axis, 0, theirs.dim(axis))?, axis)
}

/// For each kept row whether anything up to its own position differs.
fn up_to(chain: &[&Input], block: &Input, axis: i32) -> Result<Vec<bool>> {
    let rows = rows_in_block(chain, block, axis);
    let pairs = (0..).zip(chain).map(|(row, input)| {
        let end = block.array.dim(axis) - rows + row + 1;
        tails(&input.array, (&block.array, end), axis)
    });
    differing_pairs(&pairs.collect::<Result<Vec<_>>>()?)
}

/// Whether anything before the forward's own rows differs: the same for each of them.
fn cached(chain: &[&Input], block: &Input, axis: i32) -> Result<Vec<bool>> {
    let rows = rows_in_block(chain, block, axis);
    let Some(first) = chain.first() else { return Ok(Vec::new()) };
    let (theirs, ours) = (first.array.dim(axis) - 1, block.array.dim(axis) - rows);
    let theirs = rows_of(&first.array, axis, 0, theirs)?;
    let pair = tails(&theirs, (&block.array, ours), axis)?;
    Ok(vec![differing_pairs(&[pair])?.contains(&true); chain.len()])
}

/// Rows of the block's forward: the first of its rows sees as much as plain decoding's first does.
fn rows_in_block(chain: &[&Input], block: &Input, axis: i32) -> i32 {
    let before = chain.first().map_or(0, |input| input.array.dim(axis) - 1);
    block.array.dim(axis) - before
}

/// The ends of both, as long as the shorter one; `end` says where the second one ends.
fn tails(left: &Array, (right, end): (&Array, i32), axis: i32) -> Result<(Array, Array)> {
    let length = left.dim(axis).min(end);
    let left = rows_of(left, axis, left.dim(axis) - length, left.dim(axis))?;
    Ok((left, rows_of(right, axis, end - length, end)?))
}

/// The outputs of the kept rows, compared by `how`.
///
/// # Errors
/// When a side has no output there, or MLX refuses.
fn output_rows<T>(
    chain: &[&Seen],
    block: &Seen,
    how: impl Fn(&Array, &Array, i32) -> Result<Vec<T>>,
) -> Result<Vec<T>> {
    let axis = block.site.op.row_axis();
    let theirs = outputs(chain)?;
    let ours = block.output.as_ref().ok_or_else(|| unseen(block.site))?;
    how(&theirs, &rows_of(ours, axis, 0, theirs.dim(axis))?, axis)
}

/// Plain decoding's outputs at a site, one row after the other.
///
/// # Errors
/// When a row has none, or MLX refuses.
fn outputs(chain: &[&Seen]) -> Result<Array> {
    let rows = chain.iter().map(|seen| seen.output.clone().ok_or_else(|| unseen(seen.site)));
    let rows = rows.collect::<Result<Vec<_>>>()?;
    let axis = chain.first().map_or(1, |seen| seen.site.op.row_axis());
    Ok(concatenate(&rows, axis)?)
}

/// Plain decoding's rows at a site, to go on in a block.
///
/// # Errors
/// When a row has no such operation or output, or MLX refuses.
pub(super) fn handed(chain: &[Look], site: Site) -> Result<Handed> {
    let seen = of_rows(chain, site)?;
    let states = seen.iter().filter_map(|seen| seen.states.last().cloned()).collect();
    Ok(Handed { output: outputs(&seen)?, states })
}

fn unseen(site: Site) -> Error {
    Error::Request(format!("compare {site}: it gave no output"))
}

/// Bytes of a layer's output that differ, a kept row each, and the bytes of a row.
///
/// # Errors
/// When a side has no output there, or MLX refuses.
pub(super) fn differing_output(chain: &[&Seen], block: &Seen) -> Result<(Vec<u64>, u64)> {
    let counts = output_rows(chain, block, differing_bytes)?;
    let bytes = chain.first().and_then(|seen| seen.output.as_ref()).map_or(0, Array::nbytes);
    Ok((counts, bytes as u64))
}

/// The states after each kept row; where the block says but the last one, the others count as equal.
fn state_rows(chain: &[&Seen], block: &Seen) -> Result<Vec<bool>> {
    let left: Vec<&Array> = chain.iter().filter_map(|seen| seen.states.last()).collect();
    let rows = block.output.as_ref().map_or(0, |output| output.dim(block.site.op.row_axis()));
    let every = usize::try_from(rows).is_ok_and(|rows| rows == block.states.len());
    let pairs: Vec<(Array, Array)> = match (every, block.states.last()) {
        (true, _) => left.iter().zip(&block.states).map(|(a, b)| ((*a).clone(), b.clone())).collect(),
        (false, Some(last)) if usize::try_from(rows).is_ok_and(|rows| rows == left.len()) => {
            left.last().map(|state| ((*state).clone(), last.clone())).into_iter().collect()
        }
        _ => return Ok(Vec::new()),
    };
    let answered = differing_pairs(&pairs)?;
    let unsaid = left.len() - answered.len();
    Ok(std::iter::repeat_n(false, unsaid).chain(answered).collect())
}
