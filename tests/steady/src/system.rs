//! Functions with a different implementation for each system.

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
        // SAFETY: `geteuid` has no parameters and cannot fail.
        unsafe { libc::geteuid() == 0 }
    }

    /// Sets the usual umask for this process and its children.
    ///
    /// Programs of other users must be able to read the files of a test. Tests about the umask itself set a different umask in the programs
    /// that they start.
    pub fn usual_umask() {
        static SET: Once = Once::new();
        // SAFETY: `umask` has no preconditions. A file that another thread creates at the same time has either the old or the new umask.
        SET.call_once(|| unsafe {
            libc::umask(0o022);
        });
    }

    /// Repeats a system call while signals interrupt it. The call returns -1 for an error.
    ///
    /// # Errors
    /// Returns the error of the last attempt.
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

    /// Returns `true`, because no test needs additional privileges on systems other than Unix.
    pub fn is_superuser() -> bool {
        true
    }

    /// Does nothing, because only Unix systems have a umask.
    pub fn usual_umask() {}

    /// Calls `call` once, because signals interrupt calls only on Unix systems.
    ///
    /// # Errors
    /// Never returns an error.
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
