//! Conversion of handles from one level to the next; no other module converts them.
//!
//! The emitted trampolines and terminators consist of a call into this module and a call through a table. The functions here are inlined
//! into each of them, so they only check and load (APP-159, APP-182, GEN-65).

use crate::device::DEVICES;
use crate::device::Device;
use crate::generated::dispatch::{DeviceTable, InstanceTable};
use crate::handle::{App, Chain, Dispatchable, Driver, InstanceHandle, PhysicalDeviceHandle};
use crate::instance::INSTANCES;
use crate::instance::{Instance, InstanceDriver};
use crate::lookup::ROWS;
use crate::physical_device::{AppPhysicalDevice, ChainPhysicalDevice};
use crate::table::Slots;
use core::ffi::{CStr, c_void};
use core::sync::atomic::{AtomicPtr, Ordering};
use discovery::extension::InstanceExtension;
use discovery::journal::LogBits;
use os::Raw;

/// Magic word of a valid instance object, after its dispatch pointer (APP-100).
pub(crate) const INSTANCE_MAGIC: u64 = 0x10AD_ED01_0110_ADED;
/// Magic word of the application's physical-device objects (APP-118).
pub(crate) const PHYSICAL_DEVICE_MAGIC: u64 = 0x10AD_ED02_0210_ADED;
/// Magic word of a device dispatch table (APP-146).
pub(crate) const DEVICE_MAGIC: u64 = 0x10AD_ED04_0410_ADED;

/// Returns the dispatch table of a device, queue or command buffer; `None` for an invalid handle (APP-182).
///
/// # Safety
/// A non-null handle points to a readable word, and that word is null or points to a readable word (APP-183).
#[inline(always)]
pub(crate) unsafe fn device_table<H: Dispatchable>(handle: H) -> Option<&'static DeviceTable> {
    let object = handle.word().cast::<*mut DeviceTable>();
    if object.is_null() {
        return None;
    }
    // SAFETY: the handle is not null, so the caller promises a readable word. The access is atomic because another thread may get the same
    // queue meanwhile.
    let table = unsafe { AtomicPtr::from_ptr(object) }
        .load(Ordering::Relaxed)
        .cast_const();
    // The newest device, which is nearly always the only one, needs no memory access: its record is live, so it has the magic. The table is
    // the first member of the record.
    let newest = DEVICES.newest();
    if core::ptr::eq(table, newest.as_ptr().cast()) {
        // SAFETY: the list holds only live records, and no object holds the address that marks an empty list.
        return Some(unsafe { newest.cast().as_ref() });
    }
    if table.is_null() {
        return None;
    }
    // SAFETY: the caller promises that the word points to readable memory; only the magic is read before the table is trusted.
    (unsafe { (*table).magic } == DEVICE_MAGIC).then(|| unsafe { &*table })
}

/// Returns the table of the application's instance, and the chain's handle of that instance.
///
/// # Safety
/// A non-null handle points to at least two readable words.
#[inline(always)]
pub(crate) unsafe fn instance(handle: InstanceHandle<App>) -> Option<(&'static InstanceTable, InstanceHandle<Chain>)> {
    // SAFETY: the caller promises two readable words at a non-null handle.
    let instance = unsafe { instance_object(handle) }?;
    Some((instance.table(), instance.chain_handle()))
}

/// Returns the loader's object for the application's instance handle.
///
/// # Safety
/// A non-null handle points to at least two readable words.
#[inline(always)]
pub(crate) unsafe fn instance_object(handle: InstanceHandle<App>) -> Option<&'static Instance> {
    let object = handle.raw().cast::<Instance>();
    if object.is_null() {
        return None;
    }
    // SAFETY: the caller promises two readable words; the magic among them shows that the rest is an object of the loader.
    (unsafe { Instance::magic_of(object) } == INSTANCE_MAGIC).then(|| unsafe { &*object })
}

/// Returns the table of the instance of the application's physical device, and the chain's handle of the device.
///
/// # Safety
/// A non-null handle points to at least three readable words.
#[inline(always)]
pub(crate) unsafe fn physical_device(
    handle: PhysicalDeviceHandle<App>,
) -> Option<(&'static InstanceTable, PhysicalDeviceHandle<Chain>)> {
    // SAFETY: the caller promises three readable words at a non-null handle.
    let object = unsafe { physical_device_object(handle) }?;
    // Without the assertion, the compiler would test the pointer to distinguish `Some` from `None`.
    // SAFETY: the magic identifies an object of the loader, so its dispatch pointer is the live table of its instance.
    Some(unsafe {
        core::hint::assert_unchecked(!object.dispatch.is_null());
        (&*object.dispatch, object.chain)
    })
}

/// Returns the loader's object for the application's physical-device handle.
///
/// # Safety
/// A non-null handle points to at least three readable words.
#[inline(always)]
pub(crate) unsafe fn physical_device_object(handle: PhysicalDeviceHandle<App>) -> Option<&'static AppPhysicalDevice> {
    let object = handle.raw().cast::<AppPhysicalDevice>();
    if object.is_null() {
        return None;
    }
    // SAFETY: the magic is among the three readable words; it shows that the rest is an object of the loader.
    (unsafe { (*object).magic } == PHYSICAL_DEVICE_MAGIC).then(|| unsafe { &*object })
}

/// Returns the driver that owns a physical device, and the driver's own handle (DRV-124).
///
/// # Safety
/// `handle` is the handle that the loader's terminator returned to the lowest layer.
#[inline(always)]
pub(crate) unsafe fn driver_of(
    handle: PhysicalDeviceHandle<Chain>,
) -> (&'static InstanceDriver, PhysicalDeviceHandle<Driver>) {
    // SAFETY: the caller promises a handle that the loader's terminator created.
    let object = unsafe { chain_physical_device(handle) };
    (object.driver(), object.handle)
}

/// Returns the terminator's object for a physical device of the chain.
///
/// # Safety
/// `handle` is the handle that the loader's terminator returned to the lowest layer.
#[inline(always)]
pub(crate) unsafe fn chain_physical_device(handle: PhysicalDeviceHandle<Chain>) -> &'static ChainPhysicalDevice {
    // SAFETY: the caller promises a handle that the loader's terminator created, so the handle points to a `ChainPhysicalDevice`.
    unsafe { &*handle.raw().cast::<ChainPhysicalDevice>() }
}

/// Returns the instance of a terminator's call. The dispatch pointer identifies the instance, because a layer may wrap the handle
/// (LAY-252).
///
/// # Safety
/// A non-null handle points to a readable word.
pub(crate) unsafe fn chain_instance(handle: InstanceHandle<Chain>) -> Option<&'static Instance> {
    // SAFETY: the caller promises a readable word at a non-null handle.
    unsafe { instance_by_word(handle.raw()) }
}

/// Returns the instance whose dispatch pointer is the first word of `object`.
///
/// # Safety
/// A non-null `object` points to a readable word.
pub(crate) unsafe fn instance_by_word(object: *const c_void) -> Option<&'static Instance> {
    // SAFETY: the caller promises a readable word at a non-null pointer.
    let word = unsafe { object.cast::<*const InstanceTable>().as_ref() }.copied()?;
    INSTANCES.find(|instance| core::ptr::eq(instance.table(), word))
}

/// Returns the device whose dispatch pointer is the first word of `handle` (DRV-203).
///
/// # Safety
/// A non-null handle points to a readable word.
pub(crate) unsafe fn device_by_word<H: Dispatchable>(handle: H) -> Option<&'static Device> {
    // SAFETY: the caller promises a readable word at a non-null handle.
    let word = unsafe { handle.word().cast::<*const DeviceTable>().as_ref() }.copied()?;
    // The table is the first member of the device's record, so both have the same address.
    DEVICES.at(word.cast())
}

/// Writes the dispatch pointer of the device into a new queue or command buffer (DRV-201). Ignores a null object.
///
/// # Safety
/// A non-null object starts with a writable word.
#[inline]
pub(crate) unsafe fn adopt<H: Dispatchable>(table: &'static DeviceTable, object: H) {
    let word = object.word().cast::<*mut DeviceTable>();
    if !word.is_null() {
        // SAFETY: the caller promises a writable first word, which belongs to the loader (DRV-208). The write is atomic because threads
        // that get the same queue all write the same value.
        let word = unsafe { AtomicPtr::from_ptr(word) };
        word.store(core::ptr::from_ref(table).cast_mut(), Ordering::Relaxed);
    }
}

/// Writes the dispatch pointer of the device into each object of an array, like [`adopt`].
///
/// # Safety
/// `objects` is null or points to `count` handles, each as [`adopt`] demands.
#[inline]
pub(crate) unsafe fn adopt_all<H: Dispatchable>(table: &'static DeviceTable, objects: *const H, count: u32) {
    if objects.is_null() {
        return;
    }
    for index in 0..count as usize {
        // SAFETY: the index is below `count`, so the caller promises a handle as `adopt` demands.
        unsafe { adopt(table, *objects.add(index)) };
    }
}

/// Reports an invalid handle and ends the process (APP-180). `row` is the row of the command. Never returns, but is written as a plain call
/// in tail position, so that the valid path of a trampoline needs no stack frame.
#[inline(always)]
pub(crate) fn reject<R>(row: u16) -> R {
    // SAFETY: `vkl_reject` never returns, so any return type is correct.
    unsafe {
        let jump =
            core::mem::transmute::<unsafe extern "C" fn(u32), unsafe extern "C" fn(u32) -> R>(crate::stubs::vkl_reject);
        jump(u32::from(row))
    }
}

/// Logs that a driver lacks a command without substitute, and ends the process (DRV-161, APP-137).
#[cold]
pub(crate) fn unsupported(command: &str) -> ! {
    discovery::log::fatal(format_args!(
        "ICD associated with VkPhysicalDevice does not support {command}"
    ));
    os::abort()
}

/// Logs an invalid handle and ends the process. [`reject`] jumps here.
pub(crate) extern "C" fn rejected_handle(row: u32) -> ! {
    let row = &ROWS[row as usize];
    let (command, parameter) = (Raw(row.name().to_bytes()), row.parameter.name());
    discovery::log::fatal(format_args!(
        "{command}: Invalid {parameter} [VUID-{command}-{parameter}-parameter]"
    ));
    os::abort()
}

/// Logs an invalid handle of a device command and ends the process; `slot` is the command's slot in the device table.
#[cfg(target_arch = "x86_64")]
pub(crate) extern "C" fn rejected_device_slot(slot: u32) -> ! {
    rejected_handle(u32::from(DeviceTable::rows()[slot as usize]))
}

/// Logs that a driver lacks a physical-device command, and returns the substitute `value` (DRV-161).
#[cold]
pub(crate) fn absent<R>(driver: &InstanceDriver, command: &'static str, bits: LogBits, value: R) -> R {
    discovery::log::emit(
        Some(driver.instance()),
        bits,
        format_args!("ICD for selected physical device does not export {command}!"),
    );
    value
}

/// Returns `true` if an instance extension is enabled; logs an error if not (APP-161).
///
/// # Safety
/// `physicalDevice` is the handle that the loader's terminator returned to the lowest layer.
pub(crate) unsafe fn enabled(
    physicalDevice: PhysicalDeviceHandle<Chain>,
    extension: InstanceExtension,
    command: &'static str,
) -> bool {
    // SAFETY: the caller promises a handle that the loader's terminator created.
    let instance = unsafe { chain_physical_device(physicalDevice) }.driver().instance();
    let enabled = instance.enabled.contains(extension);
    if !enabled {
        discovery::log::emit(
            Some(instance),
            LogBits::ERROR,
            format_args!(
                "{} extension not enabled. {command} not executed!",
                Raw(extension.name().to_bytes())
            ),
        );
    }
    enabled
}

/// Reports the call of a device command that has no function; `index` is its slot (LAY-290). Ends the process.
pub(crate) extern "C" fn missing_device_command(index: u32) -> ! {
    missing_command(DeviceTable::name(index as usize))
}

/// Reports the call of an instance or physical-device command that has no function; `index` is its slot. Ends the process.
pub(crate) extern "C" fn missing_instance_command(index: u32) -> ! {
    missing_command(InstanceTable::name(index as usize))
}

fn missing_command(name: &CStr) -> ! {
    let name = Raw(name.to_bytes());
    discovery::log::fatal(format_args!(
        "{name}: no layer and no driver offers this function. Was its extension enabled?"
    ));
    os::abort()
}

/// Reports the call of an unknown physical-device function on a device whose driver lacks it (DRV-221). Ends the process.
///
/// # Safety
/// `driver` is the driver of a terminator's physical-device object, and `index` is a used slot.
pub(crate) unsafe extern "C" fn missing_unknown_function(driver: *const c_void, index: u32) -> ! {
    // SAFETY: the stub took the driver from a terminator's object, and the slot is its own.
    unsafe { crate::proc_addr::missing_physical_device_function(driver.cast(), index) }
}

/// Byte offsets that machine code uses (DRV-229).
pub(crate) mod offsets {
    use crate::device::Device;
    use crate::generated::dispatch::{DeviceTable, InstanceTable};
    use crate::instance::InstanceDriver;
    use crate::physical_device::{AppPhysicalDevice, ChainPhysicalDevice};
    use core::mem::offset_of;

    /// Offset of the newest member in a list of devices.
    #[cfg(target_arch = "x86_64")]
    pub(crate) const NEWEST: usize = crate::list::List::<Device>::NEWEST;
    /// Offset of the magic word in an application's physical-device object.
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    pub(crate) const PHYSICAL_DEVICE_MAGIC: usize = offset_of!(AppPhysicalDevice, magic);
    /// Offset of the chain's handle in an application's physical-device object.
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    pub(crate) const PHYSICAL_DEVICE_CHAIN: usize = offset_of!(AppPhysicalDevice, chain);
    /// Offset of the unknown slots in a device table.
    pub(crate) const DEVICE_UNKNOWN: usize = offset_of!(DeviceTable, unknown);
    /// Offset of the ends of a device's chain from the device's table.
    pub(crate) const DEVICE_ENDS: usize = Device::ENDS;
    /// Offset of the unknown slots in an instance table.
    pub(crate) const INSTANCE_UNKNOWN: usize = offset_of!(InstanceTable, unknown);
    /// Offset of the chain's handle in an application's physical-device object.
    pub(crate) const APP_PHYSICAL_DEVICE_HANDLE: usize = offset_of!(AppPhysicalDevice, chain);
    /// Offset of the driver in a terminator's physical-device object.
    pub(crate) const CHAIN_PHYSICAL_DEVICE_DRIVER: usize = offset_of!(ChainPhysicalDevice, driver);
    /// Offset of the driver's handle in a terminator's physical-device object.
    pub(crate) const CHAIN_PHYSICAL_DEVICE_HANDLE: usize = offset_of!(ChainPhysicalDevice, handle);
    /// Offset of the unknown slots in a driver.
    pub(crate) const DRIVER_UNKNOWN: usize = offset_of!(InstanceDriver, unknown);
}
