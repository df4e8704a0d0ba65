//! Whether a file is the library that was promised (LSV-47).

use super::failure::Failure;
use super::reply::Described;
use discovery::journal::reason::ServiceReason;
use os::File;
use os::memory::Grow;
use os::service::FileKind;
use rust_alloc::vec::Vec;
use sha2::{Digest, Sha256};

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

/// Whether a library is for processes of another word size, which the system refuses by itself without running any of it. A service that
/// does not see what a program is offers both, and reading all bytes of the other one at each scan takes far longer than all else.
fn is_of_other_class(file: &File) -> bool {
    const OTHER: u8 = if size_of::<usize>() == 8 { 1 } else { 2 };
    let mut head = [0; 5];
    file.read_at(&mut head, 0) == Ok(head.len()) && head == [0x7f, b'E', b'L', b'F', OTHER]
}
