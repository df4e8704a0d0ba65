//! Signals that ask this process to end are noted, so that what it started and its scratch files go first.

use std::mem;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

/// Such a signal came.
static UNWANTED: AtomicBool = AtomicBool::new(false);

extern "C" fn note(_: libc::c_int) {
    UNWANTED.store(true, Ordering::Relaxed);
}

/// From here on the first signal that asks this process to end is noted, and only a second one ends it at once.
pub(crate) fn note_requests_to_end() {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: the structure consists of numbers, a set of bits and pointers that may be null: zero is a value of each.
        let mut action: libc::sigaction = unsafe { mem::zeroed() };
        let mut before = action;
        action.sa_sigaction = note as extern "C" fn(libc::c_int) as libc::sighandler_t;
        action.sa_flags = libc::SA_RESTART | libc::SA_RESETHAND;
        // SAFETY: both structures are valid for the call, and the function stores one atomic word, which any signal handler may.
        unsafe { libc::sigaction(signal, &action, &mut before) };
        if before.sa_sigaction == libc::SIG_IGN {
            // Who started this process wants it to go on.
            // SAFETY: `before` is what the call above wrote.
            unsafe { libc::sigaction(signal, &before, ptr::null_mut()) };
        }
    }
}

/// Returns `true` if a signal asked this process to end.
pub(crate) fn is_unwanted() -> bool {
    UNWANTED.load(Ordering::Relaxed)
}
