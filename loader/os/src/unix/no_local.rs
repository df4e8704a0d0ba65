//! Replacement for the check for local file systems, on systems on which the loader cannot recognize them.

use core::ffi::c_int;

/// Returns `false`, because no file system is known to have reliable times.
pub(super) fn is_local(_: c_int) -> bool {
    false
}
