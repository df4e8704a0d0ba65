//! Records the functions of the loader that a test reaches. The module is part of an instrumented copy of the tree, in which every function
//! begins with a call of [`reached`].
//!
//! The arguments `--exact NAME` of a process identify the test, also in the processes that it starts. The record consists of bytes in a
//! file that is mapped into shared memory. The record therefore remains if a process aborts, and a forked process writes to the same file.
//! Every function here calls the system directly, because tests replace functions of the C library.

use core::ffi::{c_int, c_long, c_void};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU8, Ordering};

/// Folder of the records. Each test has a file with a byte for each function.
const FOLDER: &[u8] = b"@FOLDER@/";
const FUNCTIONS: usize = @FUNCTIONS@;

// This declaration replaces the bindings of the C library, because not every crate has these bindings.
unsafe extern "C" {
    fn syscall(number: c_long, ...) -> c_long;
    fn __errno_location() -> *mut c_int;
}
/// Numbers of the system calls `openat`, `read`, `close` and `mmap`.
const CALLS: [c_long; 4] = if cfg!(target_arch = "x86_64") { [257, 0, 3, 9] } else { [56, 63, 57, 222] };
const HERE: c_int = -100;
const READING: c_int = 0;
const READING_AND_WRITING: c_int = 2;
/// Flags for reading and writing, and for shared memory.
const ACCESS: c_int = 1 | 2;
const SHARED: c_int = 1;

const UNKNOWN: u8 = 0;
const OPENING: u8 = 1;
const KNOWN: u8 = 2;

static STATE: AtomicU8 = AtomicU8::new(UNKNOWN);
/// Address of the record, or null in a process that does not run a test by its name.
static NOTES: AtomicPtr<u8> = AtomicPtr::new(null_mut());

/// Records that the function with this number was reached.
pub fn reached(number: usize) {
    if STATE.load(Ordering::Acquire) != KNOWN {
        open();
    }
    let notes = NOTES.load(Ordering::Acquire);
    if !notes.is_null() {
        // SAFETY: `number` is below FUNCTIONS, and FUNCTIONS bytes are mapped at `notes`.
        unsafe { notes.add(number).write_volatile(1) };
    }
}

#[inline(never)]
fn open() {
    match STATE.compare_exchange(UNKNOWN, OPENING, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => {
            // SAFETY: the location of the thread's error number is always valid.
            let error = unsafe { *__errno_location() };
            NOTES.store(map(), Ordering::Release);
            // SAFETY: the location of the thread's error number is always valid.
            unsafe { *__errno_location() = error };
            STATE.store(KNOWN, Ordering::Release);
        }
        Err(_) => {
            while STATE.load(Ordering::Acquire) == OPENING {
                core::hint::spin_loop();
            }
        }
    }
}

fn map() -> *mut u8 {
    let [open, read, close, map] = CALLS;
    let mut arguments = [0; 4096];
    let mut path = [0; 1024];
    // SAFETY: the paths end with a NUL, and the buffer has space for all requested bytes. The system chooses the address of the mapping.
    unsafe {
        let file = syscall(open, HERE, c"/proc/self/cmdline".as_ptr(), READING, 0);
        let length = syscall(read, file, arguments.as_mut_ptr(), arguments.len());
        syscall(close, file);
        let Some(name) = usize::try_from(length).ok().and_then(|length| name(&arguments[..length])) else {
            return null_mut();
        };
        if FOLDER.len() + name.len() >= path.len() {
            return null_mut();
        }
        path[..FOLDER.len()].copy_from_slice(FOLDER);
        path[FOLDER.len()..][..name.len()].copy_from_slice(name);
        let file = syscall(open, HERE, path.as_ptr(), READING_AND_WRITING, 0);
        if file < 0 {
            return null_mut();
        }
        let place = syscall(map, null_mut::<c_void>(), FUNCTIONS, ACCESS, SHARED, file, 0 as c_long);
        syscall(close, file);
        if place < 0 && place > -4096 { null_mut() } else { place as *mut u8 }
    }
}

/// Returns the argument after `--exact`.
fn name(arguments: &[u8]) -> Option<&[u8]> {
    let mut words = arguments.split(|byte| *byte == 0);
    words.find(|word| *word == b"--exact")?;
    words.next()
}
