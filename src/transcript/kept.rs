//! Reads kept rows back from a transcript's side file, one row at a time, and holds them against their digests.
//!
//! A side file holds half a megabyte a row; comparing two arms needs two rows in memory, never two files.

use super::digest::{is_sha256, sha256};
use super::format::Row;
use super::writer::rows_path;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

/// A kept row could not be read back.
#[derive(Debug, thiserror::Error)]
pub enum KeptError {
    /// The system refused, or the file ends before the row does.
    #[error("read {length} bytes at {offset} of {}: {source}", path.display())]
    Read {
        /// The side file.
        path: PathBuf,
        /// Where the row starts.
        offset: u64,
        /// Its length.
        length: u64,
        /// What the system said.
        source: io::Error,
    },
    /// The bytes are not those that were digested.
    #[error("match the bytes at {offset} of {} with their digest: they were changed since", path.display())]
    Digest {
        /// The side file.
        path: PathBuf,
        /// Where the row starts.
        offset: u64,
    },
}

/// Equal by their digests; unknown unless both are digests. Two empty strings are not two equal rows.
#[must_use]
pub fn same_digest(left: Option<&str>, right: Option<&str>) -> Option<bool> {
    let digest = |text: &&str| is_sha256(text.as_bytes());
    let (left, right) = (left.filter(digest)?, right.filter(digest)?);
    Some(left.eq_ignore_ascii_case(right))
}

/// A transcript's side file.
#[derive(Debug)]
pub struct Kept {
    path: PathBuf,
    file: Option<File>,
    length: u64,
}

impl Kept {
    /// Opens the side file of a transcript; a transcript without one keeps no rows.
    #[must_use]
    pub fn beside(transcript: &Path) -> Self {
        let path = rows_path(transcript);
        // Opening a pipe of that name would wait for its writer for ever.
        let file = path.is_file().then(|| File::open(&path).ok()).flatten();
        let length = file.as_ref().and_then(|file| file.metadata().ok()).map_or(0, |data| data.len());
        Self { path, file, length }
    }

    /// The side file's name.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// True when the side file is there and the row says where its bytes lie.
    #[must_use]
    pub fn has(&self, row: &Row) -> bool {
        self.file.is_some() && row.at.is_some()
    }

    /// Holds the place that the row says its bytes have against the side file.
    ///
    /// # Errors
    /// When the file ends before the row does.
    pub fn check(&self, row: &Row) -> Result<(), KeptError> {
        let (Some([offset, length]), true) = (row.at, self.file.is_some()) else { return Ok(()) };
        if offset.checked_add(length).is_some_and(|end| end <= self.length) {
            return Ok(());
        }
        let source = io::ErrorKind::UnexpectedEof.into();
        Err(KeptError::Read { path: self.path.clone(), offset, length, source })
    }

    /// The row's raw bytes; none when they were not kept.
    ///
    /// # Errors
    /// When they should be there and are not, or do not match the row's digest.
    pub fn bytes(&mut self, row: &Row) -> Result<Option<Vec<u8>>, KeptError> {
        // Before anything is allocated: the length comes from a file that may be wrong.
        self.check(row)?;
        let (Some([offset, length]), Some(file)) = (row.at, &mut self.file) else { return Ok(None) };
        let fail = |source| KeptError::Read { path: self.path.clone(), offset, length, source };
        let mut bytes = vec![0; usize::try_from(length).map_err(|error| fail(io::Error::other(error)))?];
        file.seek(SeekFrom::Start(offset)).and_then(|_| file.read_exact(&mut bytes)).map_err(fail)?;
        if row.sha256.as_ref().is_some_and(|digest| !digest.eq_ignore_ascii_case(&sha256(&bytes))) {
            return Err(KeptError::Digest { path: self.path.clone(), offset });
        }
        Ok(Some(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::{Kept, KeptError};
    use crate::transcript::{Row, Writer, digest::sha256};

    #[test]
    fn what_was_kept_reads_back_and_a_changed_byte_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("w4.jsonl");
        let mut writer = Writer::create(&path, true).unwrap();
        let mut row = Row { sha256: Some(sha256(&[1, 2, 3, 4])), ..Row::default() };
        writer.keep(&mut row, &[1, 2, 3, 4]).unwrap();
        let mut kept = Kept::beside(&path);
        assert_eq!(kept.bytes(&row).unwrap(), Some(vec![1, 2, 3, 4]));
        let changed = Row { sha256: Some(sha256(&[9])), ..row.clone() };
        assert!(matches!(kept.bytes(&changed), Err(KeptError::Digest { .. })));
        let beyond = Row { at: Some([2, u64::MAX]), ..row };
        assert!(matches!(kept.bytes(&beyond), Err(KeptError::Read { .. })));
        assert_eq!(kept.bytes(&Row::default()).unwrap(), None);
    }
}
