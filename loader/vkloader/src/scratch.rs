//! Folders for temporary files. In a sandbox or on a damaged system, the usual folder may be missing or read-only.

use crate::child::naming;
use crate::signals;
use crate::variables::nonempty_here;
use std::env;
use std::fs::{File, Permissions};
use std::io::{self, Read, Seek};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Special characters of `LD_LIBRARY_PATH`. The variable cannot list a folder whose name contains one of these characters.
const MEANT: &[u8] = b":;$";

/// Returns the folders that may contain temporary files, in order of preference.
pub(crate) fn places() -> impl Iterator<Item = PathBuf> {
    let variable = |name: &str| {
        let value = nonempty_here(name)?;
        std::path::absolute(value).ok()
    };
    let usual = |place: &str| Some(PathBuf::from(place));
    let places = [
        variable("TMPDIR"),
        usual("/tmp"),
        variable("XDG_RUNTIME_DIR"),
        usual("/dev/shm"),
        usual("/var/tmp"),
        variable("XDG_CACHE_HOME"),
        variable("HOME"),
        env::current_dir().ok(),
    ];
    places.into_iter().flatten().filter(|place| is_plain(place))
}

fn is_plain(place: &Path) -> bool {
    !place.as_os_str().as_bytes().iter().any(|byte| MEANT.contains(byte))
}

/// Creates a temporary folder. The folder is removed when the value is dropped, and after a signal that asks this process to end.
///
/// # Errors
/// Returns the system's error for the first place if no place accepts the folder.
pub(crate) fn folder() -> io::Result<TempDir> {
    signals::note_requests_to_end();
    let made = first(|place| with_room(tempfile::tempdir_in(place)?));
    made.map_err(|error| {
        let words = format!("{error}; name a folder for temporary files in TMPDIR");
        io::Error::new(error.kind(), words)
    })
}

/// Free space in bytes that a temporary folder must have. Without this space, the trace could be truncated, and would then look like the
/// trace of a program that ended early.
const ROOM: usize = 256 << 10;

/// Returns the folder if files in it can be written. A full disk or a quota can prevent writing.
fn with_room(folder: TempDir) -> io::Result<TempDir> {
    // The umask of the user may remove all permissions, so this call adds the necessary ones.
    std::fs::set_permissions(folder.path(), Permissions::from_mode(0o700))?;
    let file = folder.path().join("room");
    std::fs::write(&file, vec![0; ROOM])?;
    std::fs::remove_file(&file)?;
    Ok(folder)
}

/// Temporary files of a run. The files are in a folder, or in memory if no folder can be created.
pub(crate) struct Files {
    folder: Option<TempDir>,
    /// Files in memory, each with its name.
    in_memory: Vec<(&'static str, File)>,
}

impl Files {
    /// Creates the folder, if possible.
    pub(crate) fn new() -> Self {
        Self {
            folder: folder().ok(),
            in_memory: Vec::new(),
        }
    }

    /// Creates an empty file. Several processes may append to the file.
    ///
    /// # Errors
    /// Returns the system's error.
    pub(crate) fn create(&mut self, name: &'static str) -> io::Result<File> {
        match &self.folder {
            Some(folder) => {
                let file = File::options()
                    .append(true)
                    .create(true)
                    .open(folder.path().join(name))?;
                // The umask of the user may have removed all permissions, so this call adds the necessary ones.
                file.set_permissions(Permissions::from_mode(0o600))?;
                Ok(file)
            }
            None => in_memory(name, &mut self.in_memory),
        }
    }

    /// Returns a path that this user's processes can use to open a file.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        if let Some(folder) = &self.folder {
            return folder.path().join(name);
        }
        let number = self.file(name).map_or(-1, AsRawFd::as_raw_fd);
        format!("/proc/{}/fd/{number}", std::process::id()).into()
    }

    /// Permits the programs of all users to write to a file.
    ///
    /// # Errors
    ///
    /// Returns the system's error.
    pub(crate) fn share(&self, file: &File) -> io::Result<()> {
        if let Some(folder) = &self.folder {
            // Other users can then open the file for writing, but they cannot read the file or list the folder.
            std::fs::set_permissions(folder.path(), Permissions::from_mode(0o711))?;
            file.set_permissions(Permissions::from_mode(0o622))?;
        }
        Ok(())
    }

    /// Returns the folder of the files; `None` for files in memory.
    pub(crate) fn folder(&self) -> Option<&Path> {
        self.folder.as_ref().map(TempDir::path)
    }

    /// Returns the first `most` bytes of a file; empty if the file cannot be read.
    pub(crate) fn read(&self, name: &str, most: u64) -> Vec<u8> {
        match (&self.folder, self.file(name)) {
            (Some(folder), _) => read(&folder.path().join(name), most),
            (None, Some(file)) => {
                let mut bytes = Vec::new();
                // Moving the offset of this file affects no other writer, because the other writers append.
                let rewound = (&*file).rewind();
                let _ = rewound.and_then(|()| file.take(most).read_to_end(&mut bytes));
                bytes
            }
            (None, None) => Vec::new(),
        }
    }

    fn file(&self, name: &str) -> Option<&File> {
        let mut files = self.in_memory.iter();
        files.find(|(known, _)| *known == name).map(|(_, file)| file)
    }
}

#[cfg(not(target_os = "linux"))]
fn in_memory(_: &'static str, _: &mut Vec<(&'static str, File)>) -> io::Result<File> {
    folder().and(Err(io::ErrorKind::Unsupported.into()))
}

#[cfg(target_os = "linux")]
fn in_memory(name: &'static str, files: &mut Vec<(&'static str, File)>) -> io::Result<File> {
    use rustix::fs::MemfdFlags;
    let file = File::from(rustix::fs::memfd_create(name, MemfdFlags::CLOEXEC)?);
    rustix::fs::fcntl_setfl(&file, rustix::fs::OFlags::APPEND)?;
    files.push((name, file.try_clone()?));
    Ok(file)
}

/// Returns the first `most` bytes of a file; empty if the path is not a regular file or cannot be read.
pub(crate) fn read(path: &Path, most: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    if std::fs::symlink_metadata(path).is_ok_and(|status| status.is_file()) {
        // The umask of the program that created the file may have removed permissions.
        let _ = std::fs::set_permissions(path, Permissions::from_mode(0o600));
        if let Ok(file) = File::open(path) {
            // Ignores an error, and returns the bytes that were read before the error.
            let _ = file.take(most).read_to_end(&mut bytes);
        }
    }
    bytes
}

/// Calls `make` with each folder for temporary files until it succeeds, and returns the result.
///
/// # Errors
///
/// Returns the error for the first folder if `make` fails for all folders.
pub(crate) fn first<T>(make: impl Fn(&Path) -> io::Result<T>) -> io::Result<T> {
    let mut failure = None;
    for place in places() {
        match make(&place) {
            Ok(made) => return Ok(made),
            Err(error) => failure = failure.or(Some(naming(&place, error))),
        }
    }
    Err(failure.unwrap_or_else(|| io::ErrorKind::NotFound.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_the_dynamic_linker_would_misread_is_not_taken() {
        for (place, is_taken) in [("/var/tmp", true), ("/a:b", false), ("/a;b", false), ("/$LIB", false)] {
            assert_eq!(is_plain(Path::new(place)), is_taken, "{place}");
        }
    }

    #[test]
    fn the_next_place_is_tried_where_one_takes_nothing() {
        let places: Vec<_> = places().collect();
        assert!(places.len() > 1, "{places:?}");
        let taken = first(|place| {
            if place == places[0] {
                Err(io::ErrorKind::ReadOnlyFilesystem.into())
            } else {
                Ok(place.to_path_buf())
            }
        });
        assert_eq!(taken.ok().as_ref(), places.iter().find(|place| **place != places[0]));
        let none = first(|_| Err::<(), _>(io::ErrorKind::ReadOnlyFilesystem.into()));
        let words = none.map_err(|error| error.to_string());
        assert!(words.is_err_and(|words| words.starts_with(&places[0].display().to_string())));
    }
}
