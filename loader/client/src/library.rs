//! The libraries of the service's drivers (LSV-40, LSV-66, LSV-67).

use crate::list::{List, Sum};
use alloc::boxed::Box;
use core::cmp::Ordering;
use discovery::text::file_name;
use os::service::{SharedLibrary, find_library, is_open};
use os::{Mutex, c_library};
use wire::Listed;

/// Open libraries of the service, which are known by their checksums (LSV-40). Each library stays open while the service offers it or a
/// driver uses it.
static KNOWN: Mutex<Option<Box<Known>>> = Mutex::new(None);

/// An open library, and the rest of the linked list.
struct Known {
    library: SharedLibrary,
    next: Option<Box<Known>>,
}

/// Returns the library with this checksum, if it is open.
pub(crate) fn known(sum: &Sum) -> Option<SharedLibrary> {
    let known = KNOWN.lock();
    let mut place = &*known;
    while let Some(one) = place {
        if one.library.mark() == sum {
            return Some(one.library.clone());
        }
        place = &one.next;
    }
    None
}

/// Adds a library to the libraries that stay open.
pub(crate) fn keep(library: SharedLibrary) {
    // Two threads may add the same library. The system closes this library only after both [`SharedLibrary`] values are dropped.
    let mut known = KNOWN.lock();
    let next = known.take();
    *known = Some(Box::new(Known { library, next }));
}

/// Closes libraries that the service no longer offers, unless a driver uses them.
pub(crate) fn keep_only(list: Option<&List>) {
    let mut closed = None;
    let mut known = KNOWN.lock();
    let mut rest = known.take();
    while let Some(mut one) = rest {
        rest = one.next.take();
        let is_offered = list.is_some_and(|list| list.libraries().any(|offered| offered.sum == one.library.mark()));
        let place = if is_offered { &mut *known } else { &mut closed };
        one.next = place.take();
        *place = Some(one);
    }
    drop(known);
    // Closing a library runs the library's code, so the lock is released first.
    drop(closed);
}

/// Closes all libraries that no driver uses.
pub fn forget() {
    let known = KNOWN.try_lock().and_then(|mut known| known.take());
    drop(known);
}

/// Returns `true` if this process's C library is new enough for a library of the service (LSV-67).
#[inline(never)]
pub(crate) fn fits(library: &Listed<'_>) -> bool {
    wire::compare_versions(library.c_library, c_library()) != Ordering::Greater
}

/// Returns `true` if a library that a driver needs must come from the service (LSV-66), because the system's library is missing or older.
/// Returns `None` if the system lacks the library, and its C library is too old for the service's library.
///
/// An older library is replaced only if the system's C library is new enough for the service's library. The file name contains the version
/// of a library. Of two libraries with equal versions, the one with more exported symbols is newer. A library that is open is never
/// replaced by another library of the same name.
pub(crate) fn is_wanted(need: &Listed<'_>) -> Option<bool> {
    if is_open(need.name()) {
        return Some(false);
    }
    let fits = fits(need);
    let Some((path, file)) = find_library(need.name()) else {
        return fits.then_some(true);
    };
    let is_older = match wire::compare_versions(file_name(&path), need.file) {
        Ordering::Less => true,
        Ordering::Greater => false,
        Ordering::Equal => {
            let read = |place, room: &mut [u8]| file.read_at(room, place) == Ok(room.len());
            wire::own_exported_symbols(read).is_none_or(|symbols| symbols < need.symbols())
        }
    };
    Some(fits && is_older)
}
