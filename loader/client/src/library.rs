//! The libraries of the service's drivers (LSV-40, LSV-66, LSV-67).

use super::failure::Failure;
use super::reply::{List, Listed, Need, Sum};
use alloc::vec::Vec;
use core::cmp::Ordering;
use core::mem::take;
use discovery::journal::reason::ServiceReason;
use discovery::text::{Text, file_name};
use os::memory::Grow;
use os::service::{SharedLibrary, c_library, find_library, is_open};
use os::{File, Mutex};

/// Open libraries of the service, by checksum (LSV-40). Each library stays open while the service offers it or a driver uses it.
static KNOWN: Mutex<Vec<(Sum, SharedLibrary)>> = Mutex::new(Vec::new());

/// Returns the library with this checksum, if it is open.
pub(crate) fn known(sum: &Sum) -> Option<SharedLibrary> {
    let known = KNOWN.lock();
    known.iter().find(|known| known.0 == *sum).map(|known| known.1.clone())
}

/// Adds a library to the libraries that stay open.
pub fn keep(sum: Sum, library: SharedLibrary) {
    // Two threads may add the same library. The system closes it only after both values are dropped.
    KNOWN.lock().push_or_note((sum, library));
}

/// Closes libraries that the service no longer offers, unless a driver uses them.
pub(crate) fn keep_only(list: Option<&List>) {
    let is_offered = |sum: &Sum| list.is_some_and(|list| list.manifests().any(|offered| offered.library.sum == sum));
    let (mut known, mut closed) = (KNOWN.lock(), Vec::new());
    let mut index = 0;
    while index < known.len() {
        if is_offered(&known[index].0) {
            index += 1;
        } else {
            // If there is no memory for the list `closed`, the library is closed while the lock is held.
            closed.push_or_note(known.swap_remove(index));
        }
    }
    drop(known);
    // Closing a library runs the library's code, so the lock is released first.
    drop(closed);
}

/// Closes all libraries that no driver uses.
pub fn forget() {
    let known = KNOWN.try_lock().map(|mut known| take(&mut *known));
    drop(known);
}

/// Rejects a library that works only with a newer C library than the one in this process (LSV-67).
pub(crate) fn fits(library: Listed<'_>) -> Result<(), Failure> {
    let (needed, here) = (library.c_library(), c_library());
    match wire::compare_versions(needed, here) {
        Ordering::Greater => Err(ServiceReason::OldCLibrary {
            needed: Text::try_new(needed)?,
            here: Text::try_new(here)?,
        }
        .into()),
        _ => Ok(()),
    }
}

/// Returns `true` if a library that a driver needs must come from the service (LSV-66), because the system's library is missing or older.
/// An older library is replaced only if the system's C library is new enough for the service's library. The file name contains the version
/// of a library. Of two libraries with equal versions, the one with more exported symbols is newer. A library that is open is never
/// replaced by another one of the same name.
///
/// # Errors
/// The system lacks the library, and its C library is too old for the service's library.
pub(crate) fn is_wanted(need: &Need<'_>) -> Result<bool, Failure> {
    if is_open(need.name()) {
        return Ok(false);
    }
    let fits = fits(need.library);
    let Some((file, path)) = find_library(need.name()) else {
        return fits.map(|()| true);
    };
    let is_older = match wire::compare_versions(file_name(&path), need.file()) {
        Ordering::Less => true,
        Ordering::Greater => false,
        Ordering::Equal => {
            let read = |place, room: &mut [u8]| file.read_at(room, place) == Ok(room.len());
            wire::exported_symbols(read).is_none_or(|symbols| (symbols as f64) < need.symbols())
        }
    };
    Ok(is_older && fits.is_ok())
}

/// Opens libraries that a driver needs, each after the libraries that it needs itself. If one of them does not open, opening the driver
/// also fails, and the system reports the reason.
pub fn open_needs(needs: &[(Text, File)]) -> Vec<SharedLibrary> {
    let mut opened = Vec::new();
    for (name, file) in needs {
        // Two drivers of one scan may need the same library.
        if !is_open(name)
            && let Ok(library) = SharedLibrary::open(file, Vec::new())
        {
            opened.push_or_note(library);
        }
    }
    opened
}
