//! Records: the same data gives the same bytes, every number agrees with a count that is not ours, and nothing that a
//! file from elsewhere says can leave its place.

mod beheaded;
mod cause;
mod committed;
mod damaged;
mod forged;
mod hostile;
mod interrupted;
mod limits;
mod made;
mod nouns;
mod numbers;
mod pictured;
mod placed;
mod planted;
mod remedied;
mod tried;

use crate::kit::{Ran, exactness};
use std::fs;
use std::path::{Path, PathBuf};

/// A file or folder of the repository.
fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Writes a record of some data.
fn report(data: &Path, out: &Path) -> Ran {
    exactness([Path::new("report"), data, Path::new("--out"), out])
}

/// Checks a record.
fn check(out: &Path) -> Ran {
    exactness([Path::new("report"), Path::new("--check"), out])
}

/// A file of a record.
fn read(out: &Path, name: &str) -> String {
    fs::read_to_string(out.join(name)).unwrap()
}

/// Copies a folder of data, links and folders in it left out.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    let mut copied = 0;
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
            copied += 1;
        }
    }
    assert!(copied > 0, "{} has no files", from.display());
}
