//! Functions that the registry does not know (APP-31 to APP-34, DRV-216 to DRV-226, LAY-300 to LAY-314).
//!
//! A supported name gets a numbered slot for the life of the instance, and the caller gets a machine-code thunk that jumps through the
//! slot. Physical-device functions and device functions have separate slots.

use super::ends;
use crate::alloc::{HostAllocator, HostList, HostText, ReservedNode};
use crate::device::Device;
use crate::dispatch_table::UNKNOWN_SLOTS;
use crate::ffi::Uncounted;
use crate::ffi::layer_interface::GetDeviceProcAddr;
use crate::generated::dispatch::DeviceTable;
use crate::generated::types::{PFN_vkVoidFunction, VkDevice, VkResult};
use crate::instance::{Instance, InstanceDriver};
use crate::layer::{ActiveLayer, InstanceLayers};
use crate::stubs;
use crate::table::{self, Slots};
use core::ffi::CStr;
use core::fmt::Display;
use discovery::journal::LogBits;
use discovery::log;
use os::memory::OutOfMemory;
use os::{Address, Raw};

/// Names of unknown functions that have a slot.
pub(crate) struct UnknownFunctions {
    physical_device: Names,
    device: Names,
}

#[derive(Clone, Copy)]
enum Kind {
    PhysicalDevice,
    Device,
}

impl Default for UnknownFunctions {
    fn default() -> Self {
        Self::new()
    }
}

impl UnknownFunctions {
    /// Returns the empty collection; allocates nothing.
    pub(crate) const fn new() -> Self {
        Self {
            physical_device: Names::new(),
            device: Names::new(),
        }
    }

    fn names(&mut self, kind: Kind) -> &mut Names {
        match kind {
            Kind::PhysicalDevice => &mut self.physical_device,
            Kind::Device => &mut self.device,
        }
    }
}

/// Names by slot, the last slot first.
struct Names(HostList<Name>);

type NewName = (HostText, ReservedNode<Name>);

struct Name {
    text: HostText,
    /// Slot of the name.
    index: usize,
}

/// Result of requesting a slot.
#[derive(Clone, Copy)]
enum Taken {
    Slot { index: usize, new: bool },
    Full,
}

impl Names {
    const fn new() -> Self {
        Self(HostList::new())
    }

    /// Allocates a name that is in no list yet, and the memory to add the name to a list.
    fn make(text: &CStr, allocator: HostAllocator) -> Result<NewName, OutOfMemory> {
        let text = HostText::try_new(text.to_bytes(), allocator)?;
        Ok((text, ReservedNode::new(allocator)?))
    }

    /// Returns the slot for the next name.
    fn next(&self) -> usize {
        self.0.newest().map_or(0, |name| name.index + 1)
    }

    /// Returns the slot of `text`, or `Full` if no slot is left; `None` if `text` may get a new slot.
    fn find(&self, text: &CStr) -> Option<Taken> {
        let known = self.0.iter().find(|name| name.text.as_c_str() == text);
        match known {
            Some(name) => Some(Taken::Slot {
                index: name.index,
                new: false,
            }),
            None => (self.next() == UNKNOWN_SLOTS).then_some(Taken::Full),
        }
    }

    /// Gives a new name the next slot, unless another thread has added the name meanwhile. Returns the new name if it was not needed.
    fn adopt(&mut self, (text, room): NewName) -> (Taken, Option<NewName>) {
        if let Some(taken) = self.find(text.as_c_str()) {
            return (taken, Some((text, room)));
        }
        let index = self.next();
        self.0.add(room, Name { text, index });
        (Taken::Slot { index, new: true }, None)
    }

    /// Returns the name of a slot.
    fn get(&self, index: usize) -> Option<&HostText> {
        self.0.iter().find(|name| name.index == index).map(|name| &name.text)
    }
}

/// Logs that the name of an unknown function got a slot.
fn note_slot(instance: &Instance, kind: Kind, name: &CStr, index: usize) {
    let name = Raw(name.to_bytes());
    match kind {
        Kind::PhysicalDevice => log::emit(
            Some(instance),
            LogBits::DEBUG,
            format_args!(
                "loader_phys_dev_ext_gpa: Adding unknown physical function {name} to internal store at index {index}"
            ),
        ),
        Kind::Device => log::emit(
            Some(instance),
            LogBits::DEBUG,
            format_args!("Unknown device function {name} gets slot {index}"),
        ),
    }
}

/// Logs which entity answered for a physical-device function.
fn note_answer(instance: &Instance, who: impl Display, function: PFN_vkVoidFunction, name: &CStr) {
    log::emit(
        Some(instance),
        LogBits::DEBUG,
        format_args!(
            "loader_phys_dev_ext_gpa: {who} returned ptr {} for {}",
            Address(table::to_word(function) as *const ()),
            Raw(name.to_bytes())
        ),
    );
}

/// Returns the slot of a supported name. A new name gets the next slot.
fn take_slot(instance: &Instance, kind: Kind, name: &CStr) -> Option<usize> {
    let found = instance.unknown.lock().names(kind).find(name);
    let taken = match found {
        Some(taken) => taken,
        // The allocation may call the application's callbacks, so no lock is held.
        None => {
            let made = Names::make(name, instance.allocator).ok()?;
            let (taken, spare) = instance.unknown.lock().names(kind).adopt(made);
            drop(spare);
            taken
        }
    };
    let what = match kind {
        Kind::PhysicalDevice => "physical device",
        Kind::Device => "device",
    };
    match taken {
        Taken::Slot { index, new } => {
            if new {
                note_slot(instance, kind, name, index);
            }
            Some(index)
        }
        Taken::Full => {
            log::emit(
                Some(instance),
                LogBits::ERROR,
                format_args!("loader_dev_ext_gpa: Exhausted the unknown {what} function array!"),
            );
            None
        }
    }
}

#[inline]
fn driver_physical_device_function(driver: &InstanceDriver, name: Uncounted<'_>) -> PFN_vkVoidFunction {
    let lookup = driver.get_physical_device_proc_addr?;
    let driver = driver.pin()?;
    crate::driver_interface::lookup(lookup, driver.handle, name)
}

fn drivers_have_physical_device_function(instance: &Instance, name: Uncounted<'_>) -> bool {
    instance
        .drivers()
        .any(|driver| driver_physical_device_function(driver, name).is_some())
}

fn drivers_have_function(instance: &Instance, name: Uncounted<'_>) -> bool {
    instance
        .drivers()
        .any(|driver| driver.pin().is_some_and(|driver| driver.lookup(name).is_some()))
}

/// Returns the answer of the topmost layer that has a look-up of physical-device functions; the layer itself forwards the request
/// (LAY-301).
fn layer_physical_device_function<'i>(
    instance: &'i Instance,
    name: Uncounted<'_>,
) -> Option<(&'i ActiveLayer, PFN_vkVoidFunction)> {
    let (layer, ask) = instance
        .layers()?
        .chain
        .iter()
        .find_map(|layer| Some((layer, layer.functions.get_physical_device_proc_addr?)))?;
    // SAFETY: the lookup function belongs to the layer and receives the chain's instance handle.
    let function = unsafe { ask(instance.chain_handle(), name.as_ptr()) };
    function.is_some().then_some((layer, function))
}

fn layers_have_device_function(instance: &Instance, name: Uncounted<'_>) -> bool {
    match instance.layers() {
        Some(layers) if !layers.chain.is_empty() => chain_has_device_function(instance, layers, name),
        _ => false,
    }
}

fn chain_has_device_function(instance: &Instance, layers: &InstanceLayers, name: Uncounted<'_>) -> bool {
    let listed = layers
        .chain
        .iter()
        .flat_map(|layer| layer.device_extensions.iter())
        .any(|extension| {
            extension
                .entry_points
                .iter()
                .any(|entry| entry.as_c_str() == name.count())
        });
    listed
        || layers.chain.first().is_some_and(|top| {
            // SAFETY: the lookup function belongs to the layer and receives the chain's instance handle.
            unsafe { (top.functions.get_instance_proc_addr)(instance.chain_handle(), name.as_ptr()) }.is_some()
        })
}

/// Looks up an unknown name for the application. Most unknown names have no meaning, so the code for supported names is in separate
/// functions.
#[inline(never)]
pub(super) fn for_application(instance: &'static Instance, name: Uncounted<'_>) -> PFN_vkVoidFunction {
    if !stubs::SUPPORTED {
        return None;
    }
    let from_layer = layer_physical_device_function(instance, name);
    let from_driver = drivers_have_physical_device_function(instance, name);
    if (from_driver || from_layer.is_some())
        && let Some(index) = physical_device_slot(instance, name, from_driver)
    {
        if let Some((layer, function)) = from_layer {
            instance.table().unknown[index].set(function);
            let layer = Raw(layer.name.bytes());
            note_answer(instance, format_args!("Layer {layer}"), function, name.count());
        }
        return stubs::physical_device_thunk(index);
    }
    if from_layer.is_some() {
        return None;
    }
    if drivers_have_function(instance, name) || layers_have_device_function(instance, name) {
        device_slot(instance, name)
    } else {
        None
    }
}

/// Looks up an unknown name that a layer requests from the end of the chain: only drivers are asked (LAY-314).
pub(super) fn for_layer_physical_device(instance: &Instance, name: Uncounted<'_>) -> PFN_vkVoidFunction {
    if !stubs::SUPPORTED || !drivers_have_physical_device_function(instance, name) {
        return None;
    }
    physical_device_slot(instance, name, true).and_then(stubs::physical_device_terminator)
}

/// Looks up a device function that a layer requests from the end of the chain. Does not ask the devices' chains, because a layer may call
/// this function while it answers the same request.
pub(super) fn for_layer_device(instance: &Instance, name: Uncounted<'_>) -> PFN_vkVoidFunction {
    if !stubs::SUPPORTED || !drivers_have_function(instance, name) {
        return None;
    }
    let index = take_slot(instance, Kind::Device, name.count())?;
    ends::give(instance, DeviceTable::COUNT + index)
}

/// Returns the thunk of a device function that a driver or a layer supports.
#[cold]
#[inline(never)]
fn device_slot(instance: &Instance, name: Uncounted<'_>) -> PFN_vkVoidFunction {
    let index = take_slot(instance, Kind::Device, name.count())?;
    resolve_on_devices(instance, index, name);
    stubs::device_thunk(index)
}

/// Returns the index of the slots for a physical-device function that a driver or a layer supports. Stores each driver's function in the
/// driver's slot.
#[cold]
#[inline(never)]
fn physical_device_slot(instance: &Instance, name: Uncounted<'_>, drivers_support: bool) -> Option<usize> {
    let index = take_slot(instance, Kind::PhysicalDevice, name.count())?;
    for driver in instance.drivers() {
        let function = driver_physical_device_function(driver, name);
        driver.unknown[index].set(function);
        if function.is_some() {
            note_answer(
                instance,
                format_args!("Driver {}", driver.name()),
                function,
                name.count(),
            );
        }
    }
    let slot = &instance.table().unknown[index];
    if drivers_support && slot.get().is_none() {
        slot.set(stubs::physical_device_terminator(index));
    }
    Some(index)
}

/// Stores in a slot of each device the function that the device's chain returns (DRV-224).
fn resolve_on_devices(instance: &Instance, index: usize, name: Uncounted<'_>) {
    for device in crate::device::Pinned::all_of(instance) {
        set_device_function(&device, index, device.ask_chain(name));
    }
}

/// Fills a slot of a device. A layer without its own answer may return the thunk that an application gets. That thunk jumps to this very
/// slot, so the thunk is treated as a missing function.
fn set_device_function(device: &Device, index: usize, function: PFN_vkVoidFunction) {
    let thunk = table::to_word(stubs::device_thunk(index));
    if let Some(function) = function.filter(|&function| table::to_word(Some(function)) != thunk) {
        device.table().unknown[index].set(Some(function));
    }
}

/// Makes every slot of a new table report that its function is missing (DRV-224). The slots are used even before the chain has created the
/// device, because a layer may call a thunk that it got from the entity below.
pub(crate) fn clear_device(device: &DeviceTable) {
    for slot in &device.unknown {
        slot.set(absent());
    }
}

/// Returns the function for slots whose function the device lacks.
pub(super) fn absent() -> PFN_vkVoidFunction {
    // SAFETY: the word is a function's address; only its type is erased.
    unsafe { table::from_word(unknown_device_function_missing as *mut ()) }
}

/// Looks up the function of every used slot for a new device.
pub(crate) fn fill_device(device: &Device, gdpa: GetDeviceProcAddr, handle: VkDevice) {
    for index in 0..UNKNOWN_SLOTS {
        let Some(name) = device_function_name(device.instance(), index) else {
            break;
        };
        // SAFETY: the lookup function belongs to the topmost entity and receives the handle that this entity returned.
        let function = unsafe { gdpa(handle, name.as_c_str().as_ptr()) };
        set_device_function(device, index, function);
    }
}

/// Returns a copy of the name of the unknown device function `index`, so that no lock is held while a layer is asked for the function.
pub(super) fn device_function_name(instance: &Instance, index: usize) -> Option<HostText> {
    let mut unknown = instance.unknown.lock();
    let name = unknown.names(Kind::Device).get(index)?;
    HostText::try_new(name.bytes(), HostAllocator::system()).ok()
}

/// Replaces an unknown device function on a device that lacks it (DRV-224): logs an error and returns an error code.
extern "system" fn unknown_device_function_missing() -> VkResult {
    log::message(
        LogBits::ERROR,
        format_args!(
            "Bad destination in loader trampoline dispatch,Are layers and extensions that you are calling enabled?"
        ),
    );
    VkResult::VK_ERROR_EXTENSION_NOT_PRESENT
}

/// Reports a call of an unknown physical-device function that the device's driver lacks (DRV-221). Ends the process.
///
/// # Safety
/// `driver` is the driver of a terminator's physical-device object, and `index` is a used slot.
pub(crate) unsafe extern "C" fn missing_physical_device_function(driver: *const InstanceDriver, index: u32) -> ! {
    // SAFETY: the caller promises a live driver.
    let instance = unsafe { &*driver }.instance();
    let mut unknown = instance.unknown.lock();
    let name = unknown
        .names(Kind::PhysicalDevice)
        .get(index as usize)
        .and_then(|name| HostText::try_new(name.bytes(), HostAllocator::system()).ok());
    drop(unknown);
    let name = name.as_ref().map_or(&b"?"[..], HostText::bytes);
    // The message is written to all log sinks, so that the user sees why the process ends.
    log::fatal_with(
        Some(instance),
        LogBits::NONE,
        format_args!("Function {} not supported for this physical device", Raw(name)),
    );
    os::abort()
}
