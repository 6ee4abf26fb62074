//! Reads little-endian numbers and strings from the front of a file, never past its end.

use crate::engine::checkpoint::error::{CheckpointError, Result};

/// A place in a file. Texts are lent from it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cursor<'a> {
    file: &'a str,
    bytes: &'a [u8],
    place: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(file: &'a str, bytes: &'a [u8]) -> Self {
        Self { file, bytes, place: 0 }
    }

    /// How messages name the file.
    pub(super) fn file(&self) -> &'a str {
        self.file
    }

    /// Bytes read so far.
    pub(super) fn place(&self) -> usize {
        self.place
    }

    /// Bytes that are left.
    pub(super) fn left(&self) -> usize {
        self.bytes.len() - self.place
    }

    /// The next `N` bytes. `what` says in messages what they would have been.
    pub(super) fn take<const N: usize>(&mut self, what: &str) -> Result<[u8; N]> {
        let rest = &self.bytes[self.place..];
        let Some((taken, _)) = rest.split_first_chunk::<N>() else { return Err(self.ends(what, N as u64)) };
        self.place += N;
        Ok(*taken)
    }

    pub(super) fn u32(&mut self, what: &str) -> Result<u32> {
        self.take(what).map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self, what: &str) -> Result<u64> {
        self.take(what).map(u64::from_le_bytes)
    }

    /// A count of things of at least `size` bytes each, all of which have to be in the file.
    pub(super) fn count(&mut self, what: &str, size: usize) -> Result<usize> {
        let count = self.u64(what)?;
        let fits = usize::try_from(count).ok().filter(|count| *count <= self.left() / size);
        fits.ok_or_else(|| self.wrong(format!("{what}: {count} of them do not fit in the file (truncated?)")))
    }

    /// A text with its length in front.
    pub(super) fn text(&mut self, what: &str) -> Result<&'a str> {
        let length = self.u64(what)?;
        let taken = usize::try_from(length).ok().and_then(|length| {
            let end = self.place.checked_add(length)?;
            self.bytes.get(self.place..end)
        });
        let Some(taken) = taken else { return Err(self.ends(what, length)) };
        self.place += taken.len();
        std::str::from_utf8(taken).map_err(|error| self.wrong(format!("{what}: not UTF-8: {error}")))
    }

    /// The error for a file that is not as the format has it.
    pub(super) fn wrong(&self, says: String) -> CheckpointError {
        CheckpointError::Gguf { file: self.file.to_owned(), says }
    }

    fn ends(&self, what: &str, wanted: u64) -> CheckpointError {
        let (place, left) = (self.place, self.left());
        self.wrong(format!(
            "{what}: it takes {wanted} bytes from byte {place} on, the file has {left} (truncated?)"
        ))
    }
}
