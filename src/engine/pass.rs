//! One forward's way through the model: which route each operation takes, and the tap that it passes.
//!
//! The model files say *what* is computed; here it is decided in how many calls, so that any operation in any
//! layer can be flipped between a whole block and single rows without the model knowing.

use super::error::Result;
use super::op::Op;
use super::raw::rows_of;
use super::routes::{Plan, Route};
use super::tap::{Call, Forward, Given, Reach, Site, Tap};
use mlx_rs::Array;
use mlx_rs::ops::{concatenate, zeros_dtype};

/// What the inputs of an operation whose rows do not depend on each other are called, in order.
pub const NAMES: [&str; 3] = ["x", "y", "z"];

/// A forward in progress.
pub struct Pass<'a> {
    plan: &'a Plan,
    tap: &'a mut dyn Tap,
    layer: Option<usize>,
}

impl<'a> Pass<'a> {
    /// A forward under `plan`, watched by `tap`.
    pub fn new(plan: &'a Plan, tap: &'a mut dyn Tap) -> Self {
        Self { plan, tap, layer: None }
    }

    /// Tells the tap which forward this is.
    pub fn begin(&mut self, forward: Forward) {
        self.tap.begin(forward);
    }

    /// Says which layer the following operations belong to; `None` for those outside the layers.
    pub fn enter(&mut self, layer: Option<usize>) {
        self.layer = layer;
    }

    /// The site of `op` in the current layer.
    #[must_use]
    pub fn site(&self, op: Op) -> Site {
        Site { layer: self.layer, op }
    }

    /// The route of `op` in the current layer.
    #[must_use]
    pub fn route(&self, op: Op) -> Route {
        self.plan.route(op, self.layer)
    }

    /// Tells the tap that `op` ran its kernels once over `rows` rows.
    pub fn called(&mut self, op: Op, rows: i32) {
        self.tap.call(self.site(op), usize::try_from(rows).unwrap_or(0));
    }

    /// Tells the tap what `op` reads, besides what [`Pass::rows`] tells it.
    pub fn reads(&mut self, op: Op, inputs: &[Given<'_>]) {
        if self.tap.wants_inputs() {
            self.tap.given(self.site(op), inputs);
        }
    }

    /// Passes the states that `op` leaves through the tap.
    ///
    /// # Errors
    /// When the tap computes and MLX refuses.
    pub fn left(&mut self, op: Op, states: Vec<Array>) -> Result<Vec<Array>> {
        self.tap.left(self.site(op), states)
    }

    /// Passes the output of `op` through the tap.
    ///
    /// # Errors
    /// When the tap computes and MLX refuses.
    pub fn out(&mut self, op: Op, output: Array) -> Result<Array> {
        self.tap.at(self.site(op), output)
    }

    /// Runs an operation whose rows do not depend on each other, in as many calls as its route says.
    ///
    /// `inputs` and the output have their rows along `axis`; `compute` gets the inputs' part and its first row.
    ///
    /// # Errors
    /// When MLX refuses.
    pub fn rows<F>(&mut self, op: Op, axis: i32, inputs: &[&Array], compute: F) -> Result<Array>
    where
        F: Fn(&[&Array], i32) -> Result<Array>,
    {
        if self.tap.wants_inputs() {
            let named = NAMES.iter().zip(inputs);
            let given = named.map(|(name, array)| Given { name, array, reach: Reach::Own(axis) });
            self.tap.given(self.site(op), &given.collect::<Vec<_>>());
        }
        let total = inputs[0].dim(axis);
        let output = match self.route(op) {
            Route::Rows(most) if i32::from(most) < total => {
                self.in_chunks(op, axis, i32::from(most), inputs, compute)?
            }
            Route::Padded(least) if i32::from(least) > total => {
                self.padded(op, axis, i32::from(least), inputs, compute)?
            }
            _ => self.one_call(op, (axis, 0, total), inputs, &compute)?,
        };
        self.out(op, output)
    }

    /// One call over `size` rows: the given ones and rows of zeros after them, whose outputs are dropped.
    fn padded<F>(&mut self, op: Op, axis: i32, size: i32, inputs: &[&Array], compute: F) -> Result<Array>
    where
        F: Fn(&[&Array], i32) -> Result<Array>,
    {
        let total = inputs[0].dim(axis);
        let wide = inputs.iter().map(|input| with_zeros(input, axis, size)).collect::<Result<Vec<_>>>()?;
        let output = self.one_call(op, (axis, 0, total), &wide.iter().collect::<Vec<_>>(), &compute)?;
        // A copy where rows are not the outermost axis: what comes next reads rows that lie as those of a whole call.
        Ok(rows_of(&output, axis, 0, total)?.contiguous()?)
    }

    fn in_chunks<F>(&mut self, op: Op, axis: i32, size: i32, inputs: &[&Array], compute: F) -> Result<Array>
    where
        F: Fn(&[&Array], i32) -> Result<Array>,
    {
        let total = inputs[0].dim(axis);
        let mut parts = Vec::new();
        let mut start = 0;
        while start < total {
            let stop = (start + size).min(total);
            let chunk =
                inputs.iter().map(|input| rows_of(input, axis, start, stop)).collect::<Result<Vec<_>>>()?;
            parts.push(self.one_call(
                op,
                (axis, start, total),
                &chunk.iter().collect::<Vec<_>>(),
                &compute,
            )?);
            start = stop;
        }
        Ok(concatenate(&parts, axis)?)
    }

    fn one_call<F>(
        &mut self,
        op: Op,
        (axis, first, total): (i32, i32, i32),
        inputs: &[&Array],
        compute: &F,
    ) -> Result<Array>
    where
        F: Fn(&[&Array], i32) -> Result<Array>,
    {
        self.called(op, inputs[0].dim(axis));
        let call = Call { site: self.site(op), first, total, axis, inputs };
        self.tap.compute(&call, &|inputs| compute(inputs, first))
    }
}

/// `array` with rows of zeros after its own, `size` in all.
fn with_zeros(array: &Array, axis: i32, size: i32) -> Result<Array> {
    let mut shape = array.shape().to_vec();
    if let Some(rows) = usize::try_from(axis).ok().and_then(|axis| shape.get_mut(axis)) {
        *rows = size - *rows;
    }
    Ok(concatenate(&[array.clone(), zeros_dtype(&shape, array.dtype())?], axis)?)
}
