//! Why: mlx-c is C++20 against MLX's own headers, so it is compiled here, for exactly the MLX that will be
//! linked; objects built on one version's headers must not meet another version's library.

use std::path::PathBuf;

use cc::Build;

use crate::message::{tail, Failure, Outcome};
use crate::mlx::Mlx;
use crate::patch;
use crate::settings::Settings;
use crate::sources::Sources;

/// Compiles mlx-c into a static library in `OUT_DIR` and tells cargo to link it.
pub fn mlx_c(settings: &Settings, mlx: &Mlx, sources: &Sources) -> Outcome<()> {
    check_compiler(settings)?;
    let native = settings.home.join("native");
    let mut build = cpp20();
    build.include(&sources.root).include(&mlx.include);
    for header in ["half.h", "format.h"] {
        build.flag("-include").flag(native.join(header));
    }
    build.files(files(settings, mlx, sources)?).file(native.join("clock.cpp"));
    build.try_compile("mlxc").map_err(|error| {
        Failure::new(format!("mlx-c does not compile against MLX {}:\n{}", mlx.version, short(&error)))
    })
}

/// Thin glue over MLX: light optimisation, no debug information, whatever the profile says.
fn cpp20() -> Build {
    let mut build = Build::new();
    build.cpp(true).std("c++20").opt_level(1).debug(false).warnings(false).extra_warnings(false);
    build
}

fn check_compiler(settings: &Settings) -> Outcome<()> {
    let mut probe = cpp20();
    probe.cargo_metadata(false).cargo_warnings(false);
    probe.file(settings.home.join("native").join("probe.cpp"));
    probe.try_compile("exactness_probe").map_err(|error| {
        Failure::new(format!("no working C++20 compiler: {}", short(&error))).advise(
            "Install g++ 12 or newer (Debian and Ubuntu: apt install g++), or name another compiler in CXX.",
        )
    })
}

fn files(settings: &Settings, mlx: &Mlx, sources: &Sources) -> Outcome<Vec<PathBuf>> {
    let mut files = sources.files.clone();
    for file in &mut files {
        if file.ends_with("ops.cpp") {
            *file = patch::ops(file, mlx, &settings.out)?;
        }
    }
    Ok(files)
}

fn short(error: &cc::Error) -> String {
    tail(error.to_string().as_bytes(), 6)
}
