//! Where nothing that was computed differs and yet the state left behind does: what the rewind kept.

use super::compare::equal;
use super::controls::parts;
use super::instrument::Look;
use super::layer::Looked;
use super::lockstep::{Pair, Until, walk};
use super::script::{Round, Script};
use super::side::{Kind, Stage, Start};
use super::state::{cached_positions, recurrent};
use crate::engine::Result;
use crate::engine::cache::Caches;
use crate::engine::op::Op;
use crate::engine::tap::Site;
use crate::results::bisect::{Class, Confirmation, Handled, RewindAnswer};

/// What stayed of the block, in keys and values and in recurrent states.
///
/// # Errors
/// When MLX refuses.
pub(super) fn rewind(looked: &Looked, round: &Round) -> Result<RewindAnswer> {
    let kept_in_cache = cached_positions(&looked.after)
        .zip(cached_positions(&looked.before))
        .map(|(after, before)| i64::from(after - before));
    let layer = (0..looked.after.layers.len()).find(|layer| recurrent(&looked.after, *layer).is_some());
    let kept_in_state = match layer {
        Some(layer) => row_of(&looked.after, (&looked.block, &looked.before), layer)?,
        None => None,
    };
    Ok(RewindAnswer {
        round: looked.walk.round,
        rows: (round.block.len() as u64, round.kept as u64),
        kept_in_cache,
        kept_in_state,
        recurrent: layer.is_some(),
    })
}

/// After how many rows of the block a layer's state was what it is now.
fn row_of(after: &Caches, (block, before): (&Look, &Caches), layer: usize) -> Result<Option<i64>> {
    let Some(state) = recurrent(after, layer) else { return Ok(None) };
    if let Some(old) = recurrent(before, layer)
        && equal(old, state)?
    {
        return Ok(Some(0));
    }
    let seen = block.of(Site::of_layer(layer, Op::Delta));
    for (row, left) in (1..).zip(seen.iter().flat_map(|seen| &seen.states)) {
        if equal(left, state)? {
            return Ok(Some(row));
        }
    }
    Ok(None)
}

/// What kind of rewind that was.
pub(super) fn class(answer: &RewindAnswer) -> Class {
    let (width, kept) = (signed(answer.rows.0), signed(answer.rows.1));
    let (cache, state) = (answer.kept_in_cache, answer.kept_in_state);
    let all = |count: Option<i64>, there: bool| if there { count == Some(width) } else { true };
    if kept < width && all(cache, cache.is_some()) && all(state, answer.recurrent) {
        return Class::SkippedRewind;
    }
    match (cache, state) {
        (Some(cache), _) if cache > kept => Class::RejectedRow,
        (_, Some(state)) if state > kept => Class::StateAhead,
        _ => Class::Rewind,
    }
}

/// Drives the block with rewinds made as they should be: the frontier has to move past round `round`.
///
/// # Errors
/// When MLX refuses.
pub(super) fn confirm(
    (stage, script): (&Stage<'_>, &Script),
    start: &Start,
    round: u64,
) -> Result<(Confirmation, u64)> {
    let mut pair = Pair::new(stage, (Kind::Chain, Kind::Block), start);
    pair.right.instrument.honest = true;
    let answer = walk(&mut pair, script, Until::Difference)?.answer;
    let confirmation = Confirmation {
        handled: Handled::Rewind,
        before: format!("after round {round}"),
        after: parts(&answer),
        moved: answer.root().is_none_or(|root| root > round),
        tried: Vec::new(),
        control: None,
        control_moved: None,
    };
    Ok((confirmation, pair.fed()))
}

fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::class;
    use crate::results::bisect::{Class, RewindAnswer};

    #[test]
    fn kinds_of_rewinds() {
        let of = |cache: Option<i64>, state: Option<i64>, recurrent: bool| {
            let rows = (4, 2);
            class(&RewindAnswer { round: 0, rows, kept_in_cache: cache, kept_in_state: state, recurrent })
        };
        assert_eq!(of(Some(4), Some(4), true), Class::SkippedRewind);
        assert_eq!(of(Some(4), None, false), Class::SkippedRewind);
        assert_eq!(of(None, Some(4), true), Class::SkippedRewind);
        assert_eq!(of(Some(3), Some(2), true), Class::RejectedRow);
        assert_eq!(of(Some(4), Some(2), true), Class::RejectedRow);
        assert_eq!(of(Some(2), Some(3), true), Class::StateAhead);
        assert_eq!(of(Some(2), Some(1), true), Class::Rewind);
        assert_eq!(of(Some(2), None, true), Class::Rewind);
        assert_eq!(of(Some(1), Some(2), true), Class::Rewind);
    }
}
