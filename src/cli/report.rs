//! `exactness report`: a record of an experiment from its stored data, and whether a record is still what its data gives.

use super::console;
use super::exit::Failure;
use crate::algebra::Verdict;
use crate::algebra::verdict::worst;
use crate::records::{self, RecordError, Settings};
use crate::results::counted;
use crate::transcript::ReadError;
use std::path::{Path, PathBuf};

/// Writes a record from stored data: markdown, CSV, pictures and one HTML page.
///
/// Transcripts, stored comparisons, bench, bisect, remedy, sweep, probe and op-parity results are found by their content
/// and judged anew. The exit code says whether the record could be written or, with --check, is what its data gives;
/// what the data shows stands in the record's title line.
#[derive(Debug, clap::Args)]
pub struct Report {
    /// Folders or files of data; with --check and without --out, records. Default: the data of the record in --out.
    #[arg(value_name = "DIR")]
    data: Vec<PathBuf>,
    /// Folder of the record.
    #[arg(long, value_name = "DIR", required_unless_present = "check")]
    out: Option<PathBuf>,
    /// The record's name; default: that of its folder.
    #[arg(long, value_name = "TEXT", conflicts_with = "check", value_parser = said)]
    title: Option<String>,
    /// What was asked.
    #[arg(long, value_name = "TEXT", conflicts_with = "check", value_parser = said)]
    question: Option<String>,
    /// A remark that stands among the limits; may be repeated.
    #[arg(long = "note", value_name = "TEXT", conflicts_with = "check", value_parser = said)]
    notes: Vec<String>,
    /// A command line that made data which does not record its own, as an import; may be repeated.
    #[arg(long = "made-by", value_name = "COMMAND", conflicts_with = "check", value_parser = said)]
    commands: Vec<String>,
    /// A command line that has to come before all others of the Repeat block, as one that puts a file in its place or
    /// makes a model; may be repeated. $REPOSITORY is a clone of the program.
    #[arg(long = "setup", value_name = "COMMAND", conflicts_with = "check", value_parser = said)]
    setup: Vec<String>,
    /// Make the record again in memory and name what differs from what is there.
    #[arg(long)]
    check: bool,
}

impl Report {
    /// Runs the verb.
    ///
    /// # Errors
    /// When data cannot be read, or the record cannot be written.
    pub fn run(self) -> anyhow::Result<u8> {
        match (self.check, &self.out) {
            (true, None) => self.check_all(),
            (true, Some(out)) => self.check_one(out),
            (false, Some(out)) => self.write(out),
            // Refused by clap.
            (false, None) => Err(Failure::usage("say --out DIR").into()),
        }
    }

    fn write(&self, out: &Path) -> anyhow::Result<u8> {
        let settings = self.settings(out)?;
        let made = records::make(&settings, out).map_err(Failure::from)?;
        records::write(&made, out).map_err(Failure::from)?;
        let files: Vec<&str> = made.files.iter().map(|(name, _)| name.as_str()).collect();
        console::out(&format!("{}: {}", settings.title, made.verdict));
        console::out(&format!(
            "made of {}, written to {}: {}",
            counted(made.inputs, "file"),
            out.display(),
            files.join(", ")
        ));
        Ok(0)
    }

    /// What the author says now, else what he said when the record was made.
    fn settings(&self, out: &Path) -> Result<Settings, Failure> {
        let before = records::stored(out)?.unwrap_or_default();
        let name = || {
            let whole = std::path::absolute(out).ok();
            let name =
                whole.as_deref().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
            name.unwrap_or_else(|| "record".to_owned())
        };
        let kept = Some(before.title).filter(|title| !title.is_empty());
        let inputs = if self.data.is_empty() { before.inputs } else { records::names(&self.data, out)? };
        if inputs.is_empty() {
            return Err(Failure::usage(format!("say which data the record in {} is made of", out.display())));
        }
        Ok(Settings {
            title: self.title.clone().or(kept).unwrap_or_else(name),
            question: self.question.clone().or(before.question),
            notes: if self.notes.is_empty() { before.notes } else { self.notes.clone() },
            commands: if self.commands.is_empty() { before.commands } else { self.commands.clone() },
            setup: if self.setup.is_empty() { before.setup } else { self.setup.clone() },
            inputs,
        })
    }

    fn check_all(&self) -> anyhow::Result<u8> {
        if self.data.is_empty() {
            return Err(Failure::usage("say which records to check").into());
        }
        let codes: Vec<u8> = self.data.iter().map(|record| one(record)).collect();
        Ok(worst(codes))
    }

    /// The record in `out`, of the data that it says or that is said here.
    fn check_one(&self, out: &Path) -> anyhow::Result<u8> {
        if self.data.is_empty() {
            return Ok(one(out));
        }
        let (there, named) = (records::stored(out)?, records::names(&self.data, out)?);
        let there = there.map(|one| one.inputs);
        if there.as_ref() == Some(&named) {
            return Ok(one(out));
        }
        console::out(&format!(
            "{}: it is made of {}, and {} was named",
            out.display(),
            there.unwrap_or_default().join(", "),
            named.join(", ")
        ));
        Ok(1)
    }
}

/// What an author says stands in one line of the record, and a command line in one of its Repeat block.
fn said(text: &str) -> Result<String, &'static str> {
    if text.trim().is_empty() {
        return Err("it is empty");
    }
    if text.contains(char::is_control) {
        return Err("it has a line end or another control character; give one line");
    }
    Ok(text.to_owned())
}

/// Checks one record and says what it found.
fn one(record: &Path) -> u8 {
    match records::check::check(record).map_err(Failure::from) {
        Ok(says) if says.is_empty() => {
            console::out(&format!("{}: is what its data gives", record.display()));
            0
        }
        Ok(says) => {
            for line in &says {
                console::out(&format!("{}: {line}", record.display()));
            }
            1
        }
        Err(failure) => {
            let code = failure.code;
            console::error(&failure.into());
            code
        }
    }
}

impl From<RecordError> for Failure {
    fn from(error: RecordError) -> Self {
        let says = format!("failed to {error}");
        match error {
            RecordError::Transcript(ReadError::Headless { .. })
            | RecordError::Nothing(_)
            | RecordError::Unfinished(_) => Self { code: Verdict::NotRun.exit_code(), says },
            RecordError::Transcript(ReadError::Io { .. })
            | RecordError::Read { .. }
            | RecordError::Write(_)
            | RecordError::Foreign { .. }
            | RecordError::TooMany { .. } => Self::unavailable(says),
            RecordError::Transcript(ReadError::Line { .. })
            | RecordError::Kept(_)
            | RecordError::Result { .. } => Self::unparseable(says),
            RecordError::Template(_) | RecordError::Form(_) => Self { code: super::exit::BUG, says },
        }
    }
}
