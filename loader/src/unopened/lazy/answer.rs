//! Commands that fill a structure, answered from the record (DRV-282).

use super::stubs::pass_on;
use super::{Device, lost};
use crate::ffi;
use crate::generated::lookup::row;
use crate::generated::types::{
    VkBaseOutStructure, VkFormat, VkFormatProperties, VkFormatProperties2, VkPhysicalDeviceFeatures,
    VkPhysicalDeviceFeatures2, VkPhysicalDeviceMemoryProperties, VkPhysicalDeviceMemoryProperties2,
    VkPhysicalDeviceProperties, VkPhysicalDeviceProperties2,
};
use crate::handle::{Driver, PhysicalDeviceHandle};
use core::mem::offset_of;
use record::{Answer, Key, Query};

/// Offset in bytes of the inner structure in a structure with a head, which consists of `sType` and `pNext`.
pub(super) const INNER: usize = 16;

const _: () = assert!(
    offset_of!(VkPhysicalDeviceProperties2, properties) == INNER
        && offset_of!(VkPhysicalDeviceFeatures2, features) == INNER
        && offset_of!(VkPhysicalDeviceMemoryProperties2, memoryProperties) == INNER
        && offset_of!(VkFormatProperties2, formatProperties) == INNER
);

/// Treatment of the structures of a chain that the record lacks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Rest {
    /// The driver must answer the whole query.
    Asked,
    /// The structures keep their content, because the driver is lost.
    Unchanged,
}

impl Device {
    /// Returns the record's answer; `None` if the record lacks the answer or is no longer used for the device.
    pub(super) fn recorded(&self, key: Key) -> Option<(usize, Answer<'static>)> {
        self.record()?.answer(key)
    }

    /// Fills a structure from the record. Returns `false` if the record lacks the answer or the driver is open. Another thread may have
    /// opened the driver during the call, and compared the answers before this answer was noted; the driver then answers instead.
    ///
    /// # Safety
    /// `structure` has `size` writable bytes.
    pub(super) unsafe fn fill(&self, key: Key, structure: *mut u8, size: usize) -> bool {
        let Some((row, answer)) = self.recorded(key).filter(|(_, answer)| answer.size() <= size) else {
            return false;
        };
        self.sleeper().note(row);
        // SAFETY: the answer is not larger than the structure, which the caller promises to be writable.
        unsafe { write(answer, structure) };
        self.record().is_some()
    }

    /// Fills a structure that has a head, and its chain, like [`Self::fill`]. With [`Rest::Unchanged`], leaves those structures of the
    /// chain unchanged that the record lacks.
    ///
    /// # Safety
    /// `outer` is a valid chain, whose first structure has `size` writable bytes after its head. The structures have the types of their
    /// `sType`.
    pub(super) unsafe fn fill_chain(&self, key: Key, outer: *mut VkBaseOutStructure, size: usize, rest: Rest) -> bool {
        // SAFETY: the caller promises a valid structure.
        let next = unsafe { (*outer).pNext };
        // SAFETY: the caller promises a valid chain.
        let chain = || unsafe { ffi::chain_mut(next.cast()) };
        // SAFETY: each structure of a valid chain begins with its type.
        let kind = |at: *mut VkBaseOutStructure| key.with(unsafe { (*at).sType }.0.cast_unsigned());
        // The type 0 is not looked up: its key is that of the structure that the chain extends, whose answer may be larger than the
        // structure at `at`.
        let is_recorded = |at: *mut VkBaseOutStructure| kind(at).kind != 0 && self.recorded(kind(at)).is_some();
        let is_whole = rest == Rest::Unchanged || chain().all(is_recorded);
        // SAFETY: the structure has `size` bytes after its head.
        if !is_whole || !unsafe { self.fill(key, outer.byte_add(INNER).cast(), size) } {
            return false;
        }
        for at in chain().filter(|at| is_recorded(*at)) {
            // SAFETY: the structure has the type of its `sType`, which is not zero, and the record returns only answers that have the size
            // of that type in the registry.
            unsafe { self.fill(kind(at), at.cast(), usize::MAX) };
        }
        self.record().is_some()
    }
}

/// Writes an answer.
///
/// # Safety
/// The structure is writable, and as large as the recorded one.
unsafe fn write(answer: Answer<'_>, structure: *mut u8) {
    let _ = answer.each(|at, bytes| {
        // SAFETY: the run is within the recorded structure, which the caller promises to be writable.
        unsafe { structure.add(at).copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        Some(())
    });
}

/// Defines commands that fill one structure.
macro_rules! plain {
    ($($name:ident: $query:ident, $type:ty;)*) => {$(
        /// Fills the structure.
        ///
        /// # Safety
        /// The parameters are as the specification of the command demands.
        pub(super) unsafe extern "system" fn $name(device: PhysicalDeviceHandle<Driver>, out: *mut $type) {
            // SAFETY: this module created the handle, and the loader uses the handle only while its instance is live.
            let object = unsafe { Device::of(device) };
            let key = object.key(Query::$query);
            // SAFETY: the caller passes a writable structure.
            let fill = |_| unsafe { object.fill(key, out.cast(), size_of::<$type>()) };
            // SAFETY: the caller passes a writable structure of numbers, for which zero is valid.
            let clear = || unsafe { out.write_bytes(0, 1) };
            if !object.answers(row::$name, fill, clear) {
                // SAFETY: the caller promises valid parameters of this command.
                unsafe { pass_on!($name(device, out)) }
            }
        }
    )*};
}

/// Defines commands that fill a structure with a chain.
macro_rules! chained {
    ($($name:ident: $query:ident, $type:ty, $inner:ty;)*) => {$(
        /// Fills the structure and its chain.
        ///
        /// # Safety
        /// The parameters are as the specification of the command demands.
        pub(super) unsafe extern "system" fn $name(device: PhysicalDeviceHandle<Driver>, out: *mut $type) {
            // SAFETY: this module created the handle, and the loader uses the handle only while its instance is live.
            let object = unsafe { Device::of(device) };
            let key = object.key(Query::$query);
            // SAFETY: the caller passes a valid chain.
            let fill = |rest| unsafe { object.fill_chain(key, out.cast(), size_of::<$inner>(), rest) };
            // SAFETY: the caller passes a writable structure, whose members after the head are numbers.
            let clear = || unsafe { lost::clear(out) };
            if !object.answers(row::$name, fill, clear) {
                // SAFETY: the caller promises valid parameters of this command.
                unsafe { pass_on!($name(device, out)) }
            }
        }
    )*};
}

plain! {
    vkGetPhysicalDeviceProperties: Properties, VkPhysicalDeviceProperties;
    vkGetPhysicalDeviceFeatures: Features, VkPhysicalDeviceFeatures;
    vkGetPhysicalDeviceMemoryProperties: Memory, VkPhysicalDeviceMemoryProperties;
}

chained! {
    vkGetPhysicalDeviceProperties2: Properties, VkPhysicalDeviceProperties2, VkPhysicalDeviceProperties;
    vkGetPhysicalDeviceProperties2KHR: Properties, VkPhysicalDeviceProperties2, VkPhysicalDeviceProperties;
    vkGetPhysicalDeviceFeatures2: Features, VkPhysicalDeviceFeatures2, VkPhysicalDeviceFeatures;
    vkGetPhysicalDeviceFeatures2KHR: Features, VkPhysicalDeviceFeatures2, VkPhysicalDeviceFeatures;
    vkGetPhysicalDeviceMemoryProperties2: Memory, VkPhysicalDeviceMemoryProperties2, VkPhysicalDeviceMemoryProperties;
    vkGetPhysicalDeviceMemoryProperties2KHR: Memory, VkPhysicalDeviceMemoryProperties2, VkPhysicalDeviceMemoryProperties;
}

/// Fills the properties of a format.
///
/// # Safety
/// The parameters are as the specification of the command demands.
pub(super) unsafe extern "system" fn vkGetPhysicalDeviceFormatProperties(
    device: PhysicalDeviceHandle<Driver>,
    format: VkFormat,
    out: *mut VkFormatProperties,
) {
    // SAFETY: this module created the handle, and the loader uses the handle only while its instance is live.
    let object = unsafe { Device::of(device) };
    let key = object.key(Query::Format).at(format.0.cast_unsigned());
    // SAFETY: the caller passes a writable structure.
    let fill = |_| unsafe { object.fill(key, out.cast(), size_of::<VkFormatProperties>()) };
    // SAFETY: the caller passes a writable structure of numbers, for which zero is valid.
    let clear = || unsafe { out.write_bytes(0, 1) };
    if !object.answers(row::vkGetPhysicalDeviceFormatProperties, fill, clear) {
        // SAFETY: the caller promises valid parameters of this command.
        unsafe { pass_on!(vkGetPhysicalDeviceFormatProperties(device, format, out)) }
    }
}

/// Defines the commands for formats with a chain.
macro_rules! of_format {
    ($($name:ident)*) => {$(
        /// Fills the properties of a format, and the chain.
        ///
        /// # Safety
        /// The parameters are as the specification of the command demands.
        pub(super) unsafe extern "system" fn $name(
            device: PhysicalDeviceHandle<Driver>,
            format: VkFormat,
            out: *mut VkFormatProperties2,
        ) {
            // SAFETY: this module created the handle, and the loader uses the handle only while its instance is live.
            let object = unsafe { Device::of(device) };
            let key = object.key(Query::Format).at(format.0.cast_unsigned());
            // SAFETY: the caller passes a valid chain.
            let fill = |rest| unsafe { object.fill_chain(key, out.cast(), size_of::<VkFormatProperties>(), rest) };
            // SAFETY: the caller passes a writable structure, whose members after the head are numbers.
            let clear = || unsafe { lost::clear(out) };
            if !object.answers(row::$name, fill, clear) {
                // SAFETY: the caller promises valid parameters of this command.
                unsafe { pass_on!($name(device, format, out)) }
            }
        }
    )*};
}

of_format! {
    vkGetPhysicalDeviceFormatProperties2
    vkGetPhysicalDeviceFormatProperties2KHR
}
