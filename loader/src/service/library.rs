//! Libraries that came, and whether a file is the one that was promised (LSV-40, LSV-47).

use super::failure::Failure;
use super::reply::{Described, Manifest, Sum};
use core::mem::take;
use discovery::journal::reason::ServiceReason;
use os::memory::Grow;
use os::service::{FileKind, SharedLibrary};
use os::{File, Mutex};
use rust_alloc::vec::Vec;
use sha2::{Digest, Sha256};

/// Libraries that are open, by checksum (LSV-40). Each stays in the process while the service offers it or a driver uses it.
static KNOWN: Mutex<Vec<(Sum, SharedLibrary)>> = Mutex::new(Vec::new());

/// The library with this checksum, if it is open.
pub(super) fn known(sum: &Sum) -> Option<SharedLibrary> {
    let known = KNOWN.lock();
    known.iter().find(|known| known.0 == *sum).map(|known| known.1.clone())
}

/// Keeps a library open.
pub(super) fn keep(sum: Sum, library: SharedLibrary) {
    // Two threads may bring the same library. The system counts how often it is open.
    KNOWN.lock().push_or_note((sum, library));
}

/// Closes libraries that are not offered any more, unless a driver uses them.
pub(super) fn keep_only(offered: &[Manifest]) {
    let is_offered = |sum: &Sum| offered.iter().any(|manifest| manifest.sum.as_ref() == Some(sum));
    let (mut known, mut closed) = (KNOWN.lock(), Vec::new());
    let mut index = 0;
    while index < known.len() {
        if is_offered(&known[index].0) {
            index += 1;
        } else {
            // Without memory for the list it is closed here, at worst.
            closed.push_or_note(known.swap_remove(index));
        }
    }
    drop(known);
    // Closing a library runs its code, so it happens after the lock is released.
    drop(closed);
}

/// Closes all libraries, unless a driver uses them.
pub(super) fn forget() {
    let known = KNOWN.try_lock().map(|mut known| take(&mut *known));
    drop(known);
}

/// Bytes that are read at a time.
const PIECE: usize = 64 << 10;

/// Refuses a file whose content can change, or is another one than described.
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
