//! Folders for temporary files. In a sandbox or on a damaged system, the usual place may be missing or read-only.

use crate::child::naming;
use crate::signals;
use std::env;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Characters with a meaning in `LD_LIBRARY_PATH`. A folder whose name contains one of them cannot be listed there.
const MEANT: &[u8] = b":;$";

/// Returns the places for temporary files, in the order in which they are tried.
pub(crate) fn places() -> impl Iterator<Item = PathBuf> {
    let variable = |name: &str| {
        let value = env::var_os(name).filter(|value| !value.is_empty())?;
        std::path::absolute(value).ok()
    };
    let usual = |place: &str| Some(PathBuf::from(place));
    let places = [
        variable("TMPDIR"),
        usual("/tmp"),
        variable("XDG_RUNTIME_DIR"),
        usual("/dev/shm"),
        usual("/var/tmp"),
    ];
    places.into_iter().flatten().filter(|place| is_plain(place))
}

fn is_plain(place: &Path) -> bool {
    !place.as_os_str().as_bytes().iter().any(|byte| MEANT.contains(byte))
}

/// Creates a folder that is removed when the value is dropped, and also if a signal asks this process to end.
///
/// # Errors
/// Returns the system's error for the first place if no place takes the folder.
pub(crate) fn folder() -> io::Result<TempDir> {
    signals::note_requests_to_end();
    first(|place| with_room(tempfile::tempdir_in(place)?))
}

/// Room in bytes that a folder must have. A trace that ends early would look like that of a program that ended early.
const ROOM: usize = 256 << 10;

/// Returns the folder if files in it can have a content, which a full disk or a quota prevents.
fn with_room(folder: TempDir) -> io::Result<TempDir> {
    let file = folder.path().join("room");
    std::fs::write(&file, vec![0; ROOM])?;
    std::fs::remove_file(&file)?;
    Ok(folder)
}

/// Returns what `make` makes in the first place where it succeeds.
///
/// # Errors
/// Returns the error for the first place if it fails in all places.
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
        let taken = first(|place| match place == places[0] {
            true => Err(io::ErrorKind::ReadOnlyFilesystem.into()),
            false => Ok(place.to_path_buf()),
        });
        assert_eq!(taken.ok().as_ref(), places.iter().find(|place| **place != places[0]));
        let none = first(|_| Err::<(), _>(io::ErrorKind::ReadOnlyFilesystem.into()));
        let words = none.map_err(|error| error.to_string());
        assert!(words.is_err_and(|words| words.starts_with(&places[0].display().to_string())));
    }
}
