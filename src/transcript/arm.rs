//! A whole arm in memory, for commands that walk two arms side by side.
//!
//! Judging one arm needs no more than its current rounds; comparing needs both streams and their rows at once.

use super::fault::{Cut, ReadError};
use super::format::{Footer, Header, Line, Prefill, Prompt, Round, Step, TokenId};
use super::order::Order;
use super::read::{Reader, standard_input};
use std::collections::BTreeMap;
use std::io::BufRead;
use std::path::{Path, PathBuf};

/// One run of one arm.
#[derive(Debug, Clone)]
pub struct Arm {
    /// Where it was read from; `-` for standard input.
    pub path: PathBuf,
    /// What ran.
    pub header: Header,
    /// Every sequence that the header or a line names, by id.
    pub sequences: Vec<Sequence>,
    /// Why the run does not count as finished.
    pub cut: Option<Cut>,
}

/// The lines of one sequence, in file order.
#[derive(Debug, Clone, Default)]
pub struct Sequence {
    /// Its id.
    pub sequence: i64,
    /// The prompt's last row.
    pub prefill: Option<Prefill>,
    /// Plain decoding.
    pub steps: Vec<Step>,
    /// Speculative rounds.
    pub rounds: Vec<Round>,
    /// The end.
    pub footer: Option<Footer>,
}

/// A line that put tokens into the stream after the first.
#[derive(Debug, Clone, Copy)]
pub enum Entry<'a> {
    /// One token of plain decoding.
    Step(&'a Step),
    /// One round.
    Round(&'a Round),
}

/// Steps and rounds in stream order, with the stream index of each one's first token.
///
/// A drafter that starts late has steps before its rounds, one that stops has them after; a step's index says where.
pub fn in_order<'a>(
    steps: &'a [Step],
    rounds: &'a [Round],
) -> impl Iterator<Item = (usize, Entry<'a>)> + use<'a> {
    let (mut steps, mut rounds, mut next) = (steps.iter().peekable(), rounds.iter(), 1);
    std::iter::from_fn(move || {
        let due = steps.next_if(|step| usize::try_from(step.index).is_ok_and(|index| index <= next));
        let round = || rounds.next().map(Entry::Round);
        let entry = due.map(Entry::Step).or_else(round).or_else(|| steps.next().map(Entry::Step))?;
        let start = next;
        next += match entry {
            Entry::Step(_) => 1,
            Entry::Round(round) => round.emitted.len(),
        };
        Some((start, entry))
    })
}

impl Arm {
    /// Reads a file; `-` is standard input.
    ///
    /// # Errors
    /// When the file cannot be read or is no transcript. A cut run is no error, unless it has no header at all.
    pub fn read(path: &Path) -> Result<Self, ReadError> {
        if path.as_os_str() == "-" {
            return Self::load(path, Reader::new("-", standard_input()));
        }
        Self::load(path, Reader::open(path)?)
    }

    /// Reads the lines of `reader` as the arm at `path`.
    ///
    /// # Errors
    /// As [`Arm::read`].
    pub fn load<R: BufRead>(path: &Path, mut reader: Reader<R>) -> Result<Self, ReadError> {
        let (mut order, mut header, mut sequences) = (Order::default(), None, BTreeMap::new());
        for item in reader.by_ref() {
            let (number, line) = item?;
            if let Err(fault) = order.check(number, &line) {
                let name = path.display().to_string();
                return Err(ReadError::Line { name, line: number, fault });
            }
            match line {
                Line::Header(first) => header = Some(*first),
                other => keep(&mut sequences, other),
            }
        }
        let Some(header) = header else {
            return Err(ReadError::Headless { name: reader.name().to_owned() });
        };
        for prompt in &header.prompts {
            entry(&mut sequences, prompt.sequence);
        }
        let sequences: Vec<Sequence> = sequences.into_values().collect();
        let cut = reader.cut().or_else(|| sequences.iter().find_map(Sequence::cut));
        Ok(Self { path: path.to_owned(), header, sequences, cut })
    }

    /// The prompt of a sequence.
    #[must_use]
    pub fn prompt(&self, sequence: i64) -> Option<&Prompt> {
        self.header.prompt(sequence)
    }
}

impl Sequence {
    /// The stream: the footer's ids where it has them, else the ids that the lines give.
    #[must_use]
    pub fn tokens(&self) -> Option<Vec<TokenId>> {
        let told = self.footer.as_ref().and_then(|footer| footer.tokens.clone());
        told.or_else(|| self.assembled())
    }

    /// Prefill token and everything emitted; `None` where no line gives an id.
    #[must_use]
    pub fn assembled(&self) -> Option<Vec<TokenId>> {
        let first = self.prefill.as_ref().map(|prefill| prefill.token);
        let bonus = || self.rounds.first().filter(|round| round.round == 0).map(|round| round.bonus);
        let input = || self.steps.first().filter(|step| step.index == 1).map(|step| step.input);
        let mut tokens = vec![first.or_else(input).or_else(bonus)?];
        for (_, entry) in in_order(&self.steps, &self.rounds) {
            match entry {
                Entry::Step(step) => tokens.push(step.token),
                Entry::Round(round) => tokens.extend(&round.emitted),
            }
        }
        Some(tokens)
    }

    /// Its lines as a recorder writes them.
    pub fn lines(&self) -> impl Iterator<Item = Line> {
        let prefill = self.prefill.iter().cloned().map(Line::Prefill);
        let entries = in_order(&self.steps, &self.rounds).map(|(_, entry)| match entry {
            Entry::Step(step) => Line::Step(step.clone()),
            Entry::Round(round) => Line::Round(Box::new(round.clone())),
        });
        let footer = self.footer.iter().cloned().map(|footer| Line::Footer(Box::new(footer)));
        prefill.chain(entries).chain(footer)
    }

    fn cut(&self) -> Option<Cut> {
        let sequence = self.sequence;
        match &self.footer {
            None => Some(Cut::NoFooter { sequence }),
            Some(footer) if !footer.complete => Some(Cut::NotComplete { sequence }),
            Some(_) => None,
        }
    }
}

fn entry(sequences: &mut BTreeMap<i64, Sequence>, sequence: i64) -> &mut Sequence {
    sequences.entry(sequence).or_insert_with(|| Sequence { sequence, ..Sequence::default() })
}

fn keep(sequences: &mut BTreeMap<i64, Sequence>, line: Line) {
    match line {
        Line::Header(_) => {}
        Line::Prefill(prefill) => {
            let sequence = entry(sequences, prefill.sequence);
            sequence.prefill = Some(prefill);
        }
        Line::Step(step) => entry(sequences, step.sequence).steps.push(step),
        Line::Round(round) => entry(sequences, round.sequence).rounds.push(*round),
        Line::Footer(footer) => {
            let sequence = entry(sequences, footer.sequence);
            sequence.footer = Some(*footer);
        }
    }
}
