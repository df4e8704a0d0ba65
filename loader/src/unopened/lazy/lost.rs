//! Commands without a result, for a driver that cannot be opened or lacks the device (DRV-283). The program receives the recorded answer,
//! or zeros, because it would otherwise read the previous content of its memory. Chained structures that are not answered keep their
//! content.

use super::Device;
use super::answer::{INNER, Rest};
use super::find::slot;
use super::open::Opened;
use super::stubs::pass_on;
use crate::generated::lookup::row;
use crate::generated::types::*;
use crate::handle::{Driver, PhysicalDeviceHandle};
use crate::lookup::ROWS;
use crate::table::Slots as _;

impl Device {
    /// Opens the driver for a command. Returns `true` if the driver cannot be opened, or lacks the device or the command.
    #[cold]
    #[inline(never)]
    pub(super) fn is_lost(&self, command: u16) -> bool {
        let name = ROWS.get(usize::from(command)).map_or(c"a command", |row| row.name());
        let has_command = |opened: &Opened| slot(command).is_some_and(|slot| opened.table.get(slot).is_some());
        !self.sleeper().wake(name).is_ok_and(has_command) || self.real().is_none()
    }

    /// Answers a command from the record with `fill`, even if the driver is lost. If `fill` has no answer for a lost driver, calls `clear`
    /// instead. Returns `false` if the driver must answer; `fill` returns `false` if it cannot answer.
    #[inline]
    pub(super) fn answers(&self, command: u16, fill: impl Fn(Rest) -> bool, clear: impl FnOnce()) -> bool {
        if fill(Rest::Asked) {
            return true;
        }
        if !self.is_lost(command) {
            return false;
        }
        if !fill(Rest::Unchanged) {
            // If the first attempt to open the driver failed because memory ran out, another thread may have opened the driver meanwhile.
            if !self.is_lost(command) {
                return false;
            }
            clear();
        }
        true
    }
}

/// Writes zeros into a structure after its head.
///
/// # Safety
/// The structure has a head and is writable. Zero is a valid value of all members after the head.
pub(super) unsafe fn clear<T>(structure: *mut T) {
    const { assert!(size_of::<T>() > INNER) };
    // SAFETY: the caller promises a writable structure, which is larger than its head.
    unsafe { structure.cast::<u8>().add(INNER).write_bytes(0, size_of::<T>() - INNER) };
}

/// Defines commands that write one structure with a head.
macro_rules! structures {
    ($($name:ident($($parameter:ident: $type:ty),*) -> $written:ty;)*) => {$(
        /// Passes the call on. Writes zeros for a lost device.
        ///
        /// # Safety
        /// The parameters are as the specification of the command demands.
        pub(super) unsafe extern "system" fn $name(
            device: PhysicalDeviceHandle<Driver>,
            $($parameter: $type,)*
            out: *mut $written,
        ) {
            // SAFETY: the loader passes a handle of this module, and the caller promises valid parameters of this command.
            unsafe {
                if Device::of(device).is_lost(row::$name) {
                    clear(out);
                } else {
                    pass_on!($name(device, $($parameter,)* out));
                }
            }
        }
    )*};
}

// Three further structures keep their content, because the loader does not know their layout: those of tensors, of sample locations and of
// data graphs.
structures! {
    vkGetPhysicalDeviceExternalBufferProperties(info: *const VkPhysicalDeviceExternalBufferInfo) -> VkExternalBufferProperties;
    vkGetPhysicalDeviceExternalBufferPropertiesKHR(info: *const VkPhysicalDeviceExternalBufferInfo) -> VkExternalBufferProperties;
    vkGetPhysicalDeviceExternalFenceProperties(info: *const VkPhysicalDeviceExternalFenceInfo) -> VkExternalFenceProperties;
    vkGetPhysicalDeviceExternalFencePropertiesKHR(info: *const VkPhysicalDeviceExternalFenceInfo) -> VkExternalFenceProperties;
    vkGetPhysicalDeviceExternalSemaphoreProperties(info: *const VkPhysicalDeviceExternalSemaphoreInfo) -> VkExternalSemaphoreProperties;
    vkGetPhysicalDeviceExternalSemaphorePropertiesKHR(info: *const VkPhysicalDeviceExternalSemaphoreInfo) -> VkExternalSemaphoreProperties;
}

/// Defines commands that write a number, some of them also an array with that number of elements.
macro_rules! numbers {
    ($($name:ident($($parameter:ident: $type:ty),*) -> count $(, $array:ty)?;)*) => {$(
        /// Passes the call on. Writes zero to `*count` for a lost device.
        ///
        /// # Safety
        /// The parameters are as the specification of the command demands.
        pub(super) unsafe extern "system" fn $name(
            device: PhysicalDeviceHandle<Driver>,
            $($parameter: $type,)*
            count: *mut u32,
            $(array: *mut $array,)?
        ) {
            // SAFETY: the loader passes a handle of this module, and the caller promises valid parameters of this command.
            unsafe {
                if Device::of(device).is_lost(row::$name) {
                    *count = 0;
                } else {
                    pass_on!($name(device, $($parameter,)* count $(, array as *mut $array)?));
                }
            }
        }
    )*};
}

numbers! {
    vkGetPhysicalDeviceQueueFamilyPerformanceQueryPassesKHR(info: *const VkQueryPoolPerformanceCreateInfoKHR) -> count;
    vkGetPhysicalDeviceSparseImageFormatProperties(format: VkFormat, kind: VkImageType, samples: VkSampleCountFlagBits, usage: VkImageUsageFlags, tiling: VkImageTiling) -> count, VkSparseImageFormatProperties;
    vkGetPhysicalDeviceSparseImageFormatProperties2(info: *const VkPhysicalDeviceSparseImageFormatInfo2) -> count, VkSparseImageFormatProperties2;
    vkGetPhysicalDeviceSparseImageFormatProperties2KHR(info: *const VkPhysicalDeviceSparseImageFormatInfo2) -> count, VkSparseImageFormatProperties2;
}
