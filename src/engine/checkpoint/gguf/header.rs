//! The tables in front of a GGUF file: metadata, then tensors, then where their bytes begin.
//!
//! Everything is held against the file's true length here, so that later code cannot be led outside.

use super::cursor::Cursor;
use super::kinds::Kind;
use super::metadata::Metadata;
use super::value::Value;
use crate::engine::checkpoint::error::{CheckpointError, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// The shortest entry of metadata: a length, a type and a byte.
const SHORTEST_ENTRY: usize = 8 + 4 + 1;
/// The shortest entry of a tensor: a length, the number of sides, a type and a place.
const SHORTEST_TENSOR: usize = 8 + 4 + 4 + 8;
/// Where the file does not say, tensors begin at multiples of this.
const ALIGNMENT: usize = 32;
const LARGEST_ALIGNMENT: u64 = 1 << 16;

/// A tensor's entry.
#[derive(Debug, Clone)]
pub(super) struct Entry<'a> {
    pub(super) name: &'a str,
    /// Sides, outermost first; the file has them the other way round.
    pub(super) shape: Vec<usize>,
    pub(super) kind: Kind,
    /// Its bytes in the file.
    pub(super) range: Range<usize>,
}

/// What stands in front of the tensors' bytes.
#[derive(Debug)]
pub(super) struct Header<'a> {
    pub(super) metadata: Metadata<'a>,
    /// In the order of their bytes.
    pub(super) tensors: Vec<Entry<'a>>,
}

/// Reads and checks both tables.
pub(super) fn read<'a>(file: &'a str, bytes: &'a [u8]) -> Result<Header<'a>> {
    let mut cursor = Cursor::new(file, bytes);
    if cursor.take::<4>("the magic number").ok() != Some(*b"GGUF") {
        return Err(cursor.wrong("it does not begin with GGUF".to_owned()));
    }
    let version = cursor.u32("the version")?;
    if ![2, 3].contains(&version) {
        return Err(
            cursor.wrong(format!("its version is {version}; versions 2 and 3, little endian, are read"))
        );
    }
    // Counts of both tables stand in front of the first, so the second cannot be bounded any closer yet.
    let tensors = cursor.count("the tensors", SHORTEST_TENSOR)?;
    let entries = cursor.count("the metadata", SHORTEST_ENTRY)?;
    let metadata = metadata(&mut cursor, entries)?;
    let tensors = (0..tensors).map(|_| tensor(&mut cursor)).collect::<Result<Vec<_>>>()?;
    let tensors = placed(&cursor, tensors, alignment(&metadata)?)?;
    Ok(Header { metadata, tensors })
}

fn metadata<'a>(cursor: &mut Cursor<'a>, count: usize) -> Result<Metadata<'a>> {
    let mut values = BTreeMap::new();
    for _ in 0..count {
        let key = cursor.text("a key of the metadata")?;
        let value = Value::read(cursor, key)?;
        if values.insert(key, value).is_some() {
            return Err(cursor.wrong(format!("{key} stands in the metadata twice")));
        }
    }
    Ok(Metadata::new(cursor.file(), values))
}

fn alignment(metadata: &Metadata<'_>) -> Result<usize> {
    const KEY: &str = "general.alignment";
    let Some(value) = metadata.get(KEY) else { return Ok(ALIGNMENT) };
    let stated = match value {
        Value::Whole(value) => u64::try_from(*value).ok(),
        _ => None,
    };
    let stated = stated.filter(|value| (8..=LARGEST_ALIGNMENT).contains(value) && value.is_power_of_two());
    let says = || metadata.wrong(KEY, &format!("a power of two from 8 to {LARGEST_ALIGNMENT}"));
    stated.and_then(|value| usize::try_from(value).ok()).ok_or_else(says)
}

/// Name, sides, type and place of a tensor; the place still counts from where the tensors begin.
fn tensor<'a>(cursor: &mut Cursor<'a>) -> Result<Entry<'a>> {
    let (file, name) = (cursor.file(), cursor.text("a tensor's name")?);
    let wrong = |says: String| wrong(file, name, says);
    let sides = cursor.u32(name)?;
    if !(1..=4).contains(&sides) {
        return Err(wrong(format!("it has {sides} sides, the format has 1 to 4")));
    }
    let stated = (0..sides).map(|_| cursor.u64(name)).collect::<Result<Vec<u64>>>()?;
    let kind = Kind::of(cursor.u32(name)?).map_err(wrong)?;
    let place = cursor.u64(name)?;
    let sized = || {
        let shape: Option<Vec<usize>> = stated.iter().rev().map(|side| usize::try_from(*side).ok()).collect();
        let (shape, start) = (shape?, usize::try_from(place).ok()?);
        let range = start..start.checked_add(length(&shape, kind)?)?;
        Some((shape, range))
    };
    let Some((shape, range)) = sized() else {
        return Err(wrong(format!("sides {stated:?} of its type cannot lie at {place}")));
    };
    Ok(Entry { name, shape, kind, range })
}

/// Bytes that a shape takes; `None` when a row is no whole number of blocks, a side is 0, or the number is too large.
fn length(shape: &[usize], kind: Kind) -> Option<usize> {
    let (numbers, bytes) = kind.block();
    let elements = shape.iter().try_fold(1_usize, |product, side| product.checked_mul(*side))?;
    let whole = elements > 0 && shape.last().is_some_and(|row| row.is_multiple_of(numbers));
    whole.then(|| (elements / numbers).checked_mul(bytes)).flatten()
}

/// Turns places into ranges of the file. Tensors follow each other, each at the next multiple of the alignment.
fn placed<'a>(cursor: &Cursor<'a>, mut tensors: Vec<Entry<'a>>, alignment: usize) -> Result<Vec<Entry<'a>>> {
    tensors.sort_by_key(|entry| (entry.range.start, entry.range.end));
    let begin = cursor.place().next_multiple_of(alignment);
    let end = cursor.place() + cursor.left();
    let (mut names, mut expected) = (BTreeSet::new(), 0);
    for entry in &mut tensors {
        let Range { start, end: stop } = entry.range;
        let says = if !names.insert(entry.name) {
            "it stands there twice".to_owned()
        } else if start != expected {
            format!("its bytes begin at {start}, those of the tensor before it end at {expected}")
        } else if begin.checked_add(stop).is_none_or(|stop| stop > end) {
            format!(
                "its bytes {start}..{stop} reach outside the file's {} (truncated?)",
                end.saturating_sub(begin)
            )
        } else {
            expected = stop.next_multiple_of(alignment);
            entry.range = begin + start..begin + stop;
            continue;
        };
        return Err(wrong(cursor.file(), entry.name, says));
    }
    match end.saturating_sub(begin.saturating_add(expected)) {
        0 => Ok(tensors),
        surplus => Err(cursor.wrong(format!("the last {surplus} bytes belong to no tensor"))),
    }
}

fn wrong(file: &str, tensor: &str, says: String) -> CheckpointError {
    CheckpointError::Tensor { file: file.to_owned(), tensor: tensor.to_owned(), says }
}
