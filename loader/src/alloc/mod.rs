//! Memory that belongs to an instance or a device.
//!
//! The application may bring its own allocation callbacks (APP-170 to APP-179b). They travel as a value, [`HostAllocator`],
//! inside every collection that lives as long as one of its objects. The collections here only offer operations that
//! report failure: nothing in this module can abort the process for want of memory. What a call needs for itself only
//! comes from the process allocator, by way of [`os::memory`].

mod host;
mod list;
mod places;
mod table;
mod vec;

pub(crate) use host::HostAllocator;
pub(crate) use list::{HostList, Room};
pub(crate) use places::Places;
pub(crate) use table::{HostTable, Keyed};
pub(crate) use vec::{HostBox, HostText, HostVec};

use crate::generated::types::VkResult;
use os::memory::OutOfMemory;

impl From<OutOfMemory> for VkResult {
    fn from(_: OutOfMemory) -> Self {
        Self::VK_ERROR_OUT_OF_HOST_MEMORY
    }
}

#[cfg(test)]
mod tests;
