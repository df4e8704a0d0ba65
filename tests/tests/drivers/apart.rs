//! Replaces files of the machine by files of a test. Only one thread and its children see the replacements.

use loader_tests::{Scene, skip};
use std::ffi::{CString, c_ulong};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::null;

/// Separate mount namespace of this thread, which ends when this value is dropped. A child process inherits the namespace of its parent.
pub(crate) struct Apart {
    before: Option<File>,
}

impl Apart {
    /// Moves the thread to a new mount namespace. If the system does not allow a new mount namespace, prints the reason and returns `None`.
    pub(crate) fn enter(scene: &Scene) -> Option<Self> {
        if scene.is_child() {
            return Some(Self { before: None });
        }
        let before = File::open("/proc/thread-self/ns/mnt").expect("a thread has a view of the file system");
        // SAFETY: the call has no pointer argument, and changes the mount namespace of this thread only.
        if unsafe { libc::unshare(libc::CLONE_NEWNS) } != 0 {
            let reason = io::Error::last_os_error();
            skip(&format!("no mount namespace for a case about the machine: {reason}"));
            return None;
        }
        // Mounts of this thread are not visible to other threads.
        mount(None, "/".as_ref(), libc::MS_REC | libc::MS_PRIVATE);
        Some(Self { before: Some(before) })
    }

    /// Replaces a file or folder, which must exist, with another file or folder.
    pub(crate) fn put(&self, own: impl AsRef<Path>, place: &str) {
        if self.before.is_some() {
            mount(Some(own.as_ref()), place.as_ref(), libc::MS_BIND | libc::MS_REC);
        }
    }
}

impl Drop for Apart {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            // SAFETY: the call has no pointer argument, and the file is open.
            let result = unsafe { libc::setns(before.as_raw_fd(), libc::CLONE_NEWNS) };
            assert_eq!(result, 0, "the thread gets its first view back");
        }
    }
}

fn mount(source: Option<&Path>, target: &Path, flags: c_ulong) {
    let text = |path: &Path| CString::new(path.as_os_str().as_bytes()).expect("no NUL in a path");
    let (source, place) = (source.map(text), text(target));
    let source = source.as_ref().map_or(null(), |source| source.as_ptr());
    // SAFETY: both paths end with a NUL and outlive the call, and no options follow.
    let result = unsafe { libc::mount(source, place.as_ptr(), null(), flags, null()) };
    let error = io::Error::last_os_error();
    assert_eq!(result, 0, "{}: {error}", target.display());
}
