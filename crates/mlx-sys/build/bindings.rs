//! Why: the bindings are made from the headers that were just compiled, so they cannot drift from them.
//! bindgen needs libclang at run time; where the system has none, the published wheel of it is used.

use std::env;
use std::path::Path;
use std::process::Command;

use bindgen::Builder;

use crate::cache;
use crate::message::{about, Failure, Outcome};
use crate::settings::{asked, Settings};
use crate::sources::Sources;
use crate::wheels;

/// Writes `bindings.rs` into `OUT_DIR`.
pub fn generate(settings: &Settings, sources: &Sources) -> Outcome<()> {
    load_libclang()?;
    let builder = builder(settings, sources);
    let bindings = builder.generate().map_err(|error| Failure::new(format!("bindgen failed: {error}")))?;
    let file = settings.out.join("bindings.rs");
    bindings.write_to_file(&file).map_err(|error| about("write", &file, error))
}

fn load_libclang() -> Outcome<()> {
    asked("LIBCLANG_PATH");
    let Err(reason) = clang_sys::load() else { return Ok(()) };
    let wheel = wheels::libclang_for_host()?;
    let entry = cache::unpacked(&wheel).map_err(|failure| {
        failure.advise("Or install libclang yourself (Debian and Ubuntu: apt install libclang-dev).")
    })?;
    let data = format!("libclang-{}.data", wheel.version.split('-').next().unwrap_or(wheel.version));
    env::set_var("LIBCLANG_PATH", entry.join(data).join("platlib").join("clang").join("native"));
    clang_sys::load().map_err(|again| Failure::new(format!("libclang does not load: {reason}; then {again}")))
}

/// Everything the mlx-c headers declare. Their half types are replaced by plain 16-bit ones, which is how
/// mlx-rs uses them: a bare `u16` for `bfloat16_t`, and for `float16_t` the struct in `lib.rs`.
fn builder(settings: &Settings, sources: &Sources) -> Builder {
    let half = settings.home.join("native").join("half.h");
    let mut builder = bindgen::builder()
        .clang_args(["-DEXACTNESS_PLAIN_HALF", "-DMLX_HALF_H", "-include"])
        .clang_arg(half.to_string_lossy())
        .clang_arg(format!("-I{}", sources.root.display()))
        .clang_args(compiler_headers())
        .allowlist_file(".*/mlx/c/[a-z_]+\\.h")
        .allowlist_type("bfloat16_t")
        .opaque_type("_IO_FILE|__sFILE")
        .blocklist_type("float16_t")
        .raw_line("use super::float16_t;")
        .layout_tests(false);
    for header in &sources.headers {
        builder = builder.header(header.to_string_lossy());
    }
    builder
}

/// A bare libclang has no `stddef.h` of its own; the C compiler's serves.
fn compiler_headers() -> Vec<String> {
    let Ok(told) = Command::new("cc").arg("-print-file-name=include").output() else { return Vec::new() };
    let folder = String::from_utf8_lossy(&told.stdout).trim().to_owned();
    if Path::new(&folder).is_dir() {
        vec!["-isystem".to_owned(), folder]
    } else {
        Vec::new()
    }
}
