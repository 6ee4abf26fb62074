//! What MLX's allocator holds and has held.
#![expect(unsafe_code, reason = "raw calls")]

use mlx_sys as sys;

/// Bytes of arrays that live now.
#[must_use]
pub fn active_memory() -> u64 {
    told(|bytes| {
        // SAFETY: MLX writes one number to a valid place.
        unsafe { sys::mlx_get_active_memory(bytes) }
    })
}

/// The most bytes of arrays that lived at one time in this process.
#[must_use]
pub fn peak_memory() -> u64 {
    told(|bytes| {
        // SAFETY: MLX writes one number to a valid place.
        unsafe { sys::mlx_get_peak_memory(bytes) }
    })
}

fn told(ask: impl FnOnce(&mut usize) -> i32) -> u64 {
    let mut bytes = 0;
    if ask(&mut bytes) == 0 { bytes as u64 } else { 0 }
}
