//! Facts that drivers report about a device, for sorting and selection.

use super::walk::Device;
use crate::driver_interface;
use crate::ffi;
use crate::generated::pfn::PFN_vkGetPhysicalDeviceProperties2;
use crate::generated::types::{
    VkLayeredDriverUnderlyingApiMSFT, VkPhysicalDeviceIDProperties, VkPhysicalDeviceLayeredDriverPropertiesMSFT,
    VkPhysicalDevicePCIBusInfoPropertiesEXT, VkPhysicalDeviceProperties, VkPhysicalDeviceProperties2, VkResult,
};
use crate::handle::Driver;
use crate::instance::Instance;
use core::ffi::c_void;
use discovery::extension::InstanceExtension;
use discovery::text::Text;
use discovery::version::ApiVersion;
use os::memory::copy_or_note;

/// Device extension that reports the address of a device on the PCI bus.
const PCI_BUS_INFO: &[u8] = b"VK_EXT_pci_bus_info";

/// Device extension that reports the API to which a driver translates.
const LAYERED_DRIVER: &[u8] = b"VK_MSFT_layered_driver";

/// Address on the PCI bus: domain, bus, device, function.
pub(super) type PciAddress = [u32; 4];

/// UUIDs of a device and of its driver.
pub(super) type Uuids = ([u8; 16], [u8; 16]);

/// Returns a structure with every byte zero. The structure must consist of integers, floats, arrays of them and nullable pointers.
macro_rules! zeroed {
    ($type:ty) => {
        // SAFETY: the structure consists of integers, floats, arrays of them and nullable pointers, for all of which zero is valid.
        unsafe { core::mem::MaybeUninit::<$type>::zeroed().assume_init() }
    };
}
pub(super) use zeroed;

/// Returns the `VkPhysicalDeviceProperties` of a device.
pub(super) fn properties(device: &Device<'_>) -> VkPhysicalDeviceProperties {
    device.driver.properties_of(device.handle)
}

/// Returns the name of a device. If memory runs out, the Vulkan call returns `VK_ERROR_OUT_OF_HOST_MEMORY`.
pub(super) fn name_of(properties: &VkPhysicalDeviceProperties) -> Text {
    copy_or_note(ffi::fixed_text(&properties.deviceName)).into()
}

/// Returns the address on the PCI bus, if the driver reports it (DRV-138). A driver whose extension list cannot be read reports no address.
///
/// # Errors
/// Out of host memory.
pub(super) fn pci_address(
    instance: &Instance,
    device: &Device<'_>,
    properties: &VkPhysicalDeviceProperties,
) -> Result<Option<PciAddress>, VkResult> {
    let Some(get) = query_behind(PCI_BUS_INFO, instance, device, properties)? else {
        return Ok(None);
    };
    let mut info = zeroed!(VkPhysicalDevicePCIBusInfoPropertiesEXT);
    info.sType = VkPhysicalDevicePCIBusInfoPropertiesEXT::STRUCTURE_TYPE;
    let mut asked = properties2((&raw mut info).cast());
    // SAFETY: function and device belong to this driver; the chain consists of two writable structures.
    unsafe { get(device.handle, &mut asked) };
    Ok(Some([info.pciDomain, info.pciBus, info.pciDevice, info.pciFunction]))
}

/// Returns `true` if the driver translates the device's Vulkan calls to Direct3D 12, as far as the driver reports this (DRV-147).
///
/// # Errors
/// Out of host memory.
pub(super) fn is_on_d3d12(instance: &Instance, device: &Device<'_>) -> Result<bool, VkResult> {
    let properties = properties(device);
    let Some(get) = query_behind(LAYERED_DRIVER, instance, device, &properties)? else {
        return Ok(false);
    };
    let mut info = zeroed!(VkPhysicalDeviceLayeredDriverPropertiesMSFT);
    info.sType = VkPhysicalDeviceLayeredDriverPropertiesMSFT::STRUCTURE_TYPE;
    let mut asked = properties2((&raw mut info).cast());
    // SAFETY: function and device belong to this driver; the chain consists of two writable structures.
    unsafe { get(device.handle, &mut asked) };
    Ok(info.underlyingAPI == VkLayeredDriverUnderlyingApiMSFT::VK_LAYERED_DRIVER_UNDERLYING_API_D3D12_MSFT)
}

/// Returns the function that fills the structure of a device extension, if the device has the extension. If the driver's extension list
/// cannot be read, the device is treated as a device without the extension.
///
/// # Errors
/// Out of host memory.
fn query_behind(
    extension: &[u8],
    instance: &Instance,
    device: &Device<'_>,
    properties: &VkPhysicalDeviceProperties,
) -> Result<Option<PFN_vkGetPhysicalDeviceProperties2<Driver>>, VkResult> {
    let extensions = match driver_interface::device_extensions(
        &device.driver.table,
        device.handle,
        super::walk::scratch(instance),
    ) {
        Ok(extensions) => extensions,
        Err(VkResult::VK_ERROR_OUT_OF_HOST_MEMORY) => return Err(VkResult::VK_ERROR_OUT_OF_HOST_MEMORY),
        Err(_) => return Ok(None),
    };
    if !extensions
        .iter()
        .any(|known| ffi::is_fixed_text(&known.extensionName, extension))
    {
        return Ok(None);
    }
    let core = instance.api_version() >= ApiVersion::V1_1
        && ApiVersion(properties.apiVersion).without_patch() >= ApiVersion::V1_1;
    let table = &device.driver.table;
    Ok(if core {
        table.vkGetPhysicalDeviceProperties2
    } else {
        table.vkGetPhysicalDeviceProperties2KHR
    })
}

/// Returns the UUIDs of device and driver; zero if the driver does not report them (APP-259).
pub(super) fn uuids(device: &Device<'_>) -> Uuids {
    uuids_by(device.driver.table.vkGetPhysicalDeviceProperties2, device)
}

/// Returns the UUIDs of device and driver. Calls `vkGetPhysicalDeviceProperties2KHR` if the driver lacks `vkGetPhysicalDeviceProperties2`.
/// Returns `None` if the driver does not report the UUIDs.
pub(super) fn uuids_by_any(device: &Device<'_>) -> Option<Uuids> {
    let table = &device.driver.table;
    let get = table
        .vkGetPhysicalDeviceProperties2
        .or(table.vkGetPhysicalDeviceProperties2KHR);
    let (of_device, of_driver) = uuids_by(get, device);
    // Some drivers store a device number that begins at zero in the device UUID. A device UUID of zeros is therefore valid if the driver
    // UUID is not zero.
    (of_device != [0; 16] || of_driver != [0; 16]).then_some((of_device, of_driver))
}

fn uuids_by(get: Option<PFN_vkGetPhysicalDeviceProperties2<Driver>>, device: &Device<'_>) -> Uuids {
    let mut info = zeroed!(VkPhysicalDeviceIDProperties);
    info.sType = VkPhysicalDeviceIDProperties::STRUCTURE_TYPE;
    let mut asked = properties2((&raw mut info).cast());
    if let Some(get) = get {
        // SAFETY: function and device belong to this driver; the chain consists of two writable structures.
        unsafe { get(device.handle, &mut asked) };
    }
    (info.deviceUUID, info.driverUUID)
}

/// Returns a query whose chain continues with `next`.
pub(super) fn properties2(next: *mut c_void) -> VkPhysicalDeviceProperties2 {
    let mut asked = zeroed!(VkPhysicalDeviceProperties2);
    asked.sType = VkPhysicalDeviceProperties2::STRUCTURE_TYPE;
    asked.pNext = next;
    asked
}

/// Returns `Some(true)` if `vkGetPhysicalDeviceProperties2` is available, `Some(false)` if only its alias
/// `vkGetPhysicalDeviceProperties2KHR` is available, and `None` otherwise (DRV-133).
pub(super) fn properties2_is_core(instance: &Instance) -> Option<bool> {
    if instance.api_version() >= ApiVersion::V1_1 {
        return Some(true);
    }
    instance
        .enabled
        .contains(InstanceExtension::VK_KHR_get_physical_device_properties2)
        .then_some(false)
}
