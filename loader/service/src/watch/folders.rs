//! Watches the folders of packages. Any change in these folders is reported.

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
use rustix::io::Errno;
use std::io;
use std::mem::MaybeUninit;
use std::path::Path;
use tracing::warn;

/// A watch of several folders, which the loop and the thread that reads packages share.
#[derive(Debug)]
pub struct FolderWatch {
    inotify: OwnedFd,
}

impl FolderWatch {
    /// Creates a watch without folders.
    ///
    /// # Errors
    ///
    /// Returns the error that the system reported.
    pub fn new() -> io::Result<Self> {
        let inotify = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
        Ok(Self { inotify })
    }

    /// Watches a further folder. If the folder does not exist, watches the nearest existing folder above it, to notice when the folder
    /// appears.
    pub fn add(&self, folder: &Path) {
        let contents = WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::MOVE
            | WatchFlags::ATTRIB
            | WatchFlags::CLOSE_WRITE
            | WatchFlags::DELETE_SELF
            | WatchFlags::MOVE_SELF;
        let mut flags = contents | WatchFlags::ONLYDIR;
        for place in folder.ancestors() {
            let place = if place.as_os_str().is_empty() {
                Path::new(".")
            } else {
                place
            };
            match inotify::add_watch(&self.inotify, place, flags) {
                // The folder may have appeared before the watch of its parent began. The new watch reports no event for a folder that
                // already exists, so this call watches the folder itself.
                Ok(_) if place != folder && folder.is_dir() => return self.add(folder),
                Ok(_) => return,
                Err(Errno::NOENT | Errno::NOTDIR) => {}
                Err(error) => {
                    warn!("changes in {} are not noticed: {error}", place.display());
                    return;
                }
            }
            // In a parent folder, only new entries are relevant.
            flags = WatchFlags::CREATE | WatchFlags::MOVED_TO | WatchFlags::ONLYDIR | WatchFlags::MASK_ADD;
        }
    }

    /// Returns `true` if a file has changed since the last call. Lost events are treated as a change.
    pub fn has_changed(&self) -> bool {
        let mut changed = false;
        for_each(self.inotify.as_fd(), |_, _, _| changed = true);
        changed
    }
}

impl AsFd for FolderWatch {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.inotify.as_fd()
    }
}

/// Reads all events. Calls `event` with the number of the watch, the kind of the event, and the name of the file.
pub(super) fn for_each(inotify: BorrowedFd<'_>, mut event: impl FnMut(i32, ReadFlags, &[u8])) {
    let mut space = [MaybeUninit::uninit(); 4096];
    let mut reader = inotify::Reader::new(inotify, &mut space);
    loop {
        match reader.next() {
            Ok(read) => event(
                read.wd(),
                read.events(),
                read.file_name().map_or(&[], |name| name.to_bytes()),
            ),
            Err(Errno::INTR) => {}
            Err(_) => return,
        }
    }
}
