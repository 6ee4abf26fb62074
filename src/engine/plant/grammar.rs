//! The text of a plant: `op=o_proj,layer=5,row=2,from=40,ulp=1`, `fault=skipped-rewind,from=40`.

use super::error::PlantError;
use super::fault::{Bookkeeping, Change, Fault, OpFault, Plant, Sides};
use crate::engine::op::{Group, Op};
use std::fmt;
use std::str::FromStr;

/// Most steps that a plant moves a number by; every float dtype has so many finite numbers on either side.
const MOST_ULPS: u16 = 1024;

const SIDES: [(&str, Sides); 4] =
    [("block", Sides::Block), ("chain", Sides::Chain), ("both", Sides::Both), ("prefill", Sides::Prefill)];

const BOOKKEEPING: [(&str, Bookkeeping); 5] = [
    ("rejected-row", Bookkeeping::RejectedRow),
    ("skipped-rewind", Bookkeeping::SkippedRewind),
    ("state-ahead", Bookkeeping::StateAhead),
    ("selection", Bookkeeping::Selection),
    ("prefill", Bookkeeping::Prefill),
];

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
    bookkeeping: Option<Bookkeeping>,
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
            "fault" if value == "stale" => once("the change", &mut self.change, Change::Stale),
            "fault" => once("fault", &mut self.bookkeeping, bookkeeping(value)?),
            "count" => once("count", &mut self.count, positive("count", value)?),
            "seed" => once("seed", &mut self.seed, number("seed", value)?),
            "side" => once("side", &mut self.sides, sides(value)?),
            other => Err(PlantError::UnknownKey(other.to_owned())),
        }
    }

    fn finish(self) -> Result<Plant, PlantError> {
        let (fault, sides) = match self.bookkeeping {
            Some(bookkeeping) => (self.bookkeeping(bookkeeping)?, bookkeeping.sides()),
            None => (Fault::Op(self.of_op()?), Sides::Block),
        };
        let Self { row, from, every, .. } = self;
        Ok(Plant { fault, row, from, every, sides: self.sides.unwrap_or(sides) })
    }

    /// Refuses every key that a fault of bookkeeping does not take.
    fn bookkeeping(&self, fault: Bookkeeping) -> Result<Fault, PlantError> {
        if self.change == Some(Change::Stale) {
            return Err(PlantError::Twice("fault"));
        }
        let change = self.change.map(|change| written(change).0);
        let whole = fault != Bookkeeping::Selection;
        let given = [
            ("op", self.op.is_some(), OF_OPS),
            ("layer", self.layer.is_some(), OF_OPS),
            ("rows>=", self.at_least.is_some(), OF_OPS),
            ("rows<=", self.at_most.is_some(), OF_OPS),
            (change.unwrap_or_default(), change.is_some(), OF_OPS),
            ("count", self.count.is_some(), OF_OPS),
            ("seed", self.seed.is_some(), OF_OPS),
            ("row", self.row.is_some() && whole, "it is not of single rows"),
            ("side", self.sides.is_some() && whole, "it can only act in one kind of forward"),
        ];
        match given.iter().find(|(_, given, _)| *given) {
            Some((key, _, why)) => Err(PlantError::Foreign { fault: name(fault), key, why }),
            None => Ok(Fault::Bookkeeping(fault)),
        }
    }

    fn of_op(&self) -> Result<OpFault, PlantError> {
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
        let Self { layer, at_least, at_most, count, seed, .. } = *self;
        Ok(OpFault { op, layer, at_least, at_most, change, count, seed })
    }
}

/// Why a fault of bookkeeping does not take a key.
const OF_OPS: &str = "it is of no operation";

fn name(fault: Bookkeeping) -> &'static str {
    BOOKKEEPING.iter().find(|(_, one)| *one == fault).map_or("", |(name, _)| name)
}

fn bookkeeping(text: &str) -> Result<Bookkeeping, PlantError> {
    let found = BOOKKEEPING.iter().find(|(name, _)| *name == text).map(|(_, fault)| *fault);
    let takes = "stale, rejected-row, skipped-rewind, state-ahead, selection or prefill";
    found.ok_or_else(|| PlantError::Value { key: "fault", takes, found: text.to_owned() })
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
        let (op, bookkeeping) = match self.fault {
            Fault::Op(fault) => (Some(fault), None),
            Fault::Bookkeeping(fault) => (None, Some(fault)),
        };
        let implied = bookkeeping.map_or(Sides::Block, Bookkeeping::sides);
        let side = SIDES.iter().find(|(_, sides)| *sides == self.sides && *sides != implied);
        let (change, how) = op.map(|fault| written(fault.change)).unzip();
        let parts = [
            ("op", op.map(|fault| fault.op.name().to_owned())),
            ("fault", bookkeeping.map(|fault| name(fault).to_owned())),
            ("layer", text(op.and_then(|fault| fault.layer))),
            ("row", text(self.row)),
            ("rows>", text(op.and_then(|fault| fault.at_least))),
            ("rows<", text(op.and_then(|fault| fault.at_most))),
            ("from", text(self.from)),
            ("every", text(self.every)),
            (change.unwrap_or_default(), how),
            ("count", text(op.and_then(|fault| fault.count))),
            ("seed", text(op.and_then(|fault| fault.seed))),
            ("side", side.map(|(name, _)| (*name).to_owned())),
        ];
        let parts = parts.into_iter().filter_map(|(key, value)| Some(format!("{key}={}", value?)));
        formatter.write_str(&parts.collect::<Vec<_>>().join(","))
    }
}

fn text<T: ToString>(value: Option<T>) -> Option<String> {
    value.map(|value| value.to_string())
}

/// Key and value.
fn written(change: Change) -> (&'static str, String) {
    match change {
        Change::Ulp(steps) => ("ulp", steps.to_string()),
        Change::Value(value) => ("value", value.to_string()),
        Change::Halves => ("order", "halves".to_owned()),
        Change::Stale => ("fault", "stale".to_owned()),
    }
}
