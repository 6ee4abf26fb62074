//! The folder of a sweep: `journal.jsonl`, and the two CSV files made from it.

use super::error::SweepError;
use crate::results::sweep::journal::line;
use crate::results::sweep::{Entry, Header, Journal, tables};
use crate::transcript::files::{Appender, write_whole};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// The journal's name in its folder.
pub const JOURNAL: &str = "journal.jsonl";

/// A sweep's folder, held against other processes.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    file: Appender,
    journal: Journal,
}

impl Store {
    /// Starts a sweep in `folder`, or goes on with the one that is there.
    ///
    /// # Errors
    /// When the folder holds another sweep, is in use, or cannot be read or written.
    pub fn open(folder: &Path, header: Header) -> Result<Self, SweepError> {
        let path = folder.join(JOURNAL);
        let mut file = Appender::held(&path)?;
        let Some((journal, whole)) = parsed(&path)? else {
            file.cut(0)?;
            append(&mut file, &header)?;
            return Ok(Self { folder: folder.to_owned(), file, journal: Journal::new(header) });
        };
        if let Some(says) = difference(&journal.header, &header) {
            return Err(SweepError::Other { folder: folder.to_owned(), says });
        }
        file.cut(whole)?;
        Ok(Self { folder: folder.to_owned(), file, journal })
    }

    /// Writes a merged journal into a folder that has none.
    ///
    /// # Errors
    /// When there is one already, or the folder cannot be written.
    pub fn create(folder: &Path, journal: Journal) -> Result<Self, SweepError> {
        let mut file = Appender::create(&folder.join(JOURNAL))?;
        let text = journal.text().map_err(|error| SweepError::Form(error.to_string()))?;
        file.append(text.as_bytes())?;
        Ok(Self { folder: folder.to_owned(), file, journal })
    }

    /// What is known so far.
    #[must_use]
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// Writes down a finished cell.
    ///
    /// # Errors
    /// When it is no cell of this sweep, or the system refuses; the journal then ends with the cell before.
    pub fn add(&mut self, entry: Entry) -> Result<(), SweepError> {
        let text = line(&entry).map_err(|error| SweepError::Form(error.to_string()))?;
        self.journal.add(entry).map_err(SweepError::Form)?;
        Ok(self.file.append(text.as_bytes())?)
    }

    /// Writes `sweep.csv` and `times.csv`; gives their paths.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn write_tables(&self) -> Result<[PathBuf; 2], SweepError> {
        let tables =
            [("sweep.csv", tables::outcomes(&self.journal)), ("times.csv", tables::times(&self.journal))];
        let paths = [0, 1].map(|index: usize| self.folder.join(tables[index].0));
        for (path, (_, table)) in paths.iter().zip(&tables) {
            let text = table.csv().map_err(|error| SweepError::Form(error.to_string()))?;
            write_whole(path, text.as_bytes())?;
        }
        Ok(paths)
    }
}

/// The journal in `folder`.
///
/// # Errors
/// When there is none, or it is no journal.
pub fn read(folder: &Path) -> Result<Journal, SweepError> {
    let path = folder.join(JOURNAL);
    let read = parsed(&path)?.map(|(journal, _)| journal);
    read.ok_or_else(|| {
        let source =
            std::io::Error::new(std::io::ErrorKind::UnexpectedEof, "the journal ends before its header does");
        SweepError::Read { path, source }
    })
}

fn parsed(path: &Path) -> Result<Option<(Journal, u64)>, SweepError> {
    let bytes = std::fs::read(path).map_err(|source| SweepError::Read { path: path.to_owned(), source })?;
    Journal::parse(&bytes).map_err(|source| SweepError::Journal { path: path.to_owned(), source })
}

fn append(file: &mut Appender, record: &impl Serialize) -> Result<(), SweepError> {
    let text = line(record).map_err(|error| SweepError::Form(error.to_string()))?;
    Ok(file.append(text.as_bytes())?)
}

fn difference(there: &Header, here: &Header) -> Option<String> {
    let shard = |header: &Header| header.shard.map_or_else(|| "whole".to_owned(), |shard| shard.to_string());
    let parts = (there.shard != here.shard)
        .then(|| format!("shard is {} there and {} here", shard(there), shard(here)));
    there.definition.difference(&here.definition).or(parts)
}
