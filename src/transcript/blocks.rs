//! Blocks of whole lines, so that one large transcript can be parsed on several cores and still be judged in order.
//!
//! Parsing is nearly all of the work and needs no order; judging needs order and is quick. Blocks keep both true.

use super::fault::{LineFault, ReadError};
use super::format::Line;
use super::parse::{Spare, parse_for_laws};
use super::read::{LONGEST_LINE, is_blank, too_long};
use std::io::{self, BufRead as _, Read};

/// Bytes read at once.
const BLOCK: usize = 1 << 18;

/// Cuts an input into blocks that end with a line end; the last may not.
#[derive(Debug)]
pub struct Blocks<R> {
    input: R,
    name: String,
    rest: Vec<u8>,
    spare: Vec<Vec<u8>>,
    ended: bool,
}

/// One block, parsed.
#[derive(Debug, Default)]
pub struct Parsed {
    /// Lines with their numbers within the block, from 1.
    pub lines: Vec<(u64, Line)>,
    /// How many lines the block has, blank ones too.
    pub count: u64,
    /// Where it stopped, and why.
    pub fault: Option<(u64, LineFault)>,
    /// The faulty line has no line end: it is the last of the file.
    pub at_end: bool,
}

impl<R: Read> Blocks<R> {
    /// Reads `input`, which errors call `name`.
    pub fn new(name: impl Into<String>, input: R) -> Self {
        Self { input, name: name.into(), rest: Vec::new(), spare: Vec::new(), ended: false }
    }

    /// The next block; `None` at the end.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn next_block(&mut self) -> Result<Option<Vec<u8>>, ReadError> {
        let mut block = self.spare.pop().unwrap_or_default();
        block.clear();
        block.append(&mut self.rest);
        while !self.ended {
            let start = block.len();
            block.reserve(BLOCK + 64);
            let read = self.input.by_ref().take(BLOCK as u64).read_to_end(&mut block);
            let read = read.map_err(|source| self.refused(source))?;
            self.ended = read == 0;
            if let Some(end) = block[start..].iter().rposition(|byte| *byte == b'\n') {
                self.rest.extend_from_slice(&block[start + end + 1..]);
                block.truncate(start + end + 1);
                break;
            }
            // The beginning of an endless line is a block; parsing it says what is wrong.
            self.ended |= block.len() > LONGEST_LINE;
        }
        Ok(if block.is_empty() { None } else { Some(block) })
    }

    /// Takes parsed blocks back, so that their memory is used again.
    pub fn recycle(&mut self, blocks: Vec<Vec<u8>>) {
        self.spare.extend(blocks);
    }

    fn refused(&self, source: io::Error) -> ReadError {
        ReadError::Io { name: self.name.clone(), source }
    }
}

/// Parses the lines of a block, as far as the laws need them, up to the first that cannot be read. `spare` are
/// judged rounds whose memory is used again.
#[must_use]
pub fn parse_block(mut block: &[u8], mut spare: Spare) -> Parsed {
    let mut parsed = Parsed::default();
    while !block.is_empty() {
        let mut after = block;
        // Reading from memory cannot fail.
        let length = after.skip_until(b'\n').unwrap_or(block.len());
        let line = &block[..length];
        parsed.count += 1;
        if !is_blank(line) {
            let read = if length > LONGEST_LINE { Err(too_long()) } else { parse_for_laws(line, &mut spare) };
            match read {
                Ok(line) => parsed.lines.push((parsed.count, line)),
                Err(fault) => {
                    parsed.fault = Some((parsed.count, fault));
                    parsed.at_end = !line.ends_with(b"\n");
                    return parsed;
                }
            }
        }
        block = after;
    }
    parsed
}

#[cfg(test)]
mod tests {
    use super::{Blocks, parse_block};

    #[test]
    fn blocks_end_with_lines_and_lose_nothing() {
        let line =
            format!("{{\"type\":\"prefill\",\"sequence\":0,\"token\":1,\"note\":\"{}\"}}\n", "x".repeat(700));
        let text = line.repeat(4000) + "{\"type\":\"foo";
        let mut blocks = Blocks::new("test", text.as_bytes());
        let (mut joined, mut count) = (Vec::new(), 0);
        while let Some(block) = blocks.next_block().unwrap() {
            let parsed = parse_block(&block, Vec::new());
            assert_eq!(parsed.at_end, parsed.fault.is_some());
            count += parsed.count;
            joined.extend(block);
        }
        assert_eq!(joined, text.as_bytes());
        assert_eq!(count, 4001);
    }
}
