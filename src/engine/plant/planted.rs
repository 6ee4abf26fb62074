//! The tap that carries plants out.
//!
//! It keeps the rows of each call until the operation's output comes by, so a plant that depends on the rows of a
//! call acts on just the rows that such a call computed, whatever route cut the block into calls. A plant has struck
//! when something is otherwise than it would have been: a rewind with nothing to take back is no such place.

use super::bits::Float;
use super::books;
use super::fault::{Bookkeeping, Change, Fault, OpFault, Plant};
use crate::engine::cache::Kept;
use crate::engine::error::Result;
use crate::engine::raw::{bytes_of, from_bytes, rows_of};
use crate::engine::tap::{Call, Forward, Kernels, Rewinding, Side, Site, Tap};
use crate::transcript::TokenId;
use mlx_rs::Array;
use mlx_rs::ops::concatenate;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// Plants at work.
#[derive(Debug, Clone)]
pub struct Planted {
    plants: Vec<Plant>,
    forward: Forward,
    /// Rows of the calls that made the output which comes next.
    calls: Vec<usize>,
    /// The last row that a site gave in the forward before, where a plant wants it.
    before: BTreeMap<Site, Array>,
    /// Which of the plants have changed something.
    struck: Vec<bool>,
}

impl Planted {
    /// Plants that have not done anything yet.
    #[must_use]
    pub fn new(plants: &[Plant]) -> Self {
        let forward = Forward { side: Side::Prefill, position: 0, rows: 0 };
        Self {
            plants: plants.to_vec(),
            forward,
            calls: Vec::new(),
            before: BTreeMap::new(),
            struck: vec![false; plants.len()],
        }
    }

    /// The plants that have changed something by now; the others have not been tried.
    pub fn struck(&self) -> impl Iterator<Item = &Plant> {
        self.plants.iter().zip(&self.struck).filter_map(|(plant, struck)| struck.then_some(plant))
    }

    fn strike(&mut self, plant: &Plant) {
        for (one, struck) in self.plants.iter().zip(&mut self.struck) {
            *struck |= one == plant;
        }
    }

    fn here(&self, site: Site) -> Vec<(Plant, OpFault)> {
        self.plants.iter().filter_map(|plant| Some((*plant, plant.at(site)?))).collect()
    }

    fn bookkeeping(&self) -> Vec<(Plant, Bookkeeping)> {
        let books = |plant: &Plant| match plant.fault {
            Fault::Op(_) => None,
            Fault::Bookkeeping(fault) => Some((*plant, fault)),
        };
        self.plants.iter().filter_map(books).collect()
    }

    /// For each row of an output whether `plant` hits it, and the forward's row that it is.
    fn targets(&self, (plant, fault): (&Plant, &OpFault), rows: i32) -> Vec<(bool, i32)> {
        let first = self.first_of(rows);
        let mut sizes = self.calls.iter().flat_map(|&call| std::iter::repeat_n(call, call));
        let whole = usize::try_from(rows).unwrap_or(0);
        let calls = std::iter::from_fn(|| Some(sizes.next().unwrap_or(whole)));
        let hit = |row, call| plant.hits(self.forward, row) && fault.takes(call);
        (first..first + rows).zip(calls).map(|(row, call)| (hit(row, call), row)).collect()
    }

    fn changed(&mut self, (plant, fault): (&Plant, &OpFault), site: Site, output: Array) -> Result<Array> {
        let axis = site.op.row_axis();
        let targets = self.targets((plant, fault), output.dim(axis));
        if !targets.iter().any(|(hit, _)| *hit) {
            return Ok(output);
        }
        let before = self.before.get(&site).cloned();
        let acts = matches!(
            (fault.change, &before),
            (Change::Ulp(_) | Change::Value(_), _) | (Change::Stale, Some(_))
        );
        if acts {
            self.strike(plant);
        }
        match (fault.change, before) {
            (Change::Stale, Some(before)) => {
                let hits: Vec<bool> = targets.iter().map(|(hit, _)| *hit).collect();
                merged(&output, axis, &hits, |_| Ok(before.clone()))
            }
            (Change::Ulp(_) | Change::Value(_), _) => self.moved(fault, &output, axis, &targets),
            (Change::Halves | Change::Stale, _) => Ok(output),
        }
    }

    /// Rows with some or all of their numbers changed, made on the host from the bytes.
    fn moved(&self, fault: &OpFault, output: &Array, axis: i32, targets: &[(bool, i32)]) -> Result<Array> {
        let Some(float) = Float::of(output.dtype()) else { return Ok(output.clone()) };
        let mut bytes = bytes_of(output)?;
        let shape: Vec<usize> =
            output.shape().iter().map(|&side| usize::try_from(side).unwrap_or(0)).collect();
        let axis = usize::try_from(axis).unwrap_or(0);
        let (outer, inner): (usize, usize) =
            (shape[..axis].iter().product(), shape[axis + 1..].iter().product());
        for (row, (_, place)) in targets.iter().enumerate().filter(|(_, (hit, _))| *hit) {
            let position = u64::try_from(self.forward.position + place).unwrap_or(0);
            for number in chosen(fault, position, outer * inner) {
                let at = ((number / inner * shape[axis] + row) * inner + number % inner) * float.size();
                float.change(&mut bytes[at..at + float.size()], |bits| match fault.change {
                    Change::Value(amount) => float.raised(bits, amount),
                    Change::Ulp(steps) => float.moved(bits, u32::from(steps)),
                    Change::Halves | Change::Stale => bits,
                });
            }
        }
        from_bytes(bytes, output.shape(), output.dtype())
    }

    /// Keeps an output's last row for the forward after this one.
    fn remember(&mut self, site: Site, output: &Array) -> Result<()> {
        let (axis, rows) = (site.op.row_axis(), output.dim(site.op.row_axis()));
        let last = rows_of(output, axis, rows - 1, rows)?.contiguous()?;
        last.eval()?;
        self.before.insert(site, last);
        Ok(())
    }
}

impl Tap for Planted {
    fn begin(&mut self, forward: Forward) {
        self.forward = forward;
        self.calls.clear();
    }

    fn call(&mut self, _site: Site, rows: usize) {
        self.calls.push(rows);
    }

    fn compute(&mut self, call: &Call<'_>, kernels: Kernels<'_>) -> Result<Array> {
        let output = kernels(call.inputs)?;
        let rows = call.inputs[0].dim(call.axis);
        let size = usize::try_from(rows).unwrap_or(0);
        let mut plants = self.here(call.site).into_iter().filter(|(_, fault)| fault.change == Change::Halves);
        let Some((plant, fault)) = plants.next() else { return Ok(output) };
        let first = self.first_of(call.total) + call.first;
        // Rows past the output's are padding, which nothing reads.
        let real = call.total - call.first;
        let hit = |row| row < real && fault.takes(size) && plant.hits(self.forward, first + row);
        let hits: Vec<bool> = (0..rows).map(hit).collect();
        if !hits.contains(&true) {
            return Ok(output);
        }
        self.strike(&plant);
        let halves = in_halves(call.inputs, kernels)?;
        merged(&output, call.axis, &hits, |row| rows_of(&halves, call.axis, row, row + 1))
    }

    fn at(&mut self, site: Site, output: Array) -> Result<Array> {
        let plants = self.here(site);
        let kept = plants.iter().any(|(_, fault)| fault.change == Change::Stale).then(|| output.clone());
        let mut changed = output;
        for (plant, fault) in &plants {
            changed = self.changed((plant, fault), site, changed)?;
        }
        if let Some(output) = kept {
            self.remember(site, &output)?;
        }
        self.calls.clear();
        Ok(changed)
    }

    fn prompt<'p>(&mut self, ids: &'p [TokenId]) -> Cow<'p, [TokenId]> {
        let position = i32::try_from(ids.len()).unwrap_or(i32::MAX);
        let here =
            |(plant, fault): &(Plant, Bookkeeping)| *fault == Bookkeeping::Prefill && plant.reaches(position);
        let Some((plant, _)) = self.bookkeeping().into_iter().find(here) else { return Cow::Borrowed(ids) };
        self.strike(&plant);
        Cow::Owned(books::repeated(ids))
    }

    fn picked(&mut self, logits: &Array, picked: Array) -> Result<Array> {
        let (rows, first) = (picked.dim(0), self.first_of(picked.dim(0)));
        let mut chosen = picked.clone();
        for (plant, _) in self.bookkeeping().iter().filter(|(_, fault)| *fault == Bookkeeping::Selection) {
            let hits: Vec<bool> = (first..first + rows).map(|row| plant.hits(self.forward, row)).collect();
            if hits.contains(&true) {
                self.strike(plant);
                let second = books::second_best(logits, &picked)?; // [T]
                chosen = merged(&chosen, 0, &hits, |row| rows_of(&second, 0, row, row + 1))?; // [T]
            }
        }
        Ok(chosen)
    }

    fn rewind(&mut self, rewinding: Rewinding) -> Kept {
        let mut kept = Kept::same(rewinding.kept);
        for (plant, fault) in self.bookkeeping() {
            let other = books::kept(fault, rewinding, kept);
            if plant.reaches(rewinding.position) && other != kept {
                self.strike(&plant);
                kept = other;
            }
        }
        kept
    }
}

impl Planted {
    /// The forward's row that an output of `rows` rows begins with: the head may run over the last ones alone.
    fn first_of(&self, rows: i32) -> i32 {
        (self.forward.rows - rows).max(0)
    }
}

/// The products of the first half of the inputs, and those of the second half, each summed and then added.
fn in_halves(inputs: &[&Array], kernels: Kernels<'_>) -> Result<Array> {
    let [x, others @ ..] = inputs else { return kernels(inputs) };
    let width = x.dim(-1);
    let half = |first: bool| -> Result<Array> {
        let flags = (0..width).map(|channel| f32::from(u8::from((channel < width / 2) == first)));
        let mask = Array::from_slice(&flags.collect::<Vec<_>>(), &[width]).as_dtype(x.dtype())?;
        let part = x.multiply(&mask)?;
        let mut given: Vec<&Array> = vec![&part];
        given.extend(others);
        kernels(&given)
    };
    Ok(half(true)?.add(half(false)?)?)
}

/// `output` with the rows that are hit taken from `other`.
fn merged(output: &Array, axis: i32, hits: &[bool], other: impl Fn(i32) -> Result<Array>) -> Result<Array> {
    let rows =
        (0..).zip(hits).map(|(row, hit)| if *hit { other(row) } else { rows_of(output, axis, row, row + 1) });
    Ok(concatenate(&rows.collect::<Result<Vec<_>>>()?, axis)?)
}

/// Which of a row's numbers are changed: all, or as many as asked for, drawn for this position.
fn chosen(fault: &OpFault, position: u64, numbers: usize) -> Vec<usize> {
    let wanted = fault.count.map_or(numbers, |count| usize::try_from(count).unwrap_or(numbers));
    if wanted >= numbers {
        return (0..numbers).collect();
    }
    let mut state = fault.seed.unwrap_or(0) ^ position.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mut drawn = BTreeSet::new();
    while drawn.len() < wanted {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        drawn.insert(usize::try_from(state >> 33).unwrap_or(0) % numbers);
    }
    drawn.into_iter().collect()
}
