//! Rows of different sequences that met in one round.
//!
//! Two laws need them: a clamped window commits what its worst row accepts, and a leaked row is recognised by whose
//! choice it was. The rows may stand anywhere in the file, so both rows and questions wait here, a bounded number
//! of each; what falls out unanswered is not judged.

use super::laws::{Fault, Question};
use super::ledger::When;
use crate::transcript::{Round, TokenId};
use std::collections::{BTreeMap, VecDeque};

/// Rounds, and questions, that are kept waiting.
const CAPACITY: usize = 1 << 16;

/// What one sequence's rows did in one round.
#[derive(Debug)]
struct Rows {
    sequence: i64,
    walk: i64,
    target: Box<[TokenId]>,
}

/// A law's question to the other sequences.
#[derive(Debug)]
pub struct Asked {
    /// Who asks.
    pub sequence: i64,
    /// About which round.
    pub round: i64,
    /// When it was judged.
    pub when: When,
    /// What is asked.
    pub question: Question,
    /// The breach, if the answer makes it one.
    pub fault: Fault,
    /// Line of the file.
    pub line: Option<u64>,
    /// The round, for drawing.
    pub scene: Box<Round>,
}

/// How a question ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Another row explains it.
    Yes,
    /// No row does.
    No,
    /// The other rows were too far away in the file, or the run was cut before them.
    Unknown,
}

/// The waiting rows and questions of one arm.
#[derive(Debug, Default)]
pub struct Window {
    rows: BTreeMap<i64, Vec<Rows>>,
    order: VecDeque<i64>,
    asked: BTreeMap<i64, Vec<Asked>>,
    waiting: usize,
    forgot: bool,
}

impl Window {
    /// Adds a sequence's rows of a round; gives back the questions that they answer.
    pub fn add(&mut self, round: &Round, walk: i64) -> Vec<Asked> {
        let rows = Rows { sequence: round.sequence, walk, target: round.target.as_slice().into() };
        let asked = self.asked.get_mut(&round.round);
        let answered: Vec<Asked> = asked
            .map_or_else(Vec::new, |asked| asked.extract_if(.., |asked| answers(&rows, asked)).collect());
        self.waiting -= answered.len();
        self.rows.entry(round.round).or_default().push(rows);
        self.order.push_back(round.round);
        if self.order.len() > CAPACITY
            && let Some(oldest) = self.order.pop_front()
        {
            self.forget(oldest);
        }
        answered
    }

    /// Drops the rows of a round that were added first.
    fn forget(&mut self, round: i64) {
        self.forgot = true;
        let emptied = self.rows.get_mut(&round).is_some_and(|rows| {
            rows.remove(0);
            rows.is_empty()
        });
        if emptied {
            self.rows.remove(&round);
        }
    }

    /// Asks; a question without an answer yet is kept, unless too many are.
    pub fn ask(&mut self, asked: Asked) -> Option<(Asked, Answer)> {
        let known = self.rows.get(&asked.round);
        if known.is_some_and(|rows| rows.iter().any(|rows| answers(rows, &asked))) {
            return Some((asked, Answer::Yes));
        }
        if self.waiting >= CAPACITY {
            return Some((asked, Answer::Unknown));
        }
        self.waiting += 1;
        self.asked.entry(asked.round).or_default().push(asked);
        None
    }

    /// The questions that nothing answered. `complete`: every sequence was read to its footer.
    pub fn close(&mut self, complete: bool) -> Vec<(Asked, Answer)> {
        let answer = if complete && !self.forgot { Answer::No } else { Answer::Unknown };
        let asked = std::mem::take(&mut self.asked);
        asked.into_values().flatten().map(|asked| (asked, answer)).collect()
    }
}

fn answers(rows: &Rows, asked: &Asked) -> bool {
    if rows.sequence == asked.sequence {
        return false;
    }
    match &asked.question {
        Question::Clamped { accepted, .. } => rows.walk == *accepted,
        Question::Leaked { tokens } => tokens.iter().all(|(row, token)| rows.target.get(*row) == Some(token)),
    }
}
