//! Why: a cache is only worth having if a damaged entry is noticed. Unpacking therefore writes down every
//! file with its size and digest, last of all, and an entry counts as whole only while they all agree.

use std::fmt::Write;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest, Sha256};

use crate::fetch::python_missing;
use crate::message::{about, tail, Failure, Outcome};

/// The list of files, kept in the entry itself: "sha256 size path", a line each.
const LIST: &str = ".exactness-files";

/// Unpacks a wheel in its own layout, since its libraries find each other by it.
pub fn archive(wheel: &Path, into: &Path) -> Outcome<()> {
    let told = Command::new("python3")
        .args(["-m", "zipfile", "-e"])
        .args([wheel, into])
        .output()
        .map_err(|error| python_missing(&error))?;
    if !told.status.success() {
        return Err(Failure::new(format!("cannot unpack {}:\n{}", wheel.display(), tail(&told.stderr, 2))));
    }
    let list = into.join(LIST);
    fs::write(&list, listing(into)?).map_err(|error| about("write", &list, error))
}

/// Whether the entry is there and every file in it is as it was unpacked.
pub fn is_whole(entry: &Path) -> bool {
    let Ok(list) = fs::read_to_string(entry.join(LIST)) else { return false };
    !list.is_empty() && list.lines().all(|line| agrees(entry, line))
}

/// The digest of a file in lower-case hexadecimal.
pub fn sha256_of(path: &Path) -> Outcome<String> {
    let mut file = File::open(path).map_err(|error| about("open", path, error))?;
    let mut digest = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        match file.read(&mut buffer).map_err(|error| about("read", path, error))? {
            0 => break,
            count => digest.update(&buffer[..count]),
        }
    }
    let mut text = String::new();
    for byte in digest.finalize() {
        write!(text, "{byte:02x}").map_err(|error| about("hash", path, error))?;
    }
    Ok(text)
}

fn agrees(entry: &Path, line: &str) -> bool {
    let mut parts = line.splitn(3, ' ');
    let (Some(sha256), Some(size), Some(path)) = (parts.next(), parts.next(), parts.next()) else {
        return false;
    };
    let file = entry.join(path);
    let Ok(found) = fs::metadata(&file) else { return false };
    found.len().to_string() == size && sha256_of(&file).is_ok_and(|digest| digest == sha256)
}

fn listing(folder: &Path) -> Outcome<String> {
    let mut files = Vec::new();
    collect(folder, &mut files).map_err(|error| about("list", folder, error))?;
    files.sort();
    let mut text = String::new();
    for file in files {
        let size = fs::metadata(&file).map_err(|error| about("read", &file, error))?.len();
        let path = file.strip_prefix(folder).map_err(|error| about("name", &file, error))?;
        let sha256 = sha256_of(&file)?;
        writeln!(text, "{sha256} {size} {}", path.display()).map_err(|error| about("list", &file, error))?;
    }
    Ok(text)
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}
