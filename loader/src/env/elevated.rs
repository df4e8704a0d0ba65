//! Variables that a process with more rights than its user must not trust.
//!
//! This is the only place that decides it. An elevated process ignores every variable that could name a file to load
//! (APP-211, DRV-5).

use core::ffi::CStr;
use std::ffi::OsString;

#[cfg(all(target_os = "linux", any(target_env = "gnu", target_env = "musl")))]
use core::ffi::c_char;

#[cfg(all(target_os = "linux", any(target_env = "gnu", target_env = "musl")))]
unsafe extern "C" {
    fn getenv(name: *const c_char) -> *const c_char;
    fn secure_getenv(name: *const c_char) -> *const c_char;
}

/// The value of a variable, unless this process was started with elevated privileges: setuid, setgid, file capabilities,
/// or a security module's transition. The C library decides, so programs that supply its function decide with it.
#[cfg(all(target_os = "linux", any(target_env = "gnu", target_env = "musl")))]
pub(super) fn secure_value(name: &CStr) -> Option<OsString> {
    // SAFETY: the C library's own function, which only reads the environment.
    unsafe { answer(secure_getenv, name) }
}

/// The value of a variable, whatever the privileges.
#[cfg(all(target_os = "linux", any(target_env = "gnu", target_env = "musl")))]
pub(super) fn plain_value(name: &CStr) -> Option<OsString> {
    // SAFETY: the C library's own function, which only reads the environment.
    unsafe { answer(getenv, name) }
}

/// The C library's functions that read the environment.
#[cfg(all(target_os = "linux", any(target_env = "gnu", target_env = "musl")))]
type Get = unsafe extern "C" fn(*const c_char) -> *const c_char;

/// Copies an answer of the C library.
///
/// # Safety
/// `get` is one of the C library's functions that read the environment.
#[cfg(all(target_os = "linux", any(target_env = "gnu", target_env = "musl")))]
unsafe fn answer(get: Get, name: &CStr) -> Option<OsString> {
    use std::os::unix::ffi::OsStringExt;

    // SAFETY: the name is terminated; see the contract for the rest.
    let value = unsafe { get(name.as_ptr()) };
    // SAFETY: a value that is not null is terminated; a program that changes its environment while another thread reads
    // it is at fault before every function of the C library.
    (!value.is_null()).then(|| OsString::from_vec(unsafe { CStr::from_ptr(value) }.to_bytes().to_vec()))
}

/// Whether [`secure_value`] would give this value.
#[cfg(all(target_os = "linux", any(target_env = "gnu", target_env = "musl")))]
pub(super) fn has_secure_value(name: &CStr, expected: Option<&[u8]>) -> bool {
    // SAFETY: the C library's own function, which only reads the environment.
    unsafe { is_answer(secure_getenv, name, expected) }
}

/// Whether a variable has this value, whatever the privileges.
#[cfg(all(target_os = "linux", any(target_env = "gnu", target_env = "musl")))]
pub(super) fn has_value(name: &CStr, expected: Option<&[u8]>) -> bool {
    // SAFETY: the C library's own function, which only reads the environment.
    unsafe { is_answer(getenv, name, expected) }
}

/// Compares an answer of the C library without a copy.
///
/// # Safety
/// `get` is one of the C library's functions that read the environment.
#[cfg(all(target_os = "linux", any(target_env = "gnu", target_env = "musl")))]
unsafe fn is_answer(get: Get, name: &CStr, expected: Option<&[u8]>) -> bool {
    // SAFETY: the name is terminated; see the contract for the rest.
    let value = unsafe { get(name.as_ptr()) };
    if value.is_null() {
        return expected.is_none();
    }
    // SAFETY: as in `answer`.
    expected.is_some_and(|expected| unsafe { CStr::from_ptr(value) }.to_bytes() == expected)
}

/// The value of a variable, whatever the privileges.
#[cfg(not(all(target_os = "linux", any(target_env = "gnu", target_env = "musl"))))]
pub(super) fn plain_value(name: &CStr) -> Option<OsString> {
    name.to_str().ok().and_then(std::env::var_os)
}

/// Whether [`secure_value`] would give this value.
#[cfg(not(all(target_os = "linux", any(target_env = "gnu", target_env = "musl"))))]
pub(super) fn has_secure_value(name: &CStr, expected: Option<&[u8]>) -> bool {
    secure_value(name).map(super::bytes_of).as_deref() == expected
}

/// Whether a variable has this value, whatever the privileges.
#[cfg(not(all(target_os = "linux", any(target_env = "gnu", target_env = "musl"))))]
pub(super) fn has_value(name: &CStr, expected: Option<&[u8]>) -> bool {
    let value = name.to_str().ok().and_then(std::env::var_os);
    value.map(super::bytes_of).as_deref() == expected
}

/// The value of a variable, unless this process was started with elevated privileges.
#[cfg(not(all(target_os = "linux", any(target_env = "gnu", target_env = "musl"))))]
pub(super) fn secure_value(name: &CStr) -> Option<OsString> {
    let name = name.to_str().ok()?;
    (!is_elevated()).then(|| std::env::var_os(name)).flatten()
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
#[cfg(all(unix, not(any(target_os = "linux", target_os = "android"))))]
fn is_elevated() -> bool {
    // SAFETY: the four calls take no argument, touch no memory of ours and cannot fail.
    unsafe { libc::geteuid() != libc::getuid() || libc::getegid() != libc::getgid() }
}
