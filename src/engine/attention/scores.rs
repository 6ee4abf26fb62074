//! Scores, softmax and the weighted sum of values: one function of its inputs, four ways to call it.
//!
//! A row may see the positions up to its own. The fused call over a block says so with a causal mask over all
//! keys; one call a row says so by handing over only the keys it may see, which is what plain decoding does.

use crate::engine::cache::capacity;
use crate::engine::error::Result;
use crate::engine::op::Op;
use crate::engine::pass::Pass;
use crate::engine::raw::rows_of;
use crate::engine::routes::Route;
use crate::engine::tap::{Given, Reach};
use mlx_rs::Array;
use mlx_rs::fast::{ScaledDotProductAttentionMask, scaled_dot_product_attention};
use mlx_rs::ops::{arange, concatenate, expand_dims, select, softmax_axis};

/// Queries `[B, H, T, D]` over keys and values `[B, Hkv, P + T, D]`, to `[B, H, T, D]`.
///
/// # Errors
/// When MLX refuses.
pub fn attend(
    pass: &mut Pass<'_>,
    queries: &Array,
    keys: &Array,
    values: &Array,
    scale: f32,
) -> Result<Array> {
    pass.reads(
        Op::Attention,
        &[
            Given { name: "queries", array: queries, reach: Reach::Own(2) },
            Given { name: "keys", array: keys, reach: Reach::Upto(2) },
            Given { name: "values", array: values, reach: Reach::Upto(2) },
        ],
    );
    let route = pass.route(Op::Attention);
    match route {
        Route::PerPosition | Route::Contiguous => {
            (0..queries.dim(2)).for_each(|_| pass.called(Op::Attention, 1));
        }
        _ => pass.called(Op::Attention, queries.dim(2)),
    }
    pass.out(Op::Attention, by_route(route, (queries, keys, values), scale)?)
}

/// What [`attend`] computes under a route, with nobody watching.
///
/// # Errors
/// When MLX refuses.
pub fn by_route(
    route: Route,
    (queries, keys, values): (&Array, &Array, &Array),
    scale: f32,
) -> Result<Array> {
    match route {
        Route::Materialised => materialised(queries, keys, values, scale),
        Route::Contiguous => per_position((queries, keys, values), scale, Layout::Copied),
        Route::PerPosition => per_position((queries, keys, values), scale, Layout::View),
        _ => fused(queries, keys, values, scale),
    }
}

fn fused(queries: &Array, keys: &Array, values: &Array, scale: f32) -> Result<Array> {
    let mask = (queries.dim(2) > 1).then_some(ScaledDotProductAttentionMask::Causal);
    Ok(scaled_dot_product_attention(queries, keys, values, scale, mask, None)?)
}

/// What a row's keys and values look like to the kernel.
#[derive(Clone, Copy, PartialEq)]
enum Layout {
    View,
    Copied,
}

fn per_position(
    (queries, keys, values): (&Array, &Array, &Array),
    scale: f32,
    layout: Layout,
) -> Result<Array> {
    let rows = queries.dim(2);
    let before = keys.dim(2) - rows;
    let mut outputs = Vec::new();
    for row in 0..rows {
        let seen = |array: &Array| match layout {
            Layout::View => view(array, before + row + 1),
            Layout::Copied => Ok(rows_of(array, 2, 0, before + row + 1)?.contiguous()?),
        };
        outputs.push(fused(&rows_of(queries, 2, row, row + 1)?, &seen(keys)?, &seen(values)?, scale)?);
    }
    Ok(if rows == 1 { outputs.swap_remove(0) } else { concatenate(&outputs, 2)? })
}

/// The first `length` positions as plain decoding's cache gives them. Where the block's last rows made the buffer grow,
/// that is a view of one with less room: the kernel may be chosen by it.
fn view(array: &Array, length: i32) -> Result<Array> {
    let room = capacity(length);
    if room < array.dim(2) {
        return rows_of(&rows_of(array, 2, 0, room)?.contiguous()?, 2, 0, length);
    }
    rows_of(array, 2, 0, length)
}

/// Explicit products; query heads of one key head form an axis of their own, so that keys are not copied.
fn materialised(queries: &Array, keys: &Array, values: &Array, scale: f32) -> Result<Array> {
    let [batch, heads, rows, size] = shape4(queries);
    let key_heads = keys.dim(1);
    let grouped = queries.multiply(Array::from_f32(scale).as_dtype(queries.dtype())?)?;
    let grouped = grouped.reshape(&[batch, key_heads, heads / key_heads, rows, size])?;
    let (keys, values) = (expand_dims(keys, 2)?, expand_dims(values, 2)?); // [B, Hkv, 1, L, D]
    let scores = grouped.matmul(keys.swap_axes(-1, -2)?)?; // [B, Hkv, G, T, L]
    let scores = if rows > 1 { causal(&scores)? } else { scores };
    let weights = softmax_axis(&scores, -1, true)?;
    Ok(weights.matmul(&values)?.reshape(&[batch, heads, rows, size])?)
}

/// Hides from each row the positions after its own; scores `[…, T, L]`, the block's rows are the last T of L.
fn causal(scores: &Array) -> Result<Array> {
    let (rows, length) = (scores.dim(-2), scores.dim(-1));
    let own = expand_dims(arange::<i32, i32>(length - rows, length, None)?, -1)?; // [T, 1]
    let visible = arange::<i32, i32>(0, length, None)?.le(&own)?; // [T, L]
    let hidden = Array::from_f32(f32::NEG_INFINITY).as_dtype(scores.dtype())?;
    Ok(select(&visible, scores, &hidden)?)
}

fn shape4(array: &Array) -> [i32; 4] {
    [array.dim(0), array.dim(1), array.dim(2), array.dim(3)]
}
