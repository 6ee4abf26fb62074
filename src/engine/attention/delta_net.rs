//! The gated delta net: a short causal convolution, a recurrent state with decay and correction, a gated norm.

use crate::engine::blocks::{Linear, Weights, dim, silu, taken_apart};
use crate::engine::cache::{BlockStates, DeltaBlock, DeltaCache, Rewind};
use crate::engine::checkpoint::{self, Config};
use crate::engine::delta_rule::{self, Outcome, Recurrence};
use crate::engine::error::Result;
use crate::engine::op::Op;
use crate::engine::pass::Pass;
use crate::engine::raw::rows_of;
use crate::engine::routes::Route;
use crate::engine::tap::{Given, Reach};
use mlx_rs::ops::{self, broadcast_to, concatenate, expand_dims, expand_dims_axes, logaddexp, sigmoid};
use mlx_rs::{Array, Dtype, fast};

/// Added to the sum of squares in the L2 norm of queries and keys.
const L2_EPS: f32 = 1e-6;

/// One gated-delta mixer.
#[derive(Debug)]
pub struct DeltaNet {
    in_proj_qkv: Linear,
    in_proj_z: Linear,
    in_proj_b: Linear,
    in_proj_a: Linear,
    out_proj: Linear,
    /// One f32 `[1, 1, C]` a tap, oldest row first.
    taps: Vec<Array>,
    /// `−exp(A_log)`, f32 `[1, 1, Hv]`.
    decay_rate: Array,
    /// `[1, 1, Hv]`.
    dt_bias: Array,
    /// `[Dv]`.
    norm: Array,
    norm_eps: f32,
    shape: Shape,
}

#[derive(Debug, Clone, Copy)]
struct Shape {
    key_heads: i32,
    value_heads: i32,
    key_dim: i32,
    value_dim: i32,
}

impl Shape {
    fn keys(self) -> i32 {
        self.key_heads * self.key_dim
    }

    fn values(self) -> i32 {
        self.value_heads * self.value_dim
    }

    fn channels(self) -> i32 {
        2 * self.keys() + self.values()
    }

    #[expect(clippy::cast_precision_loss, reason = "a head size is far below 2²⁴")]
    fn inverse_scale(self) -> f32 {
        (self.key_dim as f32).powf(-0.5)
    }
}

/// The projections and the convolution of some rows, on their way into the recurrence.
struct Prepared {
    inputs: Recurrence,
    /// Output gate `[B, T, Hv · Dv]`.
    gate: Array,
    /// Window and rows, f32 `[B, K − 1 + T, C]`.
    window: Array,
}

impl DeltaNet {
    /// Reads the mixer at `prefix`, as in `model.layers.0.linear_attn`.
    ///
    /// # Errors
    /// When a tensor is missing or has another shape.
    pub fn load(
        weights: &Weights<'_>,
        prefix: &str,
        config: &Config,
        sizes: &checkpoint::DeltaNet,
    ) -> Result<Self> {
        let shape = Shape {
            key_heads: dim(sizes.key_heads),
            value_heads: dim(sizes.value_heads),
            key_dim: dim(sizes.key_dim),
            value_dim: dim(sizes.value_dim),
        };
        let hidden = config.hidden_size;
        let path = |name: &str| format!("{prefix}.{name}");
        let linear = |name: &str, outputs, inputs| weights.linear(&path(name), outputs, inputs);
        let heads = [sizes.value_heads];
        let [in_proj_qkv, in_proj_z, in_proj_b, in_proj_a] =
            input_projections(weights, prefix, hidden, sizes)?;
        Ok(Self {
            in_proj_qkv,
            in_proj_z,
            in_proj_b,
            in_proj_a,
            out_proj: linear("out_proj", hidden, sizes.values())?,
            taps: weights.taps(&path("conv1d.weight"), sizes.conv_channels(), sizes.conv_kernel)?,
            decay_rate: weights
                .derived(per_row(&weights.vector_f32(&path("A_log"), &heads)?.exp()?.negative()?)?),
            dt_bias: per_row(&weights.vector(&path("dt_bias"), &heads)?)?,
            norm: weights.vector(&path("norm.weight"), &[sizes.value_dim])?,
            norm_eps: config.rms_norm_eps,
            shape,
        })
    }

    /// `x` `[B, T, h]` to `[B, T, h]`; the cache moves on by T rows, and records the block when T > 1 or asked to.
    ///
    /// # Errors
    /// When MLX refuses.
    pub fn forward(
        &self,
        pass: &mut Pass<'_>,
        x: &Array,
        cache: &mut DeltaCache,
        record: Option<Rewind>,
    ) -> Result<Array> {
        let (batch, rows) = (x.dim(0), x.dim(1));
        let prepared = self.prepare(pass, x, cache)?;
        let before = match &cache.state {
            Some(state) => state.clone(),
            None => {
                ops::zeros::<f32>(&[batch, self.shape.value_heads, self.shape.value_dim, self.shape.key_dim])?
            }
        };
        let in_chunks = pass.route(Op::Delta) == Route::Chunked;
        let mut outcome = recur(pass, &before, &prepared.inputs, in_chunks)?;
        outcome.states = pass.left(Op::Delta, outcome.states)?;
        let outputs = pass.out(Op::Delta, outcome.outputs.clone())?; // [B, T, Hv, Dv]
        cache.block = record.map(|rewind| block(rewind, in_chunks, &before, &prepared, &outcome));
        cache.state = outcome.states.last().cloned();
        let end = prepared.window.dim(1);
        cache.window = Some(rows_of(&prepared.window, 1, end - self.past_rows(), end)?.contiguous()?);
        cache.advance(rows);
        let gated = self.gated_norm(pass, &outputs, &prepared.gate)?;
        self.out_proj.forward(pass, Op::OutProj, &gated)
    }

    /// Rows that the convolution looks back.
    fn past_rows(&self) -> i32 {
        i32::try_from(self.taps.len()).unwrap_or(0) - 1
    }

    fn prepare(&self, pass: &mut Pass<'_>, x: &Array, cache: &DeltaCache) -> Result<Prepared> {
        let mixed = self.in_proj_qkv.forward(pass, Op::InProjQkv, x)?; // [B, T, C]
        let gate = self.in_proj_z.forward(pass, Op::InProjZ, x)?;
        let strength = self.in_proj_b.forward(pass, Op::InProjB, x)?; // [B, T, Hv]
        let time = self.in_proj_a.forward(pass, Op::InProjA, x)?; // [B, T, Hv]
        let window = self.window(&mixed, cache)?;
        pass.reads(Op::Conv, &[Given { name: "window", array: &window, reach: Reach::Upto(1) }]);
        let convolved = self.convolve(pass, &mixed, &window)?;
        let (queries, keys, values) = self.split(pass, &convolved)?;
        let beta = pass.rows(Op::Beta, 1, &[&strength], |part, _| Ok(sigmoid(part[0])?))?;
        let log_decay = pass.rows(Op::Decay, 1, &[&time], |part, _| self.log_decay(part[0]))?;
        Ok(Prepared { inputs: Recurrence { queries, keys, values, log_decay, beta }, gate, window })
    }

    /// The rows that the convolution looks back to, then the new rows; f32 `[B, K − 1 + T, C]`.
    fn window(&self, mixed: &Array, cache: &DeltaCache) -> Result<Array> {
        let past = match &cache.window {
            Some(window) => window.clone(),
            None => ops::zeros::<f32>(&[mixed.dim(0), self.past_rows(), self.shape.channels()])?,
        };
        Ok(concatenate(&[past, mixed.as_dtype(Dtype::Float32)?], 1)?)
    }

    /// Convolution and activation, `[B, T, C]`: the taps' products summed in f32, oldest first, for any T.
    fn convolve(&self, pass: &mut Pass<'_>, mixed: &Array, window: &Array) -> Result<Array> {
        pass.rows(Op::Conv, 1, &[mixed], |part, start| {
            let rows = part[0].dim(1);
            let mut sum: Option<Array> = None;
            for (tap, weight) in (start..).zip(&self.taps) {
                let product = rows_of(window, 1, tap, tap + rows)?.multiply(weight)?;
                sum = Some(match sum {
                    Some(sum) => sum.add(&product)?,
                    None => product,
                });
            }
            let sum = sum.unwrap_or_else(|| part[0].clone()).as_dtype(mixed.dtype())?;
            silu(&sum)
        })
    }

    /// Queries and keys, normed and repeated for their value heads, `[B, T, Hv, Dk]`; values `[B, T, Hv, Dv]`.
    fn split(&self, pass: &mut Pass<'_>, convolved: &Array) -> Result<(Array, Array, Array)> {
        let (batch, rows, keys) = (convolved.dim(0), convolved.dim(1), self.shape.keys());
        let parts = convolved.split_at_indices(&[keys, 2 * keys], -1)?;
        let heads = |array: &Array| array.reshape(&[batch, rows, self.shape.key_heads, self.shape.key_dim]);
        let scale = self.shape.inverse_scale();
        let queries = self.l2_norm(pass, Op::DeltaQNorm, &heads(&parts[0])?, scale * scale)?;
        let keys = self.l2_norm(pass, Op::DeltaKNorm, &heads(&parts[1])?, scale)?;
        let values = parts[2].reshape(&[batch, rows, self.shape.value_heads, self.shape.value_dim])?;
        Ok((self.repeat(&queries)?, self.repeat(&keys)?, values))
    }

    /// L2 norm over Dk by way of the RMS norm, whose epsilon is on the mean and not on the sum.
    fn l2_norm(&self, pass: &mut Pass<'_>, op: Op, x: &Array, factor: f32) -> Result<Array> {
        let eps = L2_EPS * self.shape.inverse_scale().powi(2);
        let factor = Array::from_f32(factor).as_dtype(x.dtype())?;
        pass.rows(op, 1, &[x], |part, _| Ok(fast::rms_norm(part[0], None, eps)?.multiply(&factor)?))
    }

    /// Each key head serves a run of value heads: `[B, T, Hk, Dk]` to `[B, T, Hv, Dk]`.
    fn repeat(&self, x: &Array) -> Result<Array> {
        let Shape { key_heads, value_heads, key_dim, .. } = self.shape;
        if key_heads == value_heads {
            return Ok(x.clone());
        }
        let (batch, rows) = (x.dim(0), x.dim(1));
        let wide =
            broadcast_to(expand_dims(x, 3)?, &[batch, rows, key_heads, value_heads / key_heads, key_dim])?;
        Ok(wide.reshape(&[batch, rows, value_heads, key_dim])?)
    }

    /// `−exp(A_log) · softplus(a + dt_bias)`, f32 `[B, T, Hv]`.
    fn log_decay(&self, time: &Array) -> Result<Array> {
        let shifted = time.add(&self.dt_bias)?;
        let zero = Array::from_f32(0.0).as_dtype(shifted.dtype())?;
        Ok(self.decay_rate.multiply(logaddexp(&shifted, &zero)?)?)
    }

    /// Norm over Dv, then the gate in f32: `[B, T, Hv, Dv]` to `[B, T, Hv · Dv]`.
    fn gated_norm(&self, pass: &mut Pass<'_>, outputs: &Array, gate: &Array) -> Result<Array> {
        let (batch, rows) = (outputs.dim(0), outputs.dim(1));
        let gate = gate.reshape(outputs.shape())?;
        let gated = pass.rows(Op::GatedNorm, 1, &[outputs, &gate], |part, _| {
            let normed = fast::rms_norm(part[0], Some(&self.norm), self.norm_eps)?;
            let open = silu(&part[1].as_dtype(Dtype::Float32)?)?;
            Ok(open.multiply(normed.as_dtype(Dtype::Float32)?)?.as_dtype(part[0].dtype())?)
        })?;
        Ok(gated.reshape(&[batch, rows, self.shape.values()])?)
    }
}

/// A vector in the shape of one row, `[1, 1, C]`, so that a row needs no broadcast of it.
fn per_row(vector: &Array) -> Result<Array> {
    Ok(expand_dims_axes(vector, &[0, 1])?)
}

/// The projections to queries, keys and values, to the gate, to the writing strength, and to the decay.
fn input_projections(
    weights: &Weights<'_>,
    prefix: &str,
    hidden: usize,
    sizes: &checkpoint::DeltaNet,
) -> Result<[Linear; 4]> {
    let path = |name: &str| format!("{prefix}.{name}");
    let linear = |name: &str, outputs| weights.linear(&path(name), outputs, hidden);
    if !sizes.fused {
        return Ok([
            linear("in_proj_qkv", sizes.conv_channels())?,
            linear("in_proj_z", sizes.values())?,
            linear("in_proj_b", sizes.value_heads)?,
            linear("in_proj_a", sizes.value_heads)?,
        ]);
    }
    let (groups, share) = (sizes.key_heads, sizes.value_heads / sizes.key_heads);
    let qkvz = [sizes.key_dim, sizes.key_dim, share * sizes.value_dim, share * sizes.value_dim];
    let [in_proj_qkv, in_proj_z] =
        taken_apart(weights, &path("in_proj_qkvz"), (groups, &qkvz), [&[0, 1, 2], &[3]], hidden)?;
    let [in_proj_b, in_proj_a] =
        taken_apart(weights, &path("in_proj_ba"), (groups, &[share, share]), [&[0], &[1]], hidden)?;
    Ok([in_proj_qkv, in_proj_z, in_proj_b, in_proj_a])
}

/// What a commit will need to go back to an earlier row.
fn block(
    rewind: Rewind,
    chunked: bool,
    before: &Array,
    prepared: &Prepared,
    outcome: &Outcome,
) -> DeltaBlock {
    let states = if rewind == Rewind::KeepStates && !chunked {
        BlockStates::PerRow(outcome.states.clone())
    } else {
        BlockStates::Replay { before: before.clone(), inputs: prepared.inputs.clone(), chunked }
    };
    DeltaBlock { window: prepared.window.clone(), states }
}

/// Runs the recurrence in the form that the route asks for; the tap sees one call a row, or one for all.
fn recur(pass: &mut Pass<'_>, before: &Array, inputs: &Recurrence, in_chunks: bool) -> Result<Outcome> {
    let read = |name, array| Given { name, array, reach: Reach::Before(1) };
    pass.reads(
        Op::Delta,
        &[
            Given { name: "state", array: before, reach: Reach::State },
            read("queries", &inputs.queries),
            read("keys", &inputs.keys),
            read("values", &inputs.values),
            read("log_decay", &inputs.log_decay),
            read("beta", &inputs.beta),
        ],
    );
    if in_chunks {
        pass.called(Op::Delta, inputs.rows());
        return delta_rule::chunked(before, inputs);
    }
    (0..inputs.rows()).for_each(|_| pass.called(Op::Delta, 1));
    delta_rule::chain(before, inputs)
}
