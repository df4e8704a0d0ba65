//! Memory that belongs to an instance or a device.
//!
//! The application may supply its own allocation callbacks (APP-170 to APP-179b). Every collection that lives as long as an instance or
//! device holds the callbacks as a value, [`HostAllocator`]. All operations of these collections report a failed allocation, so nothing in
//! this module aborts the process when memory runs out. Memory that a call needs only for itself comes from the process allocator, through
//! [`os::memory`].

mod host;
mod list;
mod places;
mod table;
mod vec;

pub(crate) use host::HostAllocator;
pub(crate) use list::{HostList, ReservedNode};
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
