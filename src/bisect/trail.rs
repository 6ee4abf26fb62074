//! The trail's file: answers that are there are not asked for again, and each new one is written before the next.

use crate::results::bisect::{Key, Trail, TrailError};
use crate::transcript::files::{Appender, WriteError};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A trail cannot be begun or gone on with. Each text fits after "failed to ".
#[derive(Debug, thiserror::Error)]
pub enum TrailFileError {
    /// It cannot be read.
    #[error("read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// It is another file, or another question's trail.
    #[error("go on with the trail {}: {source}", path.display())]
    Trail {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: TrailError,
    },
    /// It cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// An answer is no JSON.
    #[error("write an answer to the trail: {0}")]
    Form(String),
}

/// A trail, held against other processes where it has a file.
pub struct TrailFile {
    trail: Trail,
    file: Option<Appender>,
    known: usize,
    /// Steps whose answer was there already, of those asked for.
    taken: RefCell<BTreeSet<String>>,
}

impl TrailFile {
    /// A trail that is kept in memory alone.
    #[must_use]
    pub fn in_memory(key: Key) -> Self {
        Self { trail: Trail::new(key), file: None, known: 0, taken: RefCell::default() }
    }

    /// Begins a trail at `path`, or goes on with the one that is there.
    ///
    /// # Errors
    /// When the file is no trail, another question's, in use, or cannot be read or written.
    pub fn open(path: &Path, key: Key) -> Result<Self, TrailFileError> {
        let other = |data: &std::fs::Metadata| !data.is_file();
        if std::fs::metadata(path).is_ok_and(|data| other(&data)) {
            let source = std::io::Error::other("it is no regular file");
            return Err(TrailFileError::Read { path: path.to_owned(), source });
        }
        let mut file = Appender::held(path)?;
        let bytes = std::fs::read(path);
        let bytes = bytes.map_err(|source| TrailFileError::Read { path: path.to_owned(), source })?;
        let wrong = |source| TrailFileError::Trail { path: path.to_owned(), source };
        if let Some((trail, whole)) = Trail::parse(&bytes).map_err(wrong)? {
            trail.check(&key).map_err(wrong)?;
            file.cut(whole)?;
            let known = trail.steps().count();
            return Ok(Self { trail, file: Some(file), known, taken: RefCell::default() });
        }
        file.cut(0)?;
        let trail = Trail::new(key);
        file.append(trail.header_line().map_err(form)?.as_bytes())?;
        Ok(Self { trail, file: Some(file), known: 0, taken: RefCell::default() })
    }

    /// Answers that were there already.
    #[must_use]
    pub const fn known(&self) -> usize {
        self.known
    }

    /// Of these, the ones that were asked for.
    #[must_use]
    pub fn taken(&self) -> usize {
        self.taken.borrow().len()
    }

    /// Answers that were not there.
    #[must_use]
    pub fn added(&self) -> usize {
        self.trail.steps().count() - self.known
    }

    /// The answer to `step`, if it is there.
    #[must_use]
    pub fn answer<T: DeserializeOwned>(&self, step: &str) -> Option<T> {
        let answer = self.trail.answer(step)?;
        if self.trail.steps().take(self.known).any(|known| known == step) {
            self.taken.borrow_mut().insert(step.to_owned());
        }
        Some(answer)
    }

    /// The answer to the first step whose name begins so, if there is one.
    #[must_use]
    pub fn answer_beginning<T: DeserializeOwned>(&self, beginning: &str) -> Option<T> {
        self.answer(self.trail.steps().find(|step| step.starts_with(beginning))?)
    }

    /// Writes the answer to `step` down.
    ///
    /// # Errors
    /// When the system refuses; the trail then ends with the answer before.
    pub fn keep(&mut self, step: &str, answer: &impl Serialize) -> Result<(), TrailFileError> {
        let line = self.trail.add(step, answer).map_err(form)?;
        match &mut self.file {
            Some(file) => Ok(file.append(line.as_bytes())?),
            None => Ok(()),
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is what map_err hands over")]
fn form(error: serde_json::Error) -> TrailFileError {
    TrailFileError::Form(error.to_string())
}
