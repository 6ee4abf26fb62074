//! From a command line's paths to the transcripts that it means.

use super::exit::Failure;
pub use crate::results::judging::{judge_input, judge_path};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// The files that the arguments name: a folder stands for its transcripts, however deep, in order of their paths.
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
    Ok(files)
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
        // A link to a folder above would never end.
        if path.is_dir() && !path.is_symlink() {
            collect(&path, files)?;
        } else if path.is_file() && path.extension().is_some_and(|extension| extension == "jsonl") {
            files.push(path);
        }
    }
    Ok(())
}
