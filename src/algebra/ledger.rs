//! The book of one sequence's breaches and of one arm's checked laws.
//!
//! A run of a million rounds can break one law in each of them, and an answer from another sequence can come late;
//! so breaches are kept by law, the earliest first, and the order is settled only at the end.

use super::judgement::{Breach, NotCheckable, SequenceJudgement};
use super::laws::{LAWS, Severity};

/// When something was judged: the line's ordinal in its sequence, then the law's place in the registry.
pub type When = (u64, usize);

/// The breaches of one sequence.
#[derive(Debug, Default)]
pub struct Ledger {
    entries: Vec<Entry>,
}

/// All breaches of one law as one severity: the two earliest and how many there are.
#[derive(Debug)]
struct Entry {
    severity: Severity,
    first: (When, Breach),
    second: Option<(When, Breach)>,
    times: u64,
}

impl Ledger {
    /// Enters a breach.
    pub fn enter(&mut self, when: When, severity: Severity, breach: Breach) {
        let known = |entry: &&mut Entry| entry.severity == severity && entry.first.1.law == breach.law;
        match self.entries.iter_mut().find(known) {
            Some(entry) => entry.add(when, breach),
            None => self.entries.push(Entry { severity, first: (when, breach), second: None, times: 1 }),
        }
    }

    /// Finding, later ones and warnings, in order.
    #[must_use]
    pub fn settle(mut self, sequence: i64) -> SequenceJudgement {
        self.entries.sort_by_key(|entry| entry.first.0);
        let mut judgement = SequenceJudgement { sequence, ..SequenceJudgement::default() };
        let mut later = Vec::new();
        for entry in self.entries {
            let (times, (when, mut breach)) = (entry.times, entry.first);
            breach.times = times;
            if entry.severity == Severity::Warning {
                judgement.warnings.push(breach);
            } else if judgement.finding.is_some() {
                later.push((when, breach));
            } else {
                judgement.finding = Some(breach);
                later
                    .extend(entry.second.map(|(when, breach)| (when, Breach { times: times - 1, ..breach })));
            }
        }
        later.sort_by_key(|(when, _)| *when);
        judgement.later = later.into_iter().map(|(_, breach)| breach).collect();
        judgement
    }
}

impl Entry {
    fn add(&mut self, when: When, breach: Breach) {
        self.times += 1;
        if when < self.first.0 {
            self.second = Some(std::mem::replace(&mut self.first, (when, breach)));
        } else if self.second.as_ref().is_none_or(|second| when < second.0) {
            self.second = Some((when, breach));
        }
    }
}

/// Which laws of an arm could be judged, by place in the registry.
#[derive(Debug)]
pub struct Tally {
    entries: Vec<Count>,
}

#[derive(Debug, Clone, Default)]
struct Count {
    checked: u64,
    unchecked: u64,
    missing: Vec<&'static str>,
}

impl Default for Tally {
    fn default() -> Self {
        Self { entries: vec![Count::default(); LAWS.len()] }
    }
}

impl Tally {
    /// A law was judged.
    pub fn checked(&mut self, law: usize) {
        self.entries[law].checked += 1;
    }

    /// A law could not be judged.
    pub fn missing(&mut self, law: usize, keys: &[&'static str]) {
        let entry = &mut self.entries[law];
        entry.unchecked += 1;
        for key in keys {
            if !entry.missing.contains(key) {
                entry.missing.push(key);
            }
        }
    }

    /// Nothing was asked of this law.
    #[must_use]
    pub fn is_untouched(&self, law: usize) -> bool {
        self.entries[law].checked + self.entries[law].unchecked == 0
    }

    /// The checked laws and those that somewhere could not be checked, by name.
    #[must_use]
    pub fn settle(self) -> (Vec<&'static str>, Vec<NotCheckable>) {
        let (mut checked, mut lacking): (Vec<&'static str>, Vec<NotCheckable>) = (Vec::new(), Vec::new());
        for (law, entry) in LAWS.iter().zip(self.entries) {
            if entry.checked > 0 && !checked.contains(&law.name) {
                checked.push(law.name);
            }
            if entry.unchecked == 0 {
                continue;
            }
            match lacking.iter_mut().find(|known| known.law == law.name) {
                None => lacking.push(NotCheckable {
                    law: law.name,
                    missing: entry.missing,
                    places: entry.unchecked,
                }),
                Some(known) => {
                    known.places += entry.unchecked;
                    let new = entry.missing.into_iter().filter(|key| !known.missing.contains(key));
                    let new: Vec<&str> = new.collect();
                    known.missing.extend(new);
                }
            }
        }
        (checked, lacking)
    }
}
