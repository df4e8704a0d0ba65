//! Whether this process runs with more rights than the user who started it.
//!
//! This is the only place that decides it. An elevated process ignores every variable that could name a file to load
//! (APP-211, DRV-5).

/// Whether the system started this process with elevated privileges: setuid, setgid, file capabilities, or a security
/// module's transition. The answer never changes during the life of the process.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) fn is_elevated() -> bool {
    // SAFETY: getauxval takes a plain number and only reads the auxiliary vector, which the kernel fills before the
    // first instruction of the process and nothing changes afterwards.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

/// Whether the effective user or group differs from the real one.
#[cfg(all(unix, not(any(target_os = "linux", target_os = "android"))))]
pub(super) fn is_elevated() -> bool {
    // SAFETY: the four calls take no argument, touch no memory of ours and cannot fail.
    unsafe { libc::geteuid() != libc::getuid() || libc::getegid() != libc::getgid() }
}
