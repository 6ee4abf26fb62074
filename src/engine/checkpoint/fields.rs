//! Typed access to the fields of a JSON object, with errors that name file, field and what was found.
//!
//! Configurations are read field by field instead of by derive: a silently defaulted field would change the
//! arithmetic, and a message such as "invalid type at line 1" does not help the owner of a checkpoint.

use super::error::{CheckpointError, Result};
use serde_json::{Map, Value};

/// Counts above this are taken for a broken file; products of three of them still fit in 64 bits.
const LARGEST_COUNT: u64 = 1 << 21;

/// A JSON object and where it stands.
#[derive(Debug, Clone)]
pub(super) struct Fields<'a> {
    file: &'a str,
    place: String,
    map: &'a Map<String, Value>,
}

/// Parses a file.
pub(super) fn parse(file: &str, bytes: &[u8]) -> Result<Value> {
    serde_json::from_slice(bytes).map_err(|source| CheckpointError::Json { file: file.to_owned(), source })
}

impl<'a> Fields<'a> {
    /// The top level of a file.
    pub(super) fn top(file: &'a str, value: &'a Value) -> Result<Self> {
        match value {
            Value::Object(map) => Ok(Self { file, place: String::new(), map }),
            other => Err(CheckpointError::Field {
                file: file.to_owned(),
                field: "the top level".to_owned(),
                expected: "an object".to_owned(),
                found: shown(other),
            }),
        }
    }

    /// The value of a field; null counts as absent.
    pub(super) fn get(&self, name: &str) -> Option<&'a Value> {
        self.map.get(name).filter(|value| !value.is_null())
    }

    /// All names and values.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&'a String, &'a Value)> + use<'a> {
        self.map.iter()
    }

    /// The object in a field, when there is one.
    pub(super) fn nested(&self, name: &str) -> Result<Option<Self>> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::Object(map)) => {
                Ok(Some(Self { file: self.file, place: format!("{}{name}.", self.place), map }))
            }
            Some(_) => Err(self.wrong(name, "an object")),
        }
    }

    /// A positive whole number.
    pub(super) fn count(&self, name: &str) -> Result<usize> {
        let value =
            self.get(name).and_then(Value::as_u64).filter(|value| (1..=LARGEST_COUNT).contains(value));
        let value = value.and_then(|value| usize::try_from(value).ok());
        value.ok_or_else(|| self.wrong(name, &format!("a whole number from 1 to {LARGEST_COUNT}")))
    }

    /// A positive, finite number.
    pub(super) fn number(&self, name: &str) -> Result<f64> {
        let value = self.get(name).and_then(Value::as_f64).filter(|value| value.is_finite() && *value > 0.0);
        value.ok_or_else(|| self.wrong(name, "a positive number"))
    }

    /// True or false.
    pub(super) fn flag(&self, name: &str) -> Result<bool> {
        self.get(name).and_then(Value::as_bool).ok_or_else(|| self.wrong(name, "true or false"))
    }

    /// A string.
    pub(super) fn text(&self, name: &str) -> Result<&'a str> {
        self.get(name).and_then(Value::as_str).ok_or_else(|| self.wrong(name, "a string"))
    }

    /// The error for a field whose value cannot be used.
    pub(super) fn wrong(&self, name: &str, expected: &str) -> CheckpointError {
        CheckpointError::Field {
            file: self.file.to_owned(),
            field: format!("{}{name}", self.place),
            expected: expected.to_owned(),
            found: self.map.get(name).map_or_else(|| "missing".to_owned(), shown),
        }
    }
}

/// A value as it stands in the file, cut to a readable length.
fn shown(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() <= 60 { text } else { text.chars().take(57).chain("...".chars()).collect() }
}

#[cfg(test)]
mod tests {
    use super::{Fields, parse};

    #[test]
    fn errors_name_file_field_and_value() {
        let value = parse("config.json", br#"{"a":{"n":-1,"s":null},"b":[1]}"#).unwrap();
        let top = Fields::top("config.json", &value).unwrap();
        let nested = top.nested("a").unwrap().unwrap();
        let says = nested.count("n").unwrap_err().to_string();
        assert_eq!(says, "read config.json: a.n is -1, expected a whole number from 1 to 2097152");
        let says = nested.text("s").unwrap_err().to_string();
        assert_eq!(says, "read config.json: a.s is null, expected a string");
        let says = nested.flag("t").unwrap_err().to_string();
        assert_eq!(says, "read config.json: a.t is missing, expected true or false");
        assert_eq!(
            top.nested("b").unwrap_err().to_string(),
            "read config.json: b is [1], expected an object"
        );
    }
}
