//! The reader: whole lines with their numbers from a file, standard input or memory, in bounded memory.
//!
//! It holds one line at a time. A last line that only ends too early is not an error but a [`Cut`]; everything
//! else that is not the format is refused, with the place.

use super::fault::{Cut, LineFault, ReadError};
use super::format::Line;
use super::parse::parse_line;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _};
use std::path::Path;

/// The longest line that is held in memory. A footer of some million tokens fits.
pub const LONGEST_LINE: usize = 64 << 20;

/// An iterator over the lines of one transcript: `(line number, line)`, or the error that ends it.
#[derive(Debug)]
pub struct Reader<R> {
    input: R,
    name: String,
    number: u64,
    buffer: Vec<u8>,
    cut: Option<Cut>,
    ended: bool,
}

impl Reader<BufReader<File>> {
    /// Opens a file.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        let name = path.display().to_string();
        match File::open(path) {
            Ok(file) => Ok(Self::new(name, BufReader::with_capacity(1 << 16, file))),
            Err(source) => Err(ReadError::Io { name, source }),
        }
    }
}

impl<R: BufRead> Reader<R> {
    /// Reads `input`, which errors call `name`.
    pub fn new(name: impl Into<String>, input: R) -> Self {
        Self { input, name: name.into(), number: 0, buffer: Vec::new(), cut: None, ended: false }
    }

    /// After the last line: the last line was half a line.
    #[must_use]
    pub fn cut(&self) -> Option<Cut> {
        self.cut
    }

    /// What errors call the input.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// An error at a line of this input.
    #[must_use]
    pub fn fault(&self, line: u64, fault: LineFault) -> ReadError {
        ReadError::Line { name: self.name.clone(), line, fault }
    }

    /// Fills the buffer with the next line that is not blank; false at the end.
    fn fill(&mut self) -> Result<bool, ReadError> {
        loop {
            self.buffer.clear();
            let limit = LONGEST_LINE as u64 + 1;
            let read = self.input.by_ref().take(limit).read_until(b'\n', &mut self.buffer);
            let length = read.map_err(|source| ReadError::Io { name: self.name.clone(), source })?;
            self.number += u64::from(length > 0);
            if length > LONGEST_LINE {
                return Err(self.fault(self.number, too_long()));
            }
            if length == 0 || !is_blank(&self.buffer) {
                return Ok(length > 0);
            }
        }
    }

    fn read(&mut self) -> Result<Option<(u64, Line)>, ReadError> {
        if !self.fill()? {
            return Ok(None);
        }
        match parse_line(&self.buffer) {
            Ok(line) => Ok(Some((self.number, line))),
            Err(LineFault::Half) if !self.buffer.ends_with(b"\n") => {
                self.cut = Some(Cut::HalfLine { line: self.number });
                Ok(None)
            }
            Err(fault) => Err(self.fault(self.number, fault)),
        }
    }
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = Result<(u64, Line), ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let item = self.read().transpose();
        self.ended = !matches!(item, Some(Ok(_)));
        item
    }
}

/// Standard input as the reader takes it.
#[must_use]
pub fn standard_input() -> impl BufRead {
    BufReader::with_capacity(1 << 16, io::stdin())
}

/// The fault of a line above [`LONGEST_LINE`].
pub(crate) fn too_long() -> LineFault {
    LineFault::TooLong { limit: LONGEST_LINE >> 20 }
}

/// True for a line of white space alone, which JSON Lines writers leave at the end.
pub(crate) fn is_blank(line: &[u8]) -> bool {
    line.iter().all(u8::is_ascii_whitespace)
}
