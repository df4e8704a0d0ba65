//! Watches the folders of packages and of device nodes. Any change in these folders is reported.

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use rustix::io::Errno;
use std::io;
use std::mem::MaybeUninit;
use std::path::Path;
use tracing::warn;

/// A watch of several folders. The loop and the thread that reads packages share that of the packages.
#[derive(Debug)]
pub struct FolderWatch {
    inotify: OwnedFd,
    /// The events in a folder that count as a change.
    events: WatchFlags,
}

impl FolderWatch {
    /// Creates a watch without folders. The end of writing a file counts as a change only if the folders have packages, because programs
    /// open devices for writing without changing them.
    ///
    /// # Errors
    /// Returns the error that the system reported.
    pub fn new(has_packages: bool) -> io::Result<Self> {
        let mut events = WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::MOVE
            | WatchFlags::ATTRIB
            | WatchFlags::DELETE_SELF
            | WatchFlags::MOVE_SELF
            | WatchFlags::ONLYDIR;
        events.set(WatchFlags::CLOSE_WRITE, has_packages);
        let inotify = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
        Ok(Self { inotify, events })
    }

    /// Watches a further folder. If the folder does not exist, watches the nearest existing folder above it, to notice when the folder
    /// appears.
    pub fn add(&self, folder: &Path) {
        let mut flags = self.events;
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
        let mut space = [MaybeUninit::uninit(); 4096];
        let mut reader = inotify::Reader::new(&self.inotify, &mut space);
        loop {
            match reader.next() {
                Ok(_) => changed = true,
                Err(Errno::INTR) => {}
                Err(_) => return changed,
            }
        }
    }
}

impl AsFd for FolderWatch {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.inotify.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{create_dir, remove_dir_all, write};

    #[test]
    fn lsv_25_the_folder_may_appear_later() {
        let place = tempfile::tempdir().unwrap();
        let dri = place.path().join("dri");
        let watch = FolderWatch::new(false).unwrap();
        for _ in 0..2 {
            watch.add(&dri);
            assert!(!watch.has_changed());
            create_dir(&dri).unwrap();
            assert!(watch.has_changed());
            watch.add(&dri);
            write(dri.join("renderD128"), "").unwrap();
            assert!(watch.has_changed());
            write(dri.join("renderD128"), "").unwrap();
            assert!(!watch.has_changed());
            remove_dir_all(&dri).unwrap();
            assert!(watch.has_changed());
        }
    }
}
