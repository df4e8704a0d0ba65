//! Systems of which this loader does not know which file systems are of this machine.

use core::ffi::c_int;

/// Whether whatever is open there lies on a file system whose times say enough.
pub(super) fn is_local(_: c_int) -> bool {
    false
}
