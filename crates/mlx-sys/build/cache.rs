//! Why: a download must outlive the build folder (`cargo install --git` builds in a temporary one) and
//! two builds at once must not tread on each other. So wheels are unpacked into a per-user folder, under
//! a lock, and appear there whole: a folder is renamed into place only with the list of its files.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use crate::fetch;
use crate::message::{about, Failure, Outcome};
use crate::settings::asked;
use crate::unpack;
use crate::wheels::Wheel;

/// The folder of the unpacked wheel, fetched and checked as needed.
pub fn unpacked(wheel: &Wheel) -> Outcome<PathBuf> {
    let cache = folder()?;
    fs::create_dir_all(&cache).map_err(|error| about("create", &cache, error))?;
    let entry = cache.join(wheel.stem());
    let _lock = lock(&cache.join(format!("{}.lock", wheel.stem())))?;
    if unpack::is_whole(&entry) {
        return Ok(entry);
    }
    remove(&entry)?;
    let work = cache.join(format!("{}.new", wheel.stem()));
    remove(&work)?;
    let outcome = fill(wheel, &cache, &work, &entry);
    remove(&work)?;
    outcome.map(|()| entry)
}

fn fill(wheel: &Wheel, cache: &Path, work: &Path, entry: &Path) -> Outcome<()> {
    let archive = fetch::wheel(wheel, cache, &work.join("download"))?;
    let fresh = work.join("unpacked");
    unpack::archive(&archive, &fresh)?;
    fs::rename(&fresh, entry).map_err(|error| about("move a fresh folder to", entry, error))
}

fn folder() -> Outcome<PathBuf> {
    let base = match (asked("XDG_CACHE_HOME"), asked("HOME")) {
        (Some(cache), _) if Path::new(&cache).is_absolute() => PathBuf::from(cache),
        (_, Some(home)) => Path::new(&home).join(".cache"),
        _ => {
            return Err(Failure::new("neither HOME nor XDG_CACHE_HOME is set, so there is no place for MLX"))
        }
    };
    Ok(base.join("exactness").join("mlx"))
}

/// Waits for any other build that fills the same entry; the lock goes when the file is closed.
fn lock(path: &Path) -> Outcome<File> {
    let file = File::create(path).map_err(|error| about("create", path, error))?;
    file.lock().map_err(|error| about("lock", path, error))?;
    Ok(file)
}

fn remove(folder: &Path) -> Outcome<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if folder.exists() => Err(about("remove", folder, error)),
        _ => Ok(()),
    }
}
