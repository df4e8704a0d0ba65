//! Memory of the process.
//!
//! What a call needs for itself comes from the C library's heap. [`Grow`] is how that is asked for what grows, and [`shortage`]
//! keeps a shortage there from ending the process.

mod calls;
mod grow;
pub mod shortage;

pub use crate::system::CHeap;
pub use grow::{Grow, copy, copy_or_note, copy_terminated};
pub use shortage::ProcessHeap;

/// Memory ran out. Always returned to the caller as `VK_ERROR_OUT_OF_HOST_MEMORY` (DRV-4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfMemory;

/// Spreads the bits of an address, of which the lowest few are zero, over a whole word.
pub fn hash_of_address(address: usize) -> usize {
    let product = (address as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (product >> 32) as usize
}
