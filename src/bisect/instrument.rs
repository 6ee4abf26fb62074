//! The tap of a bisect: looks at what operations read and gave, and hands one side's outputs to the other.
//!
//! It carries planted faults too, so that what is looked at is what went on. What is kept is computed layer by layer
//! as the forward comes by, never as one lazy graph of the whole model.

use super::measured::Meter;
use super::reproducer::{self, Reproducer, Which};
use crate::engine::Result;
use crate::engine::cache::Kept;
use crate::engine::pass::NAMES;
use crate::engine::plant::Planted;
use crate::engine::raw::rows_of;
use crate::engine::tap::{Call, Forward, Given, Kernels, Reach, Rewinding, Site, Tap};
use crate::transcript::TokenId;
use mlx_rs::Array;
use mlx_rs::ops::concatenate;
use mlx_rs::transforms::eval;
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Which operations are looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Looks {
    /// None.
    Nowhere,
    /// All.
    Everywhere,
    /// The layers' outputs, and what comes before and after the layers.
    Layers,
    /// These.
    At(BTreeSet<Site>),
}

impl Looks {
    fn at(&self, site: Site) -> bool {
        match self {
            Self::Nowhere => false,
            Self::Everywhere => true,
            Self::Layers => site.layer.is_none() || site.op == crate::engine::op::Op::MlpResidual,
            Self::At(sites) => sites.contains(&site),
        }
    }
}

/// An input of an operation.
#[derive(Debug, Clone)]
pub(super) struct Input {
    pub(super) name: &'static str,
    pub(super) array: Array,
    pub(super) reach: Reach,
}

/// An operation that came by.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    pub(super) site: Site,
    pub(super) inputs: Vec<Input>,
    pub(super) output: Option<Array>,
    /// What a recurrence left: after each row, or after the last alone.
    pub(super) states: Vec<Array>,
    /// Rows of each call of its kernels.
    pub(super) calls: Vec<usize>,
}

/// The operations of one forward, in the order of computation.
#[derive(Debug, Clone, Default)]
pub(super) struct Look {
    pub(super) seen: Vec<Seen>,
    places: BTreeMap<Site, usize>,
}

impl Look {
    /// What came by at `site`.
    pub(super) fn of(&self, site: Site) -> Option<&Seen> {
        self.places.get(&site).map(|place| &self.seen[*place])
    }

    fn entry(&mut self, site: Site) -> &mut Seen {
        let next = self.seen.len();
        let place = *self.places.entry(site).or_insert(next);
        if place == next {
            let (inputs, states, calls) = (Vec::new(), Vec::new(), Vec::new());
            self.seen.push(Seen { site, inputs, output: None, states, calls });
        }
        &mut self.seen[place]
    }

    /// Computes what layer `layer` gave, so that no graph grows past it.
    fn settle(&self, layer: Option<usize>) -> Result<()> {
        let here = self.seen.iter().filter(|seen| seen.site.layer == layer);
        let arrays = here.flat_map(|seen| {
            seen.inputs.iter().map(|input| &input.array).chain(&seen.output).chain(&seen.states)
        });
        Ok(eval(arrays)?)
    }
}

/// The other side's rows at a site, on their way into this one.
#[derive(Debug, Clone)]
pub(super) struct Handed {
    /// The kept rows of the output.
    pub(super) output: Array,
    /// The states after each of them, where the operation leaves any.
    pub(super) states: Vec<Array>,
}

/// What becomes of an operation's output for which the other side's is at hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shown {
    /// What goes on: the other side's.
    Passed,
    /// What this side computed, although the other side's goes on.
    Own,
}

/// A call that is to be written down.
pub(super) struct Export {
    pub(super) site: Site,
    /// Forwards that come by before its own, and its own; 0 once that is over.
    pub(super) forwards: usize,
    /// The row of its forward that is compared.
    pub(super) row: i32,
    pub(super) which: Which,
    pub(super) to: Rc<RefCell<Reproducer>>,
    /// What stopped it.
    pub(super) failed: Option<reproducer::Error>,
}

impl Export {
    /// A forward begins; one more than asked for so that the first is told from none.
    fn next(&mut self) {
        self.forwards = self.forwards.saturating_sub(1);
    }

    /// Writes the call down when it computes the row.
    fn see(&mut self, call: &Call<'_>, kernels: Kernels<'_>) {
        if self.forwards != 1 || call.site != self.site || !call.has_row(self.row) {
            return;
        }
        let inputs: Vec<(&str, &Array)> = NAMES.into_iter().zip(call.inputs.iter().copied()).collect();
        let row = self.row - call.first;
        let written = reproducer::Call { inputs: &inputs, kernels, row, axis: call.axis };
        self.failed = self.to.borrow_mut().call(self.which, &written).err();
    }
}

/// Looks, hands over, and carries faults.
pub(super) struct Instrument {
    planted: Planted,
    pub(super) looks: Looks,
    /// One a forward since the last [`Instrument::take`].
    looked: Vec<Look>,
    pub(super) handed: BTreeMap<Site, Handed>,
    pub(super) shown: Shown,
    /// Rewinds are made as they should be, whatever is planted.
    pub(super) honest: bool,
    /// A call to write down.
    pub(super) export: Option<Export>,
    /// Reads what calls launch.
    pub(super) meter: Option<Meter>,
    /// The layer that is coming by.
    layer: Option<usize>,
}

impl Instrument {
    pub(super) fn new(planted: Planted) -> Self {
        Self {
            planted,
            looks: Looks::Nowhere,
            looked: Vec::new(),
            handed: BTreeMap::new(),
            shown: Shown::Passed,
            honest: false,
            export: None,
            meter: None,
            layer: None,
        }
    }

    /// What was looked at in each forward since the last time, computed.
    pub(super) fn take(&mut self) -> Result<Vec<Look>> {
        if let Some(look) = self.looked.last() {
            look.settle(None)?;
            look.settle(self.layer)?;
        }
        Ok(std::mem::take(&mut self.looked))
    }

    /// The faults as they are by now, with what they remember.
    pub(super) fn into_planted(self) -> Planted {
        self.planted
    }

    /// The planted faults that have changed something.
    pub(super) fn struck(&self) -> Vec<String> {
        self.planted.struck().map(ToString::to_string).collect()
    }

    fn entry(&mut self, site: Site) -> Option<&mut Seen> {
        if !self.looks.at(site) {
            return None;
        }
        self.looked.last_mut().map(|look| look.entry(site))
    }

    /// Computes the layer that has gone by when the next one begins.
    fn pass_into(&mut self, layer: Option<usize>) -> Result<()> {
        if let Some(look) = self.looked.last().filter(|_| self.layer != layer) {
            look.settle(self.layer)?;
        }
        self.layer = layer;
        Ok(())
    }
}

impl Tap for Instrument {
    fn begin(&mut self, forward: Forward) {
        self.planted.begin(forward);
        if let Some(export) = &mut self.export {
            export.next();
        }
        if let Some(meter) = &mut self.meter {
            meter.next();
        }
        if self.looks != Looks::Nowhere {
            self.looked.push(Look::default());
        }
    }

    fn wants_inputs(&self) -> bool {
        self.looks != Looks::Nowhere
    }

    fn given(&mut self, site: Site, inputs: &[Given<'_>]) {
        if let Some(entry) = self.entry(site) {
            let owned =
                |one: &Given<'_>| Input { name: one.name, array: one.array.clone(), reach: one.reach };
            entry.inputs.extend(inputs.iter().map(owned));
        }
    }

    fn call(&mut self, site: Site, rows: usize) {
        self.planted.call(site, rows);
        if let Some(entry) = self.entry(site) {
            entry.calls.push(rows);
        }
    }

    fn compute(&mut self, call: &Call<'_>, kernels: Kernels<'_>) -> Result<Array> {
        if let Some(export) = &mut self.export {
            export.see(call, kernels);
        }
        match &mut self.meter {
            Some(meter) => meter.run(call, kernels, |call, kernels| self.planted.compute(call, kernels)),
            None => self.planted.compute(call, kernels),
        }
    }

    fn at(&mut self, site: Site, output: Array) -> Result<Array> {
        let own = self.planted.at(site, output)?;
        let passed = match self.handed.get(&site) {
            Some(handed) => with_rows(&own, &handed.output, site.op.row_axis())?,
            None => own.clone(),
        };
        let shown = if self.shown == Shown::Own { own } else { passed.clone() };
        if let Some(entry) = self.entry(site) {
            entry.output = Some(shown);
        }
        self.pass_into(site.layer)?;
        Ok(passed)
    }

    fn left(&mut self, site: Site, states: Vec<Array>) -> Result<Vec<Array>> {
        let own = self.planted.left(site, states)?;
        let passed = match self.handed.get(&site) {
            Some(handed) if own.len() > 1 || handed.states.len() == own.len() => {
                let rest = own.iter().skip(handed.states.len());
                handed.states.iter().chain(rest).cloned().collect()
            }
            _ => own.clone(),
        };
        let shown = if self.shown == Shown::Own { own } else { passed.clone() };
        if let Some(entry) = self.entry(site) {
            entry.states = shown;
        }
        Ok(passed)
    }

    fn prompt<'p>(&mut self, ids: &'p [TokenId]) -> Cow<'p, [TokenId]> {
        self.planted.prompt(ids)
    }

    fn picked(&mut self, logits: &Array, picked: Array) -> Result<Array> {
        self.planted.picked(logits, picked)
    }

    fn rewind(&mut self, rewinding: Rewinding) -> Kept {
        if self.honest { Kept::same(rewinding.kept) } else { self.planted.rewind(rewinding) }
    }
}

/// `output` with its first rows replaced by those of `first`.
fn with_rows(output: &Array, first: &Array, axis: i32) -> Result<Array> {
    let (kept, rows) = (first.dim(axis), output.dim(axis));
    if kept >= rows {
        return Ok(first.clone());
    }
    Ok(concatenate(&[first.clone(), rows_of(output, axis, kept, rows)?], axis)?)
}
