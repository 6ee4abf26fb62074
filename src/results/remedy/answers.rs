//! The answers of a remedy, as they are written to its trail and into its JSON.

use super::choice::{Choice, Pace};
use crate::results::probe::{Outcome, Probed};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Version of the JSON that [`Remedy`] makes.
pub const REMEDY_VERSION: u32 = 2;

/// How the search for a width ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// The requested routes are exact.
    NothingToCure,
    /// Some setting was proven by a probe and a run.
    Exact,
    /// None was.
    NoneFound,
    /// Nothing can be said.
    NotRun,
}

impl Ending {
    /// The exit code that belongs to it.
    #[must_use]
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::NothingToCure | Self::Exact => 0,
            Self::NoneFound => 1,
            Self::NotRun => 3,
        }
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::NothingToCure => "nothing to cure",
            Self::Exact => "exact",
            Self::NoneFound => "none found",
            Self::NotRun => "not run",
        })
    }
}

/// An operation that differs on equal inputs, and the routes of the block alone that were tried for it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Named {
    /// Its name.
    pub op: String,
    /// Layers in which it was seen to differ with every input made equal; empty outside the layers, or where op
    /// parity alone saw it.
    pub layers: Vec<u16>,
    /// Layers that have it; 0 for an operation outside them.
    pub of: u16,
    /// Rows in which it differs.
    pub rows: u64,
    /// The fewest rows of one call at which op parity, on other inputs, differs.
    pub parity: Option<u32>,
    /// Routes that make it agree, the one of fewest calls first.
    pub equal: Vec<String>,
    /// Routes that do not.
    pub unequal: Vec<String>,
    /// Rows a call that could not be judged.
    pub unknown: Vec<u64>,
}

impl Named {
    /// Some route of the block alone makes it agree.
    #[must_use]
    pub fn cured(&self) -> bool {
        !self.equal.is_empty()
    }
}

/// How a candidate came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// What was asked for.
    Requested,
    /// Each named operation, in all layers.
    ByOperation,
    /// Each named operation, in the layers where it was seen to differ.
    ByLayer,
    /// Each named operation by a dearer route.
    Dearer,
    /// All operations of its group.
    Group,
    /// Every operation, one row a call.
    Everything,
    /// Each named operation over as many rows in plain decoding as in a block: plain decoding changes, too.
    BothSides,
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Requested => "as requested",
            Self::ByOperation => "by operation",
            Self::ByLayer => "by layer",
            Self::Dearer => "dearer route",
            Self::Group => "whole group",
            Self::Everything => "row by row",
            Self::BothSides => "both sides",
        })
    }
}

/// A run of the arm, held against plain decoding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ran {
    /// The judge's word.
    pub verdict: String,
    /// Its exit code.
    pub code: u8,
    /// Rows of logits with other bytes, of how many.
    pub rows: (u64, u64),
    /// States after rounds with other bytes, of how many, where they were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub states: Option<(u64, u64)>,
    /// Tokens of plain decoding.
    pub tokens: u64,
    /// Where the transcript lies.
    pub file: String,
    /// What the setting does to plain decoding, where it does something.
    pub changed: Option<Changed>,
}

/// Plain decoding under a setting against plain decoding as it was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Changed {
    /// Rows of logits with other bytes, of how many; compared up to each prompt's first other token.
    pub rows: (u64, u64),
    /// Tokens that are others at their place of the text, of how many.
    pub tokens: (u64, u64),
}

impl Ran {
    /// The text is plain decoding's and so is every row, and every state that was compared.
    #[must_use]
    pub fn identical(&self) -> bool {
        self.code == 0 && self.rows.0 == 0 && self.rows.1 > 0 && self.other_states() == 0
    }

    /// States with other bytes.
    #[must_use]
    pub fn other_states(&self) -> u64 {
        self.states.map_or(0, |states| states.0)
    }
}

/// How fast one setting is beside plain decoding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measured {
    /// Tokens a second, median.
    pub tokens_per_second: f64,
    /// Over plain decoding's.
    pub ratio: f64,
    /// The ratio differs from 1 by more than the floor.
    pub resolved: bool,
    /// Share of all proposals that was accepted.
    pub accepted: Option<f64>,
    /// Every timed run gave plain decoding's text, as that is under the setting.
    pub same_text: bool,
    /// Plain decoding under the setting, where it is not as it was asked for.
    pub plain: Option<PlainMeasured>,
}

/// How fast plain decoding is under a setting of both sides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlainMeasured {
    /// Tokens a second, median.
    pub tokens_per_second: f64,
    /// Over those of plain decoding as it was asked for.
    pub ratio: f64,
    /// The ratio differs from 1 by more than the floor.
    pub resolved: bool,
}

/// A measurement of settings between runs of plain decoding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Timed {
    /// Plain decoding's tokens a second, median.
    pub plain: f64,
    /// Spread of its runs over their median.
    pub floor: f64,
    /// Its last runs over its first, less one.
    pub drift: f64,
    /// One entry a setting, in the order asked for.
    pub settings: Vec<Measured>,
}

/// A setting that was tried.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Candidate {
    /// What `--routes` takes.
    pub routes: String,
    /// What `--plain-routes` takes; empty where plain decoding is as it is by default.
    pub plain: String,
    /// How it came about.
    pub kind: Kind,
    /// Calls of kernels that a block makes for its operations.
    pub calls: u64,
    /// The probe of it.
    pub probed: Probed,
    /// The run under it, where the probe found it equal.
    pub run: Option<Ran>,
    /// Its speed.
    pub measured: Option<Measured>,
}

impl Candidate {
    /// No byte differs, in the probe and in the run, nor any token of a timed run.
    #[must_use]
    pub fn exact(&self) -> bool {
        let timed = self.measured.as_ref().is_none_or(|measured| measured.same_text);
        timed && self.probed.outcome.exit_code() == 0 && self.run.as_ref().is_some_and(Ran::identical)
    }

    /// It as a choice.
    #[must_use]
    pub fn chosen(&self) -> Choice {
        let pace = self.measured.as_ref().map(Pace::of);
        Choice { routes: self.routes.clone(), plain: self.plain.clone(), pace }
    }

    /// The probe found no difference, and the run compared nothing.
    #[must_use]
    pub fn half_proven(&self) -> bool {
        let unsaid = self.run.as_ref().is_none_or(|run| run.code == 3 || (run.code == 0 && run.rows.1 == 0));
        matches!(self.probed.outcome, Outcome::Equal { .. }) && unsaid
    }
}

/// What was found for one width.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WidthRemedy {
    /// Rows of a block.
    pub width: u64,
    /// How the search ended.
    pub ending: Ending,
    /// The requested routes, with their probe, run and speed.
    pub requested: Candidate,
    /// Operations that differ.
    pub named: Vec<Named>,
    /// Why no setting of both sides was tried, where none was.
    pub one_sided: Option<String>,
    /// What was tried, the proven ones first and the best of them foremost.
    pub candidates: Vec<Candidate>,
    /// Plain decoding beside them, where speed was measured.
    pub plain: Option<Timed>,
    /// What to take, where some setting is exact.
    pub choice: Option<Choice>,
    /// The choice was kept beside the gate's verdict.
    pub stored: bool,
    /// Probes made, those of an interrupted search among them.
    pub probes: u64,
    /// Passes over the tokens with all inputs made equal.
    pub looks: u64,
    /// Faults that were planted and never met.
    pub unmet: Vec<String>,
}

impl WidthRemedy {
    /// The runs of all settings that were tried.
    pub fn runs_mut(&mut self) -> impl Iterator<Item = &mut Ran> {
        let Self { requested, candidates, .. } = self;
        std::iter::once(requested).chain(candidates).filter_map(|one| one.run.as_mut())
    }
}

/// What `remedy` found.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Remedy {
    /// [`REMEDY_VERSION`].
    pub version: u32,
    /// The worst of its widths.
    pub ending: Ending,
    /// The checkpoint's name.
    pub model: String,
    /// Library, version and device.
    pub machine: String,
    /// Routes that were asked for, those of plain decoding behind `plain.`.
    pub requested: String,
    /// Faults that were put in.
    pub planted: Vec<String>,
    /// One entry a width.
    pub widths: Vec<WidthRemedy>,
    /// The command line.
    pub command: Vec<String>,
}

impl Remedy {
    /// The exit code: the worst of the widths, `not run` before `none found`.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        self.ending.exit_code()
    }

    /// The worst ending of some widths.
    #[must_use]
    pub fn worst(widths: &[WidthRemedy]) -> Ending {
        let rank = |ending: Ending| (ending.exit_code(), ending == Ending::Exact);
        widths.iter().map(|one| one.ending).max_by_key(|one| rank(*one)).unwrap_or(Ending::NotRun)
    }
}
