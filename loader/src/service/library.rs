//! Whether a file is the library that was promised (LSV-47).

use super::failure::Failure;
use super::reply::Described;
use crate::journal::reason::ServiceReason;
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
