//! Raw bindings to mlx-c 0.7.0, linked against a published MLX build.
//!
//! This crate takes the place of the crates.io crate of the same name, whose build script compiles MLX
//! from git and links Apple frameworks. The bindings are generated at build time from that crate's own
//! mlx-c headers, so that mlx-rs finds here exactly what it expects. See README.md for the settings.

pub use bindings::*;

/// The bits of a half-precision number, in the shape that mlx-rs expects of mlx-c's `float16_t`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[expect(non_camel_case_types, reason = "the name is mlx-c's")]
#[repr(transparent)]
pub struct float16_t(pub u16);

#[expect(non_camel_case_types, non_upper_case_globals, reason = "generated from C headers")]
mod bindings {
    include!(concat!(env!("OUT_DIR"), "/bindings.rs"));
}
