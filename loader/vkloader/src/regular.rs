//! Reads regular files.
//!
//! A folder with manifests or libraries may contain other objects. Opening a named pipe would block until a process writes to the pipe, and
//! opening a device may change the device.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Message for an object that is neither a regular file nor a folder.
const OTHER: &str = "it is not a regular file, but for example a named pipe or a device";

/// Opens a regular file, or a folder.
///
/// # Errors
///
/// Returns the system's error, or [`io::ErrorKind::InvalidInput`] for another object, which is not opened.
pub(crate) fn open(path: impl AsRef<Path>) -> io::Result<File> {
    let is_other = |state: &fs::Metadata| !state.is_file() && !state.is_dir();
    let other = || io::Error::new(io::ErrorKind::InvalidInput, OTHER);
    if fs::metadata(&path).is_ok_and(|state| is_other(&state)) {
        return Err(other());
    }
    // Another process may replace the file before it is opened. Without `O_NONBLOCK`, opening a pipe would then block.
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY)
        .open(path)?;
    if is_other(&file.metadata()?) {
        return Err(other());
    }
    Ok(file)
}

/// Returns the content of a regular file.
///
/// # Errors
///
/// See [`open`].
pub(crate) fn read(path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns the text of a regular file.
///
/// # Errors
///
/// See [`open`]. Also returns an error if the content is not UTF-8.
pub(crate) fn text(path: impl AsRef<Path>) -> io::Result<String> {
    let mut text = String::new();
    open(path)?.read_to_string(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{CWD, FileType, Mode, mknodat};

    #[test]
    fn a_pipe_or_device_is_not_opened() {
        let folder = tempfile::tempdir().expect("a folder");
        let pipe = folder.path().join("pipe.json");
        mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a pipe");
        for path in [&pipe, Path::new("/dev/null")] {
            let error = read(path).expect_err("no file");
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{}", path.display());
        }
        let file = folder.path().join("file.json");
        fs::write(&file, "text").expect("a file");
        assert_eq!(text(&file).expect("a file"), "text");
        assert_eq!(text("/proc/self/comm").is_ok(), Path::new("/proc/self/comm").exists());
        assert!(read(folder.path()).is_err() && open(folder.path()).is_ok(), "a folder");
    }
}
