//! Notes which functions of the loader a test reaches. Stands in an instrumented copy of the tree alone, where functions begin with a call
//! of [`reached`].
//!
//! The test is known by the arguments of its process, `--exact NAME`, as are the processes that it starts. The notes are bytes of a file
//! that is shared memory: they outlast a process that aborts, and a copy of a process writes into the same. Every call goes to the system
//! itself, since cases put themselves in front of functions of the C library.

use core::ffi::{c_long, c_void};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU8, Ordering};

/// The folder of the files; each test has one, as long as there are functions.
const FOLDER: &[u8] = b"@FOLDER@/";
const FUNCTIONS: usize = @FUNCTIONS@;

const UNKNOWN: u8 = 0;
const OPENING: u8 = 1;
const KNOWN: u8 = 2;

static STATE: AtomicU8 = AtomicU8::new(UNKNOWN);
/// The notes, or null in a process that runs no test by its name.
static NOTES: AtomicPtr<u8> = AtomicPtr::new(null_mut());

/// Notes that the function with this number was reached.
pub fn reached(number: usize) {
    if STATE.load(Ordering::Acquire) != KNOWN {
        open();
    }
    let notes = NOTES.load(Ordering::Acquire);
    if !notes.is_null() {
        // SAFETY: the number is below FUNCTIONS, and so many bytes are mapped.
        unsafe { notes.add(number).write_volatile(1) };
    }
}

#[inline(never)]
fn open() {
    match STATE.compare_exchange(UNKNOWN, OPENING, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => {
            // SAFETY: the place of the thread's error number is always valid.
            let error = unsafe { *libc::__errno_location() };
            NOTES.store(map(), Ordering::Release);
            // SAFETY: as above.
            unsafe { *libc::__errno_location() = error };
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
    let mut arguments = [0; 4096];
    let mut path = [0; 1024];
    // SAFETY: the paths end with a NUL, and the buffer has room for as many bytes as are asked for; a mapping is at a place of the system's choice.
    unsafe {
        let file = libc::syscall(libc::SYS_openat, libc::AT_FDCWD, c"/proc/self/cmdline".as_ptr(), libc::O_RDONLY, 0);
        let length = libc::syscall(libc::SYS_read, file, arguments.as_mut_ptr(), arguments.len());
        libc::syscall(libc::SYS_close, file);
        let Some(name) = usize::try_from(length).ok().and_then(|length| name(&arguments[..length])) else {
            return null_mut();
        };
        if FOLDER.len() + name.len() >= path.len() {
            return null_mut();
        }
        path[..FOLDER.len()].copy_from_slice(FOLDER);
        path[FOLDER.len()..][..name.len()].copy_from_slice(name);
        let file = libc::syscall(libc::SYS_openat, libc::AT_FDCWD, path.as_ptr(), libc::O_RDWR, 0);
        if file < 0 {
            return null_mut();
        }
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let place = libc::syscall(libc::SYS_mmap, null_mut::<c_void>(), FUNCTIONS, access, libc::MAP_SHARED, file, 0 as c_long);
        libc::syscall(libc::SYS_close, file);
        if place < 0 && place > -4096 { null_mut() } else { place as *mut u8 }
    }
}

/// The argument behind `--exact`.
fn name(arguments: &[u8]) -> Option<&[u8]> {
    let mut words = arguments.split(|byte| *byte == 0);
    words.find(|word| *word == b"--exact")?;
    words.next()
}
