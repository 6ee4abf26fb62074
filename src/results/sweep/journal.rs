//! The journal of a sweep: a header line, then one line a finished cell, each whole or not there.
//!
//! It is all that a sweep stores. A process that is killed leaves whole lines and perhaps the beginning of one, which
//! counts as not written; so a journal that is cut anywhere is the journal of an earlier moment.

use super::definition::{Cell, Definition, Shard};
use super::outcome::End;
use crate::transcript::said::in_line;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry as Place;

/// What the first line's `format` says.
pub const FORMAT: &str = "exactness-sweep";
/// The version that this program reads and writes.
pub const VERSION: u32 = 1;

/// A journal cannot be read. Each text fits after the file's name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JournalError {
    /// Another file.
    #[error("it is no sweep journal: its first line does not say \"format\":\"{FORMAT}\"")]
    Foreign,
    /// From a later program.
    #[error(
        "the journal has version {0} and this program reads version {VERSION}; a later exactness reads it"
    )]
    Newer(u64),
    /// From no program.
    #[error("the journal has version 0, and versions count from 1")]
    Zero,
    /// A line that is not one of the format.
    #[error("line {line}: {says}")]
    Line {
        /// 1-based.
        line: usize,
        /// What is wrong.
        says: String,
    },
}

/// The first line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// [`FORMAT`].
    pub format: String,
    /// [`VERSION`].
    pub version: u32,
    /// What is asked.
    pub definition: Definition,
    /// Which part of it this journal is about; all of it when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
}

impl Header {
    /// The header of a sweep, or of a part of one.
    #[must_use]
    pub fn new(definition: Definition, shard: Option<Shard>) -> Self {
        Self { format: FORMAT.to_owned(), version: VERSION, definition, shard }
    }
}

/// A finished cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Which.
    pub cell: Cell,
    /// How long it took.
    pub seconds: f64,
    /// How it ended.
    pub end: End,
}

/// A journal in memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Journal {
    /// What is asked.
    pub header: Header,
    entries: BTreeMap<Cell, Entry>,
}

impl Journal {
    /// A journal without cells.
    #[must_use]
    pub fn new(header: Header) -> Self {
        Self { header, entries: BTreeMap::new() }
    }

    /// Reads a journal's bytes up to the last whole line; gives it with the length of those lines, or nothing where
    /// not even the header is whole.
    ///
    /// # Errors
    /// When the bytes are those of another file, of a newer version, or a whole line is wrong.
    pub fn parse(bytes: &[u8]) -> Result<Option<(Self, u64)>, JournalError> {
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
        let mut lines = bytes[..whole].split_inclusive(|byte| *byte == b'\n');
        let Some(first) = lines.next() else {
            return if started(bytes) { Ok(None) } else { Err(JournalError::Foreign) };
        };
        let mut journal = Self::new(header(first)?);
        for (index, line) in lines.enumerate() {
            let wrong = |says| JournalError::Line { line: index + 2, says };
            let entry = serde_json::from_slice(line).map_err(|error| wrong(in_line(&error)))?;
            journal.add(entry).map_err(wrong)?;
        }
        Ok(Some((journal, whole as u64)))
    }

    /// Adds a finished cell. A measured one stays; a crashed one makes way for a later try.
    ///
    /// # Errors
    /// When it is no cell of this sweep or is measured already with another content.
    pub fn add(&mut self, entry: Entry) -> Result<(), String> {
        self.check(&entry)?;
        match self.entries.entry(entry.cell) {
            Place::Vacant(place) => {
                place.insert(entry);
            }
            Place::Occupied(mut place) => match (&place.get().end, &entry.end) {
                (End::Crashed(_), _) => {
                    place.insert(entry);
                }
                (End::Measured(_), End::Crashed(_)) => {}
                (old, new) if old == new => {}
                _ => return Err(format!("{} is there twice with different outcomes", entry.cell)),
            },
        }
        Ok(())
    }

    fn check(&self, entry: &Entry) -> Result<(), String> {
        let Definition { lengths, seeds, widths, .. } = &self.header.definition;
        let cell = entry.cell;
        if !lengths.contains(&cell.length) || !seeds.contains(&cell.seed) {
            return Err(format!("{cell} is no cell of this sweep"));
        }
        match &entry.end {
            End::Measured(outcomes) if !outcomes.iter().map(|one| &one.width).eq(widths) => {
                Err(format!("{cell} does not have the sweep's widths"))
            }
            _ => Ok(()),
        }
    }

    /// The cells that this journal is about.
    #[must_use]
    pub fn cells(&self) -> Vec<Cell> {
        self.header.definition.cells(self.header.shard)
    }

    /// What is known of a cell.
    #[must_use]
    pub fn entry(&self, cell: Cell) -> Option<&Entry> {
        self.entries.get(&cell)
    }

    /// All finished cells, sorted by length and seed.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.values()
    }

    /// Cells still to be run; with `retry` those that crashed, too.
    #[must_use]
    pub fn open(&self, retry: bool) -> Vec<Cell> {
        let open = |cell: &Cell| match self.entry(*cell).map(|entry| &entry.end) {
            None => true,
            Some(End::Crashed(_)) => retry,
            Some(End::Measured(_)) => false,
        };
        self.cells().into_iter().filter(open).collect()
    }

    /// The whole file.
    ///
    /// # Errors
    /// When a line cannot be written as JSON.
    pub fn text(&self) -> Result<String, serde_json::Error> {
        let mut text = line(&self.header)?;
        for entry in self.entries() {
            text.push_str(&line(entry)?);
        }
        Ok(text)
    }
}

/// One line of a journal.
///
/// # Errors
/// When it cannot be written as JSON, as a number that is not finite.
pub fn line(record: &impl Serialize) -> Result<String, serde_json::Error> {
    serde_json::to_string(record).map(|text| text + "\n")
}

/// True for the beginning of a header line.
fn started(bytes: &[u8]) -> bool {
    let start = format!("{{\"format\":\"{FORMAT}\"");
    let common = bytes.len().min(start.len());
    bytes[..common] == start.as_bytes()[..common]
}

fn header(line: &[u8]) -> Result<Header, JournalError> {
    let value: serde_json::Value = serde_json::from_slice(line).map_err(|_| JournalError::Foreign)?;
    if value["format"] != FORMAT {
        return Err(JournalError::Foreign);
    }
    match value["version"].as_u64() {
        Some(0) => Err(JournalError::Zero),
        Some(version) if version > u64::from(VERSION) => Err(JournalError::Newer(version)),
        _ => serde_json::from_value(value)
            .map_err(|error| JournalError::Line { line: 1, says: in_line(&error) }),
    }
}
