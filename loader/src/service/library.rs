//! Libraries from the service, and the check that a file is the one that the service described (LSV-40, LSV-47).

use super::failure::Failure;
use super::reply::{Described, Manifest, Sum};
use core::mem::take;
use discovery::journal::reason::ServiceReason;
use os::memory::Grow;
use os::service::{FileKind, SharedLibrary};
use os::{File, Mutex};
use rust_alloc::vec::Vec;
use sha2::{Digest, Sha256};

/// Open libraries of the service, by checksum (LSV-40). Each stays open while the service offers it or a driver uses it.
static KNOWN: Mutex<Vec<(Sum, SharedLibrary)>> = Mutex::new(Vec::new());

/// Returns the library with this checksum, if it is open.
pub(super) fn known(sum: &Sum) -> Option<SharedLibrary> {
    let known = KNOWN.lock();
    known.iter().find(|known| known.0 == *sum).map(|known| known.1.clone())
}

/// Adds a library to those that stay open.
pub(super) fn keep(sum: Sum, library: SharedLibrary) {
    // Two threads may add the same library. The system closes it only after both values are dropped.
    KNOWN.lock().push_or_note((sum, library));
}

/// Closes libraries that the service no longer offers, unless a driver uses them.
pub(super) fn keep_only(offered: &[Manifest]) {
    let is_offered = |sum: &Sum| offered.iter().any(|manifest| manifest.sum.as_ref() == Some(sum));
    let (mut known, mut closed) = (KNOWN.lock(), Vec::new());
    let mut index = 0;
    while index < known.len() {
        if is_offered(&known[index].0) {
            index += 1;
        } else {
            // If there is no memory for the list, the library is closed here, while the lock is held.
            closed.push_or_note(known.swap_remove(index));
        }
    }
    drop(known);
    // Closing a library runs its code, so it happens after the lock is released.
    drop(closed);
}

/// Closes all libraries that no driver uses.
pub(super) fn forget() {
    let known = KNOWN.try_lock().map(|mut known| take(&mut *known));
    drop(known);
}

/// Number of bytes that are read at a time.
const PIECE: usize = 64 << 10;

/// Rejects a file whose content can change, or differs from the description.
pub(super) fn check(file: &File, described: &Described) -> Result<(), Failure> {
    match file.kind() {
        Ok(FileKind::Sealed | FileKind::OfSuperuser) => {}
        Ok(FileKind::Untrusted) | Err(_) => return Err(ServiceReason::FileNotTrusted.into()),
    }
    const SIZE: ServiceReason = ServiceReason::OtherBytes("size");
    if file.status().map(|status| status.len()) != Ok(described.size) {
        return Err(SIZE.into());
    }
    if is_of_other_class(file) {
        return Ok(());
    }
    let mut piece = Vec::new();
    piece.try_exact_room(PIECE)?;
    piece.resize(PIECE, 0);
    let (mut sum, mut place) = (Sha256::new(), 0);
    while place < described.size {
        match file.read_at(&mut piece, place) {
            Ok(length @ 1..) => {
                sum.update(&piece[..length]);
                place += length as u64;
            }
            Ok(0) | Err(_) => return Err(SIZE.into()),
        }
    }
    match sum.finalize().as_slice() == described.sum {
        true => Ok(()),
        false => Err(ServiceReason::OtherBytes("checksum").into()),
    }
}

/// Returns `true` if a library is for processes of another word size. The system would refuse it without running any of it. A service that
/// cannot see the word size of a program offers both libraries, and hashing the other one takes longer than the rest of a scan.
fn is_of_other_class(file: &File) -> bool {
    const OTHER: u8 = if size_of::<usize>() == 8 { 1 } else { 2 };
    let mut head = [0; 5];
    file.read_at(&mut head, 0) == Ok(head.len()) && head == [0x7f, b'E', b'L', b'F', OTHER]
}
