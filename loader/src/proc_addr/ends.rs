//! Device commands that a layer requests from the end of the instance chain (LAY-240, LAY-314).
//!
//! A layer may keep the returned function, and call it while the layer handles the same command. A trampoline, or the thunk of an unknown
//! function, enters the chain at its top and would therefore call the same layer again, without end. The answer is therefore a separate
//! stub.
//!
//! The stub jumps through the *ends* of the device of the call. The dispatch word in every device, queue and command buffer is the address
//! of the record that contains the ends. Each end is the answer of the end of that device's chain to `vkGetDeviceProcAddr`. The stub works
//! for devices of every driver, whenever they were created. A function that the device lacks logs an error and returns an error code, like
//! an unknown function (DRV-224).
//!
//! Drivers are asked only for functions that a layer requested. The loader asks a driver when the driver creates a device, and again for
//! new functions after the layers above have created theirs. When a layer requests a function, the loader asks the drivers of all finished
//! devices.

use super::terminators::known_to_device;
use super::unknown;
use crate::device::{Device, Pinned};
use crate::generated::dispatch::DeviceTable;
use crate::instance::Instance;
use crate::lookup::Row;
use crate::stubs::{self, DEVICE_ENDS};
use crate::table::{self, Entry, Slot, Slots};

/// Functions at the end of a device's chain: the known ones by their slots, then the unknown ones.
pub(crate) type Ends = [Entry<Slot>; DEVICE_ENDS];

const BITS: usize = u64::BITS as usize;
const WORDS: usize = DEVICE_ENDS.div_ceil(BITS);

/// Functions that layers requested, in the order of [`Ends`].
#[derive(Clone, Copy)]
pub(crate) struct Asked([u64; WORDS]);

impl Asked {
    /// Returns the empty set.
    pub(crate) const fn new() -> Self {
        Self([0; WORDS])
    }

    fn add(&mut self, index: usize) {
        self.0[index / BITS] |= 1 << (index % BITS);
    }

    fn all(self) -> impl Iterator<Item = usize> {
        self.0.into_iter().enumerate().flat_map(|(word, mut left)| {
            core::iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros() as usize)?;
                left &= left - 1;
                Some(word * BITS + bit)
            })
        })
    }
}

impl Default for Asked {
    fn default() -> Self {
        Self::new()
    }
}

/// Returns the stub of a known device command that a layer requests, if some driver has the command.
pub(super) fn for_layer(instance: &Instance, row: &Row) -> Slot {
    let has = |driver: &crate::instance::InstanceDriver| {
        crate::driver_interface::lookup_known(driver.get_instance_proc_addr, driver.handle, row).is_some()
    };
    let some_driver = instance
        .drivers()
        .any(|driver| driver.pin().is_some_and(|driver| has(&driver)));
    some_driver.then(|| give(instance, usize::from(row.slot)))?
}

/// Returns the stub of a function; it works on every device that has the function.
pub(super) fn give(instance: &Instance, index: usize) -> Slot {
    let stub = stubs::device_terminator(index)?;
    // A device is finished before it reads the set, so either the loop below finds the device, or the device finds this number in the set.
    instance.asked_ends.lock().add(index);
    for device in Pinned::all_of(instance) {
        device.ends()[index].set(end(&device, index));
    }
    Some(stub)
}

/// Fills the ends with functions that report a missing function.
///
/// # Safety
/// `ends` is writable.
pub(crate) unsafe fn write_empty_ends(ends: *mut Ends) {
    for index in 0..DEVICE_ENDS {
        // SAFETY: the index is below the length of the array, which the caller promises to be writable.
        unsafe {
            ends.cast::<Entry<Slot>>()
                .add(index)
                .write(Entry::new(unknown::absent()))
        };
    }
}

/// Looks up the functions that layers have requested so far, for a device that a driver has just created.
pub(crate) fn fill_ends(device: &Device) {
    fill(device, |_| true);
}

/// Looks up the functions that layers have requested since the driver created the device.
pub(super) fn fill_late_ends(device: &Device) {
    let absent = table::to_word(unknown::absent());
    fill(device, |current| table::to_word(current) == absent);
}

fn fill(device: &Device, wanted: impl Fn(Slot) -> bool) {
    // The loop works on a copy, so that no lock is held while the driver is asked.
    let asked = *device.instance().asked_ends.lock();
    for index in asked.all() {
        let entry = &device.ends()[index];
        if wanted(entry.get()) {
            entry.set(end(device, index));
        }
    }
}

/// Returns a function of the end of a device's chain.
fn end(device: &Device, index: usize) -> Slot {
    let found = match index.checked_sub(DeviceTable::COUNT) {
        None => DeviceTable::commands()
            .nth(index)
            .and_then(|row| known_to_device(device, row)),
        Some(unknown) => unknown::device_function_name(device.instance(), unknown)
            .and_then(|name| device.ask_driver(name.as_c_str().into(), None)),
    };
    found.or_else(unknown::absent)
}
