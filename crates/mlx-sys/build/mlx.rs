//! Why: later steps need not know whether MLX was fetched or was already there; they get one description
//! of it, checked against its own headers.

use std::fs;
use std::path::{Path, PathBuf};

use crate::cache;
use crate::message::{about, Failure, Outcome};
use crate::settings::{Origin, Settings, Target, VERSIONS};
use crate::wheels;

/// An MLX build on this machine.
#[derive(Debug)]
pub struct Mlx {
    pub lib: PathBuf,
    pub include: PathBuf,
    pub version: String,
    pub variant: String,
    pub sha256: String,
}

/// Finds the MLX that the settings ask for, fetching it when it is not in the cache.
pub fn locate(settings: &Settings) -> Outcome<Mlx> {
    match &settings.origin {
        Origin::Wheel { variant, version } => {
            let wheel = wheels::mlx_for(*variant, version, &settings.target)?;
            let folder = cache::unpacked(&wheel)?.join("mlx");
            let mlx = describe(&folder, variant.name(), wheel.sha256, &settings.target)?;
            if mlx.version == *version {
                return Ok(mlx);
            }
            Err(Failure::new(format!("{} holds MLX {}", wheel.file_name(), mlx.version)))
        }
        Origin::Folder(folder) => {
            let mlx = describe(folder, "folder", "unknown", &settings.target).map_err(|failure| {
                failure.advise("EXACTNESS_MLX_DIR must name the folder that has lib/ and include/ in it.")
            })?;
            if !VERSIONS.contains(&mlx.version.as_str()) {
                println!("cargo::warning=MLX {} is not among {VERSIONS:?}, which were tried", mlx.version);
            }
            Ok(mlx)
        }
    }
}

fn describe(folder: &Path, variant: &str, sha256: &str, target: &Target) -> Outcome<Mlx> {
    let lib = folder.join("lib");
    let library = lib.join(if target.is_apple() { "libmlx.dylib" } else { "libmlx.so" });
    let include = folder.join("include");
    let header = include.join("mlx").join("version.h");
    for file in [&library, &header] {
        println!("cargo::rerun-if-changed={}", file.display());
        if !file.is_file() {
            return Err(about("find an MLX in", folder, format!("{} is missing", file.display())));
        }
    }
    let text = fs::read_to_string(&header).map_err(|error| about("read", &header, error))?;
    let version = version_in(&text).ok_or_else(|| about("read the version in", &header, "no such macro"))?;
    Ok(Mlx { lib, include, version, variant: variant.to_owned(), sha256: sha256.to_owned() })
}

fn version_in(header: &str) -> Option<String> {
    let part = |name: &str| {
        let line = header.lines().find(|line| line.starts_with(&format!("#define MLX_VERSION_{name} ")))?;
        line.split_whitespace().nth(2).map(str::to_owned)
    };
    Some([part("MAJOR")?, part("MINOR")?, part("PATCH")?].join("."))
}
