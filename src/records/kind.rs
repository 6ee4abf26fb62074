//! What a file is, told from its content: whoever collects the data of an experiment names files as he likes.
//!
//! A new kind of result gets a variant here, a reader in `gather`, and a section in `page`.

use super::error::RecordError;
use crate::results::bisect::Trail;
use crate::transcript::read::LONGEST_LINE;
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;

/// The most bytes of a stored JSON result.
pub(super) const LARGEST_RESULT: u64 = 64 << 20;

/// What a record is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A recorded run.
    Transcript,
    /// `compare` or `check-algebra` as JSON.
    Judgement,
    /// What `run-arm --format json` printed; its transcripts say more.
    Experiment,
    /// `bench.json`.
    Bench,
    /// A sweep's journal.
    Sweep,
    /// `op-parity` as JSON.
    Parity,
    /// `op-parity` as CSV.
    ParityTable,
    /// `probe` as JSON.
    Probe,
    /// `bisect.json`.
    Bisect,
    /// The trail of a bisect or a remedy, whose answers stand in the result beside it too.
    Trail,
    /// `remedy.json`.
    Remedy,
    /// The trail of a remedy that was stopped: there is no result beside it.
    Interrupted,
    /// A trail that has lost its beginning.
    Unreadable,
    /// A run or a timing of a remedy.
    Unjudged,
    /// Anything else.
    Other,
}

impl Kind {
    /// The word of the data index.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Transcript => "transcript",
            Self::Judgement => "comparison",
            Self::Experiment => "experiment (its transcripts are read)",
            Self::Bench => "bench",
            Self::Sweep => "sweep",
            Self::Parity | Self::ParityTable => "op parity",
            Self::Probe => "probe",
            Self::Bisect => "bisect",
            Self::Trail => "trail (not read: results are)",
            Self::Remedy => "remedy",
            Self::Interrupted => "trail of an interrupted remedy",
            Self::Unreadable => "trail that cannot be read",
            Self::Unjudged => "transcript of a remedy (told by its result or trail)",
            Self::Other => "not read",
        }
    }

    /// Whether a section is made of it.
    #[must_use]
    pub const fn is_read(self) -> bool {
        !matches!(self, Self::Experiment | Self::Trail | Self::Unjudged | Self::Other)
    }
}

/// The keys that tell results apart.
#[derive(Debug, Default, Deserialize)]
struct Claim {
    format: Option<String>,
    #[serde(rename = "type")]
    line: Option<String>,
    arms: Option<IgnoredAny>,
    patterns: Option<IgnoredAny>,
    floor: Option<IgnoredAny>,
    experiment: Option<IgnoredAny>,
    outcomes: Option<IgnoredAny>,
    lines: Option<IgnoredAny>,
    controls: Option<IgnoredAny>,
    widths: Option<IgnoredAny>,
    planted: Option<IgnoredAny>,
    class: Option<IgnoredAny>,
    question: Option<IgnoredAny>,
    requested: Option<IgnoredAny>,
    ending: Option<IgnoredAny>,
    step: Option<IgnoredAny>,
    answer: Option<IgnoredAny>,
}

/// The header line of `op-parity`'s CSV.
const PARITY_CSV: &[u8] =
    b"operation,route,dtype,mode,shape,at,rows tried,parts at,bytes,values,ulp,predicted,and";
/// Types of a transcript's lines.
const LINES: [&str; 5] = ["header", "prefill", "step", "round", "footer"];

/// Looks into a file.
///
/// # Errors
/// When the system refuses.
pub fn of(path: &Path, bytes: u64) -> Result<Kind, RecordError> {
    let refused = |source| RecordError::Read { path: path.to_owned(), source };
    let mut input = BufReader::new(File::open(path).map_err(refused)?);
    let mut first = Vec::new();
    input.by_ref().take(LONGEST_LINE as u64).read_until(b'\n', &mut first).map_err(refused)?;
    if first.trim_ascii_end() == PARITY_CSV {
        return Ok(Kind::ParityTable);
    }
    let lines = path.extension().is_some_and(|extension| extension == "jsonl");
    if !lines && first.trim_ascii_start().first() != Some(&b'{') {
        return Ok(Kind::Other);
    }
    // A trail of which the beginning is lost is told by its name alone.
    let trail = path.file_name().is_some_and(|name| name == Trail::FILE);
    if let Ok(claim) = serde_json::from_slice::<Claim>(&first) {
        return Ok(if trail && claim.kind() == Kind::Other { Kind::Trail } else { claim.kind() });
    }
    if trail {
        return Ok(Kind::Trail);
    }
    if lines {
        // A run that was cut in its first line, or a line that is wrong: the reader says which.
        return Ok(Kind::Transcript);
    }
    if bytes > LARGEST_RESULT {
        return Ok(Kind::Other);
    }
    let mut rest = first;
    input.read_to_end(&mut rest).map_err(refused)?;
    Ok(serde_json::from_slice::<Claim>(&rest).map_or(Kind::Other, |claim| claim.kind()))
}

impl Claim {
    fn kind(&self) -> Kind {
        match self.format.as_deref() {
            Some(crate::transcript::format::FORMAT) => return Kind::Transcript,
            Some(crate::results::sweep::journal::FORMAT) => return Kind::Sweep,
            Some(crate::results::bisect::TRAIL_FORMAT) => return Kind::Trail,
            _ => {}
        }
        if self.line.as_deref().is_some_and(|line| LINES.contains(&line)) {
            return Kind::Transcript;
        }
        let there = |keys: &[&Option<IgnoredAny>]| keys.iter().all(|key| key.is_some());
        if there(&[&self.step, &self.answer]) {
            // Its header was the line before.
            return Kind::Trail;
        }
        if there(&[&self.floor, &self.experiment]) {
            return Kind::Bench;
        }
        if there(&[&self.outcomes]) {
            return Kind::Experiment;
        }
        if there(&[&self.lines, &self.controls]) {
            return Kind::Parity;
        }
        if there(&[&self.ending, &self.requested, &self.widths]) {
            return Kind::Remedy;
        }
        if there(&[&self.widths, &self.planted]) {
            return Kind::Probe;
        }
        if there(&[&self.class, &self.question]) {
            return Kind::Bisect;
        }
        if there(&[&self.arms, &self.patterns]) { Kind::Judgement } else { Kind::Other }
    }
}

#[cfg(test)]
mod tests {
    use super::{Kind, of};

    #[test]
    fn content_decides_and_not_the_name() {
        let folder = tempfile::tempdir().unwrap();
        let kind = |name: &str, text: &str| {
            let path = folder.path().join(name);
            crate::transcript::files::write_whole(&path, text.as_bytes()).unwrap();
            of(&path, text.len() as u64).unwrap()
        };
        assert_eq!(kind("a.txt", "{\"format\":\"exactness.transcript\",\"version\":1}\n"), Kind::Transcript);
        assert_eq!(kind("b.jsonl", "{\"type\":\"round\"}\n{}"), Kind::Transcript);
        assert_eq!(kind("c.jsonl", "{\"format\":\"exact"), Kind::Transcript, "cut in its header");
        assert_eq!(kind("d.json", "{\n \"arms\": [],\n \"patterns\": []\n}"), Kind::Judgement);
        assert_eq!(kind("e.json", "{\"floor\": 0, \"experiment\": {}, \"arms\": []}"), Kind::Bench);
        assert_eq!(kind("f.jsonl", "{\"format\":\"exactness-sweep\",\"version\":1}\n"), Kind::Sweep);
        let remedy = "{\"version\":1,\"ending\":\"exact\",\"requested\":\"\",\"planted\":[],\"widths\":[]}";
        assert_eq!(kind("g.json", remedy), Kind::Remedy, "a probe has no ending");
        assert_eq!(kind("h.json", "{\"planted\":[],\"widths\":[]}"), Kind::Probe);
        assert_eq!(
            kind("i.jsonl", "{\"step\":\"rows\",\"answer\":1,\"sha256\":\"\"}\n"),
            Kind::Trail,
            "no header"
        );
        assert_eq!(kind("trail.jsonl", "\0\0\0\n"), Kind::Trail, "its name alone is left");
        assert_eq!(kind("prompts.jsonl", "{\"text\":\"x\"}\n"), Kind::Other);
        assert_eq!(kind("ids.json", "[1, 2]"), Kind::Other);
        assert_eq!(kind("log.txt", "{ not json"), Kind::Other);
        assert_eq!(kind("empty", ""), Kind::Other);
    }
}
