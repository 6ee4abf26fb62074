//! Why: mlx-c is C++20 against MLX's own headers, so it is compiled here, for exactly the MLX that will be
//! linked; objects built on one version's headers must not meet another version's library.

use std::fs;
use std::path::PathBuf;

use cc::Build;

use crate::message::{about, tail, Failure, Outcome};
use crate::mlx::Mlx;
use crate::patch;
use crate::settings::Settings;
use crate::sources::Sources;

/// Finds out whether there is a compiler that will do, before anything is fetched for it.
pub fn check_compiler(settings: &Settings) -> Outcome<()> {
    let mut probe = cpp20();
    probe.cargo_metadata(false).cargo_warnings(false);
    probe.file(settings.home.join("native").join("probe.cpp"));
    probe.try_compile("exactness_probe").map_err(|error| {
        Failure::new(format!("no working C++20 compiler: {}", short(&error))).advise(
            "Install g++ 12 or newer (Debian and Ubuntu: apt install g++), or name another compiler in CXX.",
        )
    })
}

/// Compiles mlx-c into a static library in `OUT_DIR` and tells cargo to link it.
pub fn mlx_c(settings: &Settings, mlx: &Mlx, sources: &Sources) -> Outcome<()> {
    let native = settings.home.join("native");
    let mut build = cpp20();
    build.include(&sources.root).include(&mlx.include);
    for header in ["half.h", "format.h"] {
        build.flag("-include").flag(native.join(header));
    }
    build.files(batches(settings, mlx, sources)?).file(native.join("clock.cpp"));
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

/// One file that includes all of mlx-c but `ops.cpp`, and that one by itself: most of the time goes into
/// MLX's headers, so two long compilations beat twenty-six short ones five times over.
fn batches(settings: &Settings, mlx: &Mlx, sources: &Sources) -> Outcome<[PathBuf; 2]> {
    let (ops, others): (Vec<_>, Vec<_>) = sources.files.iter().partition(|file| file.ends_with("ops.cpp"));
    let [ops] = ops[..] else {
        return Err(Failure::new("mlx-c has no ops.cpp, or more than one"));
    };
    let lines: String = others.iter().map(|file| format!("#include \"{}\"\n", file.display())).collect();
    let batch = settings.out.join("mlx_c.cpp");
    fs::write(&batch, lines).map_err(|error| about("write", &batch, error))?;
    Ok([batch, patch::ops(ops, mlx, &settings.out)?])
}

fn short(error: &cc::Error) -> String {
    tail(error.to_string().as_bytes(), 6)
}
