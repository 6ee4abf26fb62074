//! Verdicts on disk, and the routes that a remedy chose: read once at the start, written whole, and never believed when
//! anything about the file is odd.
//!
//! The file carries a digest of its verdicts, so that a changed digit is not a longer cover. What cannot be read counts
//! as absent, with one line that says so; a file of a newer version is left as it is, any other is put aside.

use crate::results::probe::{Key, Outcome, Probed};
use crate::results::remedy::Choice;
use crate::transcript::digest::sha256;
use crate::transcript::files::{WriteError, put_aside, write_whole};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// The format's name.
const FORMAT: &str = "exactness.verdicts";
/// The version that is written, and the only one that is read.
pub const MEMO_VERSION: u64 = 3;

/// Verdicts by what they are about.
#[derive(Debug, Clone, Default)]
pub struct Memo {
    path: Option<PathBuf>,
    verdicts: BTreeMap<Key, Vec<Probed>>,
    choices: BTreeMap<Key, Choice>,
    /// A file of a newer version lies there.
    newer: bool,
    /// A file lies there that is not used.
    unused: bool,
}

/// The file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    format: String,
    version: u64,
    sha256: String,
    verdicts: Vec<(Key, Vec<Probed>)>,
    /// Routes by what they were chosen for; the key's own routes say `auto`.
    choices: Vec<(Key, Choice)>,
}

/// What a file holds.
type Held = (BTreeMap<Key, Vec<Probed>>, BTreeMap<Key, Choice>);

/// What any version's file begins with.
#[derive(Deserialize)]
struct Head {
    format: String,
    version: u64,
}

impl Memo {
    /// Verdicts that no file keeps.
    #[must_use]
    pub fn in_memory() -> Self {
        Self::default()
    }

    /// Reads `path`; the second value is the line to show when what lies there is not used.
    #[must_use]
    pub fn load(path: &Path) -> (Self, Option<String>) {
        let empty = Self { path: Some(path.to_owned()), ..Self::default() };
        let unused = |says: String| format!("warning: verdicts in {} are not used: {says}", path.display());
        let text = match std::fs::read(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return (empty, None),
            Err(error) => return (empty, Some(unused(error.to_string()))),
        };
        match parse(&text) {
            Ok((verdicts, choices)) => (Self { verdicts, choices, ..empty }, None),
            Err((newer, says)) => {
                let aside = if newer { "" } else { "; it is put aside when new ones are kept" };
                (Self { newer, unused: true, ..empty }, Some(unused(says + aside)))
            }
        }
    }

    /// Everything known of a key.
    #[must_use]
    pub fn verdicts(&self, key: &Key) -> &[Probed] {
        self.verdicts.get(key).map_or(&[], Vec::as_slice)
    }

    /// Positions that equal verdicts are about, by their start.
    #[must_use]
    pub fn equal_spans(&self, key: &Key) -> Vec<(u64, u64)> {
        let equal = |one: &&Probed| matches!(one.outcome, Outcome::Equal { .. }) && one.every_row;
        let mut spans: Vec<(u64, u64)> =
            self.verdicts(key).iter().filter(equal).filter_map(|one| one.covered).collect();
        spans.sort_unstable();
        spans
    }

    /// Adds a verdict, in place of an earlier one about the same positions and inputs: what differed on other inputs
    /// still differs. A probe that did not put every position at
    /// every row may say that bytes differ, never that they do not: its equal verdict is not kept.
    pub fn remember(&mut self, key: Key, probed: Probed) {
        if matches!(probed.outcome, Outcome::Equal { .. }) && !probed.every_row {
            return;
        }
        let known = self.verdicts.entry(key).or_default();
        known.retain(|one| (one.covered, &one.seeds) != (probed.covered, &probed.seeds));
        known.push(probed);
    }

    /// The routes that were chosen for a key whose own routes say `auto`.
    #[must_use]
    pub fn choice(&self, key: &Key) -> Option<&Choice> {
        self.choices.get(key)
    }

    /// Keeps the routes chosen for a key, in place of earlier ones.
    pub fn choose(&mut self, key: Key, choice: Choice) {
        self.choices.insert(key, choice);
    }

    /// Writes all verdicts and choices, together with those that were written meanwhile about other keys.
    ///
    /// # Errors
    /// When the file cannot be written, or is of a newer version. One that is not used for another reason is put aside.
    pub fn save(&self) -> Result<(), WriteError> {
        let Some(path) = &self.path else { return Ok(()) };
        let (there, _) = Self::load(path);
        if self.newer || there.newer {
            let source = io::Error::other("a newer exactness wrote it; choose another --memo");
            return Err(WriteError { path: path.clone(), source });
        }
        if there.unused {
            put_aside(path)?;
        }
        let (mut all, mut choices) = (there.verdicts, there.choices);
        all.extend(self.verdicts.clone());
        choices.extend(self.choices.clone());
        let file = |source: serde_json::Error| WriteError { path: path.clone(), source: source.into() };
        let verdicts: Vec<(Key, Vec<Probed>)> = all.into_iter().collect();
        let choices: Vec<(Key, Choice)> = choices.into_iter().collect();
        let sha256 = digest(&(&verdicts, &choices)).map_err(file)?;
        let whole = File { format: FORMAT.to_owned(), version: MEMO_VERSION, sha256, verdicts, choices };
        write_whole(path, &serde_json::to_vec(&whole).map_err(file)?)
    }
}

fn digest(held: &impl Serialize) -> serde_json::Result<String> {
    Ok(sha256(&serde_json::to_vec(held)?))
}

/// What it holds, or why not; the flag says that the file is of a newer version.
fn parse(text: &[u8]) -> Result<Held, (bool, String)> {
    let damaged = |error: serde_json::Error| (false, format!("the file is damaged: {error}"));
    let head: Head = serde_json::from_slice(text).map_err(damaged)?;
    if head.format != FORMAT {
        return Err((false, format!("it is no {FORMAT} file")));
    }
    if head.version != MEMO_VERSION {
        let says = format!("version {} of the format, this program reads {MEMO_VERSION}", head.version);
        return Err((head.version > MEMO_VERSION, says));
    }
    let file: File = serde_json::from_slice(text).map_err(damaged)?;
    if digest(&(&file.verdicts, &file.choices)).map_err(damaged)? != file.sha256 {
        return Err((false, "the file is damaged: its digest does not fit".to_owned()));
    }
    Ok((file.verdicts.into_iter().collect(), file.choices.into_iter().collect()))
}
