//! Metadata values. The format's thirteen types become the four kinds that JSON has, and lists of one kind.

use super::cursor::Cursor;
use crate::engine::checkpoint::error::Result;
use std::fmt;

/// A metadata value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value<'a> {
    /// Any whole number; larger ones than an `i128` holds do not exist in the format.
    Whole(i128),
    Number(f64),
    Flag(bool),
    Text(&'a str),
    List(Vec<Value<'a>>),
}

/// The number of the format's list type.
const LIST: u32 = 9;
/// Longer lists are taken for a broken file; a vocabulary is a tenth of it.
const LONGEST_LIST: usize = 1 << 22;

impl<'a> Value<'a> {
    /// Reads the type and the value of `key`.
    pub(super) fn read(cursor: &mut Cursor<'a>, key: &str) -> Result<Self> {
        let kind = cursor.u32(key)?;
        if kind != LIST {
            return Self::single(cursor, key, kind);
        }
        let kind = cursor.u32(key)?;
        // Lists of lists exist in the format and in no file; refusing them bounds the depth.
        let Some(size) = smallest(kind).filter(|_| kind != LIST) else {
            return Err(cursor.wrong(format!("{key}: a list of values of type {kind}")));
        };
        let count = cursor.count(key, size)?;
        if count > LONGEST_LIST {
            return Err(cursor.wrong(format!("{key}: a list of {count}, more than {LONGEST_LIST}")));
        }
        (0..count).map(|_| Self::single(cursor, key, kind)).collect::<Result<_>>().map(Self::List)
    }

    fn single(cursor: &mut Cursor<'a>, key: &str, kind: u32) -> Result<Self> {
        Ok(match kind {
            0 => Self::Whole(u8::from_le_bytes(cursor.take(key)?).into()),
            1 => Self::Whole(i8::from_le_bytes(cursor.take(key)?).into()),
            2 => Self::Whole(u16::from_le_bytes(cursor.take(key)?).into()),
            3 => Self::Whole(i16::from_le_bytes(cursor.take(key)?).into()),
            4 => Self::Whole(u32::from_le_bytes(cursor.take(key)?).into()),
            5 => Self::Whole(i32::from_le_bytes(cursor.take(key)?).into()),
            6 => Self::Number(f32::from_le_bytes(cursor.take(key)?).into()),
            7 => Self::flag(cursor, key)?,
            8 => Self::Text(cursor.text(key)?),
            10 => Self::Whole(u64::from_le_bytes(cursor.take(key)?).into()),
            11 => Self::Whole(i64::from_le_bytes(cursor.take(key)?).into()),
            12 => Self::Number(f64::from_le_bytes(cursor.take(key)?)),
            _ => return Err(cursor.wrong(format!("{key}: its type is {kind}, the format has 0 to 12"))),
        })
    }

    fn flag(cursor: &mut Cursor<'a>, key: &str) -> Result<Self> {
        match cursor.take(key)? {
            [0] => Ok(Self::Flag(false)),
            [1] => Ok(Self::Flag(true)),
            [other] => Err(cursor.wrong(format!("{key}: {other} is neither true (1) nor false (0)"))),
        }
    }
}

/// Bytes of the shortest value of a type.
fn smallest(kind: u32) -> Option<usize> {
    match kind {
        0 | 1 | 7 => Some(1),
        2 | 3 => Some(2),
        4..=6 => Some(4),
        8..=12 => Some(8),
        _ => None,
    }
}

impl fmt::Display for Value<'_> {
    /// As it would stand in JSON, cut to a readable length.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(value) => write!(formatter, "{value}"),
            Self::Number(value) => write!(formatter, "{value}"),
            Self::Flag(value) => write!(formatter, "{value}"),
            Self::Text(value) if value.chars().count() > 60 => {
                write!(formatter, "{:?}...", value.chars().take(57).collect::<String>())
            }
            Self::Text(value) => write!(formatter, "{value:?}"),
            Self::List(values) => write!(formatter, "a list of {}", values.len()),
        }
    }
}
