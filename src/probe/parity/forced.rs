//! The tap of a block: compares each operation's rows with the chain's, and hands the chain's on.

use super::question::Asked;
use super::truth::Truth;
use crate::algebra::bits::{self, Dtype as Bits, RowBits};
use crate::engine::Result;
use crate::engine::error::Error;
use crate::engine::op::Op;
use crate::engine::plant::Planted;
use crate::engine::raw::{bytes_of, rows_of};
use crate::engine::rows::dtype_name;
use crate::engine::tap::{Call, Forward, Kernels, Site, Tap};
use mlx_rs::{Array, Dtype};
use std::collections::BTreeMap;

/// One operation of one block.
pub(super) struct Compared {
    /// Which.
    pub(super) site: Site,
    /// Channels of its first input; the outputs' shape.
    pub(super) inputs: Option<i32>,
    /// Shape of its output.
    pub(super) shape: Vec<i32>,
    /// One entry a row.
    pub(super) rows: Vec<RowBits>,
}

impl Compared {
    /// What a dispatch table is asked about it.
    pub(super) fn asked(&self) -> Asked<'_> {
        Asked { site: self.site, inputs: self.inputs, shape: &self.shape }
    }
}

/// Compares and forces.
pub(super) struct Forced<'a> {
    truth: &'a Truth,
    measured: &'a dyn Fn(Op) -> bool,
    planted: Planted,
    inputs: BTreeMap<Site, i32>,
    pub(super) compared: Vec<Compared>,
}

impl<'a> Forced<'a> {
    pub(super) fn new(truth: &'a Truth, measured: &'a dyn Fn(Op) -> bool, planted: Planted) -> Self {
        Self { truth, measured, planted, inputs: BTreeMap::new(), compared: Vec::new() }
    }

    /// The planted faults that some call met.
    pub(super) fn struck(&self) -> Vec<String> {
        self.planted.struck().map(ToString::to_string).collect()
    }

    /// The chain's rows `start..stop` of a site, in memory as a kernel would have written them.
    fn chain(&self, site: Site, start: i32, stop: i32) -> Result<Array> {
        let missing = || Error::Request(format!("compare {site}: the chain has no such operation"));
        let all = self.truth.of(site).ok_or_else(missing)?;
        Ok(rows_of(all, site.op.row_axis(), start, stop)?.contiguous()?)
    }
}

impl Tap for Forced<'_> {
    fn begin(&mut self, forward: Forward) {
        self.planted.begin(forward);
    }

    fn call(&mut self, site: Site, rows: usize) {
        self.planted.call(site, rows);
    }

    fn compute(&mut self, call: &Call<'_>, kernels: Kernels<'_>) -> Result<Array> {
        let site = call.site;
        // Products are what takes time; where one is not measured, the chain's rows are there already.
        if site.op.has_matrix() && !(self.measured)(site.op) {
            return self.chain(site, call.first, call.first + call.inputs[0].dim(call.axis));
        }
        self.inputs.insert(site, call.inputs[0].dim(-1));
        self.planted.compute(call, kernels)
    }

    fn at(&mut self, site: Site, output: Array) -> Result<Array> {
        let output = self.planted.at(site, output)?;
        let axis = site.op.row_axis();
        let chain = self.chain(site, 0, output.dim(axis))?;
        if !(self.measured)(site.op) {
            return Ok(chain);
        }
        let rows = compare(&chain, &output, axis)?;
        // Where nothing differs the block's own array goes on, with the strides that its kernel gave it.
        let differs = rows.iter().any(|row| !row.identical());
        let (inputs, shape) = (self.inputs.get(&site).copied(), output.shape().to_vec());
        self.compared.push(Compared { site, inputs, shape, rows });
        Ok(if differs { chain } else { output })
    }
}

/// What differs in each row.
fn compare(chain: &Array, block: &Array, axis: i32) -> Result<Vec<RowBits>> {
    if (chain.shape(), chain.dtype()) != (block.shape(), block.dtype()) {
        let (left, right) = ((chain.shape(), chain.dtype()), (block.shape(), block.dtype()));
        return Err(Error::Request(format!("compare rows {left:?} of the chain and {right:?} of the block")));
    }
    let rows = usize::try_from(chain.dim(axis)).unwrap_or(1).max(1);
    let (left, right) = (by_row(chain, axis)?, by_row(block, axis)?);
    let (length, dtype) = (left.len() / rows, bits_of(chain.dtype()));
    let pairs = left.chunks_exact(length).zip(right.chunks_exact(length));
    pairs.map(|(left, right)| row(dtype, left, right)).collect()
}

fn row(dtype: Bits, left: &[u8], right: &[u8]) -> Result<RowBits> {
    if left == right {
        let (bytes, values) = (left.len() as u64, (left.len() / dtype.size()) as u64);
        return Ok(RowBits { bytes, values, ..RowBits::default() });
    }
    bits::compare(dtype, left, right).map_err(|error| Error::Request(error.to_string()))
}

/// An array's bytes, one row after the other.
fn by_row(array: &Array, axis: i32) -> Result<Vec<u8>> {
    if axis == 1 { bytes_of(array) } else { bytes_of(&array.swap_axes(1, axis)?) }
}

/// What is not a float, ids say, is compared as words; only its bytes mean something then.
fn bits_of(dtype: Dtype) -> Bits {
    Bits::parse(dtype_name(dtype)).unwrap_or(Bits::F32)
}
