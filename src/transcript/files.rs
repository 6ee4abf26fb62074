//! The only writer of files: whole lines or nothing, and never a half-written result under a final name.
#![expect(clippy::disallowed_methods, reason = "this module is the home of written files")]

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
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

    /// Opens `path` to write on, or creates it, and holds it against every other process that would do the same.
    ///
    /// # Errors
    /// When the folder or the file cannot be made or opened, or another process holds it.
    pub fn held(path: &Path) -> Result<Self, WriteError> {
        let fail = |source| WriteError { path: path.to_owned(), source };
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(fail)?;
        }
        let file = OpenOptions::new().create(true).append(true).open(path).map_err(fail)?;
        match file.try_lock() {
            Err(fs::TryLockError::WouldBlock) => {
                return Err(fail(io::Error::other("another process is writing it")));
            }
            // Some network file systems have no locks; then nobody holds the file.
            Ok(()) | Err(fs::TryLockError::Error(_)) => {}
        }
        let length = file.metadata().map_err(fail)?.len();
        Ok(Self { file, path: path.to_owned(), length })
    }

    /// Cuts the file back to its first `length` bytes.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn cut(&mut self, length: u64) -> Result<(), WriteError> {
        let cut = self.file.set_len(length);
        cut.map_err(|source| WriteError { path: self.path.clone(), source })?;
        self.length = length;
        Ok(())
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

impl Drop for Appender {
    fn drop(&mut self) {
        // Closing the file alone does not let go of it while a process that was forked meanwhile has it too.
        let _ = self.file.unlock();
    }
}

/// Writes a whole file under a temporary name beside it, then renames it into place.
///
/// # Errors
/// When the system refuses; nothing is left under the final name.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), WriteError> {
    place_whole(path, |part| fs::write(part, bytes))
}

/// Renames a file to the first free name beside it: `NAME.unused`, `NAME.unused2`.
///
/// # Errors
/// When the system refuses.
pub fn put_aside(path: &Path) -> Result<(), WriteError> {
    let named = |number: u32| {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(if number == 1 { ".unused".to_owned() } else { format!(".unused{number}") });
        path.with_file_name(name)
    };
    let free = (1..=9999).map(named).find(|name| !name.exists()).unwrap_or_else(|| named(1));
    rename(path, &free)
}

/// Gives a file another name.
///
/// # Errors
/// When the system refuses.
pub fn rename(path: &Path, name: &Path) -> Result<(), WriteError> {
    fs::rename(path, name).map_err(|source| WriteError { path: path.to_owned(), source })
}

/// Lets `write` make a file under a temporary name beside `path`, then renames it into place.
///
/// # Errors
/// When `write` or the system refuses; nothing is left under the final name.
pub fn place_whole(path: &Path, write: impl FnOnce(&Path) -> io::Result<()>) -> Result<(), WriteError> {
    let fail = |source| WriteError { path: path.to_owned(), source };
    // A device or a pipe is written to: a rename would put a file in its place, `/dev/null` for everybody.
    if fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir()) {
        return write(path).map_err(fail);
    }
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

/// A folder that appears under its name only when everything in it is written.
///
/// Dropping it unfinished removes what was written.
#[derive(Debug)]
pub struct PartFolder {
    part: PathBuf,
    target: PathBuf,
}

impl PartFolder {
    /// Starts a folder that will be `target`; `target` must not exist or be an empty folder.
    ///
    /// # Errors
    /// When `target` is in use or the system refuses.
    pub fn create(target: &Path) -> Result<Self, WriteError> {
        let fail = |source| WriteError { path: target.to_owned(), source };
        match fs::read_dir(target).map(|mut entries| entries.next().is_some()) {
            Ok(true) => {
                let says = "the folder is not empty";
                return Err(fail(io::Error::new(io::ErrorKind::AlreadyExists, says)));
            }
            Ok(false) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(fail(error)),
        }
        let Some(name) = target.file_name() else {
            return Err(fail(io::Error::new(io::ErrorKind::InvalidInput, "not the name of a folder")));
        };
        let mut name = name.to_owned();
        name.push(format!(".{}.part", std::process::id()));
        let part = target.with_file_name(name);
        fs::create_dir_all(&part).map_err(fail)?;
        Ok(Self { part, target: target.to_owned() })
    }

    /// Starts a file in it.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn file(&self, name: &str) -> Result<PartFile, WriteError> {
        let path = self.target.join(name);
        match File::create_new(self.part.join(name)) {
            Ok(file) => Ok(PartFile { writer: BufWriter::with_capacity(1 << 20, file), path }),
            Err(source) => Err(WriteError { path, source }),
        }
    }

    /// Where a file of it lies until then, for what writes or reads by path.
    #[must_use]
    pub fn unfinished(&self, name: &str) -> PathBuf {
        self.part.join(name)
    }

    /// Gives the folder its name.
    ///
    /// # Errors
    /// When the system refuses; nothing is left behind then.
    pub fn finish(self) -> Result<(), WriteError> {
        // An empty folder of that name makes way; where it has become used meanwhile, the rename says so.
        let _ = fs::remove_dir(&self.target);
        fs::rename(&self.part, &self.target)
            .map_err(|source| WriteError { path: self.target.clone(), source })
    }
}

impl Drop for PartFolder {
    fn drop(&mut self) {
        // After `finish` there is nothing of this name any more.
        let _ = fs::remove_dir_all(&self.part);
    }
}

/// A file of a [`PartFolder`]. Errors name the path that it would have had.
#[derive(Debug)]
pub struct PartFile {
    writer: BufWriter<File>,
    path: PathBuf,
}

impl PartFile {
    /// Appends bytes.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), WriteError> {
        self.writer.write_all(bytes).map_err(|source| WriteError { path: self.path.clone(), source })
    }

    /// Writes out what is buffered.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn finish(mut self) -> Result<(), WriteError> {
        self.writer.flush().map_err(|source| WriteError { path: self.path.clone(), source })
    }
}

#[cfg(test)]
mod tests {
    use super::{Appender, PartFolder, write_whole};

    #[test]
    fn a_folder_appears_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("new/model");
        let part = PartFolder::create(&target).unwrap();
        let mut file = part.file("a").unwrap();
        file.write(b"one").unwrap();
        file.write(b"two").unwrap();
        file.finish().unwrap();
        assert!(!target.exists());
        part.finish().unwrap();
        assert_eq!(std::fs::read(target.join("a")).unwrap(), b"onetwo");

        let says = PartFolder::create(&target).unwrap_err().to_string();
        assert!(says.ends_with("the folder is not empty"), "{says}");
        drop(PartFolder::create(&folder.path().join("other")).unwrap().file("b").unwrap());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_device_stays_one() {
        use std::os::unix::fs::{FileTypeExt as _, symlink};
        let folder = tempfile::tempdir().unwrap();
        // A link stands for the device itself, which a test must not put at risk.
        let path = folder.path().join("null");
        symlink("/dev/null", &path).unwrap();
        write_whole(&path, b"one").unwrap();
        assert!(std::fs::metadata(&path).unwrap().file_type().is_char_device());
    }

    #[test]
    fn an_empty_folder_makes_way_and_a_file_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("empty");
        std::fs::create_dir(&target).unwrap();
        PartFolder::create(&target).unwrap().finish().unwrap();
        let file = folder.path().join("file");
        write_whole(&file, b"mine").unwrap();
        assert!(PartFolder::create(&file).is_err());
        assert_eq!(std::fs::read(&file).unwrap(), b"mine");
    }

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
    fn a_held_file_is_written_on_by_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/journal");
        let mut file = Appender::held(&path).unwrap();
        file.append(b"one\ntw").unwrap();
        let says = Appender::held(&path).unwrap_err().to_string();
        assert!(says.ends_with("another process is writing it"), "{says}");
        drop(file);
        let mut file = Appender::held(&path).unwrap();
        assert_eq!(file.length(), 6);
        file.cut(4).unwrap();
        file.append(b"three\n").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"one\nthree\n");
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
