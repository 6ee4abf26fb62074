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
/// Multiplications below which handing a part to another thread costs more than it saves: the two threads wait for
/// each other for some 0.1 ms, in which one multiplies 2¹⁷ codes.
const LEAST_WORK: usize = 1 << 19;

thread_local! {
    /// Streams beside the default one. They are never given back by MLX, so each thread makes them once.
    static SIDE_STREAMS: RefCell<Vec<Stream>> = const { RefCell::new(Vec::new()) };
}

/// A quantized matrix `[out, in]`, in one part or several runs of output columns.
#[derive(Debug, Clone)]
pub struct Columns {
    whole: Quantized,
    /// Its parts in the order of the columns, the first for the default stream; none where nothing is cut.
    parts: Vec<(Quantized, Stream)>,
}

impl Columns {
    /// Cuts `matrix` for the cores at hand.
    ///
    /// # Errors
    /// When MLX refuses.
    pub fn new(matrix: &Quantized) -> Result<Self> {
        let (count, outputs) = (cores()?, matrix.codes.dim(0));
        let bound = |part: usize| outputs * dim(part) / dim(count);
        let streams = streams(if outputs < dim(count) { 1 } else { count });
        let part = |(part, stream)| Ok((matrix.columns(bound(part), bound(part + 1))?, stream));
        let parts = if streams.len() > 1 {
            streams.into_iter().enumerate().map(part).collect::<Result<_>>()?
        } else {
            Vec::new()
        };
        Ok(Self { whole: matrix.clone(), parts })
    }

    /// `x · Wᵀ`: `[…, T, in]` to `[…, T, out]`.
    ///
    /// # Errors
    /// When the shapes do not fit.
    pub fn matmul(&self, x: &Array) -> Result<Array> {
        let outputs = usize::try_from(self.whole.codes.dim(0)).unwrap_or(0);
        if self.parts.is_empty() || x.size().saturating_mul(outputs) < LEAST_WORK {
            return self.whole.matmul(x, &Stream::thread_local_or_default());
        }
        let products = self.parts.iter().map(|(part, stream)| part.matmul(x, stream));
        Ok(concatenate(&products.collect::<Result<Vec<_>>>()?, -1)?)
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

/// The default stream and as many beside it as make `count`.
fn streams(count: usize) -> Vec<Stream> {
    SIDE_STREAMS.with_borrow_mut(|side| {
        while side.len() + 1 < count {
            side.push(Stream::new_with_device(&Device::cpu()));
        }
        let mut streams = vec![Stream::thread_local_or_default()];
        streams.extend(side.iter().take(count - 1).cloned());
        streams
    })
}
