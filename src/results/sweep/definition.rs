//! What a sweep is asked, and of which model on which machine: two sweeps belong together when all of this is equal.

use crate::transcript::format::{Backend, Host, Model};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;
use std::str::FromStr;

/// The whole definition of a sweep.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    /// Prompt lengths in ids, rising.
    pub lengths: Vec<usize>,
    /// Block widths, rising.
    pub widths: Vec<usize>,
    /// Seeds of the drawn inputs, rising.
    pub seeds: Vec<u64>,
    /// Positions walked past the prompt.
    pub walk: usize,
    /// Prompt ids fed at once.
    pub prefill_chunk: usize,
    /// Overrides of the verify block's routes.
    pub routes: String,
    /// Faults put in.
    pub plants: Vec<String>,
    /// This program's version.
    pub program: String,
    /// The model, with the digest of its weights.
    pub model: Model,
    /// The machine.
    pub host: Host,
    /// The library and the device.
    pub backend: Backend,
}

/// One unit of work: a prompt, whose plain chain all widths share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// Ids of the prompt.
    pub length: usize,
    /// What it is drawn from.
    pub seed: u64,
}

impl fmt::Display for Cell {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "length {} seed {}", self.length, self.seed)
    }
}

/// The part of a sweep that one job does: every `count`-th cell from the `index`-th on, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shard {
    /// 1 to `count`.
    pub index: usize,
    /// Shards in all.
    pub count: usize,
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text
            .split_once('/')
            .and_then(|(index, count)| Some(Self { index: index.parse().ok()?, count: count.parse().ok()? }));
        let inside = parts.filter(|shard| (1..=shard.count).contains(&shard.index));
        inside.ok_or_else(|| format!("{text:?} is no shard; shards of a sweep in four are 1/4 to 4/4"))
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.index, self.count)
    }
}

impl Definition {
    /// The same, with each list rising and free of repeats.
    #[must_use]
    pub fn sorted(mut self) -> Self {
        for list in [&mut self.lengths, &mut self.widths] {
            list.sort_unstable();
            list.dedup();
        }
        self.seeds.sort_unstable();
        self.seeds.dedup();
        self
    }

    /// The cells of a shard, or all, sorted by length and seed.
    #[must_use]
    pub fn cells(&self, shard: Option<Shard>) -> Vec<Cell> {
        let all =
            self.lengths.iter().flat_map(|&length| self.seeds.iter().map(move |&seed| Cell { length, seed }));
        match shard {
            None => all.collect(),
            Some(Shard { index, count }) => all.skip(index.saturating_sub(1)).step_by(count.max(1)).collect(),
        }
    }

    /// The first thing in which `other` differs, as in `walk is 64 there and 128 here`, `other` being here.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Option<String> {
        let value = |definition: &Self| serde_json::to_value(definition).unwrap_or_default();
        parting("", &value(self), &value(other))
    }
}

/// Walks two JSON values side by side to the first place where they part.
fn parting(path: &str, there: &Value, here: &Value) -> Option<String> {
    if let (Value::Object(left), Value::Object(right)) = (there, here) {
        let absent = Value::Null;
        let keys: std::collections::BTreeSet<&String> = left.keys().chain(right.keys()).collect();
        return keys.into_iter().find_map(|key| {
            let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            parting(&path, left.get(key).unwrap_or(&absent), right.get(key).unwrap_or(&absent))
        });
    }
    (there != here).then(|| format!("{path} is {there} there and {here} here"))
}

#[cfg(test)]
mod tests {
    use super::Shard;

    #[test]
    fn shards_are_counted_from_1() {
        assert_eq!("2/3".parse(), Ok(Shard { index: 2, count: 3 }));
        for wrong in ["0/3", "4/3", "1/0", "1", "a/b", "-1/2", "1/2/3"] {
            let says = wrong.parse::<Shard>().unwrap_err();
            assert!(says.contains("is no shard"), "{says}");
        }
    }
}
