//! The environment, and whether this process may trust it.
//!
//! This is the only place that decides whether a process is elevated: it has more rights than the user who set its variables
//! (APP-211, DRV-5).

use crate::memory::copy_or_note;
use alloc::vec::Vec;
use core::ffi::{CStr, c_char};

/// The C library's functions that read the environment.
type Get = unsafe extern "C" fn(*const c_char) -> *mut c_char;

/// The value of a variable, unless this process was started with elevated privileges.
pub fn secure_value(name: &CStr) -> Option<Vec<u8>> {
    // SAFETY: one that reads the environment.
    unsafe { answer(secure_getenv, name) }
}

/// The value of a variable, whatever the privileges.
pub fn plain_value(name: &CStr) -> Option<Vec<u8>> {
    // SAFETY: the C library's own function, which only reads the environment.
    unsafe { answer(libc::getenv, name) }
}

/// Copies an answer of the C library.
///
/// # Safety
/// `get` is one of the C library's functions that read the environment.
unsafe fn answer(get: Get, name: &CStr) -> Option<Vec<u8>> {
    // SAFETY: the name is terminated; see the contract for the rest.
    let value = unsafe { get(name.as_ptr()) };
    // SAFETY: a value that is not null is terminated; a program that changes its environment while another thread reads
    // it is at fault before every function of the C library.
    (!value.is_null()).then(|| copy_or_note(unsafe { CStr::from_ptr(value) }.to_bytes()))
}

/// Whether users are told of variables that are ignored (DRV-5).
pub const TELLS_OF_IGNORED: bool = false;

/// Whether [`secure_value`] keeps back what is set, where users are told.
#[inline(always)]
pub fn is_ignored(_: &CStr) -> bool {
    false
}

/// Whether [`secure_value`] would give this now. Compares the C library's answer without a copy.
#[inline]
pub fn has_secure_value(name: &CStr, expected: Option<&CStr>) -> bool {
    // SAFETY: one that reads the environment.
    unsafe { has_value(secure_getenv, name, expected) }
}

/// Whether [`plain_value`] would give this now. Compares the C library's answer without a copy.
#[inline]
pub fn has_plain_value(name: &CStr, expected: Option<&CStr>) -> bool {
    // SAFETY: one that reads the environment.
    unsafe { has_value(libc::getenv, name, expected) }
}

/// # Safety
/// `get` is one of the C library's functions that read the environment.
#[inline]
unsafe fn has_value(get: Get, name: &CStr, expected: Option<&CStr>) -> bool {
    // SAFETY: the name is terminated; see the contract for the rest.
    let value = unsafe { get(name.as_ptr()) };
    match expected {
        None => value.is_null(),
        // SAFETY: both texts are terminated; see `answer` for that of the environment.
        Some(expected) => !value.is_null() && unsafe { libc::strcmp(value, expected.as_ptr()) } == 0,
    }
}

// Setuid, setgid, file capabilities, or a security module's transition: the C library decides, so programs that supply its
// function decide with it.
#[cfg(all(target_os = "linux", any(target_env = "gnu", target_env = "musl")))]
unsafe extern "C" {
    fn secure_getenv(name: *const c_char) -> *mut c_char;
}

/// The same where the C library has no such function.
///
/// # Safety
/// That of `getenv`.
#[cfg(not(all(target_os = "linux", any(target_env = "gnu", target_env = "musl"))))]
unsafe extern "C" fn secure_getenv(name: *const c_char) -> *mut c_char {
    if is_elevated() {
        return core::ptr::null_mut();
    }
    // SAFETY: passed on.
    unsafe { libc::getenv(name) }
}

/// Whether the kernel started this process with elevated privileges.
#[cfg(any(
    all(target_os = "linux", not(any(target_env = "gnu", target_env = "musl"))),
    target_os = "android"
))]
fn is_elevated() -> bool {
    // SAFETY: getauxval takes a plain number and only reads the auxiliary vector, which the kernel fills before the
    // first instruction of the process and nothing changes afterwards.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

/// Whether the effective user or group differs from the real one.
#[cfg(not(any(target_os = "linux", target_os = "android", target_os = "fuchsia")))]
fn is_elevated() -> bool {
    // SAFETY: the four calls take no argument, touch no memory of ours and cannot fail.
    unsafe { libc::geteuid() != libc::getuid() || libc::getegid() != libc::getgid() }
}

/// Fuchsia has no users: a process has what it was given, and its variables come with that (LAY-55).
#[cfg(target_os = "fuchsia")]
fn is_elevated() -> bool {
    false
}
