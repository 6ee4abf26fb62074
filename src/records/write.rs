//! A record's files: made in memory, then written, or held against those that are there.

use super::error::RecordError;
use super::gather::{Gathered, gather};
use super::settings::{self, Settings, Stored};
use super::{input, page, render};
use crate::transcript::files::write_whole;
use std::path::Path;

/// What a record consists of beside its pictures.
pub const OUTPUTS: [&str; 4] = ["report.md", "report.html", "data.csv", settings::FILE];
/// The pictures that a record can have.
pub const PICTURES: [&str; 7] =
    ["rows.svg", "rounds.svg", "flip.svg", "layers.svg", "speed.svg", "parity.svg", "sweep.svg"];

/// A record in memory.
#[derive(Debug)]
pub struct Made {
    /// Its files, by name.
    pub files: Vec<(String, Vec<u8>)>,
    /// The word of its title line.
    pub verdict: String,
    /// How many files it was made of.
    pub inputs: usize,
}

/// Makes the record that stands in `record`.
///
/// # Errors
/// When the data cannot be read as what it is, or there is none.
pub fn make(settings: &Settings, record: &Path) -> Result<Made, RecordError> {
    let all: Gathered = gather(&input::located(&settings.inputs, record)?, record)?;
    let document = page::build(&all, settings);
    let form = |error: &dyn std::fmt::Display| RecordError::Form(error.to_string());
    let stored =
        serde_json::to_string_pretty(&Stored::new(settings, &all.inputs)).map_err(|error| form(&error))?;
    let data = page::data::table(&all).csv().map_err(|error| form(&error))?;
    let texts = [render::markdown(&document)?, render::page(&document)?, data, stored + "\n"];
    let named = OUTPUTS.iter().map(|name| (*name).to_owned()).zip(texts.map(String::into_bytes));
    let drawn = document.pictures.iter().map(|one| (format!("{}.svg", one.name()), one.file().into_bytes()));
    Ok(Made { files: named.chain(drawn).collect(), verdict: document.verdict, inputs: all.inputs.len() })
}

/// Writes a record, into a folder that has one or none; pictures of an earlier making that it has no more are taken away.
///
/// # Errors
/// When the system refuses.
pub fn write(made: &Made, record: &Path) -> Result<(), RecordError> {
    let there = |name: &&str| record.join(name).is_file();
    if let (false, Some(name)) = (there(&settings::FILE), OUTPUTS.into_iter().chain(PICTURES).find(there)) {
        return Err(RecordError::Foreign { folder: record.to_owned(), name });
    }
    for (name, bytes) in &made.files {
        write_whole(&record.join(name), bytes)?;
    }
    for name in stale(made, record) {
        let path = record.join(name);
        std::fs::remove_file(&path).map_err(|source| RecordError::Read { path, source })?;
    }
    Ok(())
}

/// Pictures in the folder that are no part of the record.
pub(super) fn stale(made: &Made, record: &Path) -> Vec<&'static str> {
    let own = |name: &&str| made.files.iter().all(|(file, _)| file != name) && record.join(name).is_file();
    PICTURES.into_iter().filter(own).collect()
}
