//! Results of earlier calls, which are valid until one of their inputs changes.
//!
//! A scan of the disk is a function of some environment variables and some files. [`VariableRecorder`] and [`PathRecorder`] record these
//! inputs with their states, and a [`ScanCache`] keeps the last result of one kind. [`ScanCache::current`] returns the result only if every
//! variable has the same value and every path refers to the same unchanged file. A call with a result of the cache does the same as a call
//! with a new scan (DRV-7, LAY-24). The call reads the environment again, with the current privileges of the process, and opens each path
//! again. Permissions, sandboxes, links and libraries that redirect paths take effect each time (APP-218). The cache saves only the reading
//! and parsing of the content.
//!
//! While a log sink is active, the cache is not used: each call reads and logs everything. The cache does not reduce the calls of drivers
//! and layers, because it contains no answers of libraries. A call never waits for the cache. Therefore, a process that was forked while
//! another thread used the cache also works, but without the cache. A result whose files exceed the bounds of [`PathRecorder`] is not kept,
//! and a failed attempt to keep a result is ignored.

mod paths;
mod variables;

pub use paths::{MOST_BYTES, PathRecorder, ScanInputs};
pub use variables::VariableRecorder;

use alloc::sync::Arc;
use core::ops::Deref;
use os::Mutex;
use os::memory::shortage;
use variables::Values;

/// A result, and the variables and files that it depends on.
#[derive(Debug)]
pub struct Cached<T> {
    value: T,
    values: Values,
    /// The variables and files that the result depends on; `None` if one of them cannot be compared later.
    inputs: Option<ScanInputs>,
}

impl<T> Cached<T> {
    /// Creates a result with the variables and files that two recorders recorded. Without a recorder of paths, the result cannot be kept.
    pub fn new(value: T, variables: VariableRecorder, paths: Option<PathRecorder>) -> Self {
        Self {
            value,
            values: variables.into_values(),
            inputs: paths.and_then(PathRecorder::end),
        }
    }

    /// Returns `true` if a new computation of the value would have the same result.
    pub fn is_current(&self) -> bool {
        self.values.hold() && self.inputs.as_ref().is_some_and(ScanInputs::are_current)
    }

    /// Returns `true` if the value can be kept.
    pub fn is_cacheable(&self) -> bool {
        self.inputs.is_some()
    }

    /// Returns the size in bytes of the files and folders that the result depends on.
    pub fn bytes(&self) -> u64 {
        self.inputs.as_ref().map_or(0, ScanInputs::bytes)
    }
}

impl<T> Deref for Cached<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

/// Storage for the most recent result of one kind.
#[derive(Debug)]
pub struct ScanCache<T>(Mutex<Option<Arc<T>>>);

impl<T> ScanCache<T> {
    /// Returns an empty cache.
    pub const fn new() -> Self {
        Self(Mutex::new(None))
    }

    /// Returns the kept value if `is_current` returns `true` for it and no log sink is active. `is_heard` is `true` if a log sink is
    /// active.
    pub fn current(&self, is_heard: bool, is_current: impl FnOnce(&T) -> bool) -> Option<Arc<T>> {
        if is_heard {
            return None;
        }
        // The lock is released before the files are checked.
        let kept = self.0.try_lock()?.clone()?;
        is_current(&kept).then_some(kept)
    }

    /// Keeps a result instead of the previous one, unless a log sink is active or memory is short.
    pub fn keep(&self, kept: &Arc<T>, is_heard: bool) {
        if !is_heard && shortage::check().is_ok() {
            self.replace(Some(kept.clone()));
        }
    }

    /// Removes the kept result.
    pub fn forget(&self) {
        self.replace(None);
    }

    fn replace(&self, next: Option<Arc<T>>) {
        let previous = match self.0.try_lock() {
            Some(mut slot) => core::mem::replace(&mut *slot, next),
            None => next,
        };
        // The lock is released before the previous result is freed.
        drop(previous);
    }
}

impl<T> Default for ScanCache<T> {
    fn default() -> Self {
        Self::new()
    }
}
