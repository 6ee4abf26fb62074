//! Raw MLX calls. All unsafe code of the engine is here; each function checks what MLX would only report to its own log.
#![expect(unsafe_code, reason = "this module is the engine's only door to the C interface")]

mod calls;
mod function;
mod memory;

pub use calls::{
    Quantized, bytes_of, device_property, from_bytes, mlx_version, mode_name, quantize, rows_of,
    size_of_dtype, slice, slice_update,
};
pub use function::{Imported, export};
pub use memory::{active_memory, peak_memory};
