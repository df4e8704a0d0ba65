//! Negotiation of the driver interface, and look-up of the driver's functions that need no instance (DRV-62 to DRV-71).

use crate::ffi::Uncounted;
use crate::generated::pfn::PFN_vk_icdEnumerateAdapterPhysicalDevices;
use crate::generated::types::VkAllocationCallbacks;
use crate::generated::types::{PFN_vkVoidFunction, VkExtensionProperties, VkInstanceCreateInfo, VkResult};
use crate::handle::{Driver, InstanceHandle};
use crate::library::is_own_entry_point;
use crate::library::typed;
use crate::lookup::{self as commands, Function, Row};
use core::ffi::{CStr, c_char};

/// Type of `vk_icdGetInstanceProcAddr`, `vk_icdGetPhysicalDeviceProcAddr` and a driver's `vkGetInstanceProcAddr`.
pub(crate) type GetProcAddr = unsafe extern "system" fn(InstanceHandle<Driver>, *const c_char) -> PFN_vkVoidFunction;
/// Type of `vk_icdNegotiateLoaderICDInterfaceVersion`.
pub(super) type Negotiate = unsafe extern "system" fn(*mut u32) -> VkResult;
/// Type of `vk_icdEnumerateAdapterPhysicalDevices`.
pub(crate) type EnumerateAdapterPhysicalDevices = PFN_vk_icdEnumerateAdapterPhysicalDevices<Driver>;
/// Type of a driver's `vkCreateInstance`.
pub(super) type CreateInstance = unsafe extern "system" fn(
    *const VkInstanceCreateInfo,
    *const VkAllocationCallbacks,
    *mut InstanceHandle<Driver>,
) -> VkResult;
/// Type of a driver's `vkEnumerateInstanceExtensionProperties`.
pub(super) type EnumerateInstanceExtensionProperties =
    unsafe extern "system" fn(*const c_char, *mut u32, *mut VkExtensionProperties) -> VkResult;
/// Type of a driver's `vkEnumerateInstanceVersion`.
pub(super) type EnumerateInstanceVersion = unsafe extern "system" fn(*mut u32) -> VkResult;

/// Functions of a driver that need no instance.
#[derive(Clone, Copy)]
pub(crate) struct Interface {
    /// The negotiated version, 0 to 7.
    pub version: u32,
    /// Function through which all others are looked up.
    pub get_instance_proc_addr: GetProcAddr,
    /// Lookup of physical-device functions; absent below version 3 and in many drivers.
    pub get_physical_device_proc_addr: Option<GetProcAddr>,
    /// Lists devices by adapter, on systems that have an order of adapters (DRV-71).
    pub enumerate_adapter_physical_devices: Option<EnumerateAdapterPhysicalDevices>,
    /// The driver's `vkCreateInstance`.
    pub create_instance: CreateInstance,
    /// The driver's `vkEnumerateInstanceExtensionProperties`.
    pub enumerate_instance_extensions: EnumerateInstanceExtensionProperties,
}

/// Reason why negotiation failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NegotiationError {
    /// The driver returned `VK_ERROR_INCOMPATIBLE_DRIVER` (DRV-64), or agreed on a version that a driver of its kind must not have.
    Refused(u32),
    /// The driver agreed on this version above 0 but does not export `vk_icdGetInstanceProcAddr` (DRV-66).
    NoLookup(u32),
    /// A function that the interface version requires is missing (DRV-67, DRV-68, DRV-83).
    Missing(&'static CStr),
}

pub(super) const NEGOTIATE: &CStr = c"vk_icdNegotiateLoaderICDInterfaceVersion";
pub(super) const GET_INSTANCE_PROC_ADDR: &CStr = c"vk_icdGetInstanceProcAddr";
const GET_PHYSICAL_DEVICE_PROC_ADDR: &CStr = c"vk_icdGetPhysicalDeviceProcAddr";
const ENUMERATE_ADAPTER_PHYSICAL_DEVICES: &CStr = c"vk_icdEnumerateAdapterPhysicalDevices";
const OLD_GET_INSTANCE_PROC_ADDR: &CStr = c"vkGetInstanceProcAddr";
const CREATE_INSTANCE: &CStr = c"vkCreateInstance";
const ENUMERATE_EXTENSIONS: &CStr = c"vkEnumerateInstanceExtensionProperties";

/// Looks up a function of a driver. One of the loader's own functions is treated as absent (DRV-260).
#[inline]
pub(crate) fn lookup(gpa: GetProcAddr, instance: InstanceHandle<Driver>, name: Uncounted<'_>) -> PFN_vkVoidFunction {
    not_own_of(name, ask(gpa, instance, name)?)
}

/// Returns `found`, unless it is the loader's own function with the name `name`.
#[inline(never)]
fn not_own_of(name: Uncounted<'_>, found: Function) -> PFN_vkVoidFunction {
    match commands::find(name.count().to_bytes()) {
        Some(row) => not_own(row, found),
        None => Some(found),
    }
}

/// Looks up the command of a row, like [`lookup`].
pub(crate) fn lookup_known(gpa: GetProcAddr, instance: InstanceHandle<Driver>, row: &Row) -> PFN_vkVoidFunction {
    not_own(row, ask(gpa, instance, row.name().into())?)
}

#[inline]
fn ask(gpa: GetProcAddr, instance: InstanceHandle<Driver>, name: Uncounted<'_>) -> PFN_vkVoidFunction {
    // SAFETY: `gpa` is the driver's lookup function, called with its own instance or NULL and a terminated name.
    unsafe { gpa(instance, name.as_ptr()) }
}

fn not_own(row: &Row, function: Function) -> PFN_vkVoidFunction {
    (!is_own_entry_point(row, function as *const ())).then_some(function)
}

fn negotiated(negotiate: Negotiate) -> Result<u32, NegotiationError> {
    let mut version = promises::DRIVER_INTERFACE;
    // SAFETY: the function is the driver's negotiation function, and the number is writable.
    let result = unsafe { negotiate(&mut version) };
    if result == VkResult::VK_ERROR_INCOMPATIBLE_DRIVER {
        return Err(NegotiationError::Refused(version));
    }
    // Any other result counts as success. A version above the loader's newest version is treated as the loader's newest version (DRV-64).
    Ok(version.min(promises::DRIVER_INTERFACE))
}

/// Returns the function that lists devices by adapter (DRV-71). A driver of version 7 returns the function from its lookup, and a driver of
/// version 6 exports the function. Looks up nothing on systems without an order of adapters.
fn by_adapter(
    version: u32,
    gpa: GetProcAddr,
    export: impl Fn(&CStr) -> PFN_vkVoidFunction,
) -> Option<EnumerateAdapterPhysicalDevices> {
    const NAME: &CStr = ENUMERATE_ADAPTER_PHYSICAL_DEVICES;
    if !os::SORTED_BY_ADAPTERS || version < 6 {
        return None;
    }
    let queried = if version >= 7 {
        lookup(gpa, InstanceHandle::NULL, NAME.into())
    } else {
        None
    };
    // SAFETY: `NAME` is documented to have this signature.
    unsafe { typed(queried.or_else(|| export(NAME))) }
}

impl Interface {
    /// Negotiates with a library. `export` finds an exported symbol.
    ///
    /// # Safety
    /// `export` returns addresses of functions with the C signature that belongs to the name.
    pub(crate) unsafe fn of_library(export: impl Fn(&CStr) -> PFN_vkVoidFunction) -> Result<Self, NegotiationError> {
        // SAFETY: `GET_INSTANCE_PROC_ADDR` is documented to have this signature (DRV-75).
        let gpa = unsafe { typed::<GetProcAddr>(export(GET_INSTANCE_PROC_ADDR)) };
        // SAFETY: `NEGOTIATE` is documented to have this signature (DRV-75).
        let negotiate = unsafe { typed::<Negotiate>(export(NEGOTIATE)) }.or_else(|| {
            // SAFETY: `NEGOTIATE` is documented to have this signature (DRV-75).
            unsafe { typed::<Negotiate>(lookup(gpa?, InstanceHandle::NULL, NEGOTIATE.into())) }
        });
        let mut version = match negotiate {
            Some(negotiate) => negotiated(negotiate)?,
            None => 0,
        };
        let Some(gpa) = gpa else {
            if version > 0 {
                return Err(NegotiationError::NoLookup(version));
            }
            // SAFETY: the caller promises that exported functions have the signatures of their names.
            return unsafe { Self::without_interface(export) };
        };
        version = version.max(1);
        // SAFETY: `CREATE_INSTANCE` is documented to have this signature (DRV-75).
        let create = unsafe { typed(lookup(gpa, InstanceHandle::NULL, CREATE_INSTANCE.into())) };
        // SAFETY: `ENUMERATE_EXTENSIONS` is documented to have this signature (DRV-75).
        let extensions = unsafe { typed(lookup(gpa, InstanceHandle::NULL, ENUMERATE_EXTENSIONS.into())) };
        let queried = || {
            if version >= 7 {
                lookup(gpa, InstanceHandle::NULL, GET_PHYSICAL_DEVICE_PROC_ADDR.into())
            } else {
                None
            }
        };
        let exported = || {
            if version >= 3 {
                export(GET_PHYSICAL_DEVICE_PROC_ADDR)
            } else {
                None
            }
        };
        Ok(Self {
            version,
            get_instance_proc_addr: gpa,
            // SAFETY: `vk_icdGetPhysicalDeviceProcAddr` is documented to have this signature (DRV-75).
            get_physical_device_proc_addr: unsafe { typed(queried().or_else(exported)) },
            enumerate_adapter_physical_devices: by_adapter(version, gpa, export),
            create_instance: create.ok_or(NegotiationError::Missing(CREATE_INSTANCE))?,
            enumerate_instance_extensions: extensions.ok_or(NegotiationError::Missing(ENUMERATE_EXTENSIONS))?,
        })
    }

    /// Returns the functions of a driver of interface version 0, which exports the plain names (DRV-67).
    ///
    /// # Safety
    /// `export` returns addresses of functions with the C signature that belongs to the name.
    unsafe fn without_interface(export: impl Fn(&CStr) -> PFN_vkVoidFunction) -> Result<Self, NegotiationError> {
        let find = |name: &'static CStr| export(name).ok_or(NegotiationError::Missing(name)).map(Some);
        let missing = NegotiationError::Missing(OLD_GET_INSTANCE_PROC_ADDR);
        Ok(Self {
            version: 0,
            // SAFETY: `vkGetInstanceProcAddr` is documented to have this signature.
            get_instance_proc_addr: unsafe { typed(find(OLD_GET_INSTANCE_PROC_ADDR)?) }.ok_or(missing)?,
            get_physical_device_proc_addr: None,
            enumerate_adapter_physical_devices: None,
            // SAFETY: `vkCreateInstance` is documented to have this signature.
            create_instance: unsafe { typed(find(CREATE_INSTANCE)?) }.ok_or(missing)?,
            // SAFETY: `vkEnumerateInstanceExtensionProperties` is documented to have this signature.
            enumerate_instance_extensions: unsafe { typed(find(ENUMERATE_EXTENSIONS)?) }.ok_or(missing)?,
        })
    }

    /// Negotiates with a driver that the application supplied directly (DRV-83), which must support version 7.
    pub(crate) fn of_direct_driver(gpa: GetProcAddr) -> Result<Self, NegotiationError> {
        let find = |name: &'static CStr| {
            lookup(gpa, InstanceHandle::NULL, name.into())
                .ok_or(NegotiationError::Missing(name))
                .map(Some)
        };
        let missing = NegotiationError::Missing(NEGOTIATE);
        // SAFETY: `NEGOTIATE` is documented to have this signature.
        let negotiate: Negotiate = unsafe { typed(find(NEGOTIATE)?) }.ok_or(missing)?;
        let version = negotiated(negotiate)?;
        if version < 7 {
            return Err(NegotiationError::Refused(version));
        }
        let physical_device = lookup(gpa, InstanceHandle::NULL, GET_PHYSICAL_DEVICE_PROC_ADDR.into());
        Ok(Self {
            version,
            get_instance_proc_addr: gpa,
            // SAFETY: `vk_icdGetPhysicalDeviceProcAddr` is documented to have this signature.
            get_physical_device_proc_addr: unsafe { typed(physical_device) },
            enumerate_adapter_physical_devices: by_adapter(version, gpa, |_| None),
            // SAFETY: `CREATE_INSTANCE` is documented to have this signature.
            create_instance: unsafe { typed(find(CREATE_INSTANCE)?) }.ok_or(missing)?,
            // SAFETY: `ENUMERATE_EXTENSIONS` is documented to have this signature.
            enumerate_instance_extensions: unsafe { typed(find(ENUMERATE_EXTENSIONS)?) }.ok_or(missing)?,
        })
    }

    /// Returns the instance version that the driver reports, if the driver has the command (DRV-88).
    pub(crate) fn instance_version(&self) -> Option<Result<u32, VkResult>> {
        let function = lookup(
            self.get_instance_proc_addr,
            InstanceHandle::NULL,
            c"vkEnumerateInstanceVersion".into(),
        );
        // SAFETY: `vkEnumerateInstanceVersion` is documented to have this signature.
        let function: EnumerateInstanceVersion = unsafe { typed(function) }?;
        let mut version = 0;
        // SAFETY: the function belongs to the driver, and the number is writable.
        let result = unsafe { function(&mut version) };
        Some(if result == VkResult::VK_SUCCESS {
            Ok(version)
        } else {
            Err(result)
        })
    }
}
