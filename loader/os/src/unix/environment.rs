//! The environment, and the decision whether this process may trust it.
//!
//! Only this module decides whether a process is elevated, that is, has more rights than the user who set its variables (APP-211, DRV-5).

use crate::memory::copy_or_note;
use alloc::vec::Vec;
use core::ffi::{CStr, c_char};

/// Type of the C library's functions that read the environment.
type Get = unsafe extern "C" fn(*const c_char) -> *mut c_char;

/// Returns the value of a variable, unless this process was started with elevated privileges.
pub fn secure_value(name: &CStr) -> Option<Vec<u8>> {
    // SAFETY: `secure_getenv` is a function of the C library that reads the environment, or this module's replacement for it.
    unsafe { answer(secure_getenv, name) }
}

/// Returns the value of a variable, regardless of the privileges of the process.
pub fn plain_value(name: &CStr) -> Option<Vec<u8>> {
    // SAFETY: `getenv` is a function of the C library that reads the environment.
    unsafe { answer(libc::getenv, name) }
}

/// Copies a value from the C library.
///
/// # Safety
/// `get` is one of the C library's functions that read the environment.
unsafe fn answer(get: Get, name: &CStr) -> Option<Vec<u8>> {
    // SAFETY: the name is terminated, and the caller promises a function that reads the environment.
    let value = unsafe { get(name.as_ptr()) };
    // SAFETY: a value that is not null is terminated. A program that changes its environment while another thread reads it breaks the rules
    // of the C library anyway.
    (!value.is_null()).then(|| copy_or_note(unsafe { CStr::from_ptr(value) }.to_bytes()))
}

/// `true` if ignored variables are reported to users (DRV-5).
pub const TELLS_OF_IGNORED: bool = false;

/// Returns `false`: this system does not report variables that [`secure_value`] hides.
#[inline(always)]
pub fn is_ignored(_: &CStr) -> bool {
    false
}

/// Returns `true` if [`secure_value`] would return `expected` now. Compares without a copy.
#[inline]
pub fn has_secure_value(name: &CStr, expected: Option<&CStr>) -> bool {
    // SAFETY: `secure_getenv` is a function of the C library that reads the environment, or this module's replacement for it.
    unsafe { has_value(secure_getenv, name, expected) }
}

/// Returns `true` if [`plain_value`] would return `expected` now. Compares without a copy.
#[inline]
pub fn has_plain_value(name: &CStr, expected: Option<&CStr>) -> bool {
    // SAFETY: `getenv` is a function of the C library that reads the environment.
    unsafe { has_value(libc::getenv, name, expected) }
}

/// Compares a value from the C library.
///
/// # Safety
/// `get` is one of the C library's functions that read the environment.
#[inline]
unsafe fn has_value(get: Get, name: &CStr, expected: Option<&CStr>) -> bool {
    // SAFETY: the name is terminated, and the caller promises a function that reads the environment.
    let value = unsafe { get(name.as_ptr()) };
    match expected {
        None => value.is_null(),
        // SAFETY: both texts are terminated. A program that changes its environment while another thread reads it breaks the rules of the C
        // library anyway.
        Some(expected) => !value.is_null() && unsafe { libc::strcmp(value, expected.as_ptr()) } == 0,
    }
}

// The C library decides whether setuid, setgid, file capabilities or a transition of a security module elevated the process. A program that
// supplies this function makes the decision itself.
#[cfg(all(target_os = "linux", any(target_env = "gnu", target_env = "musl")))]
unsafe extern "C" {
    fn secure_getenv(name: *const c_char) -> *mut c_char;
}

/// Replacement for `secure_getenv`, which other C libraries may lack.
///
/// # Safety
/// `name` is terminated, as `getenv` demands.
#[cfg(not(all(target_os = "linux", any(target_env = "gnu", target_env = "musl"))))]
unsafe extern "C" fn secure_getenv(name: *const c_char) -> *mut c_char {
    if is_elevated() {
        return core::ptr::null_mut();
    }
    // SAFETY: the caller promises a terminated name, as `getenv` demands.
    unsafe { libc::getenv(name) }
}

/// Returns `true` if the kernel started this process with elevated privileges.
#[cfg(any(
    all(target_os = "linux", not(any(target_env = "gnu", target_env = "musl"))),
    target_os = "android"
))]
fn is_elevated() -> bool {
    // SAFETY: `getauxval` takes a number and only reads the auxiliary vector. The kernel fills it before the first instruction of the
    // process, and nothing changes it afterwards.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

/// Returns `true` if the effective user or group differs from the real one.
#[cfg(not(any(target_os = "linux", target_os = "android", target_os = "fuchsia")))]
fn is_elevated() -> bool {
    // SAFETY: the four calls take no argument, access no memory of this process and cannot fail.
    unsafe { libc::geteuid() != libc::getuid() || libc::getegid() != libc::getgid() }
}

/// Returns `false`, because Fuchsia has no users. The creator of a process chooses its variables (LAY-55).
#[cfg(target_os = "fuchsia")]
fn is_elevated() -> bool {
    false
}
