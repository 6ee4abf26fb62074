//! A plant as a value: what is wrong, and where and when it acts.
//!
//! Faults are of two kinds. One kind changes what an operation gives, the other leaves every number right and keeps
//! the books wrong: rows that a rewind should have dropped, a token that its row did not choose, a prompt fed otherwise
//! than it reads. Laws and probes that catch the one kind may be blind to the other, so both can be planted.

use crate::engine::op::Op;
use crate::engine::tap::{Forward, Side, Site};

/// A fault at a known place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plant {
    /// What is wrong.
    pub fault: Fault,
    /// The only row of a forward, counted from 0.
    pub row: Option<u16>,
    /// The first position.
    pub from: Option<u32>,
    /// Only every so many positions, counted from `from`.
    pub every: Option<u32>,
    /// In which forwards.
    pub sides: Sides,
}

/// What is wrong.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fault {
    /// What an operation gives.
    Op(OpFault),
    /// What is kept of rows, chosen from them or fed.
    Bookkeeping(Bookkeeping),
}

/// What an operation gives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OpFault {
    /// The operation whose output is changed.
    pub op: Op,
    /// The only layer, or every one that has the operation.
    pub layer: Option<u16>,
    /// Only in calls of the kernels over at least so many rows: a dispatch by rows.
    pub at_least: Option<u16>,
    /// Only in calls over at most so many rows.
    pub at_most: Option<u16>,
    /// What is done to it.
    pub change: Change,
    /// How many numbers of a row, or all of them.
    pub count: Option<u32>,
    /// Chooses these numbers.
    pub seed: Option<u64>,
}

/// What is done to an operation's output.
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

/// Books that are kept wrong. Positions of the first three are those of the block's first row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bookkeeping {
    /// The first rejected row stays in keys and values.
    RejectedRow,
    /// All rows of a block stay, whatever was rejected.
    SkippedRewind,
    /// Recurrent states and convolution windows stay at the first rejected row.
    StateAhead,
    /// The second best token is chosen from a row.
    Selection,
    /// The prompt's last id is fed twice; the position is that of its second row.
    Prefill,
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

impl Plant {
    /// The fault at every row of every verify block.
    #[must_use]
    pub const fn in_blocks(fault: Fault) -> Self {
        Self { fault, row: None, from: None, every: None, sides: Sides::Block }
    }

    /// What it does to an operation at the site, when it acts there.
    #[must_use]
    pub fn at(&self, site: Site) -> Option<OpFault> {
        match self.fault {
            Fault::Op(fault) if fault.is_at(site) => Some(fault),
            _ => None,
        }
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

    /// True when it acts on row `row` of a forward.
    #[must_use]
    pub fn hits(&self, forward: Forward, row: i32) -> bool {
        self.acts_in(forward.side)
            && self.row.is_none_or(|only| i32::from(only) == row)
            && self.reaches(forward.position + row)
    }

    /// True when `from` and `every` name the position.
    #[must_use]
    pub fn reaches(&self, position: i32) -> bool {
        let position = u32::try_from(position).unwrap_or(0);
        let first = self.from.unwrap_or(0);
        position >= first && self.every.is_none_or(|every| (position - first).is_multiple_of(every))
    }

    /// What is wrong with its place in a model whose layers have these operations, as in
    /// [`inventory::layers`](crate::engine::inventory::layers).
    #[must_use]
    pub fn misplaced(&self, layers: &[Vec<Op>]) -> Option<String> {
        let says = match self.fault {
            Fault::Op(fault) => fault.misplaced(layers),
            Fault::Bookkeeping(books) => books.misplaced(layers),
        };
        says.map(|says| format!("{self}: {says}"))
    }
}

impl OpFault {
    /// Moves every number by `steps`, in every layer.
    #[must_use]
    pub const fn ulp(op: Op, steps: u16) -> Self {
        let change = Change::Ulp(steps);
        Self { op, layer: None, at_least: None, at_most: None, change, count: None, seed: None }
    }

    fn is_at(&self, site: Site) -> bool {
        let here = self.layer.is_none_or(|layer| site.layer == Some(usize::from(layer)));
        site.op == self.op && here
    }

    /// True when it acts in calls of the kernels over `rows` rows.
    #[must_use]
    pub fn takes(&self, rows: usize) -> bool {
        self.at_least.is_none_or(|least| rows >= usize::from(least))
            && self.at_most.is_none_or(|most| rows <= usize::from(most))
    }

    fn misplaced(&self, layers: &[Vec<Op>]) -> Option<String> {
        let has = |ops: &Vec<Op>| ops.contains(&self.op);
        let Some(layer) = self.layer else {
            let none = self.op.block().is_some() && !layers.iter().any(has);
            return none.then(|| format!("no layer of this model has {}", self.op.name()));
        };
        match layers.get(usize::from(layer)) {
            None => Some(format!("the model has layers 0 to {}", layers.len().saturating_sub(1))),
            Some(ops) if !has(ops) => Some(format!("layer {layer} has no {}", self.op.name())),
            Some(_) => None,
        }
    }
}

impl Bookkeeping {
    /// In which forwards it acts unless it is told.
    #[must_use]
    pub const fn sides(self) -> Sides {
        match self {
            Self::Prefill => Sides::Prefill,
            _ => Sides::Block,
        }
    }

    /// The cache that it speaks of has to be there.
    fn misplaced(self, layers: &[Vec<Op>]) -> Option<String> {
        let (op, cache) = match self {
            Self::RejectedRow => (Op::Attention, "keys and values"),
            Self::StateAhead => (Op::Delta, "a recurrent state"),
            Self::SkippedRewind | Self::Selection | Self::Prefill => return None,
        };
        let none = !layers.iter().any(|ops| ops.contains(&op));
        none.then(|| format!("no layer of this model has {cache}"))
    }
}
