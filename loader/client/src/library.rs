//! The libraries of the service's drivers (LSV-40, LSV-66, LSV-67).

use super::reply::{List, Listed, Need, Sum};
use alloc::vec::Vec;
use core::cmp::Ordering;
use core::mem::take;
use discovery::text::file_name;
use os::Mutex;
use os::c_library;
use os::memory::Grow;
use os::service::{SharedLibrary, find_library, is_open};

/// Open libraries of the service, which are known by their checksums (LSV-40). Each library stays open while the service offers it or a
/// driver uses it.
static KNOWN: Mutex<Vec<SharedLibrary>> = Mutex::new(Vec::new());

/// Returns the library with this checksum, if it is open.
pub(crate) fn known(sum: &Sum) -> Option<SharedLibrary> {
    KNOWN.lock().iter().find(|known| known.mark() == sum).cloned()
}

/// Adds a library to the libraries that stay open.
pub(crate) fn keep(library: SharedLibrary) {
    // Two threads may add the same library. The system closes it only after both values are dropped.
    KNOWN.lock().push_or_note(library);
}

/// Closes libraries that the service no longer offers, unless a driver uses them.
pub(crate) fn keep_only(list: Option<&List>) {
    loop {
        let mut known = KNOWN.lock();
        let is_offered =
            |sum: &Sum| list.is_some_and(|list| list.manifests().any(|offered| offered.library.sum == sum));
        let Some(place) = known.iter().position(|known| !is_offered(known.mark())) else {
            return;
        };
        let closed = known.swap_remove(place);
        drop(known);
        // Closing a library runs the library's code, so the lock is released first.
        drop(closed);
    }
}

/// Closes all libraries that no driver uses.
pub fn forget() {
    let known = KNOWN.try_lock().map(|mut known| take(&mut *known));
    drop(known);
}

/// Returns `true` unless a library works only with a newer C library than the one in this process (LSV-67).
pub(crate) fn fits(library: Listed<'_>) -> bool {
    wire::compare_versions(library.c_library(), c_library()) != Ordering::Greater
}

/// Returns `true` if a library that a driver needs must come from the service (LSV-66), because the system's library is missing or older.
/// Returns `None` if the system lacks the library, and its C library is too old for the service's library.
///
/// An older library is replaced only if the system's C library is new enough for the service's library. The file name contains the version
/// of a library. Of two libraries with equal versions, the one with more exported symbols is newer. A library that is open is never
/// replaced by another one of the same name.
pub(crate) fn is_wanted(need: &Need<'_>) -> Option<bool> {
    if is_open(need.name()) {
        return Some(false);
    }
    let fits = fits(need.library);
    let Some((file, path)) = find_library(need.name()) else {
        return fits.then_some(true);
    };
    let is_older = match wire::compare_versions(file_name(&path), need.file()) {
        Ordering::Less => true,
        Ordering::Greater => false,
        Ordering::Equal => {
            let read = |place, room: &mut [u8]| file.read_at(room, place) == Ok(room.len());
            wire::own_exported_symbols(read).is_none_or(|symbols| (symbols as f64) < need.symbols())
        }
    };
    Some(fits && is_older)
}
