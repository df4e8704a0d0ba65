//! Extensible queries of Vulkan 1.1, each with its core name and its KHR name.

use std::ffi::c_char;

use ash::vk;

use crate::config::Device;
use crate::entry::{Call, two_call};
use crate::{chain, physical};

/// Defines a query under its core name and under its KHR name, with one body.
macro_rules! both {
    ($core:ident, $khr:ident, $name:literal, ($physical:ident $(, $arg:ident: $ty:ty)*) $(-> $ret:ty)?, |$call:ident, $device:ident| $body:block) => {
        #[doc = concat!("`", $name, "`.")]
        pub(crate) unsafe extern "system" fn $core($physical: vk::PhysicalDevice $(, $arg: $ty)*) $(-> $ret)? {
            let ($call, $device) = physical::enter($name, $physical);
            $body
        }
        #[doc = concat!("`", $name, "KHR`.")]
        pub(crate) unsafe extern "system" fn $khr($physical: vk::PhysicalDevice $(, $arg: $ty)*) $(-> $ret)? {
            let ($call, $device) = physical::enter(concat!($name, "KHR"), $physical);
            $body
        }
    };
}

fn copy_text(to: &mut [c_char], text: &str) {
    for (to, from) in to.iter_mut().zip(text.bytes().chain([0])) {
        *to = from as c_char;
    }
}

/// Fills in the property structures that this driver knows.
fn fill(device: &Device, out: &mut vk::PhysicalDeviceProperties2<'static>) {
    let next = out.p_next.cast_const();
    if let Some(id) =
        chain::find::<vk::PhysicalDeviceIDProperties<'_>>(next, vk::StructureType::PHYSICAL_DEVICE_ID_PROPERTIES)
    {
        // SAFETY: a structure of this type in an output chain is writable during the call.
        let id = unsafe { &mut *id };
        (id.device_uuid, id.driver_uuid, id.device_luid_valid) = (device.uuid, device.driver_uuid, vk::FALSE);
    }
    let kind = vk::StructureType::PHYSICAL_DEVICE_DRIVER_PROPERTIES;
    if let Some(driver) = chain::find::<vk::PhysicalDeviceDriverProperties<'_>>(next, kind) {
        // SAFETY: `chain::find` returned a structure of this type, which the caller lets the driver write.
        let driver = unsafe { &mut *driver };
        driver.driver_id = vk::DriverId::from_raw(device.driver_id);
        copy_text(&mut driver.driver_name, "mock");
        driver.conformance_version.subminor = device.varied("driver") as u8;
    }
    let kind = vk::StructureType::PHYSICAL_DEVICE_PCI_BUS_INFO_PROPERTIES_EXT;
    let pci = chain::find::<vk::PhysicalDevicePCIBusInfoPropertiesEXT<'_>>(next, kind);
    if let (Some(pci), Some(place)) = (pci, device.pci) {
        // SAFETY: `chain::find` returned a structure of this type, which the caller lets the driver write.
        let pci = unsafe { &mut *pci };
        [pci.pci_domain, pci.pci_bus, pci.pci_device, pci.pci_function] = place;
    }
}

both!(properties2, properties2_khr, "vkGetPhysicalDeviceProperties2", (physical, out: *mut vk::PhysicalDeviceProperties2<'static>), |call, device| {
    // SAFETY: the caller passes a valid structure.
    let out = unsafe { &mut *out };
    call.note(chain::show(out.p_next));
    out.properties = physical::properties_of(&device);
    fill(&device, out);
});

both!(features2, features2_khr, "vkGetPhysicalDeviceFeatures2", (physical, out: *mut vk::PhysicalDeviceFeatures2<'static>), |_call, device| {
    // SAFETY: the caller passes a valid structure.
    unsafe { (*out).features = physical::features_of(&device) };
});

both!(memory2, memory2_khr, "vkGetPhysicalDeviceMemoryProperties2", (physical, out: *mut vk::PhysicalDeviceMemoryProperties2<'static>), |_call, device| {
    // SAFETY: the caller passes a valid structure.
    unsafe { (*out).memory_properties = physical::memory_of(&device) };
});

both!(format2, format2_khr, "vkGetPhysicalDeviceFormatProperties2", (physical, _format: vk::Format, out: *mut vk::FormatProperties2<'static>), |_call, device| {
    // SAFETY: the caller passes a valid structure.
    unsafe { (*out).format_properties = physical::format_of(&device) };
});

both!(image_format2, image_format2_khr, "vkGetPhysicalDeviceImageFormatProperties2", (physical, _info: *const vk::PhysicalDeviceImageFormatInfo2<'static>, out: *mut vk::ImageFormatProperties2<'static>) -> vk::Result, |call, _device| {
    // SAFETY: the caller passes a valid structure.
    unsafe { (*out).image_format_properties = physical::image_format_of() };
    call.result()
});

both!(queue_family2, queue_family2_khr, "vkGetPhysicalDeviceQueueFamilyProperties2", (physical, count: *mut u32, out: *mut vk::QueueFamilyProperties2<'static>), |call, device| {
    let items = physical::queue_families(&device);
    // SAFETY: the caller follows the two-call idiom.
    let _void = unsafe { fill_elements(&call, &items, count, out, |element, item| element.queue_family_properties = item) };
});

both!(sparse2, sparse2_khr, "vkGetPhysicalDeviceSparseImageFormatProperties2", (physical, _info: *const vk::PhysicalDeviceSparseImageFormatInfo2<'static>, count: *mut u32, out: *mut vk::SparseImageFormatProperties2<'static>), |call, _device| {
    let items = physical::sparse_formats();
    // SAFETY: the caller follows the two-call idiom.
    let _void = unsafe { fill_elements(&call, &items, count, out, |element, item| element.properties = item) };
});

both!(external_buffer, external_buffer_khr, "vkGetPhysicalDeviceExternalBufferProperties", (physical, _info: *const vk::PhysicalDeviceExternalBufferInfo<'static>, out: *mut vk::ExternalBufferProperties<'static>), |_call, _device| {
    // SAFETY: the caller passes a valid structure.
    unsafe { (*out).external_memory_properties.external_memory_features = vk::ExternalMemoryFeatureFlags::EXPORTABLE };
});

both!(external_semaphore, external_semaphore_khr, "vkGetPhysicalDeviceExternalSemaphoreProperties", (physical, _info: *const vk::PhysicalDeviceExternalSemaphoreInfo<'static>, out: *mut vk::ExternalSemaphoreProperties<'static>), |_call, _device| {
    // SAFETY: the caller passes a valid structure.
    unsafe { (*out).external_semaphore_features = vk::ExternalSemaphoreFeatureFlags::EXPORTABLE };
});

both!(external_fence, external_fence_khr, "vkGetPhysicalDeviceExternalFenceProperties", (physical, _info: *const vk::PhysicalDeviceExternalFenceInfo<'static>, out: *mut vk::ExternalFenceProperties<'static>), |_call, _device| {
    // SAFETY: the caller passes a valid structure.
    unsafe { (*out).external_fence_features = vk::ExternalFenceFeatureFlags::EXPORTABLE };
});

/// Answers the two-call idiom for elements that have a chain. Writes only the payload of each element.
///
/// # Safety
/// The parameters follow the two-call idiom.
pub(crate) unsafe fn fill_elements<T, I: Copy>(
    call: &Call,
    items: &[I],
    count: *mut u32,
    out: *mut T,
    set: impl Fn(&mut T, I),
) -> vk::Result {
    if out.is_null() || call.failure.is_some() {
        // SAFETY: the parameters follow the two-call idiom, and a null array is never written.
        return unsafe { two_call(call, items, count, std::ptr::null_mut()) };
    }
    // SAFETY: the caller promises a valid `count`.
    let room = unsafe { *count } as usize;
    for (index, item) in items.iter().take(room).enumerate() {
        // SAFETY: the index is below `*count`, and `out` has space for that number of elements.
        set(unsafe { &mut *out.add(index) }, *item);
    }
    // SAFETY: the caller promises a valid `count`.
    unsafe { *count = items.len().min(room) as u32 + call.config.grows(call.name) };
    if items.len() > room {
        vk::Result::INCOMPLETE
    } else {
        vk::Result::SUCCESS
    }
}

/// Answers a query for tools with one tool, which is named after the driver.
unsafe fn tools(
    name: &'static str,
    physical: vk::PhysicalDevice,
    count: *mut u32,
    out: *mut vk::PhysicalDeviceToolProperties<'static>,
) -> vk::Result {
    let (call, _) = physical::enter(name, physical);
    let text = call.config.name.clone();
    // SAFETY: the caller follows the two-call idiom.
    unsafe { fill_elements(&call, &[()], count, out, |tool, ()| copy_text(&mut tool.name, &text)) }
}

/// Implements `vkGetPhysicalDeviceToolProperties`.
pub(crate) unsafe extern "system" fn tool_properties(
    physical: vk::PhysicalDevice,
    count: *mut u32,
    out: *mut vk::PhysicalDeviceToolProperties<'static>,
) -> vk::Result {
    // SAFETY: the caller promises valid parameters of this command.
    unsafe { tools("vkGetPhysicalDeviceToolProperties", physical, count, out) }
}

/// Implements `vkGetPhysicalDeviceToolPropertiesEXT`.
pub(crate) unsafe extern "system" fn tool_properties_ext(
    physical: vk::PhysicalDevice,
    count: *mut u32,
    out: *mut vk::PhysicalDeviceToolProperties<'static>,
) -> vk::Result {
    // SAFETY: the caller promises valid parameters of this command.
    unsafe { tools("vkGetPhysicalDeviceToolPropertiesEXT", physical, count, out) }
}

/// Implements `vkGetPhysicalDeviceExternalImageFormatPropertiesNV`.
#[allow(clippy::too_many_arguments, reason = "the signature is the registry's")]
pub(crate) unsafe extern "system" fn external_image_format_nv(
    physical: vk::PhysicalDevice,
    _format: vk::Format,
    _kind: vk::ImageType,
    _tiling: vk::ImageTiling,
    _usage: vk::ImageUsageFlags,
    _flags: vk::ImageCreateFlags,
    _handle_type: vk::ExternalMemoryHandleTypeFlagsNV,
    out: *mut vk::ExternalImageFormatPropertiesNV,
) -> vk::Result {
    let (call, _) = physical::enter("vkGetPhysicalDeviceExternalImageFormatPropertiesNV", physical);
    // SAFETY: the caller passes a valid structure.
    unsafe { (*out).image_format_properties = physical::image_format_of() };
    call.result()
}
