//! Why: what was found here must reach the linker of this crate's own tests (link arguments) and the
//! package that depends on it (metadata, which cargo hands on as `DEP_MLX_*`): link arguments of one
//! package do not reach another's programs, so the run path is set again there.

use std::env;

use crate::message::{Failure, Outcome};
use crate::mlx::Mlx;
use crate::settings::Settings;
use crate::sources::Sources;

/// Prints the link directives and the metadata.
pub fn tell_cargo(settings: &Settings, mlx: &Mlx, sources: &Sources) -> Outcome<()> {
    let lib = mlx.lib.display();
    println!("cargo::rustc-link-search=native={lib}");
    println!("cargo::rustc-link-lib=dylib=mlx");
    println!("cargo::rustc-link-lib=dylib={}", if settings.target.is_apple() { "c++" } else { "stdc++" });
    println!("cargo::rustc-link-arg=-Wl,-rpath,{lib}");
    if !settings.target.is_apple() {
        println!("cargo::rustc-link-arg=-Wl,--enable-new-dtags");
        println!("cargo::rustc-link-arg=-Wl,--allow-shlib-undefined");
    }
    let include = env::join_paths([&mlx.include, &sources.root])
        .map_err(|error| Failure::new(format!("a folder of headers has a bad name: {error}")))?;
    println!("cargo::metadata=lib={lib}");
    println!("cargo::metadata=include={}", include.display());
    println!("cargo::metadata=version={}", mlx.version);
    println!("cargo::metadata=variant={}", mlx.variant);
    println!("cargo::metadata=sha256={}", mlx.sha256);
    Ok(())
}
