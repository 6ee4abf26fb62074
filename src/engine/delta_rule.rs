//! The gated delta rule: one recurrence, in two orders of arithmetic.
//!
//! The chain runs one step a row, exactly as plain decoding does, so a block of rows leaves the chain's bytes.
//! The chunked form computes a block by matrix products; it is the same function in exact arithmetic and another
//! one in floating point, which makes it the honest example of a divergence.

use super::error::Result;
use super::raw::rows_of;
use mlx_rs::ops::{concatenate, expand_dims, minimum, tril};
use mlx_rs::{Array, Dtype, ops};

/// Rows of one chunk of the chunked form.
const CHUNK: i32 = 64;

/// The inputs of a block's recurrence: enough to run it again over fewer rows.
#[derive(Debug, Clone)]
pub struct Recurrence {
    /// Queries, scaled and normed, `[B, T, Hv, Dk]`.
    pub queries: Array,
    /// Keys, normed, `[B, T, Hv, Dk]`.
    pub keys: Array,
    /// Values `[B, T, Hv, Dv]`.
    pub values: Array,
    /// Logarithm of the decay, f32 `[B, T, Hv]`.
    pub log_decay: Array,
    /// Writing strength `[B, T, Hv]`.
    pub beta: Array,
}

impl Recurrence {
    /// Rows of the block.
    #[must_use]
    pub fn rows(&self) -> i32 {
        self.queries.dim(1)
    }

    /// Rows `start..stop`.
    ///
    /// # Errors
    /// When the block is shorter.
    pub fn part(&self, start: i32, stop: i32) -> Result<Self> {
        let cut = |array: &Array| rows_of(array, 1, start, stop);
        Ok(Self {
            queries: cut(&self.queries)?,
            keys: cut(&self.keys)?,
            values: cut(&self.values)?,
            log_decay: cut(&self.log_decay)?,
            beta: cut(&self.beta)?,
        })
    }
}

/// The outcome of a recurrence over some rows.
pub struct Outcome {
    /// Outputs `[B, T, Hv, Dv]`, in the queries' dtype.
    pub outputs: Array,
    /// The state after each row (chain) or after the last (chunked), f32 `[B, Hv, Dv, Dk]`.
    pub states: Vec<Array>,
}

/// Runs one step a row from `state`, f32 `[B, Hv, Dv, Dk]`.
///
/// # Errors
/// When MLX refuses.
pub fn chain(state: &Array, inputs: &Recurrence) -> Result<Outcome> {
    let rows = inputs.rows();
    let wide = inputs.log_decay.exp()?.expand_dims_axes(&[-1, -2])?; // [B, T, Hv, 1, 1]
    let decays = split_rows(&wide, rows)?;
    let betas = split_rows(&inputs.beta.expand_dims_axes(&[-1, -2])?, rows)?; // [B, T, Hv, 1, 1]
    let queries = split_rows(&expand_dims(&inputs.queries, -2)?, rows)?; // [B, T, Hv, 1, Dk]
    let keys = split_rows(&expand_dims(&inputs.keys, -2)?, rows)?; // [B, T, Hv, 1, Dk]
    let values = split_rows(&expand_dims(&inputs.values, -1)?, rows)?; // [B, T, Hv, Dv, 1]
    let (mut outputs, mut states) = (Vec::new(), Vec::new());
    let mut current = expand_dims(state, 1)?; // [B, 1, Hv, Dv, Dk]
    for row in 0..queries.len() {
        let decayed = current.multiply(&decays[row])?;
        let read = decayed.multiply(&keys[row])?.sum_axis(-1, true)?; // [B, 1, Hv, Dv, 1]
        let correction = values[row].subtract(&read)?.multiply(&betas[row])?;
        current = decayed.add(keys[row].multiply(&correction)?)?;
        outputs.push(current.multiply(&queries[row])?.sum_axis(-1, false)?); // [B, 1, Hv, Dv]
        states.push(current.squeeze_axes(&[1])?);
    }
    let outputs = if rows == 1 { outputs.swap_remove(0) } else { concatenate(&outputs, 1)? };
    Ok(Outcome { outputs: outputs.as_dtype(inputs.queries.dtype())?, states })
}

/// The rows of `[B, T, …]`, each `[B, 1, …]`.
fn split_rows(array: &Array, rows: i32) -> Result<Vec<Array>> {
    Ok(if rows == 1 { vec![array.clone()] } else { array.split_equal(rows, 1)? })
}

/// Runs whole chunks from `state`, f32 `[B, Hv, Dv, Dk]`.
///
/// # Errors
/// When MLX refuses.
pub fn chunked(state: &Array, inputs: &Recurrence) -> Result<Outcome> {
    let mut transposed = state.swap_axes(-1, -2)?; // [B, Hv, Dk, Dv]
    let mut outputs = Vec::new();
    let mut start = 0;
    while start < inputs.rows() {
        let stop = (start + CHUNK).min(inputs.rows());
        let (output, next) = chunk(&transposed, &inputs.part(start, stop)?)?;
        outputs.push(output);
        transposed = next;
        start = stop;
    }
    let outputs = concatenate(&outputs, 1)?.as_dtype(inputs.queries.dtype())?;
    Ok(Outcome { outputs, states: vec![transposed.swap_axes(-1, -2)?] })
}

/// One chunk of C rows: solves the corrections of all rows at once, then applies them.
fn chunk(state: &Array, rows: &Recurrence) -> Result<(Array, Array)> {
    let heads_first = |array: &Array| array.as_dtype(Dtype::Float32)?.swap_axes(1, 2);
    let (queries, keys) = (heads_first(&rows.queries)?, heads_first(&rows.keys)?); // [B, Hv, C, Dk]
    let values = heads_first(&rows.values)?; // [B, Hv, C, Dv]
    let beta = expand_dims(heads_first(&rows.beta)?, -1)?; // [B, Hv, C, 1]
    let total = heads_first(&rows.log_decay)?.cumsum(2, false, true)?; // [B, Hv, C]
    let (column, row) = (expand_dims(&total, -1)?, expand_dims(&total, -2)?);
    let decays = tril(minimum(column.subtract(&row)?, Array::from_f32(0.0))?.exp()?, 0)?; // [B, Hv, C, C]
    let strong_keys = keys.multiply(&beta)?;
    let keys_across = keys.swap_axes(-1, -2)?; // [B, Hv, Dk, C]
    let system = tril(strong_keys.matmul(&keys_across)?.multiply(&decays)?, -1)?;
    let solved = unit_lower_inverse(&system)?; // [B, Hv, C, C]
    let since_start = column.exp()?; // [B, Hv, C, 1]
    let own = solved.matmul(values.multiply(&beta)?)?; // [B, Hv, C, Dv]
    let inherited = solved.matmul(strong_keys.multiply(&since_start)?)?; // [B, Hv, C, Dk]
    let corrections = own.subtract(inherited.matmul(state)?)?; // [B, Hv, C, Dv]
    let scores = queries.matmul(&keys_across)?.multiply(&decays)?; // [B, Hv, C, C]
    let outputs = queries.multiply(&since_start)?.matmul(state)?.add(scores.matmul(&corrections)?)?;
    let last = rows_of(&column, 2, rows.rows() - 1, rows.rows())?; // [B, Hv, 1, 1]
    let until_end = last.subtract(&column)?.exp()?; // [B, Hv, C, 1]
    let written = keys.multiply(&until_end)?.swap_axes(-1, -2)?.matmul(&corrections)?; // [B, Hv, Dk, Dv]
    let next = state.multiply(last.exp()?)?.add(written)?;
    Ok((outputs.swap_axes(1, 2)?, next))
}

/// `(I + A)⁻¹` for strictly lower triangular A `[…, C, C]`, as the finite product `(I − A)(I + A²)(I + A⁴)…`.
fn unit_lower_inverse(lower: &Array) -> Result<Array> {
    let size = lower.dim(-1);
    let identity = ops::identity::<f32>(size)?;
    let mut inverse = identity.subtract(lower)?;
    let mut power = lower.matmul(lower)?;
    let mut reached = 2;
    while reached < size {
        inverse = inverse.matmul(identity.add(&power)?)?;
        power = power.matmul(&power)?;
        reached *= 2;
    }
    Ok(inverse)
}

/// The state after running `inputs` from `before`, in the form that the block used.
///
/// # Errors
/// When MLX refuses.
pub fn replay(before: &Array, inputs: &Recurrence, in_chunks: bool) -> Result<Array> {
    let outcome = if in_chunks { chunked(before, inputs)? } else { chain(before, inputs)? };
    // Both forms give at least one state for at least one row, and a commit keeps at least one row.
    Ok(outcome.states.last().cloned().unwrap_or_else(|| before.clone()))
}
