//! Replacement for the check whether a file is on a local file system, for systems on which the loader cannot recognize such file systems.

use core::ffi::c_int;

/// Returns `false`, because the loader recognizes no local file system on this system.
pub(super) fn is_local(_: c_int) -> bool {
    false
}
