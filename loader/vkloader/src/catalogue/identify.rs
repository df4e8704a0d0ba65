//! Which file it is.

use catalogue::{BuildId, HEAD_BYTES, Identity};
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The written identity of what a path leads to; `None` where that is no file.
pub(super) fn identity(path: &Path) -> Option<String> {
    look(path).map(|identity| identity.to_string())
}

/// Whether what a path leads to has this identity under its written form, and, where times prove nothing, this build id.
pub(super) fn is_same(path: &Path, written: &str, build: Option<&str>) -> bool {
    let same_build = || build.is_some() && build_id(path).as_deref() == build;
    look(path).is_some_and(|now| now.is_written(written.as_bytes()) && (now.proves() || same_build()))
}

fn look(path: &Path) -> Option<Identity> {
    state(path).filter(|_| path.is_file())
}

/// The identity of what a path leads to, also of a folder.
pub(super) fn state(path: &Path) -> Option<Identity> {
    let found = fs::metadata(path).ok()?;
    Some(Identity {
        device: found.dev(),
        inode: found.ino(),
        size: found.size(),
        modified: (found.mtime(), found.mtime_nsec()),
        changed: (found.ctime(), found.ctime_nsec()),
    })
}

/// The build id of a library, in hexadecimal digits.
pub(super) fn build_id(path: &Path) -> Option<String> {
    let mut head = Vec::new();
    File::open(path)
        .ok()?
        .take(HEAD_BYTES as u64)
        .read_to_end(&mut head)
        .ok()?;
    Some(BuildId::in_head(&head)?.to_string())
}
