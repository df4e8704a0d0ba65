//! What an earlier call found, for as long as nothing that it rests on has changed.
//!
//! A scan of the disk is a function of some variables of the environment and of some files. [`VariableRecorder`] and
//! [`PathRecorder`] note which, with their states; [`ScanCache`] keeps the last result of its kind; [`ScanCache::current`] gives
//! it out again only when every variable has the same value and every path leads to the same unchanged thing. So a call that
//! takes it does what a fresh scan would do (DRV-7, LAY-24), and asks the environment afresh, under the trust rule of this
//! moment. Each path is opened again: whatever decides about that, be it permissions, a sandbox, a link or a library that
//! redirects paths, decides afresh each time (APP-218), and only reading and understanding the content is saved.
//!
//! While a log sink listens nothing is taken from here: each call reads everything and tells about it. Drivers and layers
//! are never asked less often: only files are remembered, no answers of libraries. A cache is only looked at
//! without waiting, so a copy of the process made while another thread used it works too, without the cache. Nothing is kept whose
//! files exceed the bounds of [`PathRecorder`], and a failure to keep something fails nothing.

mod paths;
mod variables;

pub use paths::{MOST_BYTES, PathRecorder, ScanInputs};
pub use variables::VariableRecorder;

use alloc::sync::Arc;
use core::ops::Deref;
use os::Mutex;
use os::memory::shortage;
use variables::Values;

/// A result, and what it rests on.
#[derive(Debug)]
pub struct Cached<T> {
    value: T,
    values: Values,
    /// `None` when it rests on something that cannot be compared.
    inputs: Option<ScanInputs>,
}

impl<T> Cached<T> {
    /// A result that rests on what two recorders saw while it was made. Without a recorder of paths it cannot be kept.
    pub fn new(value: T, variables: VariableRecorder, paths: Option<PathRecorder>) -> Self {
        Self {
            value,
            values: variables.into_values(),
            inputs: paths.and_then(PathRecorder::end),
        }
    }

    /// Whether making it again would give the same.
    pub fn is_current(&self) -> bool {
        self.values.hold() && self.inputs.as_ref().is_some_and(ScanInputs::are_current)
    }

    /// Whether it is worth keeping.
    pub fn is_cacheable(&self) -> bool {
        self.inputs.is_some()
    }

    /// Bytes of the files and folders that it was made from.
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

/// Room for the last result of one kind.
#[derive(Debug)]
pub struct ScanCache<T>(Mutex<Option<Arc<T>>>);

impl<T> ScanCache<T> {
    /// An empty one.
    pub const fn new() -> Self {
        Self(Mutex::new(None))
    }

    /// What is kept, if `is_current` says that it still holds, and no log sink listens: `is_heard` says whether one does.
    pub fn current(&self, is_heard: bool, is_current: impl FnOnce(&T) -> bool) -> Option<Arc<T>> {
        if is_heard {
            return None;
        }
        // Files are looked at after the lock is released.
        let kept = self.0.try_lock()?.clone()?;
        is_current(&kept).then_some(kept)
    }

    /// Keeps a result in place of the one before, unless a log sink listens or memory is short.
    pub fn keep(&self, kept: &Arc<T>, is_heard: bool) {
        if !is_heard && shortage::check().is_ok() {
            self.replace(Some(kept.clone()));
        }
    }

    /// Forgets what is kept.
    pub fn forget(&self) {
        self.replace(None);
    }

    fn replace(&self, next: Option<Arc<T>>) {
        let previous = match self.0.try_lock() {
            Some(mut slot) => core::mem::replace(&mut *slot, next),
            None => next,
        };
        // Freed after the lock is released.
        drop(previous);
    }
}

impl<T> Default for ScanCache<T> {
    fn default() -> Self {
        Self::new()
    }
}
