//! What differs between two runs' provenance, key by key.
//!
//! Two arms answer the same question only if what differs between them is what was meant to differ. So every key of
//! the header is held against the other's; a key that only one side knows is "not known", not "different".

use super::Table;
use crate::transcript::Header;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// Keys that differ from run to run by nature.
const OF_THE_RUN: [&str; 3] = ["started", "repeat", "arm"];

/// The most characters of a value that the table shows.
const LONGEST: usize = 60;

/// One key of two headers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Key {
    /// Its path, as in `model.digest`.
    pub key: String,
    /// The first run's value.
    pub left: Option<String>,
    /// The second run's value.
    pub right: Option<String>,
}

/// Two headers held against each other.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Provenance {
    /// Keys known on both sides with the same value.
    pub equal: usize,
    /// Keys known on both sides with other values.
    pub differing: Vec<Key>,
    /// Keys that one side does not know.
    pub one_sided: Vec<Key>,
}

/// Holds two headers against each other.
///
/// # Errors
/// Never in practice: a header that was read can be written.
pub fn compare(left: &Header, right: &Header) -> serde_json::Result<Provenance> {
    let (left, right) = (flat(left)?, flat(right)?);
    let mut keys: Vec<&String> = left.keys().chain(right.keys()).collect();
    keys.sort();
    keys.dedup();
    let mut found = Provenance::default();
    for key in keys.into_iter().filter(|key| !OF_THE_RUN.contains(&key.as_str())) {
        let entry = Key { key: key.clone(), left: left.get(key).cloned(), right: right.get(key).cloned() };
        match (&entry.left, &entry.right) {
            (Some(a), Some(b)) if a == b => found.equal += 1,
            (Some(_), Some(_)) => found.differing.push(entry),
            _ => found.one_sided.push(entry),
        }
    }
    Ok(found)
}

fn flat(header: &Header) -> serde_json::Result<BTreeMap<String, String>> {
    let mut keys = BTreeMap::new();
    walk(String::new(), &serde_json::to_value(header)?, &mut keys);
    Ok(keys)
}

fn walk(path: String, value: &Value, keys: &mut BTreeMap<String, String>) {
    match value {
        Value::Null => {}
        Value::Object(object) => {
            for (key, value) in object {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                walk(path, value, keys);
            }
        }
        // Prompts are long; which sequence differs is enough here, `compare` says where.
        Value::Array(list) if list.iter().any(Value::is_object) => {
            for (index, value) in list.iter().enumerate() {
                walk(format!("{path}[{index}]"), value, keys);
            }
        }
        Value::Array(list) if list.iter().all(Value::is_string) => {
            let words: Vec<&str> = list.iter().filter_map(Value::as_str).collect();
            keys.insert(path, words.join(" "));
        }
        Value::String(text) => {
            keys.insert(path, text.clone());
        }
        other => {
            keys.insert(path, other.to_string());
        }
    }
}

impl Provenance {
    /// The keys that are not equal.
    #[must_use]
    pub fn table(&self, left: &str, right: &str) -> Table {
        let mut table = Table::new().text("key").text(left).text(right);
        for key in self.differing.iter().chain(&self.one_sided) {
            let from =
                key.left.as_ref().zip(key.right.as_ref()).map_or(0, |(left, right)| common(left, right));
            let show = |value: &Option<String>| {
                value.as_ref().map_or_else(|| "not known".to_owned(), |text| short(text, from))
            };
            table.row([key.key.clone(), show(&key.left), show(&key.right)]);
        }
        table
    }
}

/// Characters that both texts begin with.
fn common(left: &str, right: &str) -> usize {
    left.chars().zip(right.chars()).take_while(|(left, right)| left == right).count()
}

/// A long value from a little before character `from`, where it parts from the other side's: the ends of two command
/// lines or digests can be equal.
fn short(text: &str, from: usize) -> String {
    let length = text.chars().count();
    if length <= LONGEST {
        return text.to_owned();
    }
    let start = from.saturating_sub(LONGEST / 4).min(length - LONGEST);
    let part: String = text.chars().skip(start).take(LONGEST).collect();
    let (before, after) = (if start > 0 { "… " } else { "" }, start + LONGEST < length);
    format!("{before}{part}{} ({length} characters)", if after { " …" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::{LONGEST, compare, short};
    use crate::transcript::ArmKind;
    use crate::transcript::import::Extras;
    use proptest::prelude::*;

    #[test]
    fn what_one_side_does_not_know_is_not_a_difference() {
        let extras = Extras { width: Some(4), ..Extras::default() };
        let left = extras.header("w4", ArmKind::Speculative, 1);
        let mut right = left.clone();
        right.width = Some(8);
        right.routes = Some("linear=rows:6".to_owned());
        right.started = Some("2026-11-29T15:53:00Z".to_owned());
        let found = compare(&left, &right).unwrap();
        assert_eq!(found.differing.iter().map(|key| key.key.as_str()).collect::<Vec<_>>(), ["width"]);
        assert_eq!(found.one_sided.iter().map(|key| key.key.as_str()).collect::<Vec<_>>(), ["routes"]);
    }

    proptest! {
        #[test]
        fn a_long_value_is_shown_where_it_parts(before in 0_usize..200, after in 0_usize..200) {
            let text = format!("{}X{}", "a".repeat(before), "b".repeat(after));
            let shown = short(&text, before);
            prop_assert!(shown.contains('X'), "{shown}");
            prop_assert!(shown.chars().count() <= LONGEST + 25, "{shown}");
        }
    }
}
