//! A whole bisect: what was asked, how it ended, and every answer.

use super::Measured;
use super::answers::{
    Confirmation, Control, Cost, LayerLine, OpLine, Operation, Predicted, PrefillAnswer, Reduced,
    RewindAnswer, RowWalk, Sources,
};
use super::heat::HeatRow;
use crate::results::Word;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Version of the JSON that [`Bisected`] makes.
pub const BISECT_VERSION: u32 = 1;

/// What parted, or why nothing can be said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// Nothing: no byte of a row or of a state differs.
    Identical,
    /// A run does not repeat itself, or looking at it changes it.
    NotComparable,
    /// The state that round 0 starts from.
    Prefill,
    /// An operation: equal inputs, another output.
    Operation,
    /// Rejected rows stayed in keys and values.
    RejectedRow,
    /// A whole block stayed where a part of it should.
    SkippedRewind,
    /// A recurrent state is of a later row than the last one kept.
    StateAhead,
    /// A state that the rewind left is of no row of the block.
    Rewind,
    /// Equal bytes, another token chosen.
    Selection,
    /// The looked-at round did not give the bytes of the row walk.
    InvalidCapture,
    /// The replayed block does not give what was recorded.
    NotReproduced,
    /// A planted fault was never met.
    NotStruck,
    /// No block had more than one row: equal by nature.
    Vacuous,
}

impl Class {
    /// How a comparison with this outcome ended.
    #[must_use]
    pub const fn word(self) -> Word {
        match self {
            Self::Identical => Word::Identical,
            Self::NotComparable
            | Self::InvalidCapture
            | Self::NotReproduced
            | Self::NotStruck
            | Self::Vacuous => Word::NotRun,
            _ => Word::Differs,
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Identical => "identical",
            Self::NotComparable => "not comparable",
            Self::Prefill => "prefill",
            Self::Operation => "operation",
            Self::RejectedRow => "rejected row",
            Self::SkippedRewind => "skipped rewind",
            Self::StateAhead => "state ahead",
            Self::Rewind => "rewind",
            Self::Selection => "selection",
            Self::InvalidCapture => "invalid capture",
            Self::NotReproduced => "not reproduced",
            Self::NotStruck => "not run",
            Self::Vacuous => "vacuous",
        })
    }
}

/// What was asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// Where the rounds came from, in words.
    pub rounds: String,
    /// Rows of the widest block.
    pub width: u64,
    /// Ids of the prompt.
    pub prompt: u64,
    /// Tokens past it.
    pub tokens: u64,
    /// Routes of the block: defaults, overrides and rewind.
    pub routes: String,
    /// Faults that were put in.
    pub planted: Vec<String>,
}

/// One of several scripts, accept patterns or prompts, and where it first differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Screened {
    /// The pattern, or the prompt's number.
    pub label: String,
    /// Ids of its prompt.
    pub prompt: u64,
    /// Rows compared.
    pub rows: u64,
    /// States compared.
    pub states: u64,
    /// Position and round of the first row or state that differs.
    pub first: Option<(u64, u64)>,
    /// Where it parts, in words.
    pub parts: Option<String>,
}

/// What several patterns together say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reading {
    /// All first differ at one absolute position.
    PositionTriggered,
    /// The round structure moves the first difference, or decides whether there is one.
    RoundTriggered,
    /// All first differ at one position and in one round: these patterns do not tell the two apart.
    Undecided,
    /// None differs.
    Identical,
}

impl fmt::Display for Reading {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::PositionTriggered => "position-triggered: every pattern first differs at the same position",
            Self::RoundTriggered => {
                "round-triggered: where it first differs, or whether it does, depends on the rounds"
            }
            Self::Undecided => {
                "every pattern first differs at the same position and in the same round, so these patterns do not \
                 tell whether position or round triggers it"
            }
            Self::Identical => "no pattern differs",
        })
    }
}

impl Reading {
    /// Of the patterns that were walked.
    #[must_use]
    pub fn of(lines: &[Screened]) -> Self {
        let mut firsts = lines.iter().map(|line| line.first);
        let Some(one) = firsts.next().flatten() else {
            return if lines.iter().all(|line| line.first.is_none()) {
                Self::Identical
            } else {
                Self::RoundTriggered
            };
        };
        let others: Vec<_> = firsts.collect();
        if others.iter().all(|other| *other == Some(one)) {
            return Self::Undecided;
        }
        let same = others.iter().all(|other| other.is_some_and(|(position, _)| position == one.0));
        if same { Self::PositionTriggered } else { Self::RoundTriggered }
    }
}

/// What a bisect found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bisected {
    /// [`BISECT_VERSION`].
    pub version: u32,
    /// What parted.
    pub class: Class,
    /// The checkpoint's name.
    pub model: String,
    /// Library, version, device and program.
    pub machine: String,
    /// What was asked.
    pub question: Question,
    /// Patterns or prompts, where there are several; the first that parts is the one that the answers are about.
    pub screened: Vec<Screened>,
    /// What the patterns say.
    pub reading: Option<Reading>,
    /// Null arms and observers.
    pub controls: Vec<Control>,
    /// The state that round 0 starts from.
    pub prefill: Option<PrefillAnswer>,
    /// All kept rows.
    pub rows: RowWalk,
    /// What the rewind left, where that is what parted.
    pub rewind: Option<RewindAnswer>,
    /// The layers on the frontier's row.
    pub layers: Vec<LayerLine>,
    /// The operations of the frontier's layer on its row, or those outside the layers.
    pub operations: Vec<OpLine>,
    /// How much of each layer differs on each row.
    pub heat: Vec<HeatRow>,
    /// The named operation.
    pub operation: Option<Operation>,
    /// The intervention that confirms the place.
    pub confirmation: Option<Confirmation>,
    /// What the dispatch table says of it.
    pub kernel: Option<Predicted>,
    /// What it launched; absent on machines whose kernels have no names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured: Option<Measured>,
    /// All sources, where they were asked for.
    pub sources: Option<Sources>,
    /// A smaller run, where one was asked for.
    pub reduced: Option<Reduced>,
    /// Planted faults that changed something.
    pub struck: Vec<String>,
    /// What should be known beside the answers.
    pub remarks: Vec<String>,
    /// What it cost.
    pub cost: Cost,
    /// The folder that shows the operation's difference by itself.
    pub reproducer: Option<String>,
    /// The command line.
    pub command: Vec<String>,
}

impl Bisected {
    /// The exit code that belongs to the verdict.
    #[must_use]
    pub const fn exit_code(&self) -> u8 {
        self.class.word().exit_code()
    }
}

#[cfg(test)]
mod tests {
    use super::{Reading, Screened};

    #[test]
    fn patterns_are_read_together() {
        let line = |first: Option<(u64, u64)>| Screened {
            label: "1".to_owned(),
            prompt: 1,
            rows: 3,
            states: 3,
            first,
            parts: None,
        };
        let of = |firsts: &[Option<(u64, u64)>]| {
            Reading::of(&firsts.iter().map(|one| line(*one)).collect::<Vec<_>>())
        };
        assert_eq!(of(&[None, None]), Reading::Identical);
        assert_eq!(of(&[Some((5, 1)), Some((5, 2))]), Reading::PositionTriggered);
        assert_eq!(of(&[Some((5, 1)), Some((5, 1))]), Reading::Undecided);
        assert_eq!(of(&[Some((5, 1))]), Reading::Undecided);
        assert_eq!(of(&[Some((5, 1)), Some((6, 1))]), Reading::RoundTriggered);
        assert_eq!(of(&[None, Some((6, 1))]), Reading::RoundTriggered);
        assert_eq!(of(&[Some((6, 1)), None]), Reading::RoundTriggered);
    }
}
