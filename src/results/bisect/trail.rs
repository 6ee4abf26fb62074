//! The trail: a header line, then one line an answer, in the order of the questions.
//!
//! Each answer carries a digest of itself and of the line before, so that a trail that was edited, or put together from
//! two, is refused instead of believed. A bisect that is stopped leaves whole lines and perhaps the beginning of one, which counts as not written; started
//! again with the same question it goes on after the last whole line.

use crate::transcript::digest::sha256;
use crate::transcript::said::in_line;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What the first line's `format` says.
pub const FORMAT: &str = "exactness.trail";
/// The version that this program reads and writes.
const VERSION: u32 = 1;

/// A trail cannot be read, or is another question's. Each text fits after the file's name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TrailError {
    /// Another file.
    #[error("it is no trail: its first line does not say \"format\":\"{FORMAT}\"")]
    Foreign,
    /// From a later program.
    #[error("the trail has version {0} and this program reads version {VERSION}; a later exactness reads it")]
    Newer(u64),
    /// From no program.
    #[error("the trail has version 0, and versions count from 1")]
    Zero,
    /// A line that is not one of the format.
    #[error("line {line}: {says}")]
    Line {
        /// 1-based.
        line: usize,
        /// What is wrong.
        says: String,
    },
    /// An answer that was changed after it was written.
    #[error("line {0}: its digest is not that of its answer after the lines before it: the trail was edited")]
    Edited(usize),
    /// The answers of another question.
    #[error(
        "its {part} is another one ({says}), and a trail goes on with its own question only; choose another --out"
    )]
    Other {
        /// The part of what it is about.
        part: &'static str,
        /// What differs there.
        says: String,
    },
}

/// What a trail is about: another model, machine or question has another trail.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Key {
    /// The model's name.
    pub model: String,
    /// Digest of its weights.
    pub digest: String,
    /// Digest of the weights on the block's side, where they are others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_digest: Option<String>,
    /// Dtype of activations.
    pub dtype: String,
    /// Library, version and device.
    pub machine: String,
    /// The program's version.
    pub program: String,
    /// What is asked: every setting that changes an answer.
    pub question: String,
}

impl Key {
    /// The weights on both sides. A name says nothing of them.
    fn weights(&self) -> String {
        let block = self.block_digest.iter().map(|digest| format!(", blocks with digest {digest}"));
        format!("digest {}{}", self.digest, block.collect::<String>())
    }
}

/// In what two lists of settings differ: `seed 1 there, seed 9 now`.
fn parting(there: &str, now: &str) -> String {
    let list = |text: &'_ str| -> Vec<String> { text.split(", ").map(str::to_owned).collect() };
    let (mut there, mut now) = (list(there), list(now));
    let start = there.iter().zip(&now).take_while(|(left, right)| left == right).count();
    there.drain(..start);
    now.drain(..start);
    while !there.is_empty() && there.last() == now.last() {
        there.pop();
        now.pop();
    }
    let pair = |there: &str, now: &str| format!("{there} there, {now} now");
    if there.len() == now.len() {
        let other = there.iter().zip(&now).filter(|(left, right)| left != right);
        return other.map(|(left, right)| pair(left, right)).collect::<Vec<_>>().join("; ");
    }
    let said = |parts: &[String]| if parts.is_empty() { "nothing".to_owned() } else { parts.join(", ") };
    pair(&said(&there), &said(&now))
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    format: String,
    version: u32,
    key: Key,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    step: String,
    answer: Value,
    /// SHA-256 of the line before's digest, the step and the answer; for the first answer, the header's text.
    sha256: String,
}

/// A trail in memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Trail {
    /// What it is about.
    pub key: Key,
    answers: Vec<(String, Value)>,
    /// Digest of the last line.
    last: String,
}

impl Trail {
    /// What its file is called.
    pub const FILE: &str = "trail.jsonl";

    /// A trail without answers.
    #[must_use]
    pub fn new(key: Key) -> Self {
        let mut trail = Self { key, answers: Vec::new(), last: String::new() };
        // A key is text, so its header can be written.
        trail.last = sha256(trail.header_line().unwrap_or_default().as_bytes());
        trail
    }

    /// What the next line's digest is to be.
    fn next(&self, step: &str, answer: &Value) -> String {
        sha256(format!("{} {step} {answer}", self.last).as_bytes())
    }

    /// Reads a trail's bytes up to the last whole line; gives it with the length of those lines, or nothing where not
    /// even the header is whole.
    ///
    /// # Errors
    /// When the bytes are those of another file or of a newer version, or a whole line is wrong.
    pub fn parse(bytes: &[u8]) -> Result<Option<(Self, u64)>, TrailError> {
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
        let mut lines = bytes[..whole].split_inclusive(|byte| *byte == b'\n');
        let Some(first) = lines.next() else {
            let start = format!("{{\"format\":\"{FORMAT}\"");
            let common = bytes.len().min(start.len());
            let begun = bytes[..common] == start.as_bytes()[..common];
            return if begun { Ok(None) } else { Err(TrailError::Foreign) };
        };
        let mut trail = Self::new(header(first)?.key);
        for (index, line) in lines.enumerate() {
            let wrong =
                |error: serde_json::Error| TrailError::Line { line: index + 2, says: in_line(&error) };
            let entry: Entry = serde_json::from_slice(line).map_err(wrong)?;
            if entry.sha256 != trail.next(&entry.step, &entry.answer) {
                return Err(TrailError::Edited(index + 2));
            }
            trail.last = entry.sha256;
            trail.answers.push((entry.step, entry.answer));
        }
        Ok(Some((trail, whole as u64)))
    }

    /// Refuses to go on with another question.
    ///
    /// # Errors
    /// Naming the first part of the key that differs.
    pub fn check(&self, key: &Key) -> Result<(), TrailError> {
        let parts = [
            ("model", Key::weights as fn(&Key) -> String),
            ("dtype", |key| key.dtype.clone()),
            ("machine", |key| key.machine.clone()),
            ("program", |key| key.program.clone()),
            ("question", |key| key.question.clone()),
        ];
        let other = parts.into_iter().find(|(_, of)| of(&self.key) != of(key));
        other.map_or(Ok(()), |(part, of)| {
            Err(TrailError::Other { part, says: parting(&of(&self.key), &of(key)) })
        })
    }

    /// The answer to a step, where it is known and can be read as `T`.
    #[must_use]
    pub fn answer<T: DeserializeOwned>(&self, step: &str) -> Option<T> {
        let (_, answer) = self.answers.iter().find(|(name, _)| name == step)?;
        serde_json::from_value(answer.clone()).ok()
    }

    /// Adds an answer and gives its line.
    ///
    /// # Errors
    /// When it cannot be written as JSON, as a number that is not finite.
    pub fn add(&mut self, step: &str, answer: &impl Serialize) -> Result<String, serde_json::Error> {
        let answer = serde_json::to_value(answer)?;
        let sha256 = self.next(step, &answer);
        let entry = Entry { step: step.to_owned(), answer, sha256 };
        let line = serde_json::to_string(&entry)? + "\n";
        self.last = entry.sha256;
        self.answers.push((entry.step, entry.answer));
        Ok(line)
    }

    /// The first line of the file.
    ///
    /// # Errors
    /// Never in practice: the key is text.
    pub fn header_line(&self) -> Result<String, serde_json::Error> {
        let header = Header { format: FORMAT.to_owned(), version: VERSION, key: self.key.clone() };
        Ok(serde_json::to_string(&header)? + "\n")
    }

    /// What it is about.
    #[must_use]
    pub const fn key(&self) -> &Key {
        &self.key
    }

    /// Names of the answered steps, in order.
    pub fn steps(&self) -> impl Iterator<Item = &str> {
        self.answers.iter().map(|(step, _)| step.as_str())
    }
}

fn header(line: &[u8]) -> Result<Header, TrailError> {
    let value: Value = serde_json::from_slice(line).map_err(|_| TrailError::Foreign)?;
    if value["format"] != FORMAT {
        return Err(TrailError::Foreign);
    }
    match value["version"].as_u64() {
        Some(0) => Err(TrailError::Zero),
        Some(version) if version > u64::from(VERSION) => Err(TrailError::Newer(version)),
        _ => {
            serde_json::from_value(value).map_err(|error| TrailError::Line { line: 1, says: in_line(&error) })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Key, Trail, TrailError};

    fn key() -> Key {
        let text = |text: &str| text.to_owned();
        Key {
            model: text("tiny"),
            digest: text("00ff"),
            block_digest: None,
            dtype: text("f32"),
            machine: text("mlx-cpu 0.32.4"),
            program: text("0.1.0"),
            question: text("width 4"),
        }
    }

    fn written() -> String {
        let mut trail = Trail::new(key());
        let mut text = trail.header_line().unwrap();
        text += &trail.add("rows", &(1, 2)).unwrap();
        text + &trail.add("kernel", &"qmv").unwrap()
    }

    #[test]
    fn a_trail_that_is_cut_anywhere_is_the_trail_of_an_earlier_moment() {
        let text = written();
        let ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at + 1).collect();
        for cut in 0..=text.len() {
            let whole = ends.iter().filter(|end| **end <= cut).count();
            let read = Trail::parse(&text.as_bytes()[..cut]).unwrap();
            match read {
                None => assert_eq!(whole, 0, "{cut}"),
                Some((trail, length)) => {
                    assert_eq!((trail.steps().count() + 1, length), (whole, ends[whole - 1] as u64));
                }
            }
        }
    }

    #[test]
    fn answers_come_back_by_their_step() {
        let (trail, _) = Trail::parse(written().as_bytes()).unwrap().unwrap();
        assert_eq!(trail.answer::<(u32, u32)>("rows"), Some((1, 2)));
        assert_eq!(trail.answer::<String>("kernel"), Some("qmv".to_owned()));
        assert_eq!(trail.answer::<String>("rows"), None);
        assert_eq!(trail.answer::<String>("layers"), None);
    }

    #[test]
    fn other_files_and_other_questions_are_refused() {
        let refused = |text: &str| Trail::parse(text.as_bytes()).unwrap_err().to_string();
        assert!(refused("hello\n").starts_with("it is no trail"));
        assert!(refused("{}").starts_with("it is no trail"));
        let newer = written().replace("\"version\":1", "\"version\":9");
        insta::assert_snapshot!(refused(&newer), @"the trail has version 9 and this program reads version 1; a later exactness reads it");
        let zero = written().replace("\"version\":1", "\"version\":0");
        assert_eq!(Trail::parse(zero.as_bytes()), Err(TrailError::Zero));
        let wrong = written().replace("\"step\":\"kernel\"", "\"stop\":\"kernel\"");
        insta::assert_snapshot!(refused(&wrong), @"line 3: unknown field `stop`, expected one of `step`, `answer`, `sha256` at column 7");
        let edited = written().replace("[1,2]", "[1,3]");
        assert_eq!(Trail::parse(edited.as_bytes()), Err(TrailError::Edited(2)));
        let lines: Vec<String> = written().lines().map(|line| format!("{line}\n")).collect();
        let left_out = format!("{}{}", lines[0], lines[2]);
        assert_eq!(Trail::parse(left_out.as_bytes()), Err(TrailError::Edited(2)));
    }

    #[test]
    fn another_question_is_refused_by_the_part_that_differs() {
        let asked = |question: &str| Key { question: question.to_owned(), ..key() };
        let check = |old: &Key, new: &Key| Trail::new(old.clone()).check(new).unwrap_err().to_string();
        let old = asked("remedy of linear=rows,rope=rows, 4 past 5 ids, seed 1, prompts ab");
        let refused = |new: &str| check(&old, &asked(new));
        insta::assert_snapshot!(refused("remedy of linear=rows,rope=rows, 4 past 5 ids, seed 9, prompts ab"), @"its question is another one (seed 1 there, seed 9 now), and a trail goes on with its own question only; choose another --out");
        let more = refused("remedy of linear=rows,rope=rows, 4 past 5 ids, seed 1, prompts ab, states");
        assert!(more.contains("(nothing there, states now)"), "{more}");
        let two = refused("remedy of linear=rows, 4 past 5 ids, seed 1, prompts cd");
        let says = "(remedy of linear=rows,rope=rows there, remedy of linear=rows now; prompts ab there, prompts cd now)";
        assert!(two.contains(says), "{two}");
        let weights = check(&key(), &Key { digest: "11ee".to_owned(), ..key() });
        assert!(
            weights.contains("its model is another one (digest 00ff there, digest 11ee now)"),
            "{weights}"
        );
        let block = check(&key(), &Key { block_digest: Some("22dd".to_owned()), ..key() });
        assert!(block.contains("(nothing there, blocks with digest 22dd now)"), "{block}");
        assert_eq!(Trail::new(key()).check(&key()), Ok(()));
    }
}
