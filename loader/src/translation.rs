//! The one place that turns a handle of one level into a handle of the next.
//!
//! The emitted trampolines and terminators consist of a call into this module and a call through a table. Functions
//! here are inlined into each of them, so they do nothing but check and load (APP-159, APP-182, GEN-65).

use crate::device::DEVICES;
use crate::device::Device;
use crate::generated::dispatch::{DeviceTable, DriverTable, InstanceTable};
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

/// What marks a valid instance object, behind its dispatch pointer (APP-100).
pub(crate) const INSTANCE_MAGIC: u64 = 0x10AD_ED01_0110_ADED;
/// What marks a physical-device object of the application (APP-118).
pub(crate) const PHYSICAL_DEVICE_MAGIC: u64 = 0x10AD_ED02_0210_ADED;
/// What marks a device dispatch table (APP-146).
pub(crate) const DEVICE_MAGIC: u64 = 0x10AD_ED04_0410_ADED;

/// The dispatch table behind a device, queue or command buffer; `None` if the handle is not one (APP-182).
///
/// # Safety
/// A non-null handle points to a readable word, and that word is null or points to a readable word (APP-183).
#[inline(always)]
pub(crate) unsafe fn device_table<H: Dispatchable>(handle: H) -> Option<&'static DeviceTable> {
    let object = handle.word().cast::<*mut DeviceTable>();
    if object.is_null() {
        return None;
    }
    // SAFETY: the caller promises that a non-null handle is readable. Another thread may get the same queue meanwhile.
    let table = unsafe { AtomicPtr::from_ptr(object) }
        .load(Ordering::Relaxed)
        .cast_const();
    // The newest device, nearly always the only one, is known without a look at its memory: it has the magic, since its
    // record is alive. The table is the first member of the record.
    let newest = DEVICES.newest();
    if core::ptr::eq(table, newest.as_ptr().cast()) {
        // SAFETY: the list holds live records only, and no object holds what stands for an empty list.
        return Some(unsafe { newest.cast().as_ref() });
    }
    if table.is_null() {
        return None;
    }
    // SAFETY: the caller promises that the word points to readable memory; only its magic is read before it is trusted.
    (unsafe { (*table).magic } == DEVICE_MAGIC).then(|| unsafe { &*table })
}

/// The instance behind the application's handle: its table and the handle that the chain knows.
///
/// # Safety
/// A non-null handle points to at least two readable words.
#[inline(always)]
pub(crate) unsafe fn instance(handle: InstanceHandle<App>) -> Option<(&'static InstanceTable, InstanceHandle<Chain>)> {
    // SAFETY: passed on to the caller.
    let instance = unsafe { instance_object(handle) }?;
    Some((instance.table(), instance.chain_handle()))
}

/// The loader's object behind the application's instance handle.
///
/// # Safety
/// A non-null handle points to at least two readable words.
#[inline(always)]
pub(crate) unsafe fn instance_object(handle: InstanceHandle<App>) -> Option<&'static Instance> {
    let object = handle.raw().cast::<Instance>();
    if object.is_null() {
        return None;
    }
    // SAFETY: the first two words are readable; the magic says whether the rest is ours.
    (unsafe { Instance::magic_of(object) } == INSTANCE_MAGIC).then(|| unsafe { &*object })
}

/// The application's physical device: the table of its instance and the handle that the chain knows.
///
/// # Safety
/// A non-null handle points to at least three readable words.
#[inline(always)]
pub(crate) unsafe fn physical_device(
    handle: PhysicalDeviceHandle<App>,
) -> Option<(&'static InstanceTable, PhysicalDeviceHandle<Chain>)> {
    // SAFETY: passed on to the caller.
    let object = unsafe { physical_device_object(handle) }?;
    // The compiler would test the pointer to tell `Some` from `None`.
    // SAFETY: the magic says the object is ours, so its dispatch pointer is its instance's live table.
    Some(unsafe {
        core::hint::assert_unchecked(!object.dispatch.is_null());
        (&*object.dispatch, object.chain)
    })
}

/// The loader's object behind the application's physical-device handle.
///
/// # Safety
/// A non-null handle points to at least three readable words.
#[inline(always)]
pub(crate) unsafe fn physical_device_object(handle: PhysicalDeviceHandle<App>) -> Option<&'static AppPhysicalDevice> {
    let object = handle.raw().cast::<AppPhysicalDevice>();
    if object.is_null() {
        return None;
    }
    // SAFETY: the magic lies within the readable words; it says whether the rest is ours.
    (unsafe { (*object).magic } == PHYSICAL_DEVICE_MAGIC).then(|| unsafe { &*object })
}

/// The driver that owns a physical device, and the driver's own handle (DRV-124).
///
/// # Safety
/// `handle` is what the loader's terminator gave to the lowest layer.
#[inline(always)]
pub(crate) unsafe fn driver_of(
    handle: PhysicalDeviceHandle<Chain>,
) -> (&'static DriverTable, PhysicalDeviceHandle<Driver>) {
    // SAFETY: by this function's contract the object is the terminator's.
    let object = unsafe { chain_physical_device(handle) };
    (&object.driver().table, object.handle)
}

/// The terminator's object behind a physical device of the chain.
///
/// # Safety
/// `handle` is what the loader's terminator gave to the lowest layer.
#[inline(always)]
pub(crate) unsafe fn chain_physical_device(handle: PhysicalDeviceHandle<Chain>) -> &'static ChainPhysicalDevice {
    // SAFETY: by this function's contract the pointer is one of our objects.
    unsafe { &*handle.raw().cast::<ChainPhysicalDevice>() }
}

/// The instance that a terminator works for. Identified by the dispatch pointer, since a layer may wrap the handle
/// (LAY-252).
///
/// # Safety
/// A non-null handle points to a readable word.
pub(crate) unsafe fn chain_instance(handle: InstanceHandle<Chain>) -> Option<&'static Instance> {
    // SAFETY: passed on to the caller.
    unsafe { instance_by_word(handle.raw()) }
}

/// The instance whose dispatch pointer is the first word of `object`.
///
/// # Safety
/// A non-null `object` points to a readable word.
pub(crate) unsafe fn instance_by_word(object: *const c_void) -> Option<&'static Instance> {
    // SAFETY: by this function's contract.
    let word = unsafe { object.cast::<*const InstanceTable>().as_ref() }.copied()?;
    INSTANCES.find(|instance| core::ptr::eq(instance.table(), word))
}

/// The device whose dispatch pointer is the first word of `handle` (DRV-203).
///
/// # Safety
/// A non-null handle points to a readable word.
pub(crate) unsafe fn device_by_word<H: Dispatchable>(handle: H) -> Option<&'static Device> {
    // SAFETY: by this function's contract.
    let word = unsafe { handle.word().cast::<*const DeviceTable>().as_ref() }.copied()?;
    // The table is the first member of its device.
    DEVICES.at(word.cast())
}

/// Gives a new queue or command buffer the dispatch pointer of its device (DRV-201). A null object is left alone.
///
/// # Safety
/// A non-null object starts with a writable word.
#[inline]
pub(crate) unsafe fn adopt<H: Dispatchable>(table: &'static DeviceTable, object: H) {
    let word = object.word().cast::<*mut DeviceTable>();
    if !word.is_null() {
        // SAFETY: the first word of a dispatchable object is the loader's to write (DRV-208). Threads that get one queue
        // all write the same.
        let word = unsafe { AtomicPtr::from_ptr(word) };
        word.store(core::ptr::from_ref(table).cast_mut(), Ordering::Relaxed);
    }
}

/// [`adopt`] for an array.
///
/// # Safety
/// `objects` is null or points to `count` handles, each as [`adopt`] demands.
#[inline]
pub(crate) unsafe fn adopt_all<H: Dispatchable>(table: &'static DeviceTable, objects: *const H, count: u32) {
    if objects.is_null() {
        return;
    }
    for index in 0..count as usize {
        // SAFETY: by this function's contract.
        unsafe { adopt(table, *objects.add(index)) };
    }
}

/// Reports an invalid handle and ends the process (APP-180); `row` is the command's. Never returns, but is written as a
/// plain call in tail position so that the good path of a trampoline needs no stack frame.
#[inline(always)]
pub(crate) fn reject<R>(row: u16) -> R {
    // SAFETY: `vkl_reject` never returns, so its return type is free to choose.
    unsafe {
        let jump =
            core::mem::transmute::<unsafe extern "C" fn(u32), unsafe extern "C" fn(u32) -> R>(crate::stubs::vkl_reject);
        jump(u32::from(row))
    }
}

/// A driver lacks a command that has no substitute: says so and ends the process (DRV-161, APP-137).
#[cold]
pub(crate) fn unsupported(command: &str) -> ! {
    discovery::log::fatal(format_args!(
        "ICD associated with VkPhysicalDevice does not support {command}"
    ));
    os::abort()
}

/// Where [`reject`] ends up.
pub(crate) extern "C" fn rejected_handle(row: u32) -> ! {
    let row = &ROWS[row as usize];
    let (command, parameter) = (row.name().to_string_lossy(), row.parameter.name());
    discovery::log::fatal(format_args!(
        "{command}: Invalid {parameter} [VUID-{command}-{parameter}-parameter]"
    ));
    os::abort()
}

/// A physical-device command whose driver lacks it has this substitute (DRV-161): says so and gives `value`.
#[cold]
pub(crate) fn absent<R>(driver: &'static DriverTable, command: &'static str, bits: LogBits, value: R) -> R {
    discovery::log::emit(
        Some(InstanceDriver::of_table(driver).instance()),
        bits,
        format_args!("ICD for selected physical device does not export {command}!"),
    );
    value
}

/// Whether an instance extension is enabled; says so when it is not (APP-161).
///
/// # Safety
/// `physicalDevice` is what the loader's terminator gave to the lowest layer.
pub(crate) unsafe fn enabled(
    physicalDevice: PhysicalDeviceHandle<Chain>,
    extension: InstanceExtension,
    command: &'static str,
) -> bool {
    // SAFETY: passed on.
    let instance = unsafe { chain_physical_device(physicalDevice) }.driver().instance();
    let enabled = instance.enabled.contains(extension);
    if !enabled {
        discovery::log::emit(
            Some(instance),
            LogBits::ERROR,
            format_args!(
                "{} extension not enabled. {command} not executed!",
                extension.name().to_string_lossy()
            ),
        );
    }
    enabled
}

/// A device command without function was called; `index` is its slot (LAY-290). Ends the process.
pub(crate) extern "C" fn missing_device_command(index: u32) -> ! {
    missing_command(DeviceTable::name(index as usize))
}

/// An instance or physical-device command without function was called; `index` is its slot. Ends the process.
pub(crate) extern "C" fn missing_instance_command(index: u32) -> ! {
    missing_command(InstanceTable::name(index as usize))
}

fn missing_command(name: &CStr) -> ! {
    let name = name.to_string_lossy();
    discovery::log::fatal(format_args!(
        "{name}: no layer and no driver offers this function. Was its extension enabled?"
    ));
    os::abort()
}

/// An unknown physical-device function was called on a device whose driver lacks it (DRV-221). Ends the process.
///
/// # Safety
/// `driver` is the driver of a terminator's physical-device object, `index` a slot in use.
pub(crate) unsafe extern "C" fn missing_unknown_function(driver: *const c_void, index: u32) -> ! {
    // SAFETY: passed on; the thunk took the pointer from the object.
    unsafe { crate::proc_addr::missing_physical_device_function(driver.cast(), index) }
}

/// Byte offsets that machine code uses (DRV-229).
pub(crate) mod offsets {
    use crate::device::Device;
    use crate::generated::dispatch::{DeviceTable, InstanceTable};
    use crate::instance::InstanceDriver;
    use crate::list::List;
    use crate::physical_device::{AppPhysicalDevice, ChainPhysicalDevice};
    use core::mem::offset_of;

    /// The newest member in a list of devices.
    pub(crate) const NEWEST: usize = List::<Device>::NEWEST;
    /// What says that an application's physical device is one.
    pub(crate) const PHYSICAL_DEVICE_MAGIC: usize = offset_of!(AppPhysicalDevice, magic);
    /// What the chain calls an application's physical device.
    pub(crate) const PHYSICAL_DEVICE_CHAIN: usize = offset_of!(AppPhysicalDevice, chain);
    /// Unknown slots of a device table.
    pub(crate) const DEVICE_UNKNOWN: usize = offset_of!(DeviceTable, unknown);
    /// What the end of a device's chain has, behind its table.
    pub(crate) const DEVICE_ENDS: usize = Device::ENDS;
    /// Unknown slots of an instance table.
    pub(crate) const INSTANCE_UNKNOWN: usize = offset_of!(InstanceTable, unknown);
    /// The chain's handle in an application's physical-device object.
    pub(crate) const APP_PHYSICAL_DEVICE_HANDLE: usize = offset_of!(AppPhysicalDevice, chain);
    /// The driver in a terminator's physical-device object.
    pub(crate) const CHAIN_PHYSICAL_DEVICE_DRIVER: usize = offset_of!(ChainPhysicalDevice, driver);
    /// The driver's handle in a terminator's physical-device object.
    pub(crate) const CHAIN_PHYSICAL_DEVICE_HANDLE: usize = offset_of!(ChainPhysicalDevice, handle);
    /// Unknown slots of a driver.
    pub(crate) const DRIVER_UNKNOWN: usize = offset_of!(InstanceDriver, unknown);
}
