//! Memory that belongs to an instance or a device.
//!
//! The application may bring its own allocation callbacks (APP-170 to APP-179b). They travel as a value, [`HostAllocator`],
//! inside every collection that lives as long as one of its objects. The collections here only offer operations that
//! report failure: nothing in this module can abort the process for want of memory. What a call needs for itself only
//! comes from the process allocator: [`Grow`] is how that is asked for what grows, and [`shortage`] keeps a shortage there from
//! ending the process.

mod calls;
mod grow;
mod host;
mod index;
mod list;
pub mod shortage;
mod table;
mod vec;
mod versioned_cell;

pub use calls::Calls;
pub use grow::{Grow, copy, copy_or_note, copy_terminated};
pub use host::HostAllocator;
pub use index::{Index, Key};
pub use list::{HostList, Made};
pub use table::{HostTable, Keyed, hash_of_address};
pub use vec::{HostBox, HostText, HostVec};
pub use versioned_cell::VersionedCell;

use crate::generated::types::VkResult;

/// Memory ran out. Always returned to the caller as `VK_ERROR_OUT_OF_HOST_MEMORY` (DRV-4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfMemory;

impl From<OutOfMemory> for VkResult {
    fn from(_: OutOfMemory) -> Self {
        Self::VK_ERROR_OUT_OF_HOST_MEMORY
    }
}
