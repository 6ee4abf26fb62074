//! Why: mlx-c's sources are published inside the very crate that this one stands in for, and a patched
//! crate cannot depend on its original. So cargo is asked, from a small package of its own outside this
//! workspace, to fetch the original and to say where it lies. The lock file beside that package pins its
//! checksum, which cargo verifies.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use crate::message::{about, tail, Failure, Outcome};
use crate::settings::Settings;

/// The folder that holds `mlx/c`, and its C++ files.
#[derive(Debug)]
pub struct Sources {
    pub root: PathBuf,
    pub files: Vec<PathBuf>,
    pub headers: Vec<PathBuf>,
}

/// Finds mlx-c, fetching the crate that carries it when cargo does not have it yet.
pub fn locate(settings: &Settings) -> Outcome<Sources> {
    let manifest = write_package(settings)?;
    let root = crate_folder(&manifest, settings)?.join("src").join("mlx-c");
    let (files, headers) = (with_ending(&root, "cpp")?, with_ending(&root, "h")?);
    if files.is_empty() || headers.is_empty() {
        return Err(Failure::new(format!("{} holds no mlx-c sources", root.display())));
    }
    Ok(Sources { root, files, headers })
}

fn write_package(settings: &Settings) -> Outcome<PathBuf> {
    let folder = settings.out.join("mlx-c-source");
    fs::create_dir_all(&folder).map_err(|error| about("create", &folder, error))?;
    let templates = settings.home.join("source");
    for (from, to) in [("Cargo.toml.template", "Cargo.toml"), ("Cargo.lock.pinned", "Cargo.lock")] {
        let (from, to) = (templates.join(from), folder.join(to));
        fs::copy(&from, &to).map_err(|error| about("copy", &from, error))?;
    }
    let empty = folder.join("lib.rs");
    fs::write(&empty, "").map_err(|error| about("write", &empty, error))?;
    Ok(folder.join("Cargo.toml"))
}

/// Asks cargo without the network first, so that a second build never needs it.
fn crate_folder(manifest: &Path, settings: &Settings) -> Outcome<PathBuf> {
    let mut told = metadata(manifest, settings, true)?;
    if !told.status.success() {
        told = metadata(manifest, settings, false)?;
    }
    if !told.status.success() {
        return Err(Failure::new(format!(
            "cargo could not fetch mlx-c's sources:\n{}",
            tail(&told.stderr, 4)
        ))
        .advise("They are in the published crate mlx-sys 0.7.0; the first build needs the network."));
    }
    folder_in(&told.stdout)
        .ok_or_else(|| Failure::new("cargo metadata does not name the crate mlx-sys 0.7.0"))
}

fn metadata(manifest: &Path, settings: &Settings, offline: bool) -> Outcome<Output> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = Command::new(&cargo);
    command.args(["metadata", "--format-version", "1", "--locked", "--color", "never"]);
    command.args(["--filter-platform", &settings.target.triple, "--manifest-path"]).arg(manifest);
    if offline {
        command.arg("--offline");
    }
    for (name, _) in env::vars_os().filter(|(name, _)| is_of_outer_build(&name.to_string_lossy())) {
        command.env_remove(name);
    }
    command.output().map_err(|error| about("start", Path::new(&cargo), error))
}

/// What the running build says about itself must not steer the inner cargo; where cargo fetches from must.
fn is_of_outer_build(name: &str) -> bool {
    let kept = ["CARGO_HOME", "CARGO_NET_", "CARGO_HTTP_", "CARGO_REGISTR", "CARGO_SOURCE_"];
    let dropped =
        ["CARGO", "RUSTC", "RUSTFLAGS", "RUSTDOC", "MAKEFLAGS", "OUT_DIR", "TARGET", "HOST", "DEP_"];
    dropped.iter().any(|start| name.starts_with(start)) && !kept.iter().any(|start| name.starts_with(start))
}

fn folder_in(json: &[u8]) -> Option<PathBuf> {
    let told: Value = serde_json::from_slice(json).ok()?;
    let mut packages = told["packages"].as_array()?.iter();
    let found = packages.find(|it| it["name"] == "mlx-sys" && it["version"] == "0.7.0")?;
    Path::new(found["manifest_path"].as_str()?).parent().map(Path::to_owned)
}

fn with_ending(root: &Path, ending: &str) -> Outcome<Vec<PathBuf>> {
    let folder = root.join("mlx").join("c");
    let listed = fs::read_dir(&folder).map_err(|error| about("list", &folder, error))?;
    let mut files: Vec<PathBuf> = listed.filter_map(Result::ok).map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|it| it == ending));
    files.sort();
    Ok(files)
}
