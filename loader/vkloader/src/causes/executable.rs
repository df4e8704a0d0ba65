//! Recognises processes that may not make memory executable. Drivers that compile code, such as Mesa's lavapipe, crash in them.

use crate::regular;
use crate::report::{Crashed, Dropped};
use std::ptr;

/// Size of the memory that is tried.
const SIZE: usize = 4096;
/// Number of the request `PR_GET_MDWE` of Linux, which the C library of older systems lacks.
const GET_MDWE: libc::c_int = 66;

/// Remedy for a process that may not make memory executable.
const PERMIT: &str = "Permit the program to make memory executable: MemoryDenyWriteExecute=no in the unit of its service (systemctl edit SERVICE), for \
     SELinux: setsebool -P deny_execmem 0, or start it outside of the sandbox. The driver itself is whole.";

/// Completes the finding about a crash: the driver jumped to code that it had made, and this process may not execute such code.
pub(super) fn explain(dropped: &mut Dropped, crash: Option<&Crashed>) {
    let Some(crash) = crash.filter(|crash| crash.is_in_made_code()) else {
        return;
    };
    if !is_forbidden() {
        return;
    }
    dropped.reason = format!(
        "The driver {} crashed the program, because it compiles code, and this process may not make memory executable.",
        crash.name
    );
    dropped
        .findings
        .insert(0, format!("{}: {}", crash.signal_name(), by_whom()));
    dropped.advice = PERMIT.into();
    dropped.set = None;
    dropped.variable = None;
}

/// Returns `true` if the system refuses to make memory of this process executable. The program has the same restrictions, because it inherits
/// them.
fn is_forbidden() -> bool {
    let (writable, executable) = (libc::PROT_READ | libc::PROT_WRITE, libc::PROT_READ | libc::PROT_EXEC);
    // SAFETY: the call maps new memory, so it changes no memory that is in use.
    let memory = unsafe {
        libc::mmap(
            ptr::null_mut(),
            SIZE,
            writable,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        )
    };
    if memory == libc::MAP_FAILED {
        return false;
    }
    // SAFETY: the memory was just mapped and is writable. SELinux only checks memory that was written.
    unsafe { memory.cast::<u8>().write(0) };
    // SAFETY: the memory was just mapped, and nothing else uses it.
    let is_refused = unsafe { libc::mprotect(memory, SIZE, executable) } != 0;
    // SAFETY: the memory was just mapped, and nothing uses it afterwards.
    unsafe { libc::munmap(memory, SIZE) };
    is_refused
}

/// Returns what forbids executable memory.
fn by_whom() -> String {
    // SAFETY: the request reads a setting of this process, and all further arguments must be zero.
    let mode = unsafe { libc::prctl(GET_MDWE, 0, 0, 0, 0) };
    let status = regular::text("/proc/self/status").unwrap_or_default();
    let enforces = || regular::text("/sys/fs/selinux/enforce").is_ok_and(|value| value.trim() == "1");
    if mode > 0 {
        "PR_SET_MDWE forbids it, which MemoryDenyWriteExecute= of systemd sets".into()
    } else if status.lines().any(|line| line.split_whitespace().eq(["Seccomp:", "2"])) {
        "a filter for system calls (seccomp) forbids it, such as that of MemoryDenyWriteExecute= of systemd".into()
    } else if enforces() {
        "SELinux forbids it (execmem)".into()
    } else {
        "a security module of the kernel forbids it".into()
    }
}
