//! A plant and its text: where a fault acts, when, and what it does to the numbers there.

use super::error::PlantError;
use crate::engine::op::{Group, Op};
use crate::engine::tap::{Forward, Side, Site};
use std::fmt;
use std::str::FromStr;

/// Most steps that a plant moves a number by; every float dtype has so many finite numbers on either side.
const MOST_ULPS: u16 = 1024;

/// What a plant does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Change {
    /// Moves numbers by so many representable steps of their dtype, away from zero.
    Ulp(u16),
    /// Adds to numbers, at least one representable step.
    Value(f32),
    /// Sums a linear layer's products in two halves: another order of the same reduction.
    Halves,
    /// Gives the last row that the operation gave in the forward before: a buffer that was not written.
    Stale,
}

/// Which forwards a plant acts in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sides {
    /// Verify blocks.
    Block,
    /// One-row forwards of plain decoding.
    Chain,
    /// Both of these.
    Both,
    /// The prompt of speculative arms.
    Prefill,
}

const SIDES: [(&str, Sides); 4] =
    [("block", Sides::Block), ("chain", Sides::Chain), ("both", Sides::Both), ("prefill", Sides::Prefill)];

/// A fault at a known place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plant {
    /// The operation whose output is changed.
    pub op: Op,
    /// The only layer, or every one that has the operation.
    pub layer: Option<u16>,
    /// The only row of a forward, counted from 0.
    pub row: Option<u16>,
    /// Only in calls of the kernels over at least so many rows: a dispatch by rows.
    pub at_least: Option<u16>,
    /// Only in calls over at most so many rows.
    pub at_most: Option<u16>,
    /// The first position.
    pub from: Option<u32>,
    /// Only every so many positions, counted from `from`.
    pub every: Option<u32>,
    /// What it does.
    pub change: Change,
    /// How many numbers of a row, or all of them.
    pub count: Option<u32>,
    /// Chooses these numbers.
    pub seed: Option<u64>,
    /// In which forwards.
    pub sides: Sides,
}

impl Plant {
    /// Moves every number of an operation's output by `steps`, in every verify block.
    #[must_use]
    pub const fn ulp(op: Op, steps: u16) -> Self {
        Self {
            op,
            layer: None,
            row: None,
            at_least: None,
            at_most: None,
            from: None,
            every: None,
            change: Change::Ulp(steps),
            count: None,
            seed: None,
            sides: Sides::Block,
        }
    }

    /// True when it acts on the site.
    #[must_use]
    pub fn is_at(&self, site: Site) -> bool {
        let here = self.layer.is_none_or(|layer| site.layer == Some(usize::from(layer)));
        site.op == self.op && here
    }

    /// True when it acts in forwards of that kind.
    #[must_use]
    pub fn acts_in(&self, side: Side) -> bool {
        match self.sides {
            Sides::Block => side == Side::Block,
            Sides::Chain => side == Side::Chain,
            Sides::Both => side != Side::Prefill,
            Sides::Prefill => side == Side::Prefill,
        }
    }

    /// True when it acts in plain decoding, too.
    #[must_use]
    pub fn reaches_chain(&self) -> bool {
        self.acts_in(Side::Chain)
    }

    /// True when it acts on row `row` of a forward, computed by a call over `call` rows.
    #[must_use]
    pub fn hits(&self, forward: Forward, row: i32, call: usize) -> bool {
        let position = u32::try_from(forward.position + row).unwrap_or(0);
        let first = self.from.unwrap_or(0);
        self.acts_in(forward.side)
            && self.row.is_none_or(|only| i32::from(only) == row)
            && self.at_least.is_none_or(|least| call >= usize::from(least))
            && self.at_most.is_none_or(|most| call <= usize::from(most))
            && position >= first
            && self.every.is_none_or(|every| (position - first).is_multiple_of(every))
    }

    /// What is wrong with its place in a model whose layers have these operations, as in
    /// [`inventory::layers`](crate::engine::inventory::layers).
    #[must_use]
    pub fn misplaced(&self, layers: &[Vec<Op>]) -> Option<String> {
        let has = |ops: &Vec<Op>| ops.contains(&self.op);
        let Some(layer) = self.layer else {
            let none = self.op.block().is_some() && !layers.iter().any(has);
            return none.then(|| format!("{self}: no layer of this model has {}", self.op.name()));
        };
        match layers.get(usize::from(layer)) {
            None => Some(format!("{self}: the model has layers 0 to {}", layers.len().saturating_sub(1))),
            Some(ops) if !has(ops) => Some(format!("{self}: layer {layer} has no {}", self.op.name())),
            Some(_) => None,
        }
    }
}

/// What was read so far.
#[derive(Default)]
struct Draft {
    op: Option<Op>,
    layer: Option<u16>,
    row: Option<u16>,
    at_least: Option<u16>,
    at_most: Option<u16>,
    from: Option<u32>,
    every: Option<u32>,
    change: Option<Change>,
    count: Option<u32>,
    seed: Option<u64>,
    sides: Option<Sides>,
}

impl Draft {
    fn read(&mut self, part: &str) -> Result<(), PlantError> {
        let (key, value) = split(part)?;
        match key {
            "op" => {
                let op = value.parse().map_err(|_| PlantError::UnknownOperation(value.to_owned()))?;
                once("op", &mut self.op, op)
            }
            "layer" => once("layer", &mut self.layer, number("layer", value)?),
            "row" => once("row", &mut self.row, number("row", value)?),
            "rows>" => once("rows>=", &mut self.at_least, positive("rows>=", value)?),
            "rows<" => once("rows<=", &mut self.at_most, positive("rows<=", value)?),
            "from" => once("from", &mut self.from, number("from", value)?),
            "every" => once("every", &mut self.every, positive("every", value)?),
            "ulp" => once("the change", &mut self.change, ulp(value)?),
            "value" => once("the change", &mut self.change, amount(value)?),
            "order" => once("the change", &mut self.change, word("order", value, "halves", Change::Halves)?),
            "fault" => once("the change", &mut self.change, word("fault", value, "stale", Change::Stale)?),
            "count" => once("count", &mut self.count, positive("count", value)?),
            "seed" => once("seed", &mut self.seed, number("seed", value)?),
            "side" => once("side", &mut self.sides, sides(value)?),
            other => Err(PlantError::UnknownKey(other.to_owned())),
        }
    }

    fn finish(self) -> Result<Plant, PlantError> {
        let op = self.op.ok_or(PlantError::NoOperation)?;
        let change = self.change.unwrap_or(Change::Ulp(1));
        if self.layer.is_some() && op.block().is_none() {
            return Err(PlantError::Conflict("layer is given for an operation outside the layers"));
        }
        if op == Op::ExpertChoice && matches!(change, Change::Ulp(_) | Change::Value(_)) {
            return Err(PlantError::Conflict("expert_choice names experts: ulp and value are for router"));
        }
        if change == Change::Halves && op.group() != Group::Linear {
            return Err(PlantError::Conflict(
                "order=halves is for linear layers: other sums are not asked for",
            ));
        }
        if self.at_least.zip(self.at_most).is_some_and(|(least, most)| least > most) {
            return Err(PlantError::Conflict("no call has rows>= and rows<= at once"));
        }
        if self.count.is_some() && !matches!(change, Change::Ulp(_) | Change::Value(_)) {
            return Err(PlantError::Conflict("count is for ulp and value: the others change whole rows"));
        }
        if self.seed.is_some() && self.count.is_none() {
            return Err(PlantError::Conflict("seed chooses the numbers that count asks for"));
        }
        Ok(Plant {
            op,
            layer: self.layer,
            row: self.row,
            at_least: self.at_least,
            at_most: self.at_most,
            from: self.from,
            every: self.every,
            change,
            count: self.count,
            seed: self.seed,
            sides: self.sides.unwrap_or(Sides::Block),
        })
    }
}

/// `rows>=8` gives `rows>` and `8`.
fn split(part: &str) -> Result<(&str, &str), PlantError> {
    let (key, value) = part.split_once('=').ok_or_else(|| PlantError::NoValue(part.to_owned()))?;
    let (key, value) = (key.trim(), value.trim());
    if key.is_empty() || value.is_empty() {
        Err(PlantError::NoValue(part.to_owned()))
    } else {
        Ok((key, value))
    }
}

fn once<T>(key: &'static str, place: &mut Option<T>, value: T) -> Result<(), PlantError> {
    if place.replace(value).is_some() { Err(PlantError::Twice(key)) } else { Ok(()) }
}

fn number<T: FromStr>(key: &'static str, text: &str) -> Result<T, PlantError> {
    let wrong = |_| PlantError::Value { key, takes: "a count from 0", found: text.to_owned() };
    text.parse().map_err(wrong)
}

fn positive<T: FromStr + PartialEq + Default>(key: &'static str, text: &str) -> Result<T, PlantError> {
    let wrong = || PlantError::Value { key, takes: "a count from 1", found: text.to_owned() };
    text.parse().ok().filter(|count| *count != T::default()).ok_or_else(wrong)
}

fn ulp(text: &str) -> Result<Change, PlantError> {
    let wrong = || PlantError::Value { key: "ulp", takes: "1 to 1024 steps", found: text.to_owned() };
    text.parse().ok().filter(|steps| (1..=MOST_ULPS).contains(steps)).map(Change::Ulp).ok_or_else(wrong)
}

fn amount(text: &str) -> Result<Change, PlantError> {
    let wrong = || PlantError::Value {
        key: "value",
        takes: "a finite number that is not 0, to be added",
        found: text.to_owned(),
    };
    let usable = |value: &f32| value.is_finite() && value.abs() > 0.0;
    text.parse().ok().filter(usable).map(Change::Value).ok_or_else(wrong)
}

fn word(key: &'static str, text: &str, takes: &'static str, change: Change) -> Result<Change, PlantError> {
    if text == takes { Ok(change) } else { Err(PlantError::Value { key, takes, found: text.to_owned() }) }
}

fn sides(text: &str) -> Result<Sides, PlantError> {
    let found = SIDES.iter().find(|(name, _)| *name == text).map(|(_, sides)| *sides);
    let wrong =
        || PlantError::Value { key: "side", takes: "block, chain, both or prefill", found: text.to_owned() };
    found.ok_or_else(wrong)
}

impl FromStr for Plant {
    type Err = PlantError;

    fn from_str(text: &str) -> Result<Self, PlantError> {
        let mut draft = Draft::default();
        text.split(',').map(str::trim).try_for_each(|part| draft.read(part))?;
        draft.finish()
    }
}

impl fmt::Display for Plant {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "op={}", self.op.name())?;
        let mut part = |key: &str, value: Option<String>| match value {
            Some(value) => write!(formatter, ",{key}={value}"),
            None => Ok(()),
        };
        part("layer", self.layer.map(|value| value.to_string()))?;
        part("row", self.row.map(|value| value.to_string()))?;
        part("rows>", self.at_least.map(|value| value.to_string()))?;
        part("rows<", self.at_most.map(|value| value.to_string()))?;
        part("from", self.from.map(|value| value.to_string()))?;
        part("every", self.every.map(|value| value.to_string()))?;
        match self.change {
            Change::Ulp(steps) => part("ulp", Some(steps.to_string())),
            Change::Value(value) => part("value", Some(value.to_string())),
            Change::Halves => part("order", Some("halves".to_owned())),
            Change::Stale => part("fault", Some("stale".to_owned())),
        }?;
        part("count", self.count.map(|value| value.to_string()))?;
        part("seed", self.seed.map(|value| value.to_string()))?;
        let side = SIDES.iter().find(|(_, sides)| *sides == self.sides).map_or("block", |(name, _)| name);
        part("side", (self.sides != Sides::Block).then(|| side.to_owned()))
    }
}
