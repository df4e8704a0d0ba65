//! Reads a JSON file once, without blocking.

use alloc::vec::Vec;

use super::json::{Document, JsonError};
use crate::journal::reason::FileReason;
use crate::scan_cache::PathRecorder;
use crate::text::Text;
use os::memory::{Grow, OutOfMemory};
use os::{Errno, File, Status, with_terminated};
use promises::limits::MAX_FILE_BYTES;

/// Reason why a file has no usable value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileError {
    /// A fault of this file. The loader can still read other files.
    Unusable(FileReason),
    /// Memory ran out, so the API call fails.
    OutOfMemory,
}

impl From<OutOfMemory> for FileError {
    fn from(OutOfMemory: OutOfMemory) -> Self {
        Self::OutOfMemory
    }
}

/// Identity of a file: the number of a device, and the number of the file on that device. `None` if the system does not report them.
pub type FileIdentity = Option<(u64, u64)>;

/// Returns the JSON value in a file. Records the state of the file for the scan cache.
pub fn read_json(path: &Text, paths: Option<&PathRecorder>) -> Result<Document, FileError> {
    Ok(read_identified_json(path, None, paths)?.0)
}

/// Reads the JSON value and the identity of a file, like [`read_json`]. If `content` is `Some`, parses this text instead of reading the
/// file.
pub fn read_identified_json(
    path: &Text,
    content: Option<Vec<u8>>,
    paths: Option<&PathRecorder>,
) -> Result<(Document, FileIdentity), FileError> {
    let (content, identity) = match content {
        Some(content) => (content, None),
        None => read(path, paths)?,
    };
    match Document::parse(content) {
        Ok(document) => Ok((document, identity)),
        Err(JsonError::Invalid(place)) => Err(FileError::Unusable(FileReason::InvalidJson(Some(place)))),
        Err(JsonError::OutOfMemory) => Err(FileError::OutOfMemory),
    }
}

/// Returns the bytes of a regular file. Rejects folders, devices and pipes without waiting for them (BI-8). Opens the file first, because
/// some paths can be opened but not examined (LAY-25), and because most of the files do not exist.
fn read(path: &Text, paths: Option<&PathRecorder>) -> Result<(Vec<u8>, FileIdentity), FileError> {
    let read = look(path, paths);
    // The causes of other failures can disappear in a way that a later comparison would not detect.
    let comparable = matches!(
        read,
        Ok(_) | Err(FileError::Unusable(FileReason::NotFound | FileReason::TooLarge(_)))
    );
    if let (false, Some(paths)) = (comparable, paths) {
        paths.mark_uncacheable();
    }
    read
}

fn look(path: &Text, paths: Option<&PathRecorder>) -> Result<(Vec<u8>, FileIdentity), FileError> {
    let file = open(path).map_err(|error| {
        let error = not_opened(path, error);
        if let (FileError::Unusable(FileReason::NotFound), Some(paths)) = (error, paths) {
            paths.no_file(path);
        }
        error
    })?;
    let found = file.status().map_err(failure(FileReason::NotRead))?;
    if !found.is_file() {
        return Err(FileError::Unusable(FileReason::NotRegular));
    }
    if let Some(paths) = paths {
        paths.file(path, &file, &found);
    }
    Ok((contents(file, &found)?, found.identity()))
}

/// Returns the reason why a path that could not be opened is not used. For a file that is not regular, this is the reason, regardless of
/// the system's error.
fn not_opened(path: &Text, error: Errno) -> FileError {
    let is_other = || with_terminated(path, Status::at).is_ok_and(|found| !found.is_file());
    match failure(FileReason::NotOpened)(error) {
        FileError::Unusable(FileReason::NotOpened) if is_other() => FileError::Unusable(FileReason::NotRegular),
        other => other,
    }
}

/// Returns the bytes of an open file, whose state was `found`.
///
/// # Errors
///
/// The file cannot be read, or has changed.
pub fn contents(file: File, found: &Status) -> Result<Vec<u8>, FileError> {
    let expected = match usize::try_from(found.len()) {
        Ok(length) if found.len() <= MAX_FILE_BYTES => length,
        _ => return Err(FileError::Unusable(FileReason::TooLarge(MAX_FILE_BYTES))),
    };
    let mut bytes = Vec::new();
    // Reading one byte more than expected detects a file that has grown. If there is no further byte, the file is complete.
    bytes.try_exact_room(expected + 1)?;
    while bytes.len() < expected || bytes.is_empty() {
        match file.append_to(&mut bytes) {
            Ok(0) => break,
            Ok(_) => {}
            Err(error) if error.is_interruption() => {}
            Err(error) => return Err(failure(FileReason::NotRead)(error)),
        }
    }
    if bytes.len() != expected {
        return Err(FileError::Unusable(FileReason::Changed));
    }
    Ok(bytes)
}

fn failure(reason: FileReason) -> impl Fn(Errno) -> FileError {
    move |error| match error {
        _ if error.is_shortage() => FileError::OutOfMemory,
        _ if error.is_absence() => FileError::Unusable(FileReason::NotFound),
        _ => FileError::Unusable(reason),
    }
}

fn open(path: &Text) -> Result<File, Errno> {
    with_terminated(path, File::open)
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;
    use std::os::unix::ffi::OsStrExt;
    use std::process::Command;

    use super::*;
    use crate::text::scratch::Scratch;
    use crate::time_limit::ends_in_time;

    fn refusal(path: &Text) -> Option<FileError> {
        read_json(path, None).err()
    }

    #[test]
    fn bi_8_bi_9_what_is_no_readable_file() {
        ends_in_time(|| {
            let scratch = Scratch::create();
            scratch.folder("folder.json");
            std::os::unix::fs::symlink("nowhere", scratch.path("dangling.json").as_path()).unwrap();
            let pipe = scratch.path("pipe.json");
            assert!(Command::new("mkfifo").arg(pipe.as_path()).status().unwrap().success());
            let cases = [
                (scratch.path("folder.json"), FileReason::NotRegular),
                (scratch.path("dangling.json"), FileReason::NotFound),
                (scratch.path("missing.json"), FileReason::NotFound),
                (scratch.path("dangling.json/x.json"), FileReason::NotFound),
                (pipe, FileReason::NotRegular),
                ("/dev/null".into(), FileReason::NotRegular),
                (b"/a\0b.json"[..].into(), FileReason::NotOpened),
                ("".into(), FileReason::NotFound),
            ];
            for (path, reason) in cases {
                assert_eq!(refusal(&path), Some(FileError::Unusable(reason)), "{path:?}");
            }
        });
    }

    #[test]
    fn lay_72_size_bound() {
        let scratch = Scratch::create();
        let path = scratch.file("large.json", b"");
        let file = OpenOptions::new().write(true).open(path.as_path()).unwrap();
        file.set_len(MAX_FILE_BYTES + 1).unwrap();
        let reason = FileReason::TooLarge(MAX_FILE_BYTES);
        assert_eq!(refusal(&path), Some(FileError::Unusable(reason)));
        file.set_len(MAX_FILE_BYTES).unwrap();
        assert_eq!(MAX_FILE_BYTES, 16 << 20, "docs/limits.md");
        let refused = refusal(&path);
        let is_invalid = matches!(refused, Some(FileError::Unusable(FileReason::InvalidJson(Some(_)))));
        assert!(is_invalid, "{refused:?}");
    }

    /// BI-10, DRV-252: the loader rejects a file whose size changes while it is read.
    #[test]
    fn bi_10_a_file_that_changes_while_read() {
        let scratch = Scratch::create();
        let path = scratch.file("x.json", b"{}");
        let found = with_terminated(&path, Status::at).unwrap();
        for text in [&b"{} "[..], b"{"] {
            std::fs::write(path.as_path(), text).unwrap();
            let file = open(&path).unwrap();
            assert_eq!(contents(file, &found), Err(FileError::Unusable(FileReason::Changed)));
        }
    }

    #[test]
    fn names_that_are_no_utf_8() {
        let scratch = Scratch::create();
        let path = crate::text::join(scratch.root().as_os_str().as_bytes(), b"\xFF.json").unwrap();
        std::fs::write(path.as_path(), b"{}").unwrap();
        assert_eq!(refusal(&path), None);
    }
}
