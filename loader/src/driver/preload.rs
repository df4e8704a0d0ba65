//! Keeping driver libraries open between a global query and the next instance (DRV-233, DRV-234).
//!
//! Programs ask for extensions, often twice, and then create an instance. Without this each step would load and unload
//! every driver. Only the system's reference count is held: the scan itself is repeated each time.

use super::open::OpenDriver;
use crate::library::Library;
use core::sync::atomic::{AtomicBool, Ordering};
use discovery::text::Text;
use os::Mutex;
use os::memory::{Grow, shortage};
use rust_alloc::vec::Vec;

/// Driver libraries kept open between a global query and the next `vkDestroyInstance` (DRV-233).
static PRELOADED: Mutex<Option<PreloadedDrivers>> = Mutex::new(None);

/// An instance was made that keeps them open for good.
static KEPT: AtomicBool = AtomicBool::new(false);

/// Libraries that are kept open, with the names of their drivers. They close in the order in which they were opened.
pub(crate) struct PreloadedDrivers(Vec<(Text, Library)>);

impl PreloadedDrivers {
    /// Whether any library is kept open.
    pub(crate) fn is_filled() -> bool {
        PRELOADED.lock().as_ref().is_some_and(|Self(list)| !list.is_empty())
    }

    /// Opens the libraries of drivers, named by their real paths, once more. What does not open is left out without a
    /// message: the scan reports it.
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
        // Closing a library runs its code, so it happens after the lock is released.
        drop(replaced);
    }

    /// Keeps the libraries of drivers open from here on, also after the last instance. What is open already is not opened again.
    pub(crate) fn keep(drivers: &[OpenDriver]) {
        KEPT.store(true, Ordering::Relaxed);
        for driver in drivers {
            let name = &driver.path;
            let is_kept = |Self(list): &Self| list.iter().any(|(known, _)| known == name);
            if PRELOADED.lock().as_ref().is_some_and(is_kept) {
                continue;
            }
            if let Some(Ok(again)) = driver.library.as_ref().map(|library| library.open_again(name)) {
                // Another thread may have kept it meanwhile: it is then closed as often as it was opened.
                let kept = &mut *PRELOADED.lock();
                kept.get_or_insert_with(|| Self(Vec::new()))
                    .0
                    .push_or_note((name.clone(), again));
            }
        }
    }

    /// Closes everything, unless it is kept.
    pub(crate) fn release_unless_kept() {
        if !KEPT.load(Ordering::Relaxed) {
            Self::release();
        }
    }

    /// Closes everything.
    pub(crate) fn release() {
        let released = PRELOADED.lock().take();
        drop(released);
    }

    /// Closes the library of one driver, by the name it was kept under (DRV-240).
    pub(crate) fn release_one(name: &[u8]) {
        let mut released = Vec::new();
        if let Some(Self(list)) = PRELOADED.lock().as_mut() {
            let mut index = 0;
            while index < list.len() {
                if *list[index].0 == *name {
                    // Without memory for the list it is closed here, at worst.
                    let _ = released.try_push(list.remove(index));
                } else {
                    index += 1;
                }
            }
        }
        drop(released);
    }
}
