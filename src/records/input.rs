//! The files of an experiment: found under the given folders, named as the record names them, digested.
//!
//! Names are relative to the record, so that the same data gives the same bytes wherever the repository lies.

use super::error::RecordError;
use super::kind::{self, Kind};
use crate::transcript::digest::Digester;
use rayon::prelude::*;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Component, Path, PathBuf};

/// The most files of a record; more is a wrong folder, as `/`.
const MOST_FILES: usize = 10_000;

/// One file.
#[derive(Debug, Clone)]
pub struct Input {
    /// Relative to the record, with `/`.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
    /// What it is.
    pub kind: Kind,
    /// How long it is.
    pub bytes: u64,
    /// Its digest.
    pub sha256: String,
}

impl Input {
    /// Its name without its folder's.
    #[must_use]
    pub fn file_name(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or_default()
    }

    /// Its folder's name; `.` for the record's own.
    #[must_use]
    pub fn folder(&self) -> &str {
        folder_of(&self.name)
    }
}

/// The folder in a file's name; `.` for none.
#[must_use]
pub fn folder_of(name: &str) -> &str {
    name.rsplit_once('/').map_or(".", |(folder, _)| folder)
}

/// All files under `folders`, sorted by name, without what a record itself consists of.
///
/// # Errors
/// When a folder or a file cannot be read.
pub fn find(folders: &[PathBuf], record: &Path) -> Result<Vec<Input>, RecordError> {
    let mut paths = Vec::new();
    for folder in folders {
        let whole =
            fs::canonicalize(folder).map_err(|source| RecordError::Read { path: folder.clone(), source })?;
        walk(&whole, &mut paths)?;
    }
    let record = absolute(record)?;
    let named = paths.into_iter().map(|path| (relative(&path, &record), path));
    let mut named: Vec<(String, PathBuf)> = named.filter(|(name, _)| !is_output(name)).collect();
    named.sort();
    named.dedup();
    named.into_par_iter().map(|(name, path)| input(name, path)).collect()
}

/// Folders and files of data as a record names them.
///
/// # Errors
/// When one of them is not there.
pub fn names(folders: &[PathBuf], record: &Path) -> Result<Vec<String>, RecordError> {
    let record = absolute(record)?;
    let name = |folder: &PathBuf| {
        let whole = fs::canonicalize(folder);
        let whole = whole.map_err(|source| RecordError::Read { path: folder.clone(), source })?;
        let name = relative(&whole, &record);
        Ok(if name.is_empty() { ".".to_owned() } else { name })
    };
    folders.iter().map(name).collect()
}

/// Where data lies that a record names; the record's folder need not be there yet.
///
/// # Errors
/// When the current folder is gone.
pub fn located(names: &[String], record: &Path) -> Result<Vec<PathBuf>, RecordError> {
    let record = absolute(record)?;
    let place = |name: &String| {
        let mut path = record.clone();
        for part in Path::new(name).components() {
            match part {
                Component::ParentDir => drop(path.pop()),
                Component::Normal(part) => path.push(part),
                Component::RootDir => path = PathBuf::from("/"),
                Component::CurDir | Component::Prefix(_) => {}
            }
        }
        path
    };
    Ok(names.iter().map(place).collect())
}

/// Files of a record: they are made from the data and are none.
fn is_output(name: &str) -> bool {
    let own = super::OUTPUTS.contains(&name);
    own || super::PICTURES.contains(&name)
}

fn walk(path: &Path, found: &mut Vec<PathBuf>) -> Result<(), RecordError> {
    let refused = |source| RecordError::Read { path: path.to_owned(), source };
    if path.is_file() {
        found.push(path.to_owned());
        return Ok(());
    }
    let entries: io::Result<Vec<PathBuf>> =
        fs::read_dir(path).map_err(refused)?.map(|entry| Ok(entry?.path())).collect();
    for entry in entries.map_err(refused)? {
        // A link may lead above the folder, and to data that would not be committed with the record.
        let kind = fs::symlink_metadata(&entry)
            .map_err(|source| RecordError::Read { path: entry.clone(), source })?;
        if kind.is_dir() {
            walk(&entry, found)?;
        } else if kind.is_file() {
            found.push(entry);
        }
        if found.len() > MOST_FILES {
            return Err(RecordError::TooMany { folder: path.display().to_string(), most: MOST_FILES });
        }
    }
    Ok(())
}

fn input(name: String, path: PathBuf) -> Result<Input, RecordError> {
    let (bytes, sha256) = digest(&path).map_err(|source| RecordError::Read { path: path.clone(), source })?;
    Ok(Input { kind: kind::of(&path, bytes)?, name, path, bytes, sha256 })
}

/// Length and SHA-256 of a file of any size.
pub(super) fn digest(path: &Path) -> io::Result<(u64, String)> {
    let (mut file, mut digester, mut length) = (File::open(path)?, Digester::default(), 0);
    let mut buffer = vec![0; 1 << 16];
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            return Ok((length, digester.finish()));
        }
        digester.update(&buffer[..read]);
        length += read as u64;
    }
}

/// The path of a folder that need not exist, with links resolved as far as it does.
fn absolute(path: &Path) -> Result<PathBuf, RecordError> {
    let refused = |source| RecordError::Read { path: path.to_owned(), source };
    let whole = std::path::absolute(path).map_err(refused)?;
    let there = whole.ancestors().find_map(|part| Some((part, fs::canonicalize(part).ok()?)));
    Ok(there.map_or(whole.clone(), |(part, real)| match whole.strip_prefix(part) {
        Ok(rest) if rest.as_os_str().is_empty() => real,
        Ok(rest) => real.join(rest),
        Err(_) => whole.clone(),
    }))
}

/// The way from a folder to a file.
fn relative(path: &Path, from: &Path) -> String {
    let (left, right): (Vec<Component<'_>>, Vec<Component<'_>>) =
        (path.components().collect(), from.components().collect());
    let common = left.iter().zip(&right).take_while(|(a, b)| a == b).count();
    let up = right[common..].iter().map(|_| "..".to_owned());
    let down = left[common..].iter().map(|part| part.as_os_str().to_string_lossy().into_owned());
    up.chain(down).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::relative;
    use std::path::Path;

    #[test]
    fn names_lead_from_the_record_to_the_file() {
        let name = |path: &str, from: &str| relative(Path::new(path), Path::new(from));
        assert_eq!(name("/r/reports/a/data/w4.jsonl", "/r/reports/a"), "data/w4.jsonl");
        assert_eq!(name("/r/transcripts/w4.jsonl", "/r/reports/a"), "../../transcripts/w4.jsonl");
    }
}
