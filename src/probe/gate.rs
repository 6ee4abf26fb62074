//! The gate: may a request be decoded at this width on this machine? Anything but equal bytes means plain decoding.
//!
//! It fails closed. No verdict, a verdict about other positions, a verdict that says anything but equal: each declines.
//! A width's verdict is about full blocks; where a drafter may propose less, the narrower widths are asked as well.

use super::memo::Memo;
use crate::results::probe::{Key, Outcome, Reason};
use std::collections::BTreeSet;
use std::fmt;

/// What is to be decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Demand {
    /// Ids of the prompt.
    pub prompt: u64,
    /// Token budget, the prompt's own first token included.
    pub tokens: u64,
    /// True when blocks may have fewer rows than the width.
    pub shorter: bool,
}

impl Demand {
    /// The positions whose rows choose a token after the first; `None` when there is no such row.
    fn positions(self) -> Option<(u64, u64)> {
        let last = self.prompt.saturating_add(self.tokens).checked_sub(2)?;
        (last >= self.prompt).then_some((self.prompt, last))
    }
}

/// Why a width is declined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    /// Nobody has probed it.
    NotProbed,
    /// The request reaches positions that no equal verdict is about.
    NotCovered {
        /// The first such position.
        position: u64,
    },
    /// Bytes differ.
    Differs {
        /// Where, and how many.
        says: String,
    },
    /// The probe says nothing.
    NotRun {
        /// Why not.
        reason: Reason,
    },
}

/// The gate's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// Whether the width is used; else plain decoding.
    pub engages: bool,
    /// Why it is not known to be exact; `None` when it is.
    pub why: Option<Why>,
    /// To be shown: once for each kind of reason of a width, not for each request.
    pub warning: Option<String>,
}

/// Verdicts in memory, and what has been said about them.
#[derive(Debug)]
pub struct Gate {
    memo: Memo,
    allow_inexact: bool,
    warned: BTreeSet<(Key, &'static str)>,
}

/// True when a setting says yes; whatever is not clearly on is off.
#[must_use]
pub fn is_on(setting: &str) -> bool {
    ["1", "true", "yes", "on"].iter().any(|word| setting.eq_ignore_ascii_case(word))
}

impl Gate {
    /// A gate over verdicts that were loaded, so that no request waits for a file.
    #[must_use]
    pub fn new(memo: Memo, allow_inexact: bool) -> Self {
        Self { memo, allow_inexact, warned: BTreeSet::new() }
    }

    /// To be shown at every start.
    #[must_use]
    pub fn warning_at_start(&self) -> Option<String> {
        let says = "warning: inexact widths are allowed: text may differ from plain decoding's";
        self.allow_inexact.then(|| says.to_owned())
    }

    /// The verdicts, to add some.
    pub fn memo_mut(&mut self) -> &mut Memo {
        &mut self.memo
    }

    /// Answers for one request.
    pub fn decide(&mut self, key: &Key, demand: Demand) -> Decision {
        let first = if demand.shorter { 1 } else { key.width };
        let failing = (first..=key.width).rev().find_map(|width| {
            let key = Key { width, ..key.clone() };
            self.why(&key, demand).map(|why| (key, why))
        });
        let Some((failing, why)) = failing else {
            return Decision { engages: true, why: None, warning: None };
        };
        let engages = self.allow_inexact;
        let does =
            if engages { "is used without being exact" } else { "is declined, plain decoding is used" };
        let text = format!("warning: width {} {does}: {}", key.width, about(&failing, key, &why));
        let new = self.warned.insert((key.clone(), why.kind()));
        Decision { engages, why: Some(why), warning: new.then_some(text) }
    }

    /// Why blocks of just this width are not known to be exact.
    fn why(&self, key: &Key, demand: Demand) -> Option<Why> {
        let verdicts = self.memo.verdicts(key);
        let differs = verdicts.iter().find_map(|verdict| match &verdict.outcome {
            Outcome::Differs { seed, first } => Some(format!("on input {seed}, {first} differ")),
            _ => None,
        });
        if let Some(says) = differs {
            return Some(Why::Differs { says });
        }
        // A machine that does not repeat itself, or is known not to, does so at other positions, too.
        let unsteady = verdicts.iter().find_map(|verdict| match &verdict.outcome {
            Outcome::NotRun { reason } if *reason != Reason::NothingCompared => Some(reason.clone()),
            _ => None,
        });
        if let Some(reason) = unsteady {
            return Some(Why::NotRun { reason });
        }
        let position = first_missing(&self.memo.equal_spans(key), demand.positions()?)?;
        let reason = Reason::NothingCompared;
        let nothing = Outcome::NotRun { reason: reason.clone() };
        Some(match verdicts {
            [] => Why::NotProbed,
            all if all.iter().all(|verdict| verdict.outcome == nothing) => Why::NotRun { reason },
            _ => Why::NotCovered { position },
        })
    }
}

/// The first position of `from..=to` that none of the ascending spans holds.
fn first_missing(spans: &[(u64, u64)], (from, to): (u64, u64)) -> Option<u64> {
    let reached = spans
        .iter()
        .fold(from, |next, (start, end)| if *start <= next { next.max(end.saturating_add(1)) } else { next });
    (reached <= to).then_some(reached)
}

fn about(failing: &Key, asked: &Key, why: &Why) -> String {
    if failing.width == asked.width {
        why.to_string()
    } else {
        format!("blocks of {} rows: {why}", failing.width)
    }
}

impl Why {
    /// Without the numbers, of which each request has its own.
    const fn kind(&self) -> &'static str {
        match self {
            Self::NotProbed => "not probed",
            Self::NotCovered { .. } => "not covered",
            Self::Differs { .. } => "differs",
            Self::NotRun { .. } => "not run",
        }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotProbed => formatter.write_str("not probed here"),
            Self::NotCovered { position } => {
                write!(formatter, "not covered: position {position} is outside what was probed")
            }
            Self::Differs { says } => formatter.write_str(says),
            Self::NotRun { reason } => write!(formatter, "not run: {reason}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{first_missing, is_on};

    #[test]
    fn what_is_not_clearly_on_is_off() {
        for on in ["1", "true", "yes", "on", "TRUE", "Yes"] {
            assert!(is_on(on), "{on}");
        }
        for off in
            ["", "0", "false", "no", "off", "2", "01", " 1", "1 ", "y", "t", "enable", "true!", "yes,please"]
        {
            assert!(!is_on(off), "{off:?}");
        }
    }

    #[test]
    fn spans_cover_when_they_touch() {
        let spans = [(10, 20), (15, 18), (21, 30), (40, 50)];
        assert_eq!(first_missing(&spans, (10, 30)), None);
        assert_eq!(first_missing(&spans, (12, 31)), Some(31));
        assert_eq!(first_missing(&spans, (9, 12)), Some(9));
        assert_eq!(first_missing(&spans, (35, 36)), Some(35));
        assert_eq!(first_missing(&spans, (40, 50)), None);
        assert_eq!(first_missing(&[], (0, 0)), Some(0));
        assert_eq!(first_missing(&[(0, u64::MAX)], (5, u64::MAX - 1)), None);
    }
}
