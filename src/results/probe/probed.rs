//! One width's probe, and those of a command line.

use super::{Key, Outcome};
use serde::{Deserialize, Serialize};

/// Version of the JSON that [`Probe`] makes.
pub const PROBE_VERSION: u32 = 1;

/// What was found of one width.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Probed {
    /// First and last position that was compared: a verdict speaks of no other.
    pub covered: Option<(u64, u64)>,
    /// Every position at every row of a block; else each at one row, which decides nothing.
    pub every_row: bool,
    /// Seeds of the inputs.
    pub seeds: Vec<u64>,
    /// How it ended.
    pub outcome: Outcome,
    /// Known hazards that a probe of this width and these positions cannot see.
    pub uncovered: Vec<Uncovered>,
}

/// A known hazard, and where it begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Uncovered {
    /// Such as `position 1023` or `8 rows`.
    pub begins: String,
    /// What happens there.
    pub hazard: String,
    /// Where that was read.
    pub source: String,
}

/// One width's line of a command.
#[derive(Debug, Clone, Serialize)]
pub struct WidthLine {
    /// What the verdict is about.
    pub key: Key,
    /// What was found.
    pub probed: Probed,
    /// True when it was found earlier and remembered.
    pub remembered: bool,
    /// True when the gate lets a request over the covered positions use this width.
    pub engages: bool,
    /// What the gate says when it does so without equal bytes, or does not.
    pub says: Option<String>,
}

/// What `probe` found.
#[derive(Debug, Clone, Serialize)]
pub struct Probe {
    /// [`PROBE_VERSION`].
    pub version: u32,
    /// The worst of its widths: not run, then differs, then equal.
    pub verdict: &'static str,
    /// The checkpoint's name.
    pub model: String,
    /// Faults that were put in.
    pub planted: Vec<String>,
    /// One entry a width.
    pub widths: Vec<WidthLine>,
    /// The command line.
    pub command: Vec<String>,
}

impl Probe {
    /// Puts the widths of a model together.
    #[must_use]
    pub fn new(model: String, planted: Vec<String>, widths: Vec<WidthLine>, command: Vec<String>) -> Self {
        let worst = widths.iter().map(|line| &line.probed.outcome).max_by_key(|outcome| outcome.exit_code());
        let verdict = worst.map_or("not run", Outcome::word);
        Self { version: PROBE_VERSION, verdict, model, planted, widths, command }
    }

    /// The exit code that belongs to the verdict.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        self.widths.iter().map(|line| line.probed.outcome.exit_code()).max().unwrap_or(3)
    }
}
