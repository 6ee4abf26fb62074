//! The place where an experiment looks into the model, or reaches into it.
//!
//! Every operation passes its output through [`Tap::at`] under a stable site name, and a round's bookkeeping asks at
//! three places: what of the prompt is fed, which tokens rows choose, and what a rewind keeps. Capture, plants and
//! interventions are taps; neither the model files nor the round loop know any of them.

use super::cache::Kept;
use super::error::Result;
use super::op::Op;
use crate::transcript::TokenId;
use mlx_rs::Array;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

/// An operation at its place: `layer.5.attn.rope_q`, `lm_head`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Site {
    /// The layer, or `None` outside the layers.
    pub layer: Option<usize>,
    /// The operation.
    pub op: Op,
}

impl Site {
    /// An operation outside the layers.
    #[must_use]
    pub const fn outside(op: Op) -> Self {
        Self { layer: None, op }
    }

    /// An operation of a layer.
    #[must_use]
    pub const fn of_layer(layer: usize, op: Op) -> Self {
        Self { layer: Some(layer), op }
    }
}

impl fmt::Display for Site {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.op.name();
        match (self.layer, self.op.block().unwrap_or_default()) {
            (None, _) => formatter.write_str(name),
            (Some(layer), "") => write!(formatter, "layer.{layer}.{name}"),
            (Some(layer), block) => write!(formatter, "layer.{layer}.{block}.{name}"),
        }
    }
}

/// What a forward is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The prompt, or a part of it.
    Prefill,
    /// One row of plain decoding.
    Chain,
    /// A block to verify.
    Block,
}

/// A forward, as a tap is told of it before its first operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Forward {
    /// What it is for.
    pub side: Side,
    /// The position of its first row.
    pub position: i32,
    /// Its rows. The head may run over fewer: over the last ones.
    pub rows: i32,
}

/// One call of an operation's kernels, before it is made.
pub struct Call<'a> {
    /// The operation.
    pub site: Site,
    /// The row of the operation's output that the call begins with.
    pub first: i32,
    /// Rows of the output.
    pub total: i32,
    /// The axis that has the rows.
    pub axis: i32,
    /// What the kernels are given; rows past the output's last one are padding.
    pub inputs: &'a [&'a Array],
}

impl Call<'_> {
    /// True when it computes this row of the operation's output.
    #[must_use]
    pub fn has_row(&self, row: i32) -> bool {
        (self.first..self.first + self.inputs[0].dim(self.axis)).contains(&row)
    }
}

/// Which part of an input a row of the output depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Rows along this axis; each row of the output reads its own.
    Own(i32),
    /// Rows along this axis; each row reads its own and those of the forward before it.
    Before(i32),
    /// Positions along this axis, the forward's own rows last; each row reads none after its own.
    Upto(i32),
    /// What the rows before the forward left behind.
    State,
}

/// Something that an operation reads.
#[derive(Clone, Copy)]
pub struct Given<'a> {
    /// Its name among the operation's inputs.
    pub name: &'static str,
    /// All of it.
    pub array: &'a Array,
    /// What a row of the output reads of it.
    pub reach: Reach,
}

/// The kernels of a call, to be run over its inputs or over others.
pub type Kernels<'a> = &'a dyn Fn(&[&Array]) -> Result<Array>;

/// A rewind, before it is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rewinding {
    /// The position of the block's first row.
    pub position: i32,
    /// Rows of the block.
    pub rows: i32,
    /// How many of them are to be kept.
    pub kept: i32,
}

/// What happens at every operation, and where rows and tokens are kept count of.
pub trait Tap {
    /// A forward begins.
    fn begin(&mut self, _forward: Forward) {}

    /// True when the tap wants to be told what operations read. Asked at every operation.
    fn wants_inputs(&self) -> bool {
        false
    }

    /// What the operation that comes next reads; told in one or several parts, before its first call.
    fn given(&mut self, _site: Site, _inputs: &[Given<'_>]) {}

    /// One call of the operation's kernels, over `rows` rows.
    fn call(&mut self, _site: Site, _rows: usize) {}

    /// Makes one call of an operation whose rows do not depend on each other; attention and the delta rule are not
    /// asked.
    ///
    /// # Errors
    /// When MLX refuses.
    fn compute(&mut self, call: &Call<'_>, kernels: Kernels<'_>) -> Result<Array> {
        kernels(call.inputs)
    }

    /// The operation's output over all rows; what is returned goes on in its place.
    ///
    /// # Errors
    /// When the tap itself computes and MLX refuses.
    fn at(&mut self, _site: Site, output: Array) -> Result<Array> {
        Ok(output)
    }

    /// The states that the recurrence leaves after each row, or after the last alone; what is returned is kept in
    /// their place.
    ///
    /// # Errors
    /// When the tap itself computes and MLX refuses.
    fn left(&mut self, _site: Site, states: Vec<Array>) -> Result<Vec<Array>> {
        Ok(states)
    }

    /// The ids that are fed as the prompt.
    fn prompt<'p>(&mut self, ids: &'p [TokenId]) -> Cow<'p, [TokenId]> {
        Cow::Borrowed(ids)
    }

    /// The tokens `[T]` chosen from the last forward's rows of logits `[T, vocabulary]`, in which ids that are never
    /// chosen are minus infinity; what is returned is what the rows chose.
    ///
    /// # Errors
    /// When the tap itself computes and MLX refuses.
    fn picked(&mut self, _logits: &Array, picked: Array) -> Result<Array> {
        Ok(picked)
    }

    /// What the caches keep of a block.
    fn rewind(&mut self, rewinding: Rewinding) -> Kept {
        Kept::same(rewinding.kept)
    }
}

/// Looks at nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Tap for Silent {}

/// Records how often each site was called and with how many rows: the proof that a block was a block.
#[derive(Debug, Clone, Default)]
pub struct CallRecord {
    calls: BTreeMap<Site, Vec<usize>>,
}

impl CallRecord {
    /// Rows of each call at `site`, in order.
    #[must_use]
    pub fn rows_at(&self, site: Site) -> &[usize] {
        self.calls.get(&site).map_or(&[], Vec::as_slice)
    }
}

impl Tap for CallRecord {
    fn call(&mut self, site: Site, rows: usize) {
        self.calls.entry(site).or_default().push(rows);
    }
}

#[cfg(test)]
mod tests {
    use super::Site;
    use crate::engine::op::Op;

    #[test]
    fn site_names_are_stable() {
        assert_eq!(Site::of_layer(5, Op::RopeQ).to_string(), "layer.5.attn.rope_q");
        assert_eq!(Site::of_layer(0, Op::InputNorm).to_string(), "layer.0.input_norm");
        assert_eq!(Site::outside(Op::LmHead).to_string(), "lm_head");
    }
}
