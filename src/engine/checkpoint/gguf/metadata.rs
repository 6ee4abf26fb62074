//! Typed access to the metadata, with errors that name file, key and what was found.

use super::value::Value;
use crate::engine::checkpoint::error::{CheckpointError, Result};
use std::collections::BTreeMap;

/// Keys and values of a file.
#[derive(Debug)]
pub(super) struct Metadata<'a> {
    file: &'a str,
    values: BTreeMap<&'a str, Value<'a>>,
}

impl<'a> Metadata<'a> {
    pub(super) fn new(file: &'a str, values: BTreeMap<&'a str, Value<'a>>) -> Self {
        Self { file, values }
    }

    pub(super) fn file(&self) -> &'a str {
        self.file
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &'a str> {
        self.values.keys().copied()
    }

    pub(super) fn get(&self, key: &str) -> Option<&Value<'a>> {
        self.values.get(key)
    }

    /// A text that has to be there.
    pub(super) fn text(&self, key: &str) -> Result<&'a str> {
        match self.get(key) {
            Some(Value::Text(text)) => Ok(text),
            _ => Err(self.wrong(key, "a text")),
        }
    }

    /// A whole number from 0 to 2⁶³ - 1, when the key is there.
    pub(super) fn whole(&self, key: &str) -> Result<Option<i64>> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::Whole(value)) if *value >= 0 => {
                i64::try_from(*value).map(Some).map_err(|_| self.wrong(key, "a smaller number"))
            }
            Some(_) => Err(self.wrong(key, "a whole number from 0 on")),
        }
    }

    /// A whole number that has to be there.
    pub(super) fn need_whole(&self, key: &str) -> Result<i64> {
        self.whole(key)?.ok_or_else(|| self.wrong(key, "a whole number from 0 on"))
    }

    /// A number with a point, when the key is there.
    pub(super) fn number(&self, key: &str) -> Result<Option<f64>> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::Number(value)) if value.is_finite() => Ok(Some(*value)),
            Some(_) => Err(self.wrong(key, "a finite number")),
        }
    }

    /// A list of texts that has to be there.
    pub(super) fn texts(&self, key: &str) -> Result<Vec<&'a str>> {
        let says = || self.wrong(key, "a list of texts");
        let Some(Value::List(values)) = self.get(key) else { return Err(says()) };
        let text = |value: &Value<'a>| match value {
            Value::Text(text) => Some(*text),
            _ => None,
        };
        values.iter().map(text).collect::<Option<_>>().ok_or_else(says)
    }

    /// A list of whole numbers, when the key is there.
    pub(super) fn wholes(&self, key: &str) -> Result<Option<Vec<i128>>> {
        let says = || self.wrong(key, "a list of whole numbers");
        let values = match self.get(key) {
            None => return Ok(None),
            Some(Value::List(values)) => values,
            Some(_) => return Err(says()),
        };
        let whole = |value: &Value<'a>| match value {
            Value::Whole(value) => Some(*value),
            _ => None,
        };
        values.iter().map(whole).collect::<Option<_>>().map(Some).ok_or_else(says)
    }

    /// The error for a value that cannot be used.
    pub(super) fn wrong(&self, key: &str, expected: &str) -> CheckpointError {
        CheckpointError::Field {
            file: self.file.to_owned(),
            field: key.to_owned(),
            expected: expected.to_owned(),
            found: self.get(key).map_or_else(|| "missing".to_owned(), Value::to_string),
        }
    }
}
