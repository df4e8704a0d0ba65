//! The parts that differ between systems.

use std::path::Path;

#[cfg(unix)]
mod unix {
    use super::Path;
    use std::io;
    use std::os::unix::fs::PermissionsExt;
    use std::process::{Command, Stdio};
    use std::sync::Once;

    /// Returns `true` if the tests run as the superuser.
    pub fn is_superuser() -> bool {
        // SAFETY: takes nothing and cannot fail.
        unsafe { libc::geteuid() == 0 }
    }

    /// Sets the umask of this process, and of those that it starts, to the usual one.
    ///
    /// Programs that run as other users must be able to read what a test writes. Cases about the umask itself set another one in
    /// the program that they start.
    pub fn usual_umask() {
        static SET: Once = Once::new();
        // SAFETY: takes a number; files that other threads make at the same time get one umask or the other.
        SET.call_once(|| unsafe {
            libc::umask(0o022);
        });
    }

    /// Repeats a system call for as long as signals interrupt it; the call returns -1 for an error.
    ///
    /// # Errors
    /// The system's.
    pub fn retried<T: PartialEq + From<i8>>(mut call: impl FnMut() -> T) -> io::Result<T> {
        loop {
            let result = call();
            if result != T::from(-1) {
                return Ok(result);
            }
            let error = io::Error::last_os_error();
            if error.kind() != io::ErrorKind::Interrupted {
                return Err(error);
            }
        }
    }

    #[track_caller]
    pub(crate) fn copy_program(from: &Path, to: &Path) {
        let copied = Command::new("cp")
            .arg("--")
            .args([from, to])
            .stdin(Stdio::null())
            .status();
        assert!(
            copied.expect("cp runs").success(),
            "{} cannot be copied",
            from.display()
        );
    }

    #[track_caller]
    pub(crate) fn set_mode(path: &Path, mode: u32) {
        let set = std::fs::set_permissions(path, PermissionsExt::from_mode(mode));
        set.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
}

#[cfg(not(unix))]
mod unix {
    use super::Path;
    use std::io;

    /// Returns `true`: on this system no case needs more rights than it has.
    pub fn is_superuser() -> bool {
        true
    }

    /// Does nothing: this system has no umask.
    pub fn usual_umask() {}

    /// Calls once: no signal interrupts a call.
    ///
    /// # Errors
    /// None.
    pub fn retried<T>(mut call: impl FnMut() -> T) -> io::Result<T> {
        Ok(call())
    }

    #[track_caller]
    pub(crate) fn copy_program(from: &Path, to: &Path) {
        std::fs::copy(from, to).expect("a program can be copied");
    }

    pub(crate) fn set_mode(_: &Path, _: u32) {}
}

pub(crate) use unix::{copy_program, set_mode};
pub use unix::{is_superuser, retried, usual_umask};
