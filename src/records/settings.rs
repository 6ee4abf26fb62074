//! What the author of a record says: its title, its question, remarks, and which data it is made of; kept beside the
//! record in `record.json`, with the digests of the data, so that it can be made again and checked.

use super::error::{RecordError, refused_version};
use super::input::Input;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The file.
pub const FILE: &str = "record.json";
/// The value of its `format`.
const FORMAT: &str = "exactness.record";
/// Its version.
const VERSION: u32 = 1;

/// What the author of a record says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    /// The name in the title line.
    pub title: String,
    /// What was asked; a general question stands in where the author says nothing.
    pub question: Option<String>,
    /// Remarks that stand among the limits.
    pub notes: Vec<String>,
    /// Command lines that made data which does not record its own.
    pub commands: Vec<String>,
    /// Command lines that have to come before all others.
    pub setup: Vec<String>,
    /// Folders and files of the data, relative to the record.
    pub inputs: Vec<String>,
}

/// `record.json`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Stored {
    format: String,
    version: u32,
    title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    question: Option<String>,
    notes: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    commands: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    setup: Vec<String>,
    inputs: Vec<String>,
    /// Every file under the inputs.
    pub data: Vec<Datum>,
}

/// One file of the data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Datum {
    /// Relative to the record.
    pub file: String,
    /// Its length.
    pub bytes: u64,
    /// Its digest.
    pub sha256: String,
}

impl Stored {
    /// What is stored of a record.
    #[must_use]
    pub fn new(settings: &Settings, inputs: &[Input]) -> Self {
        let Settings { title, question, notes, commands, setup, inputs: folders } = settings.clone();
        let data = inputs.iter().map(|one| Datum {
            file: one.name.clone(),
            bytes: one.bytes,
            sha256: one.sha256.clone(),
        });
        Self {
            format: FORMAT.to_owned(),
            version: VERSION,
            title,
            question,
            notes,
            commands,
            setup,
            inputs: folders,
            data: data.collect(),
        }
    }

    /// Reads a record's file; nothing where there is none.
    ///
    /// # Errors
    /// When it is there and is no record's, or of a later version.
    pub fn read(record: &Path) -> Result<Option<Self>, RecordError> {
        let path = record.join(FILE);
        let wrong = |says: String| RecordError::Result { file: path.display().to_string(), says };
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(RecordError::Read { path, source }),
        };
        let stored: Self = serde_json::from_slice(&bytes).map_err(|error| wrong(error.to_string()))?;
        if stored.format != FORMAT {
            return Err(wrong(format!("it is no record: its `format` is not \"{FORMAT}\"")));
        }
        if let Some(says) = refused_version(u64::from(stored.version), VERSION) {
            return Err(wrong(says));
        }
        if let Some(text) = stored.texts().find(|text| text.contains(char::is_control)) {
            return Err(wrong(format!("{text:?} has a line end or another control character")));
        }
        Ok(Some(stored))
    }

    /// Every text of its author.
    fn texts(&self) -> impl Iterator<Item = &String> {
        let lists = [&self.notes, &self.commands, &self.setup, &self.inputs];
        [&self.title].into_iter().chain(&self.question).chain(lists.into_iter().flatten())
    }

    /// What the author says in it.
    #[must_use]
    pub fn settings(&self) -> Settings {
        let Self { title, question, notes, commands, setup, inputs, .. } = self.clone();
        Settings { title, question, notes, commands, setup, inputs }
    }
}

/// What the author said when the record in a folder was made; nothing where there is none.
///
/// # Errors
/// As [`Stored::read`].
pub fn stored(record: &Path) -> Result<Option<Settings>, RecordError> {
    Ok(Stored::read(record)?.map(|stored| stored.settings()))
}
