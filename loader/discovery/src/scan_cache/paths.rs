//! Records the files and folders that a scan reads.

use alloc::ffi::CString;
use alloc::vec::Vec;
use core::cell::{Cell, RefCell};
use os::memory::{Grow, copy_terminated};
use os::{File, Folder, PathState, Stamp, Status};

/// Upper bound on the number of paths of a scan whose result is kept.
const MOST_PATHS: usize = 1024;
/// Upper bound on the total size in bytes of the files and folders of a scan whose result is kept.
pub const MOST_BYTES: u64 = 1 << 20;

/// The paths that a scan depends on, each with the state of its file, in the order of the scan.
#[derive(Debug, Default)]
pub struct ScanInputs {
    seen: Vec<(CString, PathState)>,
    bytes: u64,
}

impl ScanInputs {
    /// Returns the sum of the sizes of the files and folders.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns `true` if every path still refers to the same, unchanged file.
    pub fn are_current(&self) -> bool {
        self.seen.iter().all(|(path, path_state)| path_state.holds(path))
    }
}

/// Collects [`ScanInputs`]. Stops collecting after the scan has seen a file or folder that cannot be compared later.
#[derive(Debug)]
pub struct PathRecorder {
    begun: (i64, i64),
    /// Device number of the last file system that was found to be local; 0 if there is none.
    local: Cell<u64>,
    inputs: RefCell<Option<ScanInputs>>,
}

impl PathRecorder {
    /// Begins recording for a scan.
    pub fn begin() -> Self {
        Self {
            // If the clock shows a time before 1970, every file is treated as recently changed.
            begun: os::now(),
            local: Cell::new(0),
            inputs: RefCell::new(Some(ScanInputs::default())),
        }
    }

    /// Begins recording for a scan that need not examine the file system with the device number `local`, because that one is local.
    pub fn begin_knowing(local: u64) -> Self {
        let recorder = Self::begin();
        recorder.local.set(local);
        recorder
    }

    /// Returns the device number of the last file system that was found to be local; 0 if there is none.
    pub fn local(&self) -> u64 {
        self.local.get()
    }

    /// Returns the recorded files and folders; `None` if some of them cannot be compared.
    pub fn end(self) -> Option<ScanInputs> {
        self.inputs.into_inner()
    }

    /// Notes that the scan used an input whose state cannot be compared later. The result of the scan is then not kept.
    pub fn mark_uncacheable(&self) {
        drop(self.inputs.take());
    }

    /// Records that no file was found at a path.
    pub fn no_file(&self, path: &[u8]) {
        self.add(path, PathState::NoFile);
    }

    /// Records that no folder was found at a path.
    pub fn no_folder(&self, path: &[u8]) {
        self.add(path, PathState::NoFolder);
    }

    /// Records that a path refers to the regular file `file`. The caller reads the file after this call.
    pub fn file(&self, path: &[u8], file: &File, found: &Status) {
        self.stamped(path, Stamp::of(found), || file.is_local(), PathState::File);
    }

    /// Records that a path refers to the open folder `folder`. The caller reads the folder after this call.
    pub fn folder(&self, path: &[u8], folder: &Folder) {
        self.stamped(path, folder.stamp(), || folder.is_local(), PathState::Folder);
    }

    fn stamped(
        &self,
        path: &[u8],
        found: Option<Stamp>,
        is_local: impl FnOnce() -> bool,
        path_state: fn(Stamp) -> PathState,
    ) {
        let Some(stamp) = found.filter(|stamp| stamp.is_settled(self.begun)) else {
            return self.mark_uncacheable();
        };
        if self.local.get() != stamp.device() {
            if !is_local() {
                return self.mark_uncacheable();
            }
            self.local.set(stamp.device());
        }
        if let Some(inputs) = &mut *self.inputs.borrow_mut() {
            inputs.bytes = inputs.bytes.saturating_add(stamp.bytes());
        }
        self.add(path, path_state(stamp));
    }

    fn add(&self, path: &[u8], path_state: PathState) {
        let mut inputs = self.inputs.borrow_mut();
        let added = inputs.as_mut().is_some_and(|inputs| {
            let room = inputs.seen.len() < MOST_PATHS && inputs.bytes <= MOST_BYTES;
            match copy_terminated(path) {
                Ok(Some(path)) if room => inputs.seen.try_push((path, path_state)).is_ok(),
                _ => false,
            }
        });
        if !added {
            *inputs = None;
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::text::scratch::Scratch;

    #[test]
    fn what_was_absent_holds_until_it_is_there() {
        let scratch = Scratch::create();
        let (file, folder) = (scratch.path("x.json"), scratch.path("folder"));
        let paths = PathRecorder::begin();
        paths.no_file(&file);
        paths.no_folder(&folder);
        let inputs = paths.end().unwrap();
        assert!(inputs.are_current());
        scratch.folder("folder");
        assert!(!inputs.are_current());
        std::fs::remove_dir(folder.as_path()).unwrap();
        assert!(inputs.are_current());
        scratch.file("x.json", b"{}");
        assert!(!inputs.are_current());
    }

    #[test]
    fn what_just_changed_cannot_be_compared() {
        let scratch = Scratch::create();
        let path = scratch.file("x.json", b"{}");
        let file = os::with_terminated(&path, File::open).unwrap();
        let paths = PathRecorder::begin();
        paths.file(&path, &file, &file.status().unwrap());
        assert!(paths.end().is_none());
        let paths = PathRecorder::begin();
        paths.folder(&path, &Folder::open(&scratch.folder("folder")).unwrap());
        assert!(paths.end().is_none());
    }

    #[test]
    fn as_much_as_is_kept_is_kept() {
        let recorded = |count: usize, bytes: u64| {
            let paths = PathRecorder::begin();
            if let Some(inputs) = &mut *paths.inputs.borrow_mut() {
                inputs.bytes = bytes;
            }
            (0..count).for_each(|_| paths.no_file(b"/nowhere/x.json"));
            paths.end().is_some()
        };
        assert_eq!([1024, 1025].map(|count| recorded(count, 0)), [true, false]);
        assert_eq!([1 << 20, (1 << 20) + 1].map(|bytes| recorded(1, bytes)), [true, false]);
    }

    #[test]
    fn more_than_is_kept_leaves_nothing() {
        let paths = PathRecorder::begin();
        (0..MOST_PATHS).for_each(|_| paths.no_file(b"/nowhere/x.json"));
        paths.no_file(b"/nowhere/y.json");
        assert!(paths.end().is_none());
        let paths = PathRecorder::begin();
        paths.no_file(b"/nowhere\0.json");
        paths.no_file(b"/nowhere/y.json");
        assert!(paths.end().is_none());
    }
}
