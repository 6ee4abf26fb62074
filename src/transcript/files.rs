//! The only writer of files: whole lines or nothing, and never a half-written result under a final name.
#![expect(clippy::disallowed_methods, reason = "this module is the home of written files")]

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A file could not be written.
#[derive(Debug, thiserror::Error)]
#[error("write {}: {source}", path.display())]
pub struct WriteError {
    /// The file.
    pub path: PathBuf,
    /// What the system said.
    pub source: io::Error,
}

/// A file that only grows, by whole records.
///
/// A record goes out in one system call; if it does not fit (a full disk), the file is cut back to the records
/// before it.
#[derive(Debug)]
pub struct Appender {
    file: File,
    path: PathBuf,
    length: u64,
}

impl Appender {
    /// Creates `path`; an existing file is refused, because what was recorded is never overwritten.
    ///
    /// # Errors
    /// When the folder or the file cannot be made, or the file is already there.
    pub fn create(path: &Path) -> Result<Self, WriteError> {
        let fail = |source| WriteError { path: path.to_owned(), source };
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(fail)?;
        }
        let file = OpenOptions::new().create_new(true).append(true).open(path).map_err(fail)?;
        Ok(Self { file, path: path.to_owned(), length: 0 })
    }

    /// Bytes written so far; where the next record starts.
    #[must_use]
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Appends one record.
    ///
    /// # Errors
    /// When the system refuses; the file then ends with the record before.
    pub fn append(&mut self, record: &[u8]) -> Result<(), WriteError> {
        if let Err(source) = self.file.write_all(record) {
            // Cutting back is best effort: the first error is the one to report.
            let _ = self.file.set_len(self.length);
            return Err(WriteError { path: self.path.clone(), source });
        }
        self.length += record.len() as u64;
        Ok(())
    }
}

/// Writes a whole file under a temporary name beside it, then renames it into place.
///
/// # Errors
/// When the system refuses; nothing is left under the final name.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), WriteError> {
    place_whole(path, |part| fs::write(part, bytes))
}

/// Lets `write` make a file under a temporary name beside `path`, then renames it into place.
///
/// # Errors
/// When `write` or the system refuses; nothing is left under the final name.
pub fn place_whole(path: &Path, write: impl FnOnce(&Path) -> io::Result<()>) -> Result<(), WriteError> {
    let fail = |source| WriteError { path: path.to_owned(), source };
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(fail)?;
    }
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    let part = path.with_file_name(name);
    let written = write(&part).and_then(|()| fs::rename(&part, path));
    written.map_err(|source| {
        let _ = fs::remove_file(&part);
        fail(source)
    })
}

#[cfg(test)]
mod tests {
    use super::{Appender, write_whole};

    #[test]
    fn what_was_recorded_is_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/arm.jsonl");
        let mut file = Appender::create(&path).unwrap();
        file.append(b"one\n").unwrap();
        assert_eq!(file.length(), 4);
        assert!(Appender::create(&path).is_err());
        assert_eq!(std::fs::read(&path).unwrap(), b"one\n");
    }

    #[test]
    fn a_refused_write_leaves_no_part_behind() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("taken");
        std::fs::create_dir(&target).unwrap();
        assert!(write_whole(&target, b"bytes").is_err());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
