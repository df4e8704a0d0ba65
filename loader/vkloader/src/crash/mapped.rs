//! Finds the file at the address of a fault, which a process had mapped, and whether the file ends before the address or lacks space.

use super::ShortFile;
use super::capture::Snapshot;
use super::maps::Maps;
use super::processes::folder;
use rustix::fs::{StatVfsMountFlags, statvfs};
use rustix::process::Pid;

/// Returns the path of the file that is mapped at the address of a fault, if the file system of the file has no space left. The kernel reserves
/// no space for a file when a process enlarges it.
pub(super) fn full(fault: &Snapshot, thread: Pid, maps: &Maps) -> Option<String> {
    let (path, _) = mapped(fault, maps)?;
    // The memory of memfd_create, of System V and of graphics drivers has a name in no folder, or that of a removed file.
    let folder = path.rsplit_once('/')?.0;
    if folder.is_empty() || path.ends_with(" (deleted)") {
        return None;
    }
    let status = statvfs(folder_of(thread, folder)).ok()?;
    // Every file system without a size, such as /proc, has 0 blocks. Those that are only read, such as images of Snap, have no space at any time.
    let is_written = status.f_blocks > 0 && !status.f_flag.contains(StatVfsMountFlags::RDONLY);
    (is_written && status.f_bavail == 0).then(|| path.to_owned())
}

/// Returns the path `path` of the process of `thread` in the file system of this process.
fn folder_of(thread: Pid, path: &str) -> std::path::PathBuf {
    folder(thread).join("root").join(path.trim_start_matches('/'))
}

/// Returns the file that is mapped at the address of a fault, and the place of the address in the file.
fn mapped<'a>(fault: &Snapshot, maps: &'a Maps) -> Option<(&'a str, u64)> {
    let address = fault.address().filter(|_| fault.signal == libc::SIGBUS)?;
    let mapping = maps.find(address)?;
    let path = mapping.path.as_deref().filter(|path| path.starts_with('/'))?;
    Some((path, mapping.place_in_file(address)))
}

/// Returns the mapped file that ends before the address of a fault.
pub(super) fn short_file(fault: &Snapshot, thread: Pid, maps: &Maps) -> Option<ShortFile> {
    let (path, place) = mapped(fault, maps)?;
    let size = std::fs::metadata(folder_of(thread, path)).ok()?.len();
    (size <= place).then(|| ShortFile {
        path: path.to_owned(),
        size,
    })
}
