//! The words a comparison may end in, and which of several is the worst.
//!
//! One enum, so that a table, a JSON key and an exit code can never disagree about what was found.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// How a comparison ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// Equal, and something was compared.
    Identical,
    /// Every law that could be checked holds.
    Consistent,
    /// A law is broken.
    Inconsistent,
    /// Streams part.
    Differs(Difference),
    /// Could not be asked.
    NotRun,
    /// Nothing was compared.
    Vacuous,
    /// The two sides do not answer the same question.
    NotComparable,
    /// The file ends without its footers, or in half a line.
    CutRun,
}

/// How two streams part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Difference {
    /// Equal row bytes, another choice.
    Selection,
    /// Both contested tokens have the same logit.
    ExactTie,
    /// The gap is no larger than the measured perturbation.
    NearTie,
    /// The gap is far larger than the measured perturbation.
    Structural,
    /// No scale, between the bounds, or below what the reporter can show.
    Undecided,
    /// One stream is a proper beginning of the other.
    Length,
}

impl Verdict {
    /// Every verdict there is.
    pub const ALL: [Self; 13] = [
        Self::Identical,
        Self::Consistent,
        Self::Inconsistent,
        Self::Differs(Difference::Selection),
        Self::Differs(Difference::ExactTie),
        Self::Differs(Difference::NearTie),
        Self::Differs(Difference::Structural),
        Self::Differs(Difference::Undecided),
        Self::Differs(Difference::Length),
        Self::NotRun,
        Self::Vacuous,
        Self::NotComparable,
        Self::CutRun,
    ];

    /// The word printed in tables and JSON.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Identical => "identical",
            Self::Consistent => "consistent",
            Self::Inconsistent => "inconsistent",
            Self::Differs(Difference::Selection) => "selection",
            Self::Differs(Difference::ExactTie) => "exact tie",
            Self::Differs(Difference::NearTie) => "near tie",
            Self::Differs(Difference::Structural) => "structural",
            Self::Differs(Difference::Undecided) => "undecided",
            Self::Differs(Difference::Length) => "length",
            Self::NotRun => "not run",
            Self::Vacuous => "vacuous",
            Self::NotComparable => "not comparable",
            Self::CutRun => "cut run",
        }
    }

    /// The process exit code of a run that ended in this verdict.
    #[must_use]
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::Identical | Self::Consistent => 0,
            Self::Inconsistent | Self::Differs(_) => 1,
            Self::NotRun | Self::Vacuous | Self::NotComparable | Self::CutRun => 3,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.word())
    }
}

impl Serialize for Verdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

impl<'de> Deserialize<'de> for Verdict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = String::deserialize(deserializer)?;
        let known = Self::ALL.into_iter().find(|verdict| verdict.word() == word);
        known.ok_or_else(|| D::Error::custom("this is no verdict of this version"))
    }
}

/// The worst of several exit codes: a bug of ours, then unavailable, unparseable, not compared, different.
///
/// Codes that no verdict and no error of this program has are taken as a bug.
#[must_use]
pub fn worst(codes: impl IntoIterator<Item = u8>) -> u8 {
    let rank = |code: u8| match code {
        0 => 0,
        1 => 1,
        3 => 2,
        4 => 3,
        5 => 4,
        _ => 5,
    };
    codes.into_iter().max_by_key(|code| rank(*code)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::worst;

    #[test]
    fn order_of_trouble() {
        assert_eq!(worst([]), 0);
        assert_eq!(worst([0, 1, 3]), 3);
        assert_eq!(worst([3, 1, 4, 0]), 4);
        assert_eq!(worst([5, 4]), 5);
        assert_eq!(worst([70, 5]), 70);
    }
}
