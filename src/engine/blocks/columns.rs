//! Quantized matrices over the processor's cores.
//!
//! MLX's CPU backend computes a stream on one thread, and a quantized product is most of a token's time there. Each
//! output column is a sum of its own, so a matrix cut between columns gives the same bytes, and each part goes to a
//! stream of its own. On a GPU one kernel has the whole device, and nothing is cut.

use super::weights::dim;
use crate::engine::error::Result;
use crate::engine::raw::{Quantized, rows_of};
use mlx_rs::ops::concatenate;
use mlx_rs::{Array, Device, DeviceType, Stream};
use std::cell::RefCell;
use std::thread::available_parallelism;

/// Most streams of a product; measured on two cores, so this only bounds what a larger machine starts.
const MOST_PARTS: usize = 4;
/// Weights below which handing a part to another thread costs more than it saves.
const LEAST_WEIGHTS: i32 = 1 << 16;

thread_local! {
    /// Streams beside the default one. They are never given back by MLX, so each thread makes them once.
    static SIDE_STREAMS: RefCell<Vec<Stream>> = const { RefCell::new(Vec::new()) };
}

/// A quantized matrix `[out, in]`, in one part or several runs of output columns.
#[derive(Debug, Clone)]
pub struct Columns {
    first: Quantized,
    /// The parts for the side streams, in the order of the columns.
    others: Vec<(Quantized, Stream)>,
}

impl Columns {
    /// Cuts `matrix` for the cores at hand, where that pays.
    ///
    /// # Errors
    /// When MLX refuses.
    pub fn new(matrix: &Quantized) -> Result<Self> {
        let outputs = matrix.codes.dim(0);
        let weights = outputs.saturating_mul(matrix.codes.dim(-1)).saturating_mul(32 / matrix.bits);
        let parts = if weights < LEAST_WEIGHTS { 1 } else { cores()? };
        let bound = |part: usize| outputs * dim(part) / dim(parts);
        let streams = side_streams(parts - 1);
        let others = (1..parts)
            .zip(streams)
            .map(|(part, stream)| Ok((matrix.columns(bound(part), bound(part + 1))?, stream)));
        let others = others.collect::<Result<Vec<_>>>()?;
        let first = if others.is_empty() { matrix.clone() } else { matrix.columns(0, bound(1))? };
        Ok(Self { first, others })
    }

    /// `x · Wᵀ`: `[…, T, in]` to `[…, T, out]`.
    ///
    /// # Errors
    /// When the shapes do not fit.
    pub fn matmul(&self, x: &Array) -> Result<Array> {
        let default = Stream::thread_local_or_default();
        if self.others.is_empty() {
            return self.first.matmul(x, &default);
        }
        let others = self.others.iter().map(|(part, stream)| part.matmul(x, stream));
        let mut parts = others.collect::<Result<Vec<_>>>()?;
        parts.insert(0, self.first.matmul(x, &default)?);
        Ok(concatenate(&parts, -1)?)
    }
}

impl Quantized {
    /// The matrix of output columns `start..stop`, a view.
    fn columns(&self, start: i32, stop: i32) -> Result<Self> {
        let cut = |array: &Array| rows_of(array, 0, start, stop);
        Ok(Self {
            codes: cut(&self.codes)?,
            scales: cut(&self.scales)?,
            biases: self.biases.as_ref().map(cut).transpose()?,
            ..self.clone()
        })
    }
}

/// Threads worth using for a product: one on a GPU.
fn cores() -> Result<usize> {
    let on_cpu = matches!(Device::try_default()?.get_type()?, DeviceType::Cpu);
    let cores = available_parallelism().map_or(1, usize::from);
    Ok(if on_cpu { cores.min(MOST_PARTS) } else { 1 })
}

fn side_streams(count: usize) -> Vec<Stream> {
    SIDE_STREAMS.with_borrow_mut(|streams| {
        while streams.len() < count {
            streams.push(Stream::new_with_device(&Device::cpu()));
        }
        streams[..count].to_vec()
    })
}
