//! Which kernels a piece of work ran on an NVIDIA GPU, told by the vendor's tracing library (CUPTI).
//!
//! What a dispatch table predicts is read from source; what ran has to be seen. The library is loaded at run time, so
//! that a machine without it loses the names and nothing else. Records come to callbacks of the whole process, so their
//! place is one too, and there is one tracer at a time.
#![expect(unsafe_code, reason = "the tracing library has a C interface")]

use super::modules::Modules;
use crate::results::bisect::Launch;
use libloading::{Library, Symbol};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::{CStr, c_char, c_void};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// What the library's file is called, newest first.
const FILES: [&str; 3] = ["libcupti.so.13", "libcupti.so.12", "libcupti.so"];
/// `CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL`: kernels, without making them run one after the other.
const KERNELS: u32 = 10;
/// `CUPTI_ACTIVITY_FLAG_FLUSH_FORCED`: buffers that are not full are given back too.
const FORCED: u32 = 1;
/// Numbers of 8 bytes in a buffer of records: 1 MiB.
const BUFFER: usize = 1 << 17;

/// The first fields of a kernel's record, which every version of the library from CUDA 9 to 13.5 writes alike
/// (`CUpti_ActivityKernel4` to `CUpti_ActivityKernel13` in `cupti_activity.h`).
#[repr(C)]
struct Record {
    kind: u32,
    cache: [u8; 2],
    registers: u16,
    partitioned: [u32; 2],
    start: u64,
    end: u64,
    completed: u64,
    device: u32,
    context: u32,
    stream: u32,
    grid: [i32; 3],
    threads: [i32; 3],
    shared: [i32; 2],
    local: [u32; 2],
    correlation: u32,
    grid_id: i64,
    name: *const c_char,
}

type Next = unsafe extern "C" fn(*mut u8, usize, *mut *mut Record) -> i32;
type Requested = extern "C" fn(*mut *mut u8, *mut usize, *mut usize);
type Completed = extern "C" fn(*mut c_void, u32, *mut u8, usize, usize);

/// A kernel's record, out of the library's buffer.
struct Ran {
    start: u64,
    symbol: String,
    grid: [i32; 3],
    threads: [i32; 3],
}

/// Records are kept; while nobody asks for them they are dropped as they come.
static KEEPING: AtomicBool = AtomicBool::new(false);
/// Kernels that ran while records were kept.
static RAN: Mutex<Vec<Ran>> = Mutex::new(Vec::new());
/// Buffers that the library has, by address.
static LENT: Mutex<BTreeMap<usize, Box<[u64]>>> = Mutex::new(BTreeMap::new());
static NEXT: OnceLock<Next> = OnceLock::new();

/// The loaded library, tracing.
#[derive(Debug)]
pub struct Cupti {
    /// Never unloaded: it has threads and hooks of its own until the process ends.
    library: &'static Library,
    modules: RefCell<Modules>,
}

/// Why kernels cannot be traced. Each text fits after "failed to …".
#[derive(Debug, thiserror::Error)]
pub enum CuptiError {
    /// It is not there.
    #[error("load {}: {source}", FILES[0])]
    Load {
        /// What the system said.
        source: libloading::Error,
    },
    /// A function is not in it.
    #[error("find a function of the tracing library: {0}")]
    Function(libloading::Error),
    /// It refused.
    #[error("trace kernels: {call} gave status {status}")]
    Status {
        /// The function.
        call: &'static str,
        /// What it returned.
        status: i32,
    },
}

impl Cupti {
    /// Loads the library and starts tracing; `modules` is where MLX keeps what it compiles at run time. Work that was
    /// captured into a graph before is traced as one whole, so this comes before the first kernel.
    ///
    /// # Errors
    /// When the library is not there, lacks a function, or refuses.
    pub fn start(modules: Option<PathBuf>) -> Result<Self, CuptiError> {
        let library: &Library = Box::leak(Box::new(load()?));
        let own = Self { library, modules: RefCell::new(Modules::at(modules)) };
        // SAFETY: the type is the function's own in the library's header.
        let next = unsafe { own.function::<Next>("cuptiActivityGetNextRecord") }?;
        NEXT.get_or_init(|| *next);
        own.register()?;
        own.call("cuptiActivityEnable", KERNELS)?;
        Ok(own)
    }

    /// The function of this name.
    ///
    /// # Safety
    /// `T` has to be its type.
    unsafe fn function<T>(&self, name: &'static str) -> Result<Symbol<'_, T>, CuptiError> {
        // SAFETY: as the caller promises.
        unsafe { self.library.get(name.as_bytes()) }.map_err(CuptiError::Function)
    }

    fn register(&self) -> Result<(), CuptiError> {
        let name = "cuptiActivityRegisterCallbacks";
        // SAFETY: the type is the function's own in the library's header; both callbacks live as long as the process.
        let status = unsafe {
            let register = self.function::<unsafe extern "C" fn(Requested, Completed) -> i32>(name)?;
            register(requested, completed)
        };
        checked(name, status)
    }

    /// Calls one of the functions that take a number and return a status.
    fn call(&self, name: &'static str, number: u32) -> Result<(), CuptiError> {
        // SAFETY: the type is the function's own in the library's header.
        let status = unsafe { self.function::<unsafe extern "C" fn(u32) -> i32>(name)?(number) };
        checked(name, status)
    }

    /// Runs `work`, which has to wait for its kernels to end, and gives the kernels that it ran in the order in which
    /// they began.
    ///
    /// # Errors
    /// When the library refuses to give its records back. What `work` gave is not lost.
    pub fn trace<T>(&self, work: impl FnOnce() -> T) -> (T, Result<Vec<Launch>, CuptiError>) {
        let before = self.call("cuptiActivityFlushAll", FORCED);
        KEEPING.store(true, Ordering::SeqCst);
        let given = work();
        let flushed = self.call("cuptiActivityFlushAll", FORCED);
        KEEPING.store(false, Ordering::SeqCst);
        let mut ran = std::mem::take(&mut *RAN.lock().unwrap_or_else(PoisonError::into_inner));
        ran.sort_by_key(|ran| ran.start);
        let mut modules = self.modules.borrow_mut();
        let launches = ran.into_iter().map(|ran| launch(ran, &mut modules)).collect();
        (given, before.and(flushed).map(|()| launches))
    }
}

/// The newest library that is there; why the newest is not, where none is.
fn load() -> Result<Library, CuptiError> {
    // SAFETY: loading runs the library's initialisers; it is the vendor's own and loaded for nothing else.
    let open = |file: &str| unsafe { Library::new(file) };
    let [newest, older @ ..] = FILES;
    open(newest).or_else(|source| {
        older.into_iter().find_map(|file| open(file).ok()).ok_or(CuptiError::Load { source })
    })
}

fn checked(call: &'static str, status: i32) -> Result<(), CuptiError> {
    if status == 0 { Ok(()) } else { Err(CuptiError::Status { call, status }) }
}

/// The library wants room for records.
extern "C" fn requested(buffer: *mut *mut u8, size: *mut usize, most: *mut usize) {
    let mut room = vec![0u64; BUFFER].into_boxed_slice();
    let start = room.as_mut_ptr().cast::<u8>();
    LENT.lock().unwrap_or_else(PoisonError::into_inner).insert(start.addr(), room);
    // SAFETY: the library passes three places to write to.
    unsafe {
        *buffer = start;
        *size = BUFFER * size_of::<u64>();
        *most = 0;
    }
}

/// The library gives a buffer back, with `valid` bytes of records in it.
extern "C" fn completed(_context: *mut c_void, _stream: u32, buffer: *mut u8, _size: usize, valid: usize) {
    let mut record: *mut Record = std::ptr::null_mut();
    let keeping = KEEPING.load(Ordering::SeqCst);
    let mut ran = RAN.lock().unwrap_or_else(PoisonError::into_inner);
    while let Some(next) = NEXT.get().filter(|_| keeping) {
        // SAFETY: buffer and length are the library's own; it moves `record` from one of its records to the next.
        if unsafe { next(buffer, valid, &raw mut record) } != 0 {
            break;
        }
        // SAFETY: a status of 0 means that `record` points to a record in the buffer; all records begin with a kind.
        if unsafe { (*record).kind } == KERNELS {
            // SAFETY: a record of this kind begins with these fields.
            ran.push(kept(unsafe { &*record }));
        }
    }
    LENT.lock().unwrap_or_else(PoisonError::into_inner).remove(&buffer.addr());
}

fn kept(record: &Record) -> Ran {
    let symbol = if record.name.is_null() {
        "without a name".to_owned()
    } else {
        // SAFETY: the library's names end with a zero and live as long as the record.
        unsafe { CStr::from_ptr(record.name) }.to_string_lossy().into_owned()
    };
    Ran { start: record.start, symbol, grid: record.grid, threads: record.threads }
}

fn launch(ran: Ran, modules: &mut Modules) -> Launch {
    let Ran { symbol, grid, threads, .. } = ran;
    let module = modules.of(&symbol);
    let name = cpp_demangle::Symbol::new(&symbol).ok().and_then(|name| name.demangle().ok());
    Launch { name: name.unwrap_or(symbol), module, grid, threads }
}

#[cfg(test)]
mod tests {
    use super::Record;
    use std::mem::offset_of;

    #[test]
    fn fields_lie_where_the_header_puts_them() {
        let places = [
            offset_of!(Record, start),
            offset_of!(Record, grid),
            offset_of!(Record, threads),
            offset_of!(Record, correlation),
            offset_of!(Record, grid_id),
            offset_of!(Record, name),
        ];
        assert_eq!(places, [16, 52, 64, 92, 96, 104]);
    }
}
