//! Functions in files: a call with its constants, traced and written in MLX's own form, to be run where no model is.
//!
//! Whatever streams a function was exported from, it is read back onto stream 0 of its device (as of MLX 0.32.4), which
//! belongs to the thread that made it: import where the process first computed, and nowhere else.
//! MLX's writer copies a constant's memory as it lies there, so a constant that is a view in another order (a transpose
//! that was evaluated) is read back as other numbers, without a word. Whoever exports therefore holds what the file
//! gives against the call itself. Its reader throws on a file that is cut or is none, and what it throws ends up here as
//! an error; but the sizes in a file decide how much memory it asks for, so only files whose digest is known are opened.

use crate::engine::error::{Error, Result};
use mlx_rs::{Array, Device};
use mlx_sys as sys;
use std::any::Any;
use std::ffi::{CString, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;

/// A list of arrays that C reads or fills in.
struct List(sys::mlx_vector_array);

impl List {
    fn of(arrays: &[&Array]) -> Self {
        // SAFETY: the list is made here, and each array is copied into it by reference count.
        unsafe {
            let list = sys::mlx_vector_array_new();
            for array in arrays {
                sys::mlx_vector_array_append_value(list, array.as_ptr());
            }
            Self(list)
        }
    }

    fn arrays(&self) -> Vec<Array> {
        arrays(self.0)
    }
}

impl Drop for List {
    fn drop(&mut self) {
        // SAFETY: the list is owned here and freed once.
        unsafe { sys::mlx_vector_array_free(self.0) };
    }
}

/// The arrays of a list that stays whose it is.
fn arrays(list: sys::mlx_vector_array) -> Vec<Array> {
    // SAFETY: the list lives through the call; each handle is filled in and then owned by one Array.
    unsafe {
        let take = |index| {
            let mut handle = sys::mlx_array_new();
            sys::mlx_vector_array_get(&raw mut handle, list, index);
            Array::from_ptr(handle)
        };
        (0..sys::mlx_vector_array_size(list)).map(take).collect()
    }
}

/// What is traced, and why the tracing stopped.
struct Task<'a> {
    kernels: &'a dyn Fn(&[&Array]) -> Result<Array>,
    stopped: Option<Stopped>,
}

enum Stopped {
    Refused(Error),
    Panicked(Box<dyn Any + Send>),
}

/// Called by MLX with stand-ins for the inputs. A panic must not unwind into C++: it is caught here and goes on in
/// [`export`], once MLX has put away what the tracing made.
extern "C" fn trace(
    result: *mut sys::mlx_vector_array,
    inputs: sys::mlx_vector_array,
    task: *mut c_void,
) -> c_int {
    // SAFETY: the task is that of the `export` that waits for this call on this thread, and nobody else holds it.
    let task = unsafe { &mut *task.cast::<Task<'_>>() };
    let run = || {
        let inputs = arrays(inputs);
        (task.kernels)(&inputs.iter().collect::<Vec<_>>())
    };
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(Ok(output)) => {
            let outputs = List::of(&[&output]);
            // SAFETY: MLX made the handle of the results, an empty one, for this call to fill in, and frees it.
            return unsafe { sys::mlx_vector_array_set(result, outputs.0) };
        }
        Ok(Err(error)) => task.stopped = Some(Stopped::Refused(error)),
        Err(panic) => task.stopped = Some(Stopped::Panicked(panic)),
    }
    1
}

/// Writes `kernels` over inputs of these shapes and dtypes to `path`. What they captured goes with them as constants,
/// so it has to be evaluated; else the calls that make it go too.
///
/// # Errors
/// When the kernels or MLX refuse, or the file cannot be written.
///
/// # Panics
/// When the kernels do.
pub fn export(path: &Path, kernels: &dyn Fn(&[&Array]) -> Result<Array>, inputs: &[&Array]) -> Result<()> {
    let (file, list) = (named("export function", path)?, List::of(inputs));
    let mut task = Task { kernels, stopped: None };
    // SAFETY: the closure and the task it points to outlive the call, which runs it on this thread and keeps nothing.
    let status = unsafe {
        let closure = sys::mlx_closure_new_func_payload(Some(trace), (&raw mut task).cast::<c_void>(), None);
        let status = sys::mlx_export_function(file.as_ptr(), closure, list.0, false);
        sys::mlx_closure_free(closure);
        status
    };
    match task.stopped {
        Some(Stopped::Panicked(panic)) => resume_unwind(panic),
        Some(Stopped::Refused(error)) => Err(error),
        None if status == 0 => Ok(()),
        None => {
            let detail = format!(
                "{} (MLX cannot write every call, such as a contiguous copy or one from 8-bit floats)",
                path.display()
            );
            Err(Error::Raw { operation: "export function", detail })
        }
    }
}

/// A function read from a file.
#[derive(Debug)]
pub struct Imported {
    function: sys::mlx_imported_function,
    file: String,
}

impl Imported {
    /// Reads the function at `path`; its digest must be known, see above.
    ///
    /// # Errors
    /// When there is no such file or it is no exported function.
    pub fn load(path: &Path) -> Result<Self> {
        let file = named("import function", path)?;
        // SAFETY: the path lives through the call; an empty handle means that MLX refused.
        let function = unsafe { sys::mlx_imported_function_new(file.as_ptr()) };
        let file = path.display().to_string();
        if function.ctx.is_null() {
            return Err(Error::Raw { operation: "import function", detail: file });
        }
        Ok(Self { function, file })
    }

    /// Its outputs over `inputs`, not yet evaluated.
    ///
    /// # Errors
    /// When it was not exported for inputs of these shapes and dtypes.
    pub fn apply(&self, inputs: &[&Array]) -> Result<Vec<Array>> {
        let (list, mut outputs) = (List::of(inputs), List::of(&[]));
        // SAFETY: the function and both lists live through the call.
        let status = unsafe { sys::mlx_imported_function_apply(&raw mut outputs.0, self.function, list.0) };
        if status == 0 {
            return Ok(outputs.arrays());
        }
        let shapes: Vec<&[i32]> = inputs.iter().map(|input| input.shape()).collect();
        Err(Error::Raw { operation: "imported function", detail: format!("{} over {shapes:?}", self.file) })
    }
}

impl Drop for Imported {
    fn drop(&mut self) {
        // SAFETY: the function is owned here and freed once.
        unsafe { sys::mlx_imported_function_free(self.function) };
    }
}

/// The path as C wants it. Before the first call: MLX ends the process on its first error unless mlx-rs has put in its
/// own handler, which it does with its first checked call.
fn named(operation: &'static str, path: &Path) -> Result<CString> {
    Device::try_default()?;
    let named = path.to_str().and_then(|path| CString::new(path).ok());
    named.ok_or_else(|| Error::Raw { operation, detail: format!("{} is no text for C", path.display()) })
}
