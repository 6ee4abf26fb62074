//! From a transcript's bytes to its judgement: the lines go to the judge as they are read.
//!
//! A large file is read in blocks that are parsed on all cores while the blocks before them are judged in order,
//! so that memory stays bounded and the cores stay busy.

use crate::algebra::Judge;
use crate::algebra::judgement::ArmJudgement;
use crate::transcript::blocks::{Blocks, Parsed, parse_block};
use crate::transcript::parse::Spare;
use crate::transcript::{Cut, Line, LineFault, ReadError};
use rayon::prelude::*;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Blocks parsed at once.
const BATCH: usize = 4;

/// Judges one file; `-` is standard input.
///
/// # Errors
/// When it cannot be read or is no transcript.
pub fn judge_path(path: &Path) -> Result<ArmJudgement, ReadError> {
    let name = path.display().to_string();
    if name == "-" {
        return judge_input(&name, io::stdin());
    }
    match File::open(path) {
        Ok(file) => judge_input(&name, file),
        Err(source) => Err(ReadError::Io { name, source }),
    }
}

/// Judges what `input` holds.
///
/// # Errors
/// As [`judge_path`].
pub fn judge_input(name: &str, input: impl Read + Send) -> Result<ArmJudgement, ReadError> {
    let mut blocks = Blocks::new(name, input);
    let mut feed = Feed { name, judge: None, lines: 0, bytes: 0, cut: None };
    let mut batch = parse_batch(&mut blocks, Vec::new())?;
    while !batch.parsed.is_empty() {
        let ready = std::mem::take(&mut batch);
        let spare = feed.judge.as_mut().map(Judge::take_spare).unwrap_or_default();
        let (judged, next) = rayon::join(|| feed.batch(ready), || parse_batch(&mut blocks, spare));
        judged?;
        batch = next?;
    }
    Ok(feed.finish())
}

/// Some parsed blocks in order.
#[derive(Debug, Default)]
struct Batch {
    parsed: Vec<Parsed>,
    bytes: u64,
}

/// Reads and parses the next blocks, in the memory of rounds that were judged.
fn parse_batch(blocks: &mut Blocks<impl Read>, mut spare: Spare) -> Result<Batch, ReadError> {
    let mut read = Vec::with_capacity(BATCH);
    while read.len() < BATCH {
        let Some(block) = blocks.next_block()? else { break };
        read.push(block);
    }
    let bytes = read.iter().map(|block| block.len() as u64).sum();
    let part = spare.len() / read.len().max(1);
    let spares: Vec<_> = read.iter().map(|_| spare.split_off(spare.len() - part)).collect();
    let parsed = read.par_iter().zip(spares).map(|(block, spare)| parse_block(block, spare)).collect();
    blocks.recycle(read);
    Ok(Batch { parsed, bytes })
}

/// Hands the lines of one file to its judge.
struct Feed<'a> {
    name: &'a str,
    judge: Option<Judge>,
    lines: u64,
    bytes: u64,
    cut: Option<Cut>,
}

impl Feed<'_> {
    fn batch(&mut self, batch: Batch) -> Result<(), ReadError> {
        self.bytes += batch.bytes;
        batch.parsed.into_iter().try_for_each(|parsed| self.block(parsed))
    }

    fn block(&mut self, parsed: Parsed) -> Result<(), ReadError> {
        for (number, line) in parsed.lines {
            let number = self.lines + number;
            self.line(number, line).map_err(|fault| self.at(number, fault))?;
        }
        match parsed.fault {
            Some((number, LineFault::Half)) if parsed.at_end => {
                self.cut = Some(Cut::HalfLine { line: self.lines + number });
            }
            Some((number, fault)) => return Err(self.at(self.lines + number, fault)),
            None => {}
        }
        self.lines += parsed.count;
        Ok(())
    }

    fn at(&self, line: u64, fault: LineFault) -> ReadError {
        ReadError::Line { name: self.name.to_owned(), line, fault }
    }

    fn line(&mut self, number: u64, line: Line) -> Result<(), LineFault> {
        match (&mut self.judge, line) {
            (Some(judge), line) => judge.line(number, line),
            (None, Line::Header(header)) => {
                self.judge = Some(Judge::new(&header));
                Ok(())
            }
            (None, line) => Err(LineFault::HeaderMissing { found: line.kind() }),
        }
    }

    fn finish(self) -> ArmJudgement {
        match self.judge {
            Some(judge) => judge.finish(self.name, self.cut, self.bytes),
            None => ArmJudgement::headless(self.name, Cut::NoHeader, self.bytes),
        }
    }
}
