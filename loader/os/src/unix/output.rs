//! Writing to standard error.

use super::Errno;

/// Writes all of `rest` to standard error, in one call if the system takes all of it.
pub fn write_to_standard_error(mut rest: &[u8]) {
    while !rest.is_empty() {
        // SAFETY: the pointer and length are those of one live slice.
        let written = unsafe { libc::write(libc::STDERR_FILENO, rest.as_ptr().cast(), rest.len()) };
        match usize::try_from(written) {
            Ok(written) if written > 0 => rest = &rest[written.min(rest.len())..],
            Err(_) if Errno::last().is_interruption() => {}
            // If standard error is closed, the failure cannot be reported anywhere.
            _ => return,
        }
    }
}
