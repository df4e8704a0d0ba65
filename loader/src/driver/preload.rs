//! Driver libraries that stay open between a global query and the next instance (DRV-233, DRV-234).
//!
//! Programs query extensions, often twice, and then create an instance. Without this module, each step would load and unload every driver.
//! This module only holds references to the libraries; the scan itself is repeated each time.

use super::open::OpenDriver;
use crate::library::Library;
use core::sync::atomic::{AtomicBool, Ordering};
use discovery::text::Text;
use os::Mutex;
use os::memory::{Grow, shortage};
use rust_alloc::vec::Vec;

/// Driver libraries kept open between a global query and the next `vkDestroyInstance` (DRV-233).
static PRELOADED: Mutex<Option<PreloadedDrivers>> = Mutex::new(None);

/// `true` after the creation of an instance that keeps driver libraries open permanently.
static KEPT: AtomicBool = AtomicBool::new(false);

/// Libraries that are kept open, with the names of their drivers. The libraries close in the order in which they were opened.
pub(crate) struct PreloadedDrivers(Vec<(Text, Library)>);

impl PreloadedDrivers {
    /// Returns `true` if any library is kept open.
    pub(crate) fn is_filled() -> bool {
        PRELOADED.lock().as_ref().is_some_and(|Self(list)| !list.is_empty())
    }

    /// Opens the libraries of drivers once more, by their real paths, and keeps them open. Silently skips a library that does not open,
    /// because the scan reports it.
    pub(crate) fn fill(drivers: &[OpenDriver]) {
        let mut opened = Vec::new();
        for driver in drivers {
            let name = &driver.path;
            if let Some(Ok(again)) = driver.library.as_ref().map(|library| library.open_again(name)) {
                opened.push_or_note((name.clone(), again));
            }
        }
        if shortage::check().is_err() {
            return;
        }
        let replaced = PRELOADED.lock().replace(Self(opened));
        // Closing a library runs its code, so the lock is released first.
        drop(replaced);
    }

    /// Keeps the libraries of drivers open from now on, even after the last instance. Does not open a library that is already kept.
    pub(crate) fn keep(drivers: &[OpenDriver]) {
        KEPT.store(true, Ordering::Relaxed);
        for driver in drivers {
            Self::keep_one(&driver.path, driver.library.as_ref());
        }
    }

    /// Keeps the library of a driver that was opened late, if libraries are kept permanently.
    pub(crate) fn keep_late(name: &Text, library: Option<&Library>) {
        if KEPT.load(Ordering::Relaxed) {
            Self::keep_one(name, library);
        }
    }

    fn keep_one(name: &Text, library: Option<&Library>) {
        let is_kept = |Self(list): &Self| list.iter().any(|(known, _)| known == name);
        if PRELOADED.lock().as_ref().is_some_and(is_kept) {
            return;
        }
        if let Some(Ok(again)) = library.map(|library| library.open_again(name)) {
            // If another thread has kept the library meanwhile, the library was opened twice, and is later closed twice.
            let kept = &mut *PRELOADED.lock();
            kept.get_or_insert_with(|| Self(Vec::new()))
                .0
                .push_or_note((name.clone(), again));
        }
    }

    /// Closes all libraries in [`PRELOADED`], unless they are kept permanently.
    pub(crate) fn release_unless_kept() {
        if !KEPT.load(Ordering::Relaxed) {
            Self::release();
        }
    }

    /// Closes all libraries in [`PRELOADED`].
    pub(crate) fn release() {
        let released = PRELOADED.lock().take();
        drop(released);
    }

    /// Closes the library of one driver, by the name under which it is kept (DRV-240).
    pub(crate) fn release_one(name: &[u8]) {
        let mut released = Vec::new();
        if let Some(Self(list)) = PRELOADED.lock().as_mut() {
            let mut index = 0;
            while index < list.len() {
                if *list[index].0 == *name {
                    // If memory for the list runs out, the library closes here, under the lock.
                    let _ = released.try_push(list.remove(index));
                } else {
                    index += 1;
                }
            }
        }
        drop(released);
    }
}
