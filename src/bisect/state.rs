//! Holding what two runs leave behind against each other: keys, values, convolution windows, recurrent states.

use super::compare::{differing_pairs, differing_rows};
use crate::engine::Result;
use crate::engine::cache::{Caches, LayerCache};
use crate::engine::raw::rows_of;
use crate::results::bisect::StateSeen;
use mlx_rs::Array;

/// The axis of keys and values that has the positions.
const POSITIONS: i32 = 2;

/// The first part in which the states differ.
///
/// # Errors
/// When MLX refuses.
pub(super) fn difference(left: &Caches, right: &Caches, round: Option<u64>) -> Result<Option<StateSeen>> {
    let mut names = Vec::new();
    let mut pairs: Vec<(Array, Array)> = Vec::new();
    for (layer, (left, right)) in left.layers.iter().zip(&right.layers).enumerate() {
        for ((name, left), (_, right)) in left.named()?.into_iter().zip(right.named()?) {
            names.push(format!("layer.{layer}.{name}"));
            pairs.push((left, right));
        }
    }
    let differs = differing_pairs(&pairs)?;
    let Some(first) = differs.iter().position(|differs| *differs) else { return Ok(None) };
    let count = differs.iter().filter(|differs| **differs).count();
    let (left, right) = &pairs[first];
    let by_position = matches!(names[first].rsplit('.').next(), Some("keys" | "values"));
    let lengths = (length(left), length(right));
    Ok(Some(StateSeen {
        round,
        part: names[first].clone(),
        position: if by_position { first_position(left, right)? } else { None },
        lengths: (by_position && lengths.0 != lengths.1).then_some(lengths),
        differing: (count as u64, names.len() as u64),
    }))
}

fn length(array: &Array) -> u64 {
    let positions = array.shape().get(usize::try_from(POSITIONS).unwrap_or(0));
    positions.and_then(|positions| u64::try_from(*positions).ok()).unwrap_or(0)
}

/// The first position whose keys or values differ; where one side only has more, the first of those.
fn first_position(left: &Array, right: &Array) -> Result<Option<u64>> {
    let common = left.dim(POSITIONS).min(right.dim(POSITIONS));
    let cut = |array: &Array| rows_of(array, POSITIONS, 0, common);
    let differs = differing_rows(&cut(left)?, &cut(right)?, POSITIONS)?;
    let first = differs.iter().position(|differs| *differs);
    Ok(first.map(|first| first as u64).or_else(|| u64::try_from(common).ok()))
}

/// Positions held by the first layer with keys and values, and the recurrent layers' own states.
pub(super) fn cached_positions(caches: &Caches) -> Option<i32> {
    caches.layers.iter().find_map(|layer| match layer {
        LayerCache::Kv(cache) => Some(cache.length()),
        LayerCache::Delta(_) => None,
    })
}

/// The recurrent state of a layer that has one.
pub(super) fn recurrent(caches: &Caches, layer: usize) -> Option<&Array> {
    match caches.layers.get(layer)? {
        LayerCache::Delta(cache) => cache.state.as_ref(),
        LayerCache::Kv(_) => None,
    }
}
