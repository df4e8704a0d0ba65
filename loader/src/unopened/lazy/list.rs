//! Commands that fill an array, answered from the record (DRV-282).

use super::answer::INNER;
use super::open::Opened;
use super::stubs::pass_on;
use super::{Device, Sleeper};
use crate::alloc::{HostVec, ReservedNode};
use crate::ffi::TwoCall;
use crate::generated::lookup::row;
use crate::generated::types::{
    VkExtensionProperties, VkPhysicalDeviceGroupProperties, VkPhysicalDeviceToolProperties, VkQueueFamilyProperties,
    VkQueueFamilyProperties2, VkResult,
};
use crate::handle::{Driver, InstanceHandle, PhysicalDeviceHandle};
use crate::unopened::recorded;
use core::ffi::c_char;
use os::memory::OutOfMemory;
use record::{DRIVER, Extensions, Key, Query};

/// Lists the devices: the recorded devices, or the devices of the opened driver.
///
/// # Safety
/// The parameters are as the specification of the command demands.
pub(super) unsafe extern "system" fn vkEnumeratePhysicalDevices(
    instance: InstanceHandle<Driver>,
    count: *mut u32,
    array: *mut PhysicalDeviceHandle<Driver>,
) -> VkResult {
    // SAFETY: this module created the handle, and the loader uses the handle only while its instance is live.
    let sleeper = unsafe { Sleeper::of(instance) };
    // SAFETY: the caller promises a writable number, and an array that is null or has room for `*count` elements.
    let call = unsafe { TwoCall::new(count, array) };
    let Some(opened) = sleeper.opened() else {
        return call.answer(sleeper.devices.iter().map(|device| device.handle()));
    };
    match sleeper.stand_ins(opened) {
        Ok(handles) => call.answer(handles.iter().copied()),
        Err(result) => result,
    }
}

impl Sleeper {
    /// Returns the stand-ins for all devices of the opened driver.
    fn stand_ins(&self, opened: &Opened) -> Result<HostVec<PhysicalDeviceHandle<Driver>>, VkResult> {
        let mut handles = opened.devices(self)?;
        for handle in handles.iter_mut() {
            *handle = self.stand_in(*handle)?;
        }
        Ok(handles)
    }

    /// Returns the stand-in for a device of the opened driver. Creates a new stand-in for a device that was not recorded.
    pub(super) fn stand_in(
        &self,
        real: PhysicalDeviceHandle<Driver>,
    ) -> Result<PhysicalDeviceHandle<Driver>, OutOfMemory> {
        let is_it = |device: &&Device| device.real() == Some(real);
        // If two threads have added the same device, both use the object that was added first, which is the last one in the list.
        let added = || self.others.iter().filter(is_it).last();
        let recorded = self.devices.iter().map(|device| &**device).find(is_it);
        if let Some(known) = recorded.or_else(added) {
            return Ok(known.handle());
        }
        let device = Device::new(self, DRIVER, core::ptr::null_mut());
        device.found(real);
        self.others.add(ReservedNode::new(self.allocator)?, device);
        added().map(Device::handle).ok_or(OutOfMemory)
    }

    /// Fills an array of groups from the record. Returns `None` if the record has no groups, or if an element has a chain, which is never
    /// recorded.
    ///
    /// # Safety
    /// `count` is writable, and `array` is null or has room for `*count` elements.
    unsafe fn groups(&self, count: *mut u32, array: *mut VkPhysicalDeviceGroupProperties<Driver>) -> Option<VkResult> {
        let record = self.closed.record()?;
        let first = Key::of(DRIVER, Query::Group);
        let total = record.each(first).count();
        let (row, _) = record.find(first)?;
        self.note(row);
        // The driver answers if another thread has opened it meanwhile.
        if self.opened().is_some() {
            return None;
        }
        if array.is_null() {
            // SAFETY: the caller promises a writable number.
            unsafe { *count = u32::try_from(total).unwrap_or(u32::MAX) };
            return Some(VkResult::VK_SUCCESS);
        }
        // SAFETY: the caller promises a readable number.
        let room = unsafe { *count } as usize;
        let written = total.min(room);
        // SAFETY: the caller promises an array with room for `*count` elements, and `place` is less than that number.
        if (0..written).any(|place| unsafe { !(*array.add(place)).pNext.is_null() }) {
            return None;
        }
        for (place, group) in record.each(first).enumerate().take(room) {
            // SAFETY: `place` is less than the number of elements in the caller's array.
            let properties = unsafe { &mut *array.add(place) };
            let (subset, numbers) = group.split_first()?;
            properties.subsetAllocation = u32::from(*subset);
            let devices = numbers.iter().map(|&number| self.devices.get(usize::from(number)));
            properties.physicalDeviceCount = 0;
            for (to, device) in properties.physicalDevices.iter_mut().zip(devices) {
                *to = device?.handle();
                properties.physicalDeviceCount += 1;
            }
        }
        // SAFETY: the caller promises a writable number.
        unsafe { *count = u32::try_from(written).unwrap_or(u32::MAX) };
        Some(if written < total {
            VkResult::VK_INCOMPLETE
        } else {
            VkResult::VK_SUCCESS
        })
    }
}

/// Defines the commands that list groups.
macro_rules! groups {
    ($($name:ident)*) => {$(
        /// Lists the groups: the recorded groups, or the groups of the opened driver.
        ///
        /// # Safety
        /// The parameters are as the specification of the command demands.
        pub(super) unsafe extern "system" fn $name(
            instance: InstanceHandle<Driver>,
            count: *mut u32,
            array: *mut VkPhysicalDeviceGroupProperties<Driver>,
        ) -> VkResult {
            // SAFETY: this module created the handle, and the loader uses the handle only while its instance is live.
            let sleeper = unsafe { Sleeper::of(instance) };
            if sleeper.opened().is_none()
                // SAFETY: the caller promises a writable number, and an array that is null or has room for `*count` elements.
                && let Some(result) = unsafe { sleeper.groups(count, array) }
            {
                return result;
            }
            // SAFETY: the caller promises a readable number.
            let room = unsafe { *count };
            // SAFETY: the caller promises valid parameters of this command.
            let result = unsafe {
                pass_on!($name(instance, count, array))
            };
            if array.is_null() || result.0 < 0 {
                return result;
            }
            // SAFETY: the caller promises an array with room for `room` elements, and the driver has written `*count` of them.
            let groups = unsafe { core::slice::from_raw_parts_mut(array, room.min(*count) as usize) };
            for group in groups {
                let known = group.physicalDevices.iter_mut().take(group.physicalDeviceCount as usize);
                for device in known.filter(|device| !device.is_null()) {
                    match sleeper.stand_in(*device) {
                        Ok(handle) => *device = handle,
                        Err(error) => return error.into(),
                    }
                }
            }
            result
        }
    )*};
}

groups! {
    vkEnumeratePhysicalDeviceGroups
    vkEnumeratePhysicalDeviceGroupsKHR
}

/// Lists the device extensions.
///
/// # Safety
/// The parameters are as the specification of the command demands.
pub(super) unsafe extern "system" fn vkEnumerateDeviceExtensionProperties(
    device: PhysicalDeviceHandle<Driver>,
    layer: *const c_char,
    count: *mut u32,
    array: *mut VkExtensionProperties,
) -> VkResult {
    // SAFETY: this module created the handle, and the loader uses the handle only while its instance is live.
    let object = unsafe { Device::of(device) };
    let sleeper = object.sleeper();
    let record = object.record().filter(|_| layer.is_null());
    let found = record.and_then(|record| record.find(object.key(Query::Extensions)));
    if let Some((row, _)) = found {
        sleeper.note(row);
    }
    // The driver answers if another thread has opened it meanwhile.
    if let Some((_, value)) = found.filter(|_| object.record().is_some()) {
        // SAFETY: the caller promises a writable number, and an array that is null or has room for `*count` elements.
        let call = unsafe { TwoCall::new(count, array) };
        return call.answer(Extensions(value).map(|(name, version)| recorded::extension(name, version)));
    }
    // SAFETY: the caller promises valid parameters of this command.
    unsafe { pass_on!(vkEnumerateDeviceExtensionProperties(device, layer, count, array)) }
}

impl Device {
    /// Returns the number of recorded queue families while the driver is closed; `None` if there are none. The first family's row stands
    /// for the number when the record is compared with the driver.
    fn families(&self) -> Option<u32> {
        let record = self.record()?;
        let (row, _) = record.answer(self.key(Query::QueueFamilies))?;
        self.sleeper().note(row);
        Some(record.families(self.number))
    }

    /// Writes the number of queue families if `is_counted` is `true`, otherwise fills the elements that the caller's array has. `fill`
    /// fills one element, and returns `false` if it cannot. The driver answers if another thread has opened it meanwhile.
    ///
    /// # Safety
    /// `count` is writable.
    unsafe fn each_family(&self, count: *mut u32, is_counted: bool, fill: impl Fn(Key, usize) -> bool) -> bool {
        let Some(total) = self.families().filter(|_| self.record().is_some()) else {
            return false;
        };
        let room = if is_counted {
            total
        } else {
            // SAFETY: the caller promises a readable number.
            unsafe { *count }.min(total)
        };
        let key = self.key(Query::QueueFamilies);
        if !is_counted && !(0..room).all(|family| fill(key.at(family), family as usize)) {
            return false;
        }
        // SAFETY: the caller promises a writable number.
        unsafe { *count = room };
        true
    }
}

/// Lists the queue families.
///
/// # Safety
/// The parameters are as the specification of the command demands.
pub(super) unsafe extern "system" fn vkGetPhysicalDeviceQueueFamilyProperties(
    device: PhysicalDeviceHandle<Driver>,
    count: *mut u32,
    array: *mut VkQueueFamilyProperties,
) {
    // SAFETY: this module created the handle, and the loader uses the handle only while its instance is live.
    let object = unsafe { Device::of(device) };
    let size = size_of::<VkQueueFamilyProperties>();
    // SAFETY: the array has as many elements as the number says.
    let fill = |key, place| unsafe { object.fill(key, array.add(place).cast(), size) };
    // SAFETY: the caller promises a writable number.
    let fill_all = |_| unsafe { object.each_family(count, array.is_null(), fill) };
    // SAFETY: the caller promises a writable number.
    let clear = || unsafe { *count = 0 };
    if !object.answers(row::vkGetPhysicalDeviceQueueFamilyProperties, fill_all, clear) {
        // SAFETY: the caller promises valid parameters of this command.
        unsafe { pass_on!(vkGetPhysicalDeviceQueueFamilyProperties(device, count, array)) }
    }
}

/// Defines the commands that list queue families with chains.
macro_rules! families {
    ($($name:ident)*) => {$(
        /// Lists the queue families, and fills the chains.
        ///
        /// # Safety
        /// The parameters are as the specification of the command demands.
        pub(super) unsafe extern "system" fn $name(
            device: PhysicalDeviceHandle<Driver>,
            count: *mut u32,
            array: *mut VkQueueFamilyProperties2,
        ) {
            // SAFETY: this module created the handle, and the loader uses the handle only while its instance is live.
            let object = unsafe { Device::of(device) };
            let size = size_of::<VkQueueFamilyProperties>();
            // SAFETY: the array has as many elements as the number says, each with a valid chain.
            let fill = |rest, key, place| unsafe { object.fill_chain(key, array.add(place).cast(), size, rest) };
            // SAFETY: the caller promises a writable number.
            let fill_all = |rest| unsafe {
                object.each_family(count, array.is_null(), |key, place| fill(rest, key, place))
            };
            // SAFETY: the caller promises a writable number.
            let clear = || unsafe { *count = 0 };
            if !object.answers(row::$name, fill_all, clear) {
                // SAFETY: the caller promises valid parameters of this command.
                unsafe { pass_on!($name(device, count, array)) }
            }
        }
    )*};
}

families! {
    vkGetPhysicalDeviceQueueFamilyProperties2
    vkGetPhysicalDeviceQueueFamilyProperties2KHR
}

const _: () = assert!(core::mem::offset_of!(VkQueueFamilyProperties2, queueFamilyProperties) == INNER);

/// Defines the commands that list tools.
macro_rules! tools {
    ($($name:ident)*) => {$(
        /// Lists no tools if none are recorded; otherwise asks the driver.
        ///
        /// # Safety
        /// The parameters are as the specification of the command demands.
        pub(super) unsafe extern "system" fn $name(
            device: PhysicalDeviceHandle<Driver>,
            count: *mut u32,
            array: *mut VkPhysicalDeviceToolProperties,
        ) -> VkResult {
            // SAFETY: this module created the handle, and the loader uses the handle only while its instance is live.
            let object = unsafe { Device::of(device) };
            let found = object.record().and_then(|record| record.find(object.key(Query::NoTools)));
            if let Some((row, _)) = found {
                object.sleeper().note(row);
            }
            // The driver answers if another thread has opened it meanwhile.
            if found.is_some() && object.record().is_some() {
                // SAFETY: the caller promises a writable number.
                unsafe { *count = 0 };
                return VkResult::VK_SUCCESS;
            }
            // SAFETY: the caller promises valid parameters of this command.
            unsafe { pass_on!($name(device, count, array)) }
        }
    )*};
}

tools! {
    vkGetPhysicalDeviceToolProperties
    vkGetPhysicalDeviceToolPropertiesEXT
}
