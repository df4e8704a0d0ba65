//! Identities of files. An identity consists of numbers that change when a file is replaced or written to.

use catalogue::{BuildId, HEAD_BYTES, Identity, OfImage};
use rustix::fs::{AtFlags, CWD, StatVfsMountFlags, StatxFlags, getxattr, statvfs, statx};
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Returns the identity of the file at a path, in the form of the catalogue. Returns `None` if the file is not a regular file.
pub(super) fn identity(path: &Path) -> Option<String> {
    look(path).map(|identity| written(path, identity, build_id(path).is_some()))
}

/// Returns the written form of the identity of the file at a path. With a build ID, the file is still recognised after a hard link to it is
/// added or removed.
pub(super) fn written(path: &Path, identity: Identity, has_build_id: bool) -> String {
    if !has_build_id {
        identity.to_string()
    } else if is_of_image(path, &identity) {
        OfImage(identity).to_string()
    } else {
        format!("{identity:#}")
    }
}

/// Returns `true` if the next version of a file may have the same identity, as in reproducible images. On a writable file system, the
/// kernel sets a new change time at each write, so the identity differs.
pub(super) fn is_of_image(path: &Path, identity: &Identity) -> bool {
    let is_read_only = || statvfs(path).is_ok_and(|found| found.f_flag.contains(StatVfsMountFlags::RDONLY));
    !identity.proves() || identity.has_one_time() && is_read_only()
}

/// Returns the number of the device to which a device node belongs, 0 for another kind of file, or `None` if the path does not exist.
pub(super) fn device_number(path: &Path) -> Option<u64> {
    fs::metadata(path).ok().map(|found| found.rdev())
}

/// Returns the number of the mount through which a path leads to its target; 0 if the kernel does not report the number.
pub(super) fn mount(path: &Path) -> u64 {
    statx(CWD, path, AtFlags::empty(), StatxFlags::MNT_ID).map_or(0, |found| found.stx_mnt_id)
}

/// Returns `true` if the file at a path has an access control list beside the bits of its mode.
pub(super) fn has_list(path: &Path) -> bool {
    const LISTS: [&str; 2] = ["system.posix_acl_access", "system.nfs4_acl"];
    let is_set = |name| getxattr(path, name, &mut [0_u8; 0]).is_ok();
    LISTS.into_iter().any(is_set)
}

/// Returns `false` if the file at a path cannot be loaded because of the mount option `noexec`.
pub(super) fn may_execute(path: &Path) -> bool {
    statvfs(path).is_ok_and(|found| !found.f_flag.contains(StatVfsMountFlags::NOEXEC))
}

/// Returns `true` if two written identities are equal, or differ only because hard links to the file were added or removed.
pub(super) fn agree(one: &str, other: &str) -> bool {
    let content = |text: &str| text.get(16..32).map(str::to_owned);
    one == other || content(one).is_some() && content(one) == content(other)
}

/// Returns the present identity of the file at a path, if it is the recorded file with the same content. Hard links may
/// have been added or removed. The build ID must then be equal, as on file systems whose times may stay the same when a file changes.
pub(super) fn still(path: &Path, written: &str, build: Option<&str>) -> Option<String> {
    let same_build = || build.is_some() && build_id(path).as_deref() == build;
    let now = identity(path)?;
    let needs_build = now != written || look(path).is_none_or(|found| is_of_image(path, &found));
    (agree(&now, written) && (!needs_build || same_build())).then_some(now)
}

fn look(path: &Path) -> Option<Identity> {
    state(path).filter(|_| path.is_file())
}

/// Returns the identity of the file or folder at a path.
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

/// Returns the build ID of a library in hexadecimal digits; `None` if the file at the path is not a library with a build ID.
pub(super) fn build_id(path: &Path) -> Option<String> {
    let mut head = Vec::new();
    // Excludes other kinds of files, because opening a pipe would block.
    Some(path)
        .filter(|path| path.is_file())
        .and_then(|path| File::open(path).ok())?
        .take(HEAD_BYTES as u64)
        .read_to_end(&mut head)
        .ok()?;
    Some(BuildId::in_head(&head)?.to_string())
}
