//! The end of the device chain: the driver's device (APP-145, DRV-192 to DRV-200).

use super::create::publish;
use super::features;
use super::group::{self, Regrouped};
use super::object::{Device, DriverDevice, driver_function};
use crate::alloc::{HostVec, ReservedNode};
use crate::driver_interface;
use crate::ffi;
use crate::ffi::layer_interface::GetDeviceProcAddr;
use crate::generated::dispatch::DeviceTerminatorTable;
use crate::generated::pfn::PFN_vkCreateDevice;
use crate::generated::types::{
    VkAllocationCallbacks, VkDevice, VkDeviceCreateInfo, VkPhysicalDeviceFeatures2,
    VkPhysicalDeviceMaintenance5Features, VkPhysicalDeviceProperties, VkResult, VkSystemAllocationScope,
};
use crate::handle::{Chain, Driver as DriverLevel, PhysicalDeviceHandle};
use crate::instance::InstanceDriver;
use crate::lookup::{DeviceGate, Row};
use crate::physical_device::ChainPhysicalDevice;
use crate::proc_addr;
use crate::table::Slots;
use crate::translation::{self, DEVICE_MAGIC};
use crate::unopened::{ClosedDrivers, StandIns as _};
use core::ffi::{c_char, c_void};
use core::mem::MaybeUninit;
use discovery::extension::{DeviceExtension, DeviceExtensionSet, InstanceExtension};
use discovery::journal::{LogBits, Sink};
use discovery::log::{self, LogSink};
use discovery::trace::{self, Step};
use os::{Address, Raw};

/// Creates the driver's device.
///
/// # Safety
/// The parameters are those that the lowest layer passed; `*out` must still hold the loader's record.
pub(crate) unsafe fn create_device_terminator(
    physical_device: PhysicalDeviceHandle<Chain>,
    create_info: *const VkDeviceCreateInfo,
    callbacks: *const VkAllocationCallbacks,
    out: *mut VkDevice,
) -> VkResult {
    // SAFETY: layers pass on a pointer that is null or valid.
    let device = unsafe { own_record(out.as_ref().map_or(core::ptr::null_mut(), |handle| handle.0)) };
    // SAFETY: layers pass valid structures on.
    let Some(info) = (unsafe { create_info.as_ref() }) else {
        return VkResult::VK_ERROR_INITIALIZATION_FAILED;
    };
    // SAFETY: the lowest layer passes a handle that the loader returned to the layer.
    let physical_device = unsafe { translation::chain_physical_device(physical_device) };
    let Some(driver) = physical_device.driver().pin() else {
        return VkResult::VK_ERROR_INITIALIZATION_FAILED;
    };
    let creation = Creation {
        device,
        physical_device,
        driver: &driver,
        callbacks,
    };
    // SAFETY: the create info came from the lowest layer, which passes valid structures.
    match unsafe { creation.run(info) } {
        Ok(handle) => {
            // SAFETY: `own_record` has read through the pointer, so it is valid.
            unsafe { *out = handle };
            VkResult::VK_SUCCESS
        }
        Err(result) => result,
    }
}

/// Returns the loader's record to which `*pDevice` points. Ends the process if the pointer does not lead to a record (LAY-286, DRV-200).
///
/// # Safety
/// A non-null `object` points to a readable 64-bit word.
unsafe fn own_record(object: *mut c_void) -> &'static Device {
    if object.is_null() {
        log::fatal(format_args!(
            "terminator_CreateDevice: Loader device pointer null encountered.  Possibly set by active layer. (Policy \
             #LLP_LAYER_22)"
        ));
        os::abort();
    }
    // SAFETY: the pointer is not null, so the caller promises that it is readable.
    let magic = unsafe { *object.cast::<u64>() };
    if magic != DEVICE_MAGIC {
        log::fatal(format_args!(
            "terminator_CreateDevice: Device pointer ({}) has invalid MAGIC value 0x{magic:08x}. The expected \
             value is 0x10ADED040410ADED. Device value possibly corrupted by active layer (Policy #LLP_LAYER_22).",
            Address(object)
        ));
        os::abort();
    }
    // SAFETY: the magic identifies a record, which lives until the device is destroyed or its creation fails.
    unsafe { &*object.cast::<Device>() }
}

struct Creation<'a> {
    device: &'static Device,
    physical_device: &'static ChainPhysicalDevice,
    driver: &'a InstanceDriver,
    callbacks: *const VkAllocationCallbacks,
}

impl Creation<'_> {
    /// Creates the driver's device.
    ///
    /// # Safety
    /// The create info is valid.
    unsafe fn run(&self, given: &VkDeviceCreateInfo) -> Result<VkDevice, VkResult> {
        let mut info = *given;
        let (names, enabled) = self.extensions(given)?;
        info.enabledLayerCount = 0;
        info.ppEnabledLayerNames = core::ptr::null();
        info.enabledExtensionCount = u32::try_from(names.len()).unwrap_or(u32::MAX);
        info.ppEnabledExtensionNames = if names.is_empty() {
            core::ptr::null()
        } else {
            names.as_ptr()
        };
        self.emulate_features2(&mut info);
        let room = ReservedNode::new(self.device.allocator())?;
        // SAFETY: the chain is valid during the call, and its head is in the loader's copy.
        let regrouped = unsafe { self.regroup(&mut info) }?;
        self.log_use();
        let mut handle = VkDevice(core::ptr::null_mut());
        let missing = VkResult::VK_ERROR_INITIALIZATION_FAILED;
        let create = self.driver.table.vkCreateDevice.ok_or(missing)?;
        // SAFETY: the function belongs to the driver of this physical device, and the create info is valid.
        let result = unsafe { self.ask(create, &info, &mut handle) };
        drop(regrouped);
        if result != VkResult::VK_SUCCESS || handle.0.is_null() {
            self.log(
                LogBits::ERROR | LogBits::DRIVER,
                format_args!(
                    "terminator_CreateDevice: Failed in ICD {} vkCreateDevice call",
                    self.driver.name()
                ),
            );
            return Err(if result == VkResult::VK_SUCCESS {
                missing
            } else {
                driver_interface::failure(result)
            });
        }
        // A driver with a stand-in was opened only now, so its lookup function for device commands was unknown before.
        let own = ClosedDrivers::device_look_up(self.driver.get_instance_proc_addr, self.driver.handle);
        let get_device_proc_addr = own.or(self.driver.table.vkGetDeviceProcAddr).ok_or(missing)?;
        // SAFETY: the handle is not null, and the loader may write the first word of a dispatchable object (DRV-208).
        unsafe { *handle.0.cast::<*const c_void>() = core::ptr::from_ref(self.device.table()).cast() };
        let maintenance5 = enabled.contains(DeviceExtension::VK_KHR_maintenance5) && wants_maintenance5(given);
        let driver_device = DriverDevice {
            driver: self.physical_device.driver(),
            handle,
            get_device_proc_addr,
            enabled,
            terminators: self.terminators(get_device_proc_addr, handle, enabled),
        };
        let first = self.device.driver_device().newest().is_none();
        self.device.driver_device().add(room, driver_device);
        self.device.hide_newer_commands(maintenance5);
        proc_addr::fill_ends(self.device);
        if first {
            publish(self.device);
        }
        Ok(handle)
    }

    /// Calls the driver's function, and records the call in the trace with the features that the driver lacks.
    ///
    /// # Safety
    /// `create` belongs to the driver of the physical device, and the create info is valid.
    unsafe fn ask(
        &self,
        create: PFN_vkCreateDevice<DriverLevel>,
        info: &VkDeviceCreateInfo,
        handle: &mut VkDevice,
    ) -> VkResult {
        let step = Step::Driver(self.driver.path()).begin(b"vkCreateDevice");
        // SAFETY: the caller promises a function of this driver, and a create info that is valid until the function returns.
        let result = unsafe { create(self.physical_device.handle, info, self.callbacks, handle) };
        step.end(result.0);
        if result == VkResult::VK_ERROR_FEATURE_NOT_PRESENT && trace::is_on() {
            // SAFETY: the caller promises a valid create info, and the physical device belongs to the driver.
            unsafe { features::record(self.driver, self.physical_device.handle, info) };
        }
        result
    }

    fn log(&self, bits: LogBits, text: core::fmt::Arguments<'_>) {
        log::emit(Some(self.device.instance()), bits, text);
    }

    /// Returns the requested extensions that the driver lists, and those among them that the loader knows (DRV-192, DRV-197).
    fn extensions(&self, info: &VkDeviceCreateInfo) -> Result<(HostVec<*const c_char>, DeviceExtensionSet), VkResult> {
        let scratch = self
            .device
            .allocator()
            .scoped(VkSystemAllocationScope::VK_SYSTEM_ALLOCATION_SCOPE_COMMAND);
        // SAFETY: the create info is valid, so the array has as many elements as its count says.
        let requested = unsafe { ffi::c_array(info.ppEnabledExtensionNames, info.enabledExtensionCount) };
        let mut names = HostVec::new(scratch);
        let mut enabled = DeviceExtensionSet::empty();
        if requested.is_empty() {
            return Ok((names, enabled));
        }
        let offered = driver_interface::device_extensions(&self.driver.table, self.physical_device.handle, scratch)?;
        names.try_reserve_exact(requested.len())?;
        for &pointer in requested.iter().filter(|name| !name.is_null()) {
            // SAFETY: names in a valid create info are terminated.
            let name = unsafe { ffi::c_text(pointer) };
            if !offered
                .iter()
                .any(|extension| ffi::is_fixed_text(&extension.extensionName, name))
            {
                self.log(
                    LogBits::DEBUG | LogBits::DRIVER,
                    format_args!(
                        "vkCreateDevice extension {} not available for devices associated with ICD {}",
                        Raw(name),
                        self.driver.name()
                    ),
                );
                continue;
            }
            names.try_push(pointer)?;
            if let Some(extension) = DeviceExtension::find(name) {
                enabled.insert(extension);
            }
        }
        Ok((names, enabled))
    }

    /// Copies the inner structure of `VkPhysicalDeviceFeatures2` to the create info if the driver cannot read the outer one (DRV-195).
    fn emulate_features2(&self, info: &mut VkDeviceCreateInfo) {
        let table = &self.driver.table;
        if table.vkGetPhysicalDeviceFeatures2.is_some() || table.vkGetPhysicalDeviceFeatures2KHR.is_some() {
            return;
        }
        // SAFETY: a valid create info has a valid chain.
        let features =
            unsafe { ffi::find::<VkPhysicalDeviceFeatures2>(info.pNext, VkPhysicalDeviceFeatures2::STRUCTURE_TYPE) };
        let Some(features) = features else { return };
        self.log(
            LogBits::INFO,
            format_args!(
                "vkCreateDevice: Emulating handling of VkPhysicalDeviceFeatures2 in pNext chain for ICD \"{}\"",
                self.driver.name()
            ),
        );
        let instance = self.device.instance();
        if instance
            .enabled
            .contains(InstanceExtension::VK_KHR_get_physical_device_properties2)
        {
            info.pEnabledFeatures = &features.features;
        }
    }

    /// Replaces the handles of a group structure by the driver's (DRV-193, DRV-194).
    ///
    /// # Safety
    /// The chain is valid, and the head is a copy that belongs to this call.
    unsafe fn regroup(&self, info: &mut VkDeviceCreateInfo) -> Result<Option<Regrouped<DriverLevel>>, VkResult> {
        // SAFETY: a valid create info has a valid chain.
        let Some(group) = (unsafe { group::find(info.pNext) }) else {
            return Ok(None);
        };
        let table = &self.driver.table;
        if table.vkEnumeratePhysicalDeviceGroups.is_none() && table.vkEnumeratePhysicalDeviceGroupsKHR.is_none() {
            self.log(
                LogBits::INFO,
                format_args!(
                    "vkCreateDevice: Emulating handling of VkPhysicalDeviceGroupDeviceCreateInfo in pNext chain for ICD \
                     \"{}\"",
                    self.driver.name()
                ),
            );
            if group.physicalDeviceCount != 1 {
                self.log(
                    LogBits::ERROR,
                    format_args!(
                        "vkCreateDevice: Emulation failed to create device from device group info: {} devices",
                        group.physicalDeviceCount
                    ),
                );
                return Err(VkResult::VK_ERROR_INITIALIZATION_FAILED);
            }
        }
        // SAFETY: the array holds as many handles as the count says.
        let devices = unsafe { ffi::c_array(group.pPhysicalDevices, group.physicalDeviceCount) };
        let mut own = Ok(());
        let handles = devices.iter().map(|device| {
            let device = PhysicalDeviceHandle::<Chain>::from_raw(device.raw());
            if device.is_null() {
                return PhysicalDeviceHandle::NULL;
            }
            // SAFETY: the lowest layer passes handles that the loader returned to the layer.
            let object = unsafe { translation::chain_physical_device(device) };
            object.driver().own_device(object.handle).unwrap_or_else(|error| {
                own = Err(error);
                PhysicalDeviceHandle::NULL
            })
        });
        let allocator = self
            .device
            .allocator()
            .scoped(VkSystemAllocationScope::VK_SYSTEM_ALLOCATION_SCOPE_COMMAND);
        // SAFETY: the caller promises a valid chain; the head is the caller's local copy, which outlives the value.
        let regrouped = unsafe { Regrouped::put(&mut info.pNext, group, handles, allocator) }?;
        // `own` is an error if a driver could not be opened, or lacks a device of the group. The copy then has a null handle in place of
        // the device. Drivers need not accept null handles, so the call fails.
        own.map(|()| Some(regrouped))
    }

    /// Looks up the driver's functions that the loader's own device terminators call (DRV-199).
    fn terminators(
        &self,
        gdpa: GetDeviceProcAddr,
        handle: VkDevice,
        enabled: DeviceExtensionSet,
    ) -> DeviceTerminatorTable {
        let function = |row: &'static Row| {
            let reachable = match row.device_gate() {
                DeviceGate::Always => true,
                DeviceGate::Device(any) => enabled.intersects(any),
                DeviceGate::Instance(any) => self.device.instance().enabled.get().intersects(any),
            };
            if !reachable {
                return None;
            }
            // SAFETY: the lookup function belongs to the driver and receives the driver's own device.
            unsafe { driver_function(gdpa, handle, row.name().into(), Some(row)) }
        };
        // SAFETY: the slots of a `DeviceTerminatorTable` may be null, so a missing function is allowed.
        unsafe { DeviceTerminatorTable::build(function) }
    }

    /// Logs the device and its driver (DRV-196). Queries the driver for the name only if a log sink is active.
    fn log_use(&self) {
        let bits = LogBits::LAYER | LogBits::DRIVER;
        let Some(query) = self.driver.table.vkGetPhysicalDeviceProperties else {
            return;
        };
        if !LogSink(Some(self.device.instance())).wants(bits) {
            return;
        }
        let mut properties = MaybeUninit::<VkPhysicalDeviceProperties>::zeroed();
        // SAFETY: the function belongs to the driver of this device; the structure consists of integers, floats and arrays of them, so
        // zeros are valid.
        let properties = unsafe {
            query(self.physical_device.handle, properties.as_mut_ptr());
            properties.assume_init()
        };
        self.log(
            bits,
            format_args!(
                "       Using \"{}\" with driver: \"{}\"",
                Raw(ffi::fixed_text(&properties.deviceName)),
                self.driver.name()
            ),
        );
    }
}

fn wants_maintenance5(info: &VkDeviceCreateInfo) -> bool {
    // SAFETY: a valid create info has a valid chain.
    let features = unsafe {
        ffi::find::<VkPhysicalDeviceMaintenance5Features>(
            info.pNext,
            VkPhysicalDeviceMaintenance5Features::STRUCTURE_TYPE,
        )
    };
    features.is_some_and(|features| features.maintenance5 == 1)
}
