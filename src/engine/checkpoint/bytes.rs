//! Weight bytes that can be lent: mapped from a file, embedded in the program, or made in memory; never copied.
//!
//! A format that is not computed with as it is gives recipes: the bytes are made when a clone is first read, and go
//! with that clone, so that a checkpoint does not stay in memory beside what the device made of it.
//!
//! Whoever holds a [`Bytes`] keeps the mapping alive, so an array library can be given the address together with
//! a clone as its keep-alive. This file holds the two unsafe calls of the checkpoint reader.

use super::error::{CheckpointError, Result};
use memmap2::Mmap;
use std::fmt;
use std::fs::File;
use std::ops::{Deref, Range};
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// A range of bytes and its owner. Cloning is cheap and does not copy the bytes.
#[derive(Clone)]
pub struct Bytes {
    owner: Owner,
    range: Range<usize>,
}

#[derive(Clone)]
enum Owner {
    Mapped(Arc<Mmap>),
    Static(&'static [u8]),
    Made(Arc<Vec<u8>>),
    Unpacked(Unpacked),
}

/// Bytes that are made on demand; each clone makes its own.
struct Unpacked {
    recipe: Arc<dyn Fn() -> Vec<u8> + Send + Sync>,
    made: OnceLock<Vec<u8>>,
}

impl Clone for Unpacked {
    fn clone(&self) -> Self {
        Self { recipe: Arc::clone(&self.recipe), made: OnceLock::new() }
    }
}

impl Bytes {
    /// Bytes that are part of the program.
    #[must_use]
    pub fn from_static(bytes: &'static [u8]) -> Self {
        Self { owner: Owner::Static(bytes), range: 0..bytes.len() }
    }

    /// Bytes that were made here.
    #[must_use]
    pub fn from_vec(bytes: Vec<u8>) -> Self {
        let range = 0..bytes.len();
        Self { owner: Owner::Made(Arc::new(bytes)), range }
    }

    /// `length` bytes that `recipe` makes whenever a clone is first read.
    #[must_use]
    pub fn unpacked(length: usize, recipe: impl Fn() -> Vec<u8> + Send + Sync + 'static) -> Self {
        let unpacked = Unpacked { recipe: Arc::new(recipe), made: OnceLock::new() };
        Self { owner: Owner::Unpacked(unpacked), range: 0..length }
    }

    /// Number of bytes; makes none.
    #[must_use]
    pub fn len(&self) -> usize {
        self.range.len()
    }

    /// True when there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.range.is_empty()
    }

    /// Maps a whole file, read-only.
    ///
    /// The file must not be shortened or rewritten in place while the program runs; the system ends a program
    /// that reads past the end of a shortened file. Replacing it (write beside, rename) is harmless.
    ///
    /// # Errors
    /// When `path` is not a regular file or the system refuses.
    pub fn map(path: &Path) -> Result<Self> {
        let fail = |source| CheckpointError::Io { file: path.display().to_string(), source };
        // Asked before opening: to open a pipe would wait for its writer.
        if !std::fs::metadata(path).map_err(fail)?.is_file() {
            return Err(fail(std::io::Error::other("not a regular file")));
        }
        let file = File::open(path).map_err(fail)?;
        let map = map_file(&file).map_err(fail)?;
        let range = 0..map.len();
        Ok(Self { owner: Owner::Mapped(Arc::new(map)), range })
    }

    /// A part of these bytes, `None` when it reaches outside.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> Option<Self> {
        if range.start > range.end || range.end > self.len() {
            return None;
        }
        let start = self.range.start + range.start;
        Some(Self { owner: self.owner.clone(), range: start..start + range.len() })
    }

    /// True when the address is a multiple of `alignment` bytes. Files put no promise on it: mlx-lm's own files
    /// have headers of any length, so a tensor may have to be copied before it is computed with.
    #[must_use]
    pub fn is_aligned(&self, alignment: usize) -> bool {
        self.as_ptr().addr().is_multiple_of(alignment)
    }

    /// Tells the system that these pages of the file may leave memory; whoever reads them again, reads the file
    /// again. Without this a device that copies its weights has them in memory twice.
    pub fn let_go(&self) {
        if let Owner::Mapped(map) = &self.owner {
            // Advice: where it is not taken, memory is what is lost.
            let _ = forget_pages(map, &self.range);
        }
    }
}

/// Bytes lent to an array library, which lets go of them when it is done, or has made its own copy.
#[derive(Debug)]
pub struct Lent(pub Bytes);

impl Deref for Lent {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        self.0.let_go();
    }
}

#[cfg(unix)]
#[expect(unsafe_code, reason = "the advice would lose what was written into a private mapping")]
fn forget_pages(map: &Mmap, range: &Range<usize>) -> std::io::Result<()> {
    // SAFETY: the mapping is read-only, so its pages hold nothing that is not in the file.
    unsafe { map.unchecked_advise_range(memmap2::UncheckedAdvice::DontNeed, range.start, range.len()) }
}

#[cfg(not(unix))]
fn forget_pages(_map: &Mmap, _range: &Range<usize>) -> std::io::Result<()> {
    Ok(())
}

#[expect(
    unsafe_code,
    reason = "a file mapping cannot be made safe by types: other programs can change the file"
)]
fn map_file(file: &File) -> std::io::Result<Mmap> {
    // SAFETY: the mapping is private and read-only, and `Bytes::map` states that the file must not change in
    // place. The bytes are only ever read as plain numbers, for which every bit pattern is valid.
    unsafe { Mmap::map(file) }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.owner {
            Owner::Mapped(map) => &map[self.range.clone()],
            Owner::Static(bytes) => &bytes[self.range.clone()],
            Owner::Made(bytes) => &bytes[self.range.clone()],
            Owner::Unpacked(unpacked) => {
                &unpacked.made.get_or_init(|| (unpacked.recipe)())[self.range.clone()]
            }
        }
    }
}

impl fmt::Debug for Bytes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let owner = match self.owner {
            Owner::Mapped(_) => "mapped",
            Owner::Made(_) => "made",
            Owner::Unpacked(_) => "unpacked",
            Owner::Static(_) => "embedded",
        };
        write!(formatter, "{} {owner} bytes", self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::{Bytes, Lent};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn a_slice_of_a_slice_stays_inside() {
        let bytes = Bytes::from_static(b"abcdef").slice(1..5).unwrap();
        assert_eq!(&*bytes.slice(1..3).unwrap(), b"cd");
        assert!(bytes.slice(3..5).is_none());
        #[expect(clippy::reversed_empty_ranges, reason = "the reversed range is what is tested")]
        let reversed = bytes.slice(3..2);
        assert!(reversed.is_none());
    }

    #[test]
    fn every_clone_makes_its_own_bytes_when_it_is_read() {
        let times = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&times);
        let bytes = Bytes::unpacked(3, move || {
            count.fetch_add(1, Ordering::Relaxed);
            vec![1, 2, 3]
        });
        let part = bytes.slice(1..3).unwrap();
        assert_eq!((bytes.len(), part.len(), times.load(Ordering::Relaxed)), (3, 2, 0));
        assert_eq!((&part[..], &part[..]), (&[2, 3][..], &[2, 3][..]));
        assert_eq!(times.load(Ordering::Relaxed), 1);
        assert_eq!(&*bytes.clone(), &[1, 2, 3]);
        assert_eq!(times.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn a_mapping_outlives_the_name_of_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        crate::transcript::files::write_whole(&path, b"weights").unwrap();
        let bytes = Bytes::map(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(&*bytes, b"weights");
        drop(Lent(bytes.clone()));
        assert_eq!(&*bytes, b"weights", "pages that were let go are read again");
        assert!(Bytes::map(folder.path()).unwrap_err().to_string().contains("not a regular file"));
    }
}
