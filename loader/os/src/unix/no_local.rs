//! Replacement for systems on which the loader does not know which file systems are local.

use core::ffi::c_int;

/// Returns `true` if the open file is on a file system with reliable times.
pub(super) fn is_local(_: c_int) -> bool {
    false
}
