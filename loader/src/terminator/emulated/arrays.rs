//! Queries that fill an array of extensible structures (DRV-159, DRV-161, DRV-169).

use super::Target;
use super::target::none;
use crate::alloc::{HostVec, OutOfMemory};
use crate::generated::extensions::InstanceExtension;
use crate::generated::types::{
    VkExtent3D, VkImageAspectFlags, VkPhysicalDevice, VkPhysicalDeviceSparseImageFormatInfo2, VkQueueFamilyProperties,
    VkQueueFamilyProperties2, VkQueueFlags, VkSparseImageFormatFlags, VkSparseImageFormatProperties,
    VkSparseImageFormatProperties2, VkSystemAllocationScope, c_void,
};
use crate::handle::Chain;
use crate::journal::LogBits;
use crate::seam;

/// What enables the commands here below Vulkan 1.1 (DRV-160).
const EXTENSION: InstanceExtension = InstanceExtension::VK_KHR_get_physical_device_properties2;

const NO_EXTENT: VkExtent3D = VkExtent3D {
    width: 0,
    height: 0,
    depth: 0,
};
const NO_FAMILY: VkQueueFamilyProperties = VkQueueFamilyProperties {
    queueFlags: VkQueueFlags(0),
    queueCount: 0,
    timestampValidBits: 0,
    minImageTransferGranularity: NO_EXTENT,
};
const NO_FORMAT: VkSparseImageFormatProperties = VkSparseImageFormatProperties {
    aspectMask: VkImageAspectFlags(0),
    imageGranularity: NO_EXTENT,
    flags: VkSparseImageFormatFlags(0),
};

/// `vkGetPhysicalDeviceQueueFamilyProperties2` at the end of the chain.
///
/// # Safety
/// The parameters are as the Vulkan specification demands; the handle comes from the lowest layer.
pub unsafe fn get_physical_device_queue_family_properties2(
    physical_device: VkPhysicalDevice<Chain>,
    count: *mut u32,
    properties: *mut VkQueueFamilyProperties2,
) {
    // SAFETY: the handle comes from the lowest layer.
    let target = unsafe { Target::new(physical_device, "vkGetPhysicalDeviceQueueFamilyProperties2") };
    let table = &target.driver.table;
    let newer = target.choose(
        table.vkGetPhysicalDeviceQueueFamilyProperties2,
        table.vkGetPhysicalDeviceQueueFamilyProperties2KHR,
        EXTENSION,
    );
    if let Some(newer) = newer {
        // SAFETY: the driver's function with its own handle.
        return unsafe { newer(target.handle, count, properties) };
    }
    target.announce(Some("vkGetPhysicalDeviceQueueFamilyProperties"));
    let Some(older) = table.vkGetPhysicalDeviceQueueFamilyProperties else {
        seam::unsupported("GetPhysicalDeviceQueueFamilyProperties")
    };
    let query = Query {
        target: &target,
        // SAFETY: the driver's function with its own handle; `fill` passes a count and an array that belong together.
        ask: |count, array| unsafe { older(target.handle, count, array) },
        empty: NO_FAMILY,
        parameter: "pQueueFamilyProperties",
    };
    // SAFETY: `count` and `properties` are the caller's; each element is valid, and so is its chain.
    unsafe {
        query.fill(count, properties, |element, answer| {
            (*element).queueFamilyProperties = answer;
            (*element).pNext
        });
    }
}

/// `vkGetPhysicalDeviceSparseImageFormatProperties2` at the end of the chain.
///
/// # Safety
/// The parameters are as the Vulkan specification demands; the handle comes from the lowest layer.
pub unsafe fn get_physical_device_sparse_image_format_properties2(
    physical_device: VkPhysicalDevice<Chain>,
    info: *const VkPhysicalDeviceSparseImageFormatInfo2,
    count: *mut u32,
    properties: *mut VkSparseImageFormatProperties2,
) {
    // SAFETY: the handle comes from the lowest layer.
    let target = unsafe { Target::new(physical_device, "vkGetPhysicalDeviceSparseImageFormatProperties2") };
    let table = &target.driver.table;
    let newer = target.choose(
        table.vkGetPhysicalDeviceSparseImageFormatProperties2,
        table.vkGetPhysicalDeviceSparseImageFormatProperties2KHR,
        EXTENSION,
    );
    if let Some(newer) = newer {
        // SAFETY: the driver's function with its own handle.
        return unsafe { newer(target.handle, info, count, properties) };
    }
    target.announce(Some("vkGetPhysicalDeviceSparseImageFormatProperties"));
    let Some(older) = table.vkGetPhysicalDeviceSparseImageFormatProperties else {
        seam::unsupported("GetPhysicalDeviceSparseImageFormatProperties")
    };
    // SAFETY: the structure is valid, and so is its chain.
    let asked = unsafe { &*info };
    // SAFETY: as above.
    unsafe { target.ignore_chain(asked.pNext, "pFormatInfo->", none) };
    let query = Query {
        target: &target,
        // SAFETY: the driver's function with its own handle; `fill` passes a count and an array that belong together.
        ask: |count, array| unsafe {
            older(
                target.handle,
                asked.format,
                asked.r#type,
                asked.samples,
                asked.usage,
                asked.tiling,
                count,
                array,
            );
        },
        empty: NO_FORMAT,
        parameter: "pProperties",
    };
    // SAFETY: `count` and `properties` are the caller's; each element is valid, and so is its chain.
    unsafe {
        query.fill(count, properties, |element, answer| {
            (*element).properties = answer;
            (*element).pNext
        });
    }
}

/// A first-generation array query on behalf of a second-generation one.
struct Query<'a, T, A: Fn(*mut u32, *mut T)> {
    target: &'a Target,
    /// The first-generation query.
    ask: A,
    /// What new elements of the temporary array hold.
    empty: T,
    /// What the command calls its array.
    parameter: &'static str,
}

impl<T: Copy, A: Fn(*mut u32, *mut T)> Query<'_, T, A> {
    /// Answers the caller: the count alone, or as many elements as fit. `store` writes an answer into an element and
    /// returns the element's `pNext`.
    ///
    /// # Safety
    /// `count` is valid; `array` is NULL or has room for `*count` elements, each with a valid chain.
    unsafe fn fill<E>(&self, count: *mut u32, array: *mut E, mut store: impl FnMut(*mut E, T) -> *mut c_void) {
        // SAFETY: by this function's contract.
        let room = unsafe { *count };
        if array.is_null() || room == 0 {
            return (self.ask)(count, std::ptr::null_mut());
        }
        // The driver's own count bounds the temporary array, whatever room the caller claims to have.
        let mut available = 0;
        (self.ask)(&mut available, std::ptr::null_mut());
        let answers = self.answers(room.min(available));
        let answers = answers.as_deref().unwrap_or_else(|_| {
            self.target.log(
                LogBits::ERROR,
                format_args!("Out of memory - Failed to allocate array for loader emulation."),
            );
            &[]
        });
        for (index, answer) in answers.iter().enumerate() {
            // SAFETY: at most `room` answers, and the array has room for as many elements.
            let next = store(unsafe { array.add(index) }, *answer);
            // SAFETY: by this function's contract.
            unsafe {
                self.target
                    .ignore_chain(next, format_args!("{}[{index}].", self.parameter), none)
            };
        }
        // SAFETY: by this function's contract.
        unsafe { *count = u32::try_from(answers.len()).unwrap_or(u32::MAX) };
    }

    /// Asks for at most `capacity` elements.
    fn answers(&self, capacity: u32) -> Result<HostVec<T>, OutOfMemory> {
        let scope = VkSystemAllocationScope::VK_SYSTEM_ALLOCATION_SCOPE_COMMAND;
        let mut answers = HostVec::new(self.target.instance().allocator.scoped(scope));
        answers.try_fill_to(capacity as usize, self.empty)?;
        let mut written = capacity;
        if capacity > 0 {
            (self.ask)(&mut written, answers.as_mut_ptr());
        }
        // Whatever count the driver writes back, there are no more elements than were allocated.
        answers.truncate(written as usize);
        Ok(answers)
    }
}
