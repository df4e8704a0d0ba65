//! Records signals that ask this process to end, so that it first ends its children and removes its temporary files.

use std::mem;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

/// `true` once such a signal has arrived.
static UNWANTED: AtomicBool = AtomicBool::new(false);

extern "C" fn note(_: libc::c_int) {
    UNWANTED.store(true, Ordering::Relaxed);
}

/// Installs the signal handlers: the first signal that asks this process to end is recorded, and a second one ends the process at
/// once.
pub(crate) fn note_requests_to_end() {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: `sigaction` consists of integers, a signal set and nullable pointers, for which zero is valid.
        let mut action: libc::sigaction = unsafe { mem::zeroed() };
        let mut before = action;
        action.sa_sigaction = note as extern "C" fn(libc::c_int) as libc::sighandler_t;
        action.sa_flags = libc::SA_RESTART | libc::SA_RESETHAND;
        // SAFETY: both structures are valid for the call, and the handler only stores an atomic value, which is
        // async-signal-safe.
        unsafe { libc::sigaction(signal, &action, &mut before) };
        if before.sa_sigaction == libc::SIG_IGN {
            // An ignored signal stays ignored, as the parent process asked.
            // SAFETY: `before` was filled by the `sigaction` call above.
            unsafe { libc::sigaction(signal, &before, ptr::null_mut()) };
        }
    }
}

/// Returns `true` if a signal asked this process to end.
pub(crate) fn is_unwanted() -> bool {
    UNWANTED.load(Ordering::Relaxed)
}
