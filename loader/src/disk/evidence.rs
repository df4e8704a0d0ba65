//! What a scan saw on disk.

use super::folder::Folder;
use super::stamp::{self, Stamp};
use crate::alloc::{self, Grow};
use crate::os;
use crate::os::file::{File, Status};
use core::cell::{Cell, RefCell};
use rust_alloc::ffi::CString;
use rust_alloc::vec::Vec;

/// Paths that one scan may rest on, to be kept.
const MOST_SIGHTS: usize = 1024;
/// Bytes of the files and folders that one scan may rest on, to be kept.
pub const MOST_BYTES: u64 = 1 << 20;

/// What opening a path led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sight {
    /// No such file.
    NoFile,
    /// A regular file in this state.
    File(Stamp),
    /// No such folder.
    NoFolder,
    /// A folder in this state.
    Folder(Stamp),
}

/// The paths that a scan rests on, with what they led to, in the order of the scan.
#[derive(Debug, Default)]
pub struct Sights {
    seen: Vec<(CString, Sight)>,
    bytes: u64,
}

impl Sights {
    /// Bytes of the files and folders.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether every path still leads to the same thing, unchanged.
    pub fn hold(&self) -> bool {
        self.seen.iter().all(|(path, sight)| stamp::holds(path, sight))
    }
}

/// Collects [`Sights`]. Once something was seen that cannot be compared later, there are none.
#[derive(Debug)]
pub struct Evidence {
    begun: (i64, i64),
    /// The file system that was found to be of this machine last.
    local: Cell<Option<u64>>,
    sights: RefCell<Option<Sights>>,
}

impl Evidence {
    /// Begins a scan.
    pub fn begin() -> Self {
        Self {
            // Before 1970 nothing is settled.
            begun: os::now(),
            local: Cell::new(None),
            sights: RefCell::new(Some(Sights::default())),
        }
    }

    /// What was seen; `None` when some of it cannot be compared.
    pub fn end(self) -> Option<Sights> {
        self.sights.into_inner()
    }

    /// Something was seen that cannot be compared.
    pub fn spoil(&self) {
        drop(self.sights.take());
    }

    /// A path did not lead to a file.
    pub fn no_file(&self, path: &[u8]) {
        self.add(path, Sight::NoFile);
    }

    /// A path did not lead to a folder.
    pub fn no_folder(&self, path: &[u8]) {
        self.add(path, Sight::NoFolder);
    }

    /// A path led to a regular file that is read after this.
    pub fn file(&self, path: &[u8], file: &File, found: &Status) {
        let is_local = || stamp::is_local(file.descriptor());
        self.stamped(path, Stamp::of(found), is_local, Sight::File);
    }

    /// A path led to a folder that is read after this.
    pub fn folder(&self, path: &[u8], folder: &Folder) {
        self.stamped(path, folder.stamp(), || folder.is_local(), Sight::Folder);
    }

    fn stamped(&self, path: &[u8], found: Option<Stamp>, is_local: impl FnOnce() -> bool, sight: fn(Stamp) -> Sight) {
        let Some(stamp) = found.filter(|stamp| stamp.is_settled(self.begun)) else {
            return self.spoil();
        };
        if self.local.get() != Some(stamp.device()) {
            if !is_local() {
                return self.spoil();
            }
            self.local.set(Some(stamp.device()));
        }
        if let Some(sights) = &mut *self.sights.borrow_mut() {
            sights.bytes = sights.bytes.saturating_add(stamp.bytes());
        }
        self.add(path, sight(stamp));
    }

    fn add(&self, path: &[u8], sight: Sight) {
        let mut sights = self.sights.borrow_mut();
        let added = sights.as_mut().is_some_and(|sights| {
            let room = sights.seen.len() < MOST_SIGHTS && sights.bytes <= MOST_BYTES;
            match alloc::copy_terminated(path) {
                Ok(Some(path)) if room => sights.seen.try_push((path, sight)).is_ok(),
                _ => false,
            }
        });
        if !added {
            *sights = None;
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::manifest::scratch::Scratch;

    #[test]
    fn what_was_absent_holds_until_it_is_there() {
        let scratch = Scratch::create();
        let (file, folder) = (scratch.path("x.json"), scratch.path("folder"));
        let evidence = Evidence::begin();
        evidence.no_file(&file);
        evidence.no_folder(&folder);
        let sights = evidence.end().unwrap();
        assert!(sights.hold());
        scratch.folder("folder");
        assert!(!sights.hold());
        std::fs::remove_dir(folder.as_path()).unwrap();
        assert!(sights.hold());
        scratch.file("x.json", b"{}");
        assert!(!sights.hold());
    }

    #[test]
    fn what_just_changed_cannot_be_compared() {
        let scratch = Scratch::create();
        let path = scratch.file("x.json", b"{}");
        let file = os::with_terminated(&path, |path| File::open(path, 0)).unwrap();
        let evidence = Evidence::begin();
        evidence.file(&path, &file, &file.status().unwrap());
        assert!(evidence.end().is_none());
        let evidence = Evidence::begin();
        evidence.folder(&path, &Folder::open(&scratch.folder("folder")).unwrap());
        assert!(evidence.end().is_none());
    }

    #[test]
    fn more_than_is_kept_leaves_nothing() {
        let evidence = Evidence::begin();
        (0..MOST_SIGHTS).for_each(|_| evidence.no_file(b"/nowhere/x.json"));
        evidence.no_file(b"/nowhere/y.json");
        assert!(evidence.end().is_none());
        let evidence = Evidence::begin();
        evidence.no_file(b"/nowhere\0.json");
        evidence.no_file(b"/nowhere/y.json");
        assert!(evidence.end().is_none());
    }
}
