//! Calls over arrays, and what MLX says of itself: what mlx-rs has no safe form of, or has only in a form that hides the
//! setting under study.

use crate::engine::checkpoint::{Mode, Quantization};
use crate::engine::error::{Error, Result};
use mlx_rs::{Array, Dtype, Stream};
use mlx_sys as sys;
use std::ffi::{CStr, c_int, c_void};
use std::ops::Deref;

/// Runs a raw call that fills in an array.
fn filled(
    operation: &'static str,
    detail: impl FnOnce() -> String,
    call: impl FnOnce(&mut sys::mlx_array, sys::mlx_stream) -> c_int,
) -> Result<Array> {
    filled_on(&Stream::thread_local_or_default(), operation, detail, call)
}

fn filled_on(
    stream: &Stream,
    operation: &'static str,
    detail: impl FnOnce() -> String,
    call: impl FnOnce(&mut sys::mlx_array, sys::mlx_stream) -> c_int,
) -> Result<Array> {
    // SAFETY: an empty handle is valid for every call to fill in.
    let mut handle = unsafe { sys::mlx_array_new() };
    let status = call(&mut handle, stream.as_ptr());
    // SAFETY: the handle is owned here and goes into exactly one Array, which frees it.
    let array = unsafe { Array::from_ptr(handle) };
    if status == 0 { Ok(array) } else { Err(Error::Raw { operation, detail: detail() }) }
}

/// `array[start[0]..stop[0], start[1]..stop[1], …]`, a view.
///
/// # Errors
/// When a bound lies outside the array.
pub fn slice(array: &Array, start: &[i32], stop: &[i32]) -> Result<Array> {
    let ones = [1; 8];
    let dims = check_bounds(array, start, stop)?;
    let detail = || format!("{start:?}..{stop:?} of {:?}", array.shape());
    filled("slice", detail, |result, stream| {
        // SAFETY: the three bounds have `dims` entries, which is the array's rank.
        unsafe {
            sys::mlx_slice(
                result,
                array.as_ptr(),
                start.as_ptr(),
                dims,
                stop.as_ptr(),
                dims,
                ones.as_ptr(),
                dims,
                stream,
            )
        }
    })
}

/// A copy of `array` whose part `start..stop` is `update`; in place when nobody else holds `array`.
///
/// # Errors
/// When a bound lies outside the array or the shapes do not fit.
pub fn slice_update(array: &Array, update: &Array, start: &[i32], stop: &[i32]) -> Result<Array> {
    let ones = [1; 8];
    let dims = check_bounds(array, start, stop)?;
    let detail = || format!("{:?} into {start:?}..{stop:?} of {:?}", update.shape(), array.shape());
    filled("slice update", detail, |result, stream| {
        // SAFETY: the three bounds have `dims` entries, which is the array's rank.
        unsafe {
            sys::mlx_slice_update(
                result,
                array.as_ptr(),
                update.as_ptr(),
                start.as_ptr(),
                dims,
                stop.as_ptr(),
                dims,
                ones.as_ptr(),
                dims,
                stream,
            )
        }
    })
}

/// Rows `start..stop` of `array` along `axis`.
///
/// # Errors
/// When they lie outside the array.
pub fn rows_of(array: &Array, axis: i32, start: i32, stop: i32) -> Result<Array> {
    let mut from = vec![0; array.ndim()];
    let mut to = array.shape().to_vec();
    let axis = usize::try_from(axis).unwrap_or(0);
    (from[axis], to[axis]) = (start, stop);
    slice(array, &from, &to)
}

fn check_bounds(array: &Array, start: &[i32], stop: &[i32]) -> Result<usize> {
    let shape = array.shape();
    let inside = |axis: usize| 0 <= start[axis] && start[axis] <= stop[axis] && stop[axis] <= shape[axis];
    let fits = shape.len() == start.len() && start.len() == stop.len() && start.len() <= 8;
    if fits && (0..shape.len()).all(inside) {
        return Ok(shape.len());
    }
    Err(Error::Raw { operation: "slice", detail: format!("{start:?}..{stop:?} lies outside {shape:?}") })
}

/// The codes, scales and biases of a quantized matrix, `[out, in]` before packing.
#[derive(Debug, Clone)]
pub struct Quantized {
    /// Packed codes, u32 `[out, in · bits / 32]`.
    pub codes: Array,
    /// Scales `[out, in / group]`.
    pub scales: Array,
    /// Biases `[out, in / group]`, for the modes that have them.
    pub biases: Option<Array>,
    /// Weights that share a scale.
    pub group: i32,
    /// Bits a weight.
    pub bits: i32,
    /// MLX's name of the mode.
    pub mode: &'static CStr,
    /// Dtype of the numbers that [`Quantized::dequantize`] gives.
    pub dtype: Dtype,
}

/// MLX's name of a mode.
#[must_use]
pub fn mode_name(mode: Mode) -> &'static CStr {
    match mode {
        Mode::Affine => c"affine",
        Mode::Mxfp4 => c"mxfp4",
        Mode::Mxfp8 => c"mxfp8",
        Mode::Nvfp4 => c"nvfp4",
    }
}

/// Quantizes `matrix` `[out, in]`: codes, scales and, where the mode has them, biases, shaped as in [`Quantized`].
///
/// # Errors
/// When MLX has no such combination or groups do not divide the rows.
pub fn quantize(matrix: &Array, how: Quantization) -> Result<Vec<Array>> {
    let optional = |value: i32| sys::mlx_optional_int { value, has_value: true };
    let (group, bits) = (optional(i32::from(how.group)), optional(i32::from(how.bits)));
    let stream = Stream::thread_local_or_default();
    // SAFETY: the list of results is made, filled, read and freed here; each array taken from it is owned by one
    // Array; the mode is a static C string.
    unsafe {
        let mut list = sys::mlx_vector_array_new();
        let mode = mode_name(how.mode).as_ptr();
        let status =
            sys::mlx_quantize(&raw mut list, matrix.as_ptr(), group, bits, mode, no_array(), stream.as_ptr());
        let count = if status == 0 { sys::mlx_vector_array_size(list) } else { 0 };
        let taken = (0..count).map(|index| {
            let mut handle = sys::mlx_array_new();
            sys::mlx_vector_array_get(&raw mut handle, list, index);
            Array::from_ptr(handle)
        });
        let taken: Vec<Array> = taken.collect();
        sys::mlx_vector_array_free(list);
        let detail = || format!("{:?} as {how}", matrix.shape());
        if taken.is_empty() { Err(Error::Raw { operation: "quantize", detail: detail() }) } else { Ok(taken) }
    }
}

impl Quantized {
    fn group(&self) -> sys::mlx_optional_int {
        sys::mlx_optional_int { value: self.group, has_value: true }
    }

    fn bits(&self) -> sys::mlx_optional_int {
        sys::mlx_optional_int { value: self.bits, has_value: true }
    }

    fn detail(&self, with: &Array) -> String {
        format!(
            "{:?} with {} {}-bit codes {:?}, groups of {}",
            with.shape(),
            self.mode.to_string_lossy(),
            self.bits,
            self.codes.shape(),
            self.group
        )
    }

    /// `x · Wᵀ`: `[…, T, in]` to `[…, T, out]`, on `stream`.
    ///
    /// # Errors
    /// When the shapes do not fit.
    pub fn matmul(&self, x: &Array, stream: &Stream) -> Result<Array> {
        filled_on(
            stream,
            "quantized matmul",
            || self.detail(x),
            |result, stream| {
                let biases = self.biases.as_ref().map_or_else(no_array, Array::as_ptr);
                // SAFETY: all handles live through the call; the mode is a static C string.
                unsafe {
                    sys::mlx_quantized_matmul(
                        result,
                        x.as_ptr(),
                        self.codes.as_ptr(),
                        self.scales.as_ptr(),
                        biases,
                        true,
                        self.group(),
                        self.bits(),
                        self.mode.as_ptr(),
                        stream,
                    )
                }
            },
        )
    }

    /// Each row of `x` times the matrices that `which` names: of a stack of matrices `[E, out, in]`, for `x`
    /// `[…, 1 or k, 1, in]` and numbers `[…, k]` gives `[…, k, 1, out]`.
    ///
    /// # Errors
    /// When the shapes do not fit.
    pub fn gather_matmul(&self, x: &Array, which: &Array) -> Result<Array> {
        filled(
            "gathered quantized matmul",
            || self.detail(x),
            |result, stream| {
                let biases = self.biases.as_ref().map_or_else(no_array, Array::as_ptr);
                // SAFETY: all handles live through the call; the mode is a static C string.
                unsafe {
                    sys::mlx_gather_qmm(
                        result,
                        x.as_ptr(),
                        self.codes.as_ptr(),
                        self.scales.as_ptr(),
                        biases,
                        no_array(),
                        which.as_ptr(),
                        true,
                        self.group(),
                        self.bits(),
                        self.mode.as_ptr(),
                        false,
                        stream,
                    )
                }
            },
        )
    }

    /// The matrix itself, `[out, in]`.
    ///
    /// # Errors
    /// When the shapes do not fit.
    pub fn dequantize(&self) -> Result<Array> {
        filled(
            "dequantize",
            || self.detail(&self.scales),
            |result, stream| {
                let biases = self.biases.as_ref().map_or_else(no_array, Array::as_ptr);
                let dtype = sys::mlx_optional_dtype { value: self.dtype as sys::mlx_dtype, has_value: true };
                // SAFETY: all handles live through the call; the mode is a static C string.
                unsafe {
                    sys::mlx_dequantize(
                        result,
                        self.codes.as_ptr(),
                        self.scales.as_ptr(),
                        biases,
                        self.group(),
                        self.bits(),
                        self.mode.as_ptr(),
                        no_array(),
                        dtype,
                        stream,
                    )
                }
            },
        )
    }
}

fn no_array() -> sys::mlx_array {
    // SAFETY: an empty handle owns nothing; MLX reads it as "not given".
    unsafe { sys::mlx_array_new() }
}

/// An array over bytes that somebody else owns, without a copy where the device can read host memory.
///
/// # Errors
/// When the byte count is not the shape's.
pub fn from_bytes<B: Deref<Target = [u8]> + Send + 'static>(
    bytes: B,
    shape: &[i32],
    dtype: Dtype,
) -> Result<Array> {
    let expected =
        shape.iter().map(|&dim| usize::try_from(dim).unwrap_or(0)).product::<usize>() * size_of_dtype(dtype);
    let found = bytes.len();
    if found != expected || found == 0 {
        let detail = format!("{found} bytes for shape {shape:?}, which takes {expected}");
        return Err(Error::Raw { operation: "array from bytes", detail });
    }
    let data = bytes.as_ptr().cast_mut().cast::<c_void>();
    let owner = Box::into_raw(Box::new(bytes)).cast::<c_void>();
    let rank = c_int::try_from(shape.len()).unwrap_or(0);
    // SAFETY: `data` stays valid until MLX calls `release` with `owner`; MLX never writes to a leaf's buffer
    // that it does not own alone, and this one is shared with `owner`.
    unsafe {
        let handle = sys::mlx_array_new_data_managed_payload(
            data,
            shape.as_ptr(),
            rank,
            dtype as sys::mlx_dtype,
            owner,
            Some(release::<B>),
        );
        Ok(Array::from_ptr(handle))
    }
}

extern "C" fn release<B>(owner: *mut c_void) {
    // SAFETY: `owner` is the box that `from_bytes` leaked, handed back once.
    drop(unsafe { Box::from_raw(owner.cast::<B>()) });
}

/// Bytes of one value.
#[must_use]
pub fn size_of_dtype(dtype: Dtype) -> usize {
    match dtype {
        Dtype::Bool | Dtype::Uint8 | Dtype::Int8 => 1,
        Dtype::Uint16 | Dtype::Int16 | Dtype::Float16 | Dtype::Bfloat16 => 2,
        Dtype::Uint32 | Dtype::Int32 | Dtype::Float32 => 4,
        Dtype::Uint64 | Dtype::Int64 | Dtype::Float64 | Dtype::Complex64 => 8,
    }
}

/// Evaluates `array` and gives its bytes: little endian, row-major.
///
/// # Errors
/// When MLX cannot compute it.
pub fn bytes_of(array: &Array) -> Result<Vec<u8>> {
    let contiguous = array.contiguous()?;
    contiguous.eval()?;
    let length = contiguous.size() * size_of_dtype(contiguous.dtype());
    // SAFETY: the array is evaluated and row-contiguous, so `length` bytes lie at its data pointer.
    let bytes = unsafe { std::slice::from_raw_parts(sys::mlx_array_data_uint8(contiguous.as_ptr()), length) };
    Ok(bytes.to_vec())
}

/// The linked MLX's version.
#[must_use]
pub fn mlx_version() -> String {
    owned_string(|text| {
        // SAFETY: `text` is a valid empty string handle.
        unsafe { sys::mlx_version(text) }
    })
}

fn owned_string(fill: impl FnOnce(&mut sys::mlx_string) -> c_int) -> String {
    // SAFETY: the handle is made, filled, copied from and freed here.
    unsafe {
        let mut text = sys::mlx_string_new();
        let status = fill(&mut text);
        let data = sys::mlx_string_data(text);
        let copy = if status == 0 && !data.is_null() {
            CStr::from_ptr(data).to_string_lossy().into_owned()
        } else {
            String::new()
        };
        sys::mlx_string_free(text);
        copy
    }
}

/// A text property of the default device (`device_name`, `architecture`), when MLX knows it.
#[must_use]
pub fn device_property(key: &CStr) -> Option<String> {
    // SAFETY: the handles are made, read and freed here; the text is copied before its owner is freed.
    unsafe {
        let mut device = sys::mlx_device_new();
        let mut info = sys::mlx_device_info_new();
        let mut text = std::ptr::null();
        let found = sys::mlx_get_default_device(&raw mut device) == 0
            && sys::mlx_device_info_get(&raw mut info, device) == 0
            && sys::mlx_device_info_get_string(&raw mut text, info, key.as_ptr()) == 0
            && !text.is_null();
        let copy = found.then(|| CStr::from_ptr(text).to_string_lossy().into_owned());
        sys::mlx_device_info_free(info);
        sys::mlx_device_free(device);
        copy
    }
}
