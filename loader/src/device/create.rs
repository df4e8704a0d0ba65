//! `vkCreateDevice` as the application and as layers call it (APP-140 to APP-150, LAY-292).

use super::chain::DeviceChain;
use super::destroy;
use super::group::{self, Regrouped};
use super::object::Device;
use crate::alloc::{HostAllocator, HostVec};
use crate::device::DEVICES;
use crate::driver_interface;
use crate::ffi;
use crate::ffi::layer_interface::{GetDeviceProcAddr, GetInstanceProcAddr};
use crate::gate::GATE;
use crate::generated::lookup::row;
use crate::generated::pfn::PFN_vkEnumerateDeviceExtensionProperties;
use crate::generated::types::{
    PFN_vkVoidFunction, VkAllocationCallbacks, VkDevice, VkDeviceCreateInfo, VkExtensionProperties, VkResult,
    VkSystemAllocationScope,
};
use crate::handle::{App, Chain, InstanceHandle, PhysicalDeviceHandle};
use crate::instance::Instance;
use crate::translation;
use discovery::extension::{DeviceExtension, DeviceExtensionSet};
use discovery::journal::LogBits;
use discovery::log;
use os::Raw;
use os::memory::OutOfMemory;

/// A request for a device, at the level of the entity that receives it first.
struct Request<'a> {
    instance: &'static Instance,
    /// The instance handle at the level of the entity that receives the request first.
    caller: InstanceHandle<Chain>,
    physical_device: PhysicalDeviceHandle<Chain>,
    info: &'a VkDeviceCreateInfo,
    callbacks: *const VkAllocationCallbacks,
    /// Lookup function of the layer below which the chain starts.
    above: Option<GetInstanceProcAddr>,
    /// Function that lists the extensions of the chain.
    enumerate: Option<PFN_vkEnumerateDeviceExtensionProperties<Chain>>,
}

/// Creates a device for the application.
///
/// # Safety
/// The parameters are as the Vulkan specification demands of `vkCreateDevice`.
pub(crate) unsafe fn create_device(
    physical_device: PhysicalDeviceHandle<App>,
    create_info: *const VkDeviceCreateInfo,
    callbacks: *const VkAllocationCallbacks,
    out: *mut VkDevice,
) -> VkResult {
    let _passage = GATE.enter();
    // SAFETY: Vulkan requires a physical device handle that the loader returned to the application.
    let Some(object) = (unsafe { translation::physical_device_object(physical_device) }) else {
        return translation::reject(row::vkCreateDevice);
    };
    // SAFETY: Vulkan requires a create info that is null or valid.
    let (Some(given), false) = (unsafe { create_info.as_ref() }, out.is_null()) else {
        return VkResult::VK_ERROR_INITIALIZATION_FAILED;
    };
    let instance = object.instance();
    let mut info = *given;
    // SAFETY: Vulkan requires a valid `pNext` chain.
    let found = unsafe { group::find(info.pNext) };
    let regrouped = match found {
        None => None,
        Some(found) => {
            // SAFETY: the array of the application has as many elements as its count says.
            let devices = unsafe { ffi::c_array(found.pPhysicalDevices, found.physicalDeviceCount) };
            let chain = devices.iter().map(|&device| {
                // SAFETY: Vulkan requires physical device handles that the loader returned to the application.
                unsafe { translation::physical_device_object(device) }
                    .map_or(PhysicalDeviceHandle::NULL, |object| object.chain)
            });
            // SAFETY: the application must not change its chain during the call, and the head is in the loader's copy.
            match unsafe { Regrouped::<Chain>::put(&mut info.pNext, found, chain, instance.allocator) } {
                Ok(regrouped) => Some(regrouped),
                Err(OutOfMemory) => return VkResult::VK_ERROR_OUT_OF_HOST_MEMORY,
            }
        }
    };
    let request = Request {
        instance,
        caller: instance.chain_handle(),
        physical_device: object.chain,
        info: &info,
        callbacks,
        above: None,
        enumerate: Some(instance.table().vkEnumerateDeviceExtensionProperties.get()),
    };
    // SAFETY: Vulkan requires a valid create info, and a device group in the copy now contains handles for the first layer of the chain.
    let made = unsafe { request.run() };
    drop(regrouped);
    finish(made.map(|(handle, _)| handle), out)
}

fn finish(made: Result<VkDevice, VkResult>, out: *mut VkDevice) -> VkResult {
    match made {
        Ok(handle) => {
            // SAFETY: both callers checked that `out` is not null, and it is writable by their contract.
            unsafe { *out = handle };
            VkResult::VK_SUCCESS
        }
        Err(result) => result,
    }
}

/// Creates a device for a layer, through the layers below that layer (LAY-292).
///
/// # Safety
/// The parameters are those of `PFN_vkLayerCreateDevice`.
pub(crate) unsafe extern "system" fn layer_create_device(
    caller: InstanceHandle<Chain>,
    physical_device: PhysicalDeviceHandle<Chain>,
    create_info: *const VkDeviceCreateInfo,
    callbacks: *const VkAllocationCallbacks,
    out: *mut VkDevice,
    layer_gipa: Option<GetInstanceProcAddr>,
    next_gdpa: *mut Option<GetDeviceProcAddr>,
) -> VkResult {
    if caller.is_null() {
        // Without an instance, the layer is treated as an application.
        // SAFETY: the parameters are those of `vkCreateDevice`, as this function demands of its caller.
        return unsafe {
            create_device(
                PhysicalDeviceHandle::from_raw(physical_device.raw()),
                create_info,
                callbacks,
                out,
            )
        };
    }
    // SAFETY: a non-null handle of the chain starts with a dispatch pointer; the create info is null or valid.
    let (Some(instance), Some(info)) = (unsafe { translation::chain_instance(caller) }, unsafe {
        create_info.as_ref()
    }) else {
        return VkResult::VK_ERROR_INITIALIZATION_FAILED;
    };
    if out.is_null() {
        return VkResult::VK_ERROR_INITIALIZATION_FAILED;
    }
    let enumerate = match layer_gipa {
        // SAFETY: the lookup function is the layer's own and receives the layer's handle; the registry gives
        // `vkEnumerateDeviceExtensionProperties` the type to which the result is cast.
        Some(gipa) => unsafe {
            core::mem::transmute::<PFN_vkVoidFunction, Option<PFN_vkEnumerateDeviceExtensionProperties<Chain>>>(gipa(
                caller,
                c"vkEnumerateDeviceExtensionProperties".as_ptr(),
            ))
        },
        // The caller is not a layer of this instance, so the whole chain creates the device.
        None => Some(instance.table().vkEnumerateDeviceExtensionProperties.get()),
    };
    let request = Request {
        instance,
        caller,
        physical_device,
        info,
        callbacks,
        above: layer_gipa,
        enumerate,
    };
    // SAFETY: create info and handles are at the level of the layer that calls.
    let made = unsafe { request.run() };
    if let (Ok((_, next)), false) = (&made, next_gdpa.is_null()) {
        // SAFETY: `next_gdpa` is not null, so the caller promises that it is writable.
        unsafe { *next_gdpa = Some(*next) };
    }
    finish(made.map(|(handle, _)| handle), out)
}

impl Request<'_> {
    /// Creates the device.
    ///
    /// # Safety
    /// The create info and the handles are valid at the level of the entity that receives the request first.
    unsafe fn run(&self) -> Result<(VkDevice, GetDeviceProcAddr), VkResult> {
        // SAFETY: the caller of `run` promises callbacks that are NULL or valid.
        let allocator = unsafe {
            HostAllocator::new(
                self.callbacks,
                VkSystemAllocationScope::VK_SYSTEM_ALLOCATION_SCOPE_DEVICE,
            )
        }
        .or(self.instance.allocator);
        self.warn_about_layers();
        let requested = self.check_extensions()?;
        let chain = DeviceChain::below(self.instance, self.above)?;
        let device = Device::try_new(self.instance, allocator, requested)?;
        let (raw, allocator) = device.into_raw();
        // SAFETY: the record was just created, and only `destroy::forget` frees it, after which nothing refers to it.
        let device: &'static Device = unsafe { &*raw };
        // SAFETY: the caller promises that the create info and the handles are valid at the level of the entity that receives the request
        // first.
        let made = unsafe { chain.create(device, self.caller, self.physical_device, self.info, self.callbacks) };
        match made {
            Ok(handle) => Ok((handle, chain.top())),
            Err(result) => {
                log::emit(
                    Some(self.instance),
                    LogBits::ERROR,
                    format_args!("vkCreateDevice:  Failed to create device chain."),
                );
                // SAFETY: nobody else got the handle, so this is the only reference.
                unsafe { destroy::forget(device, allocator) };
                Err(result)
            }
        }
    }

    /// Warns if the create info lists other layers than the instance has; device layers are deprecated (DRV-191).
    fn warn_about_layers(&self) {
        // SAFETY: the create info is valid, so the array has as many elements as its count says.
        let names = unsafe { ffi::c_array(self.info.ppEnabledLayerNames, self.info.enabledLayerCount) };
        if names.is_empty() {
            return;
        }
        let requested = self.instance.requested_layers.get().map_or(&[][..], |names| names);
        // SAFETY: names in a valid create info are null or terminated.
        let same = names.len() == requested.len()
            && names
                .iter()
                .zip(requested)
                .all(|(&name, known)| unsafe { ffi::c_text(name) } == known.bytes());
        if !same {
            log::emit(
                Some(self.instance),
                LogBits::WARN,
                format_args!(
                    "loader_create_device_chain: Using deprecated and ignored 'ppEnabledLayerNames' member of \
                     'VkDeviceCreateInfo' when creating a Vulkan device."
                ),
            );
        }
    }

    /// Returns the requested extensions that matter to the loader.
    ///
    /// # Errors
    /// Neither the chain nor the manifest of an active layer lists a requested extension (APP-141, LAY-289).
    fn check_extensions(&self) -> Result<DeviceExtensionSet, VkResult> {
        // SAFETY: the create info is valid, so the array has as many elements as its count says.
        let names = unsafe { ffi::c_array(self.info.ppEnabledExtensionNames, self.info.enabledExtensionCount) };
        let mut requested = DeviceExtensionSet::empty();
        if names.is_empty() {
            return Ok(requested);
        }
        let offered = self.offered()?;
        for &name in names.iter().filter(|name| !name.is_null()) {
            // SAFETY: the string comes from the application; `requested_name` checks its length and encoding.
            let Some(name) = (unsafe { ffi::requested_name(name) }) else {
                self.refuse(format_args!(
                    "loader_validate_device_extensions: Device ppEnabledExtensionNames contains string that is too long or \
                     is badly formed"
                ));
                return Err(VkResult::VK_ERROR_EXTENSION_NOT_PRESENT);
            };
            let name = name.to_bytes();
            let known = offered
                .iter()
                .any(|extension| ffi::is_fixed_text(&extension.extensionName, name));
            if !known && !self.offered_by_layer(name) {
                self.refuse(format_args!(
                    "loader_validate_device_extensions: Device extension {} not supported by selected physical device \
                     or enabled layers.",
                    Raw(name)
                ));
                return Err(VkResult::VK_ERROR_EXTENSION_NOT_PRESENT);
            }
            if let Some(extension) = DeviceExtension::find(name) {
                requested.insert(extension);
            }
        }
        Ok(requested)
    }

    fn refuse(&self, text: core::fmt::Arguments<'_>) {
        log::emit(Some(self.instance), LogBits::ERROR, text);
        log::emit(
            Some(self.instance),
            LogBits::ERROR,
            format_args!("vkCreateDevice: Failed to validate extensions in list"),
        );
    }

    fn offered_by_layer(&self, name: &[u8]) -> bool {
        let layers = self.instance.layers().map_or(&[][..], |layers| &layers.chain);
        layers
            .iter()
            .flat_map(|layer| layer.device_extensions.iter())
            .any(|extension| ffi::is_fixed_text(&extension.properties.extensionName, name))
    }

    /// Returns the extensions that the chain lists.
    fn offered(&self) -> Result<HostVec<VkExtensionProperties>, VkResult> {
        let scratch = self
            .instance
            .allocator
            .scoped(VkSystemAllocationScope::VK_SYSTEM_ALLOCATION_SCOPE_COMMAND);
        let Some(enumerate) = self.enumerate else {
            return Ok(HostVec::new(scratch));
        };
        // SAFETY: the function belongs to the first entity and receives a handle of its level, and the array has room for the counted
        // elements.
        unsafe {
            driver_interface::all_extensions(scratch, |count, array| {
                enumerate(self.physical_device, core::ptr::null(), count, array)
            })
        }
    }
}

/// Makes a finished record available to look-ups by dispatch pointer (DRV-203).
pub(super) fn publish(device: &'static Device) {
    // SAFETY: the record lives until `destroy::forget` removes it. The application allows the removal only when no command uses the device
    // any more, and the destruction waits for the last use by the loader.
    unsafe { DEVICES.insert(core::ptr::NonNull::from(device)) };
}
