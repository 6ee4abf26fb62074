//! What a law is, and what it can answer.

use super::place::{EndAt, RoundAt, TokenAt};
use crate::transcript::TokenId;
use serde_json::Value;

/// One law of the format.
#[derive(Debug, Clone, Copy)]
pub struct Law {
    /// Its name in every output. A law that is judged at two moments stands in the registry twice.
    pub name: &'static str,
    /// What a breach counts as.
    pub severity: Severity,
    /// What holds, in one sentence.
    pub statement: &'static str,
    /// The keys beyond the obligatory ones without which it cannot be judged.
    pub keys: &'static [&'static str],
    /// Where it is judged.
    pub on: &'static [On],
}

/// What a breach counts as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// It decides the verdict.
    Finding,
    /// It is told and changes nothing.
    Warning,
}

/// Where a law is judged, and by what.
#[derive(Debug, Clone, Copy)]
pub enum On {
    /// At each prefill and step line.
    Token(fn(&TokenAt) -> Outcome),
    /// At each round, once it is known whether another one follows.
    Round(fn(&RoundAt) -> Outcome),
    /// At the footer.
    End(fn(&EndAt) -> Outcome),
    /// Between two arms; the check is `compare`'s.
    BetweenArms,
}

/// What a law says about one place.
#[derive(Debug)]
pub enum Outcome {
    /// It holds.
    Holds,
    /// It has nothing to say here.
    Silent,
    /// It cannot be judged here for want of these keys.
    Missing(&'static [&'static str]),
    /// It does not hold.
    Broken(Box<Fault>),
    /// It depends on the rows of other sequences in the same round.
    Ask(Box<(Question, Fault)>),
}

/// Why a law does not hold.
#[derive(Debug, Clone)]
pub struct Fault {
    /// Where this breach counts less than its law.
    pub severity: Option<Severity>,
    /// The row of the block.
    pub row: Option<i64>,
    /// What the law asks for.
    pub expected: Value,
    /// What the transcript says.
    pub found: Value,
    /// One sentence for people.
    pub says: String,
}

/// What another sequence's row of the same round could answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Question {
    /// Did another row agree with exactly this many proposals? Then a clamped window explains the shorter commit.
    Clamped {
        /// Committed drafts.
        accepted: i64,
        /// The header says that the window clamps; otherwise it says nothing.
        known: bool,
    },
    /// Did another row choose these tokens at these places? Then they leaked.
    Leaked {
        /// Row and token, where the sequence's own rows chose another.
        tokens: Vec<(usize, TokenId)>,
    },
}

impl Outcome {
    /// Broken, without a row.
    pub fn broken(expected: impl Into<Value>, found: impl Into<Value>, says: impl Into<String>) -> Self {
        Self::Broken(Box::new(Fault::new(expected, found, says)))
    }

    /// Broken at a row of the block.
    pub fn broken_at(
        row: usize,
        expected: impl Into<Value>,
        found: impl Into<Value>,
        says: impl Into<String>,
    ) -> Self {
        Self::Broken(Box::new(Fault::new(expected, found, says).at(row)))
    }

    /// Holds when `found` is `expected`, else broken with the sentence that `says` makes.
    pub fn equal(expected: i64, found: i64, says: impl FnOnce() -> String) -> Self {
        if expected == found { Self::Holds } else { Self::broken(expected, found, says()) }
    }
}

impl Fault {
    /// A fault without a row.
    pub fn new(expected: impl Into<Value>, found: impl Into<Value>, says: impl Into<String>) -> Self {
        Self { severity: None, row: None, expected: expected.into(), found: found.into(), says: says.into() }
    }

    /// At a row of the block.
    #[must_use]
    pub fn at(mut self, row: usize) -> Self {
        self.row = Some(count(row));
        self
    }

    /// As a warning.
    #[must_use]
    pub fn warning(mut self) -> Self {
        self.severity = Some(Severity::Warning);
        self
    }
}

/// A length as the format's signed count.
#[must_use]
pub fn count(length: usize) -> i64 {
    i64::try_from(length).unwrap_or(i64::MAX)
}
