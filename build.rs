//! Why: the run path to libmlx must stand in this package's own programs, since link arguments of a
//! dependency do not reach them. mlx-sys says where the library lies; this passes it on to the linker and,
//! as compile-time variables, to the code that reports which MLX it was built on.

#![expect(clippy::disallowed_methods, reason = "a build script is told everything through the environment")]

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if env::var_os("CARGO_FEATURE_ENGINE").is_none() {
        return;
    }
    match (env::var("DEP_MLX_LIB"), env::var("DEP_MLX_VERSION"), env::var("DEP_MLX_VARIANT")) {
        (Ok(lib), Ok(version), Ok(variant)) => publish(&lib, &version, &variant),
        _ => println!(
            "cargo::error=mlx-sys is not the one in crates/mlx-sys: the [patch.crates-io] entry of this \
             workspace is not in force (install with --path or --git)"
        ),
    }
}

fn publish(lib: &str, version: &str, variant: &str) {
    println!("cargo::rustc-link-arg=-Wl,-rpath,{lib}");
    if env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os != "macos") {
        // New-style tags let LD_LIBRARY_PATH swap the library; the CUDA build links without CUDA installed.
        println!("cargo::rustc-link-arg=-Wl,--enable-new-dtags");
        println!("cargo::rustc-link-arg=-Wl,--allow-shlib-undefined");
    }
    println!("cargo::rustc-env=EXACTNESS_MLX_VERSION_BUILT={version}");
    println!("cargo::rustc-env=EXACTNESS_MLX_VARIANT_BUILT={variant}");
    println!("cargo::rustc-env=EXACTNESS_MLX_LIB_BUILT={lib}");
}
