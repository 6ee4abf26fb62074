//! Why: all that the outside decides (environment, target) is read here once, checked, and told to cargo,
//! so that a changed setting rebuilds and nothing else does.

use std::env;
use std::path::{Path, PathBuf};

use crate::message::{Failure, Outcome};

/// The MLX releases that mlx-c 0.7.0 is known to fit, the default first.
pub const VERSIONS: [&str; 2] = ["0.32.4", "0.32.2"];

/// Which published build of MLX is linked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    Cpu,
    Cuda13,
    Cuda12,
    Metal,
}

impl Variant {
    const ALL: [Self; 4] = [Self::Cpu, Self::Cuda13, Self::Cuda12, Self::Metal];

    /// The word for it in `EXACTNESS_MLX` and in what this build publishes.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Cuda13 => "cuda13",
            Self::Cuda12 => "cuda12",
            Self::Metal => "metal",
        }
    }

    /// The Python package that carries it.
    pub fn package(self) -> &'static str {
        match self {
            Self::Cpu => "mlx-cpu",
            Self::Cuda13 => "mlx-cuda-13",
            Self::Cuda12 => "mlx-cuda-12",
            Self::Metal => "mlx-metal",
        }
    }
}

/// Where MLX comes from.
#[derive(Debug)]
pub enum Origin {
    Wheel { variant: Variant, version: &'static str },
    Folder(PathBuf),
}

/// The machine the result runs on.
#[derive(Debug)]
pub struct Target {
    pub triple: String,
    pub os: String,
    pub arch: String,
    pub libc: String,
    pub is_host: bool,
}

impl Target {
    pub fn is_apple(&self) -> bool {
        self.os == "macos"
    }
}

/// Everything the other modules ask about the outside.
#[derive(Debug)]
pub struct Settings {
    pub origin: Origin,
    pub target: Target,
    pub out: PathBuf,
    pub home: PathBuf,
}

impl Settings {
    pub fn read() -> Outcome<Self> {
        let home = PathBuf::from(given("CARGO_MANIFEST_DIR")?);
        for folder in ["build", "native", "source"] {
            println!("cargo::rerun-if-changed={}", home.join(folder).display());
        }
        let target = target()?;
        Ok(Self { origin: origin(&target)?, target, out: given("OUT_DIR")?.into(), home })
    }
}

/// A variable that the user may set; cargo reruns this script when it changes.
pub fn asked(name: &str) -> Option<String> {
    println!("cargo::rerun-if-env-changed={name}");
    env::var(name).ok().map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
}

/// A variable that cargo sets for every build script.
fn given(name: &str) -> Outcome<String> {
    env::var(name).map_err(|_| Failure::new(format!("cargo did not set {name}")))
}

fn target() -> Outcome<Target> {
    let triple = given("TARGET")?;
    Ok(Target {
        is_host: given("HOST")? == triple,
        triple,
        os: given("CARGO_CFG_TARGET_OS")?,
        arch: given("CARGO_CFG_TARGET_ARCH")?,
        libc: env::var("CARGO_CFG_TARGET_ENV").unwrap_or_default(),
    })
}

fn origin(target: &Target) -> Outcome<Origin> {
    let variant = asked("EXACTNESS_MLX");
    let version = asked("EXACTNESS_MLX_VERSION");
    match asked("EXACTNESS_MLX_DIR") {
        Some(_) if variant.is_some() || version.is_some() => Err(Failure::new(
            "EXACTNESS_MLX_DIR names an MLX that is already there, so EXACTNESS_MLX and \
             EXACTNESS_MLX_VERSION, which choose a published one, must not be set with it",
        )),
        Some(folder) if !Path::new(&folder).is_absolute() => {
            Err(Failure::new(format!("EXACTNESS_MLX_DIR={folder} is not an absolute path")))
        }
        Some(folder) => Ok(Origin::Folder(folder.into())),
        None => Ok(Origin::Wheel {
            variant: parse_variant(variant.as_deref(), target)?,
            version: parse_version(version.as_deref())?,
        }),
    }
}

fn parse_variant(text: Option<&str>, target: &Target) -> Outcome<Variant> {
    let Some(text) = text else {
        return Ok(if target.is_apple() { Variant::Metal } else { Variant::Cpu });
    };
    Variant::ALL
        .into_iter()
        .find(|variant| variant.name() == text)
        .ok_or_else(|| Failure::new(format!("EXACTNESS_MLX={text} is not one of cpu, cuda13, cuda12, metal")))
}

fn parse_version(text: Option<&str>) -> Outcome<&'static str> {
    let Some(text) = text else { return Ok(VERSIONS[0]) };
    VERSIONS.into_iter().find(|version| *version == text).ok_or_else(|| {
        Failure::new(format!("EXACTNESS_MLX_VERSION={text} is not one of {}", VERSIONS.join(", ")))
    })
}
