//! What was to be expected of an operation, held against what was found.

use super::Found;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// What a dispatch table expects.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "bytes", rename_all = "kebab-case")]
pub enum Predicted {
    /// Equal bytes at every number of rows.
    Equal {
        /// The kernel.
        kernel: String,
        /// Where that was read.
        source: String,
    },
    /// Another kernel from so many rows on.
    Change {
        /// Rows.
        from: u32,
        /// The kernel at one row.
        one: String,
        /// The kernel from there on.
        many: String,
        /// Where that was read.
        source: String,
    },
    /// The tables do not say.
    Unknown,
}

/// How a measurement stands to its prediction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Agreement {
    /// As predicted.
    Agrees,
    /// Another kernel was predicted from some number of rows on, and bytes part from a larger number on, or in no draw:
    /// sums in another order often round to the same number.
    Later,
    /// Bytes part where equal ones were predicted.
    Surprise,
    /// Nothing was predicted.
    Unknown,
}

impl Agreement {
    /// Holds what was found against what was predicted. A predicted change that no tried number of rows reaches says
    /// nothing against equal bytes; another formula, predicted from 1 row on, may be hidden by rounding in a few rows.
    #[must_use]
    pub fn of(found: &Found, predicted: &Predicted) -> Self {
        let reached = |from: u32| found.tested().any(|rows| rows >= from);
        match (predicted, found.boundary()) {
            (Predicted::Unknown, _) => Self::Unknown,
            (Predicted::Equal { .. }, None) | (Predicted::Change { from: 1, .. }, Some(_)) => Self::Agrees,
            (Predicted::Equal { .. }, Some(_)) => Self::Surprise,
            (Predicted::Change { from, .. }, Some(boundary)) => match from.cmp(&boundary) {
                Ordering::Less => Self::Later,
                Ordering::Equal => Self::Agrees,
                Ordering::Greater => Self::Surprise,
            },
            (Predicted::Change { from, .. }, None) if reached(*from) => Self::Later,
            (Predicted::Change { .. }, None) => Self::Agrees,
        }
    }

    /// The word that is printed.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Agrees => "agrees",
            Self::Later => "later",
            Self::Surprise => "surprise",
            Self::Unknown => "unknown",
        }
    }
}

impl Predicted {
    /// Such as `8: qmv → qmm_sm80 [S+B]`, or without where that was read.
    #[must_use]
    pub fn text(&self, with_source: bool) -> String {
        let (text, source) = match self {
            Self::Equal { kernel, source } => (format!("equal: {kernel}"), source),
            Self::Change { from, one, many, source } => (format!("{from}: {one} → {many}"), source),
            Self::Unknown => return "?".to_owned(),
        };
        if with_source { format!("{text} [{source}]") } else { text }
    }
}

#[cfg(test)]
mod tests {
    use super::{Agreement, Predicted};
    use crate::results::parity::found::found;

    #[test]
    fn a_prediction_agrees_at_its_own_boundary_and_no_other() {
        let change =
            |from| Predicted::Change { from, one: String::new(), many: String::new(), source: String::new() };
        let at_8 = found(&[(1, 0), (7, 0), (8, 1)]);
        assert_eq!(Agreement::of(&at_8, &change(8)), Agreement::Agrees);
        assert_eq!(Agreement::of(&at_8, &change(7)), Agreement::Later);
        assert_eq!(Agreement::of(&at_8, &change(9)), Agreement::Surprise);
        assert_eq!(Agreement::of(&at_8, &Predicted::Unknown), Agreement::Unknown);
        let equal = found(&[(1, 0), (7, 0)]);
        assert_eq!(Agreement::of(&equal, &change(8)), Agreement::Agrees, "8 rows were not tried");
        assert_eq!(Agreement::of(&equal, &change(7)), Agreement::Later);
        let same = Predicted::Equal { kernel: String::new(), source: String::new() };
        assert_eq!(Agreement::of(&equal, &same), Agreement::Agrees);
        assert_eq!(Agreement::of(&at_8, &same), Agreement::Surprise);
    }
}
