//! What a transcript's header says about who ran: model, machine, library.

use crate::engine::checkpoint::Checkpoint;
use crate::engine::raw;
use crate::engine::rows::dtype_name;
use crate::transcript::format::{Backend, Host, Model};
use mlx_rs::{Device, Dtype};

/// The wheel that this program was linked against.
pub const BUILT_VARIANT: &str = env!("EXACTNESS_MLX_VARIANT_BUILT");
/// The MLX version that this program was built on.
pub const BUILT_VERSION: &str = env!("EXACTNESS_MLX_VERSION_BUILT");
/// The folder in which the library lay at build time.
pub const BUILT_LIBRARY: &str = env!("EXACTNESS_MLX_LIB_BUILT");

/// This program and its version, as transcripts name it.
pub const PROGRAM: &str = concat!("exactness ", env!("CARGO_PKG_VERSION"));

/// The checkpoint's identity; the digest reads all weights once.
#[must_use]
pub fn model(checkpoint: &Checkpoint, dtype: Dtype) -> Model {
    Model {
        name: Some(checkpoint.name()),
        digest: Some(checkpoint.digest()),
        dtype: Some(dtype_name(dtype).to_owned()),
        quantization: checkpoint.quantization_text(),
    }
}

/// The machine.
#[must_use]
pub fn host() -> Host {
    Host {
        os: Some(std::env::consts::OS.to_owned()),
        arch: Some(std::env::consts::ARCH.to_owned()),
        cpu: cpu_name(),
        cores: std::thread::available_parallelism().ok().and_then(|cores| i64::try_from(cores.get()).ok()),
    }
}

/// The processor's name where the system tells it in a file.
fn cpu_name() -> Option<String> {
    let info = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = info.lines().find(|line| line.starts_with("model name"))?;
    line.split_once(':').map(|(_, name)| name.trim().to_owned())
}

/// The library and the device that it computes on.
#[must_use]
pub fn backend() -> Backend {
    Backend {
        name: Some(if on_gpu() { gpu_backend() } else { "mlx-cpu".to_owned() }),
        version: Some(raw::mlx_version()),
        device: Some(device()),
        driver: driver(),
    }
}

/// True when MLX's default device is a GPU.
#[must_use]
pub fn on_gpu() -> bool {
    Device::try_default().is_ok_and(|device| matches!(device.get_type(), Ok(mlx_rs::DeviceType::Gpu)))
}

fn gpu_backend() -> String {
    if cfg!(target_os = "macos") { "mlx-metal".to_owned() } else { "mlx-cuda".to_owned() }
}

/// The device's name and architecture, as MLX tells them.
#[must_use]
pub fn device() -> String {
    let parts = [c"device_name", c"architecture"].map(raw::device_property);
    let mut parts: Vec<String> = parts.into_iter().flatten().collect();
    parts.dedup();
    if parts.is_empty() { "cpu".to_owned() } else { parts.join(", ") }
}

/// The NVIDIA driver's version where the system tells it in a file.
fn driver() -> Option<String> {
    let text = std::fs::read_to_string("/proc/driver/nvidia/version").ok()?;
    let line = text.lines().next()?;
    line.split_whitespace()
        .find(|word| {
            word.chars().filter(|c| *c == '.').count() >= 1 && word.starts_with(|c: char| c.is_ascii_digit())
        })
        .map(str::to_owned)
}

/// The MLX library that this process has loaded, where the system tells it in a file.
#[must_use]
pub fn loaded_library() -> Option<String> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let path =
        maps.lines().filter_map(|line| line.split_whitespace().nth(5)).find(|path| path.contains("libmlx"));
    path.map(str::to_owned)
}
