//! Finds the file of this program. The child processes that examine drivers run the same file.

use std::env;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
#[cfg(target_os = "linux")]
use std::path::Path;
use std::path::PathBuf;

/// Returns the path of this program. If `/proc` is missing, returns the path that was used to start the program, or searches for the
/// command.
///
/// # Errors
/// Returns the system's error if neither way finds the program.
pub(crate) fn path() -> io::Result<PathBuf> {
    env::current_exe().or_else(|error| {
        let by_words = || env::args_os().next().and_then(|name| find(&name));
        let named = started().or_else(by_words);
        std::path::absolute(named.ok_or(error)?)
    })
}

/// Returns the path that was used to start this program.
#[cfg(target_os = "linux")]
fn started() -> Option<PathBuf> {
    let path = Path::new(OsStr::from_bytes(rustix::param::linux_execfn().to_bytes()));
    path.is_file().then(|| path.to_path_buf())
}

/// Returns `None`, because kernels other than Linux do not pass the path of the program to the process.
#[cfg(not(target_os = "linux"))]
fn started() -> Option<PathBuf> {
    None
}

/// Returns the file that a shell would start for a command.
pub(crate) fn find(program: &OsStr) -> Option<PathBuf> {
    if program.as_bytes().contains(&b'/') {
        return Some(program.into());
    }
    let folders = env::var_os("PATH")?;
    env::split_paths(&folders)
        .map(|folder| folder.join(program))
        .find(|path| path.is_file())
}
