//! What faults of bookkeeping do at the three places where a session asks its tap.

use super::fault::Bookkeeping;
use crate::engine::cache::Kept;
use crate::engine::error::Result;
use crate::engine::rows::{best, without};
use crate::engine::tap::Rewinding;
use crate::transcript::TokenId;
use mlx_rs::Array;

/// What a rewind keeps with the fault in it, where it would have kept `kept`. No rewind keeps more than the block has.
pub(super) fn kept(fault: Bookkeeping, rewinding: Rewinding, kept: Kept) -> Kept {
    let one_more = |rows: i32| (rows + 1).min(rewinding.rows);
    match fault {
        Bookkeeping::RejectedRow => Kept { keys: one_more(kept.keys), ..kept },
        Bookkeeping::StateAhead => Kept { states: one_more(kept.states), ..kept },
        Bookkeeping::SkippedRewind => Kept::same(rewinding.rows),
        Bookkeeping::Selection | Bookkeeping::Prefill => kept,
    }
}

/// The best of each row of logits `[T, vocabulary]` that is not the picked one, `[T]`.
pub(super) fn second_best(logits: &Array, picked: &Array) -> Result<Array> {
    let vocabulary = logits.dim(-1);
    let ids = Array::from_slice(&(0..vocabulary).collect::<Vec<_>>(), &[1, vocabulary]);
    let first = ids.eq(picked.reshape(&[-1, 1])?)?; // [T, V]
    best(&without(&first, logits)?)
}

/// The prompt with its last id twice.
pub(super) fn repeated(ids: &[TokenId]) -> Vec<TokenId> {
    ids.iter().chain(ids.last()).copied().collect()
}
