//! From a command line's paths to the transcripts that it means.

use super::console;
use super::exit::Failure;
use crate::algebra::judgement::ArmJudgement;
use crate::results::bisect::TRAIL_FORMAT;
pub use crate::results::judging::{judge_input, judge_path};
use crate::results::sweep::journal;
use serde::Deserialize;
use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// The most bytes that the first line of another file of this program is looked for in.
const LONGEST_CLAIM: u64 = 1 << 20;

/// The files that the arguments name: a folder stands for its transcripts, however deep, in order of their paths. What
/// a bisect, a remedy or a sweep left beside them in lines of its own is passed over with a remark.
///
/// # Errors
/// When an argument is not there or a folder cannot be read.
pub fn transcripts(arguments: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    standard_input_once(arguments)?;
    let mut files = Vec::new();
    for argument in arguments {
        if argument.is_dir() {
            collect(argument, &mut files).map_err(|error| unavailable(argument, &error))?;
        } else if argument.as_os_str() == "-" || argument.exists() {
            files.push(argument.clone());
        } else {
            return Err(Failure::unavailable(format!("{}: no such file or folder", argument.display())));
        }
    }
    once(&mut files);
    Ok(files)
}

/// Judges a transcript; another file of this program is called by its name.
///
/// # Errors
/// When it cannot be read, or is no transcript.
pub fn judged(path: &Path) -> Result<ArmJudgement, Failure> {
    judge_path(path).map_err(|error| match other_kind(path) {
        Some(kind) => Failure::unparseable(format!("read {}: it is {kind}, no transcript", path.display())),
        None => Failure::from(error),
    })
}

/// A file that is named twice, or has a second name, is one run.
fn once(files: &mut Vec<PathBuf>) {
    let mut seen = BTreeSet::new();
    files.retain(|file| {
        let new = fs::canonicalize(file).map_or(true, |real| seen.insert(real));
        if !new {
            console::note(&format!("{}: named twice; judged once", file.display()));
        }
        new
    });
}

/// Standard input holds one transcript: a second reader of it would see an empty file.
///
/// # Errors
/// When `-` is named more than once.
pub fn standard_input_once<'a>(paths: impl IntoIterator<Item = &'a PathBuf>) -> Result<(), Failure> {
    let times = paths.into_iter().filter(|path| path.as_os_str() == "-").count();
    if times > 1 {
        return Err(Failure::usage("`-` is named twice; standard input holds one transcript"));
    }
    Ok(())
}

fn unavailable(path: &Path, error: &io::Error) -> Failure {
    Failure::unavailable(format!("read {}: {error}", path.display()))
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    paths.sort();
    for path in paths {
        let named = path.extension().is_some_and(|extension| extension == "jsonl");
        // A link to a folder above would never end.
        if path.is_dir() && !path.is_symlink() {
            collect(&path, files)?;
        } else if named && !path.is_file() {
            console::note(&format!("{}: neither a file nor a link to one; passed over", path.display()));
        } else if path.is_file() && named {
            match other_kind(&path) {
                Some(kind) => {
                    console::note(&format!("{}: {kind}, no transcript; passed over", path.display()));
                }
                None => files.push(path),
            }
        }
    }
    Ok(())
}

/// The key that tells this program's files of lines apart.
#[derive(Deserialize)]
struct Claim {
    format: String,
}

/// What else of this program a file is, by its first line. A pipe can be read once, and is for the judge.
fn other_kind(path: &Path) -> Option<&'static str> {
    if !path.is_file() {
        return None;
    }
    let mut first = Vec::new();
    let input = fs::File::open(path).ok()?;
    BufReader::new(input).take(LONGEST_CLAIM).read_until(b'\n', &mut first).ok()?;
    match serde_json::from_slice::<Claim>(&first).ok()?.format.as_str() {
        TRAIL_FORMAT => Some("a trail"),
        journal::FORMAT => Some("the journal of a sweep"),
        _ => None,
    }
}
