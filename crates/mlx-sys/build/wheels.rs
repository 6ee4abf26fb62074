//! Why: what is downloaded is code that will run, so every file this build may fetch is listed with its
//! digest, and nothing outside the list is accepted.

use std::process::Command;

use crate::message::{Failure, Outcome};
use crate::settings::{Target, Variant};

/// One published file: the package, its release, the platform it is for, and what it must hash to.
#[derive(Clone, Copy, Debug)]
pub struct Wheel {
    pub package: &'static str,
    pub version: &'static str,
    pub python: &'static str,
    pub platform: &'static str,
    pub sha256: &'static str,
}

impl Wheel {
    /// The file name without its ending; also the name of its folder in the cache.
    pub fn stem(&self) -> String {
        let package = self.package.replace('-', "_");
        format!("{package}-{}-{}-none-{}", self.version, self.python, self.platform)
    }

    pub fn file_name(&self) -> String {
        format!("{}.whl", self.stem())
    }
}

const fn mlx(
    package: &'static str,
    version: &'static str,
    platform: &'static str,
    sha256: &'static str,
) -> Wheel {
    Wheel { package, version, python: "py3", platform, sha256 }
}

const fn libclang(version: &'static str, platform: &'static str, sha256: &'static str) -> Wheel {
    Wheel { package: "libclang", version, python: "py2.py3", platform, sha256 }
}

const X86: &str = "manylinux_2_35_x86_64";
const ARM: &str = "manylinux_2_35_aarch64";
/// The MLX wheels for Linux are built against this C library.
const OLDEST_GLIBC: (u32, u32) = (2, 35);

#[rustfmt::skip]
const MLX: [Wheel; 18] = [
    mlx("mlx-cpu", "0.32.4", X86, "0e0a24fa2ce8b6b94d2e6a90604e8813aa8e29fcb918bb2aa01cfb6d133d8cee"),
    mlx("mlx-cpu", "0.32.4", ARM, "1289e85e64af1fd16380bf331438bfe4afe875d27afc3e0bcf35f427c488fadd"),
    mlx("mlx-cuda-13", "0.32.4", X86, "94cb48fba73e5ee39467e51c35c51c691123359ca17bafd1a24cf92ad6732bee"),
    mlx("mlx-cuda-13", "0.32.4", ARM, "cf8a67b49cebff85cd98b1d118c09f6c8ee966b899a914c50cc74d614b25616e"),
    mlx("mlx-cuda-12", "0.32.4", X86, "f385c7af7c1f63a9d6ce3e442e1c9ba881c881bcb45c6534ff8155b359da47e5"),
    mlx("mlx-cuda-12", "0.32.4", ARM, "cea869b007c809013c369819d485e3b534f3ecc261199b4c655ef92a21f73f28"),
    mlx("mlx-metal", "0.32.4", "macosx_26_0_arm64", "514df92d41a286895d2564b4b18f4da45096bd7a4a0c47e1042f345ad5a7f936"),
    mlx("mlx-metal", "0.32.4", "macosx_15_0_arm64", "9f0a3cc26d89724434d9684932fc6f3e4e83669d2a895d858ed2c8a55eb84e8b"),
    mlx("mlx-metal", "0.32.4", "macosx_14_0_arm64", "8019b2db622599267d66cc168b2f0dbf5af929790a6c3b3913e00eabc42a7947"),
    mlx("mlx-cpu", "0.32.2", X86, "fc5d31b90fc4f457b2f9614ed45651a567d22a6a11a03d114a90a4e10bdd8878"),
    mlx("mlx-cpu", "0.32.2", ARM, "d0f94625588b51a878786dd51cec5617894ce586cf3c94645ce1b64e24c27c0b"),
    mlx("mlx-cuda-13", "0.32.2", X86, "335094ccd1c0c6dc3e09c8caba207c8180602bacc0c38ba20c1d81e9456ab394"),
    mlx("mlx-cuda-13", "0.32.2", ARM, "49b1a25df9021f3b519a534fd39a32a5cdbf93a1b265a31e59671c2d9fc9f4a2"),
    mlx("mlx-cuda-12", "0.32.2", X86, "35445ead9724855826f310b9085d57137d0a2c5381cc293cb6d86b03bb4feadf"),
    mlx("mlx-cuda-12", "0.32.2", ARM, "c794c697dcd28e00a51ce8813189ece1a8c62559de7cc5e27803cc591f55df05"),
    mlx("mlx-metal", "0.32.2", "macosx_26_0_arm64", "e6abeac9ac5265830c9c1541b6f96e9be37a85c2446763a46ad466c63a3837ab"),
    mlx("mlx-metal", "0.32.2", "macosx_15_0_arm64", "55a369250d220b2cf10213a87a2ac1b1a420608c5b35b1df4e7147ac8e32f121"),
    mlx("mlx-metal", "0.32.2", "macosx_14_0_arm64", "3825fff379dbc107dd3413e564a06caeaa24819910ec49c0439e454c06a1b9b8"),
];

#[rustfmt::skip]
const LIBCLANG: [Wheel; 3] = [
    libclang("18.1.1", "manylinux2010_x86_64", "c533091d8a3bbf7460a00cb6c1a71da93bffe148f172c7d03b1c31fbf8aa2a0b"),
    libclang("18.1.1", "manylinux2014_aarch64", "54dda940a4a0491a9d1532bf071ea3ef26e6dbaf03b5000ed94dd7174e8f9592"),
    libclang("18.1.1-1", "macosx_11_0_arm64", "0b2e143f0fac830156feb56f9231ff8338c20aecfe72b4ffe96f19e5a1dbb69a"),
];

/// The MLX wheel that suits the target.
pub fn mlx_for(variant: Variant, version: &str, target: &Target) -> Outcome<Wheel> {
    check_libc(target)?;
    let platforms = mlx_platforms(target);
    platforms
        .iter()
        .find_map(|platform| {
            let mut all = MLX.into_iter();
            all.find(|it| {
                it.package == variant.package() && it.version == version && it.platform == *platform
            })
        })
        .ok_or_else(|| no_such_build(variant, version, target))
}

/// The libclang wheel for the machine that builds.
pub fn libclang_for_host() -> Outcome<Wheel> {
    let arch = std::env::consts::ARCH;
    let ending = if cfg!(target_os = "macos") { "_arm64" } else { arch };
    let os = if cfg!(target_os = "macos") { "macosx" } else { "manylinux" };
    LIBCLANG
        .into_iter()
        .find(|it| it.platform.starts_with(os) && it.platform.ends_with(ending))
        .ok_or_else(|| Failure::new(format!("no libclang is published for {os} on {arch}")))
        .map_err(|failure| failure.advise("Install libclang and set LIBCLANG_PATH to its folder."))
}

fn mlx_platforms(target: &Target) -> Vec<&'static str> {
    match (target.os.as_str(), target.arch.as_str()) {
        ("linux", "x86_64") => vec![X86],
        ("linux", "aarch64") => vec![ARM],
        ("macos", "aarch64") => macos_platforms(),
        _ => Vec::new(),
    }
}

/// The builds this macOS can load, the best first. Untried: written without a Mac at hand.
fn macos_platforms() -> Vec<&'static str> {
    let told = Command::new("sw_vers").arg("-productVersion").output();
    let text = told.map(|it| String::from_utf8_lossy(&it.stdout).into_owned()).unwrap_or_default();
    let major = text.split('.').next().and_then(|it| it.trim().parse().ok()).unwrap_or(14);
    let all = [(26, "macosx_26_0_arm64"), (15, "macosx_15_0_arm64"), (14, "macosx_14_0_arm64")];
    all.into_iter().filter(|(needs, _)| *needs <= major).map(|(_, name)| name).collect()
}

fn check_libc(target: &Target) -> Outcome<()> {
    if target.os != "linux" {
        return Ok(());
    }
    if target.libc != "gnu" {
        return Err(Failure::new(format!("MLX is published for glibc only, not for {}", target.triple)));
    }
    match host_glibc().filter(|_| target.is_host) {
        Some(found) if found < OLDEST_GLIBC => Err(Failure::new(format!(
            "the published MLX builds need glibc {}.{} or newer; this system has {}.{}",
            OLDEST_GLIBC.0, OLDEST_GLIBC.1, found.0, found.1
        ))),
        _ => Ok(()),
    }
}

fn host_glibc() -> Option<(u32, u32)> {
    let told = Command::new("getconf").arg("GNU_LIBC_VERSION").output().ok()?;
    let text = String::from_utf8_lossy(&told.stdout).into_owned();
    let (major, minor) = text.trim().strip_prefix("glibc ")?.split_once('.')?;
    Some((major.parse().ok()?, minor.split('.').next()?.parse().ok()?))
}

fn no_such_build(variant: Variant, version: &str, target: &Target) -> Failure {
    Failure::new(format!("{} {version} is not published for {}", variant.package(), target.triple)).advise(
        "Choose another build with EXACTNESS_MLX (cpu, cuda13, cuda12 on Linux; metal on macOS 14 or newer \
         with Apple silicon), or name an MLX of your own with EXACTNESS_MLX_DIR.",
    )
}
