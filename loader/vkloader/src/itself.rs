//! Finds the file of this program, which also starts the child processes that examine drivers.

use std::env;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// Returns the path of this program. Without `/proc`, the path is computed from the command that started it.
///
/// # Errors
/// Returns the system's error if neither way finds the program.
pub(crate) fn path() -> io::Result<PathBuf> {
    env::current_exe().or_else(|error| {
        let named = env::args_os().next().and_then(|name| find(&name));
        std::path::absolute(named.ok_or(error)?)
    })
}

/// Returns the file that the shell starts for a command.
pub(crate) fn find(program: &OsStr) -> Option<PathBuf> {
    if program.as_bytes().contains(&b'/') {
        return Some(program.into());
    }
    let folders = env::var_os("PATH")?;
    env::split_paths(&folders)
        .map(|folder| folder.join(program))
        .find(|path| path.is_file())
}
