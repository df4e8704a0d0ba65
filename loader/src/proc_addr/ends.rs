//! Device commands that a layer asks the end of the instance chain for (LAY-240, LAY-314).
//!
//! A layer may keep such a function as its way down, and calls it while it answers that very command. The trampoline, and
//! the thunk of an unknown function, enter the chain at its top and would lead back into the layer without end. So the
//! answer is a stub of its own. It jumps through the *ends* of the device it is called for, which the dispatch word in
//! every device, queue and command buffer leads to; each of them holds what the end of that device's chain answers to a
//! `vkGetDeviceProcAddr`, whichever driver made the device, and whenever. What a device lacks says so and returns an error, as
//! unknown functions do (DRV-224).
//!
//! Drivers are only asked about a device for what a layer asked for: when the driver made a device, and again for what is
//! new when the layers above have made theirs; and for all finished devices when a layer asks.

use super::terminators::known_to_device;
use super::unknown;
use crate::device::{Device, Pinned};
use crate::generated::dispatch::DeviceTable;
use crate::instance::Instance;
use crate::lookup::Row;
use crate::stubs::{self, DEVICE_ENDS};
use crate::table::{self, Entry, Slot, Slots};

/// What the end of a device's chain has for each function: the known ones by their slots, then the unknown ones.
pub(crate) type Ends = [Entry<Slot>; DEVICE_ENDS];

const BITS: usize = u64::BITS as usize;
const WORDS: usize = DEVICE_ENDS.div_ceil(BITS);

/// The functions that layers asked for, in the order of [`Ends`].
#[derive(Clone, Copy)]
pub(crate) struct Asked([u64; WORDS]);

impl Asked {
    /// None.
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

/// A known device command that a layer asks for: there if some driver has it.
pub(super) fn for_layer(instance: &Instance, row: &Row) -> Slot {
    let has = |driver: &crate::instance::InstanceDriver| {
        crate::driver::lookup_known(driver.get_instance_proc_addr, driver.handle, row).is_some()
    };
    let some_driver = instance
        .drivers()
        .any(|driver| driver.pin().is_some_and(|driver| has(&driver)));
    some_driver.then(|| give(instance, usize::from(row.slot)))?
}

/// The stub of a function, which leads somewhere on every device that has the function.
pub(super) fn give(instance: &Instance, index: usize) -> Slot {
    let stub = stubs::device_terminator(index)?;
    // A device is finished before it looks at this, so it is either found below or finds the number.
    instance.asked_ends.lock().add(index);
    for device in Pinned::all_of(instance) {
        device.ends()[index].set(end(&device, index));
    }
    Some(stub)
}

/// Lets every function report that it is not there.
///
/// # Safety
/// `ends` is writable.
pub(crate) unsafe fn write_empty_ends(ends: *mut Ends) {
    for index in 0..DEVICE_ENDS {
        // SAFETY: within the array, by this function's contract.
        unsafe {
            ends.cast::<Entry<Slot>>()
                .add(index)
                .write(Entry::new(unknown::absent()))
        };
    }
}

/// Fills what layers asked for so far on a device that a driver has just made.
pub(crate) fn fill_ends(device: &Device) {
    fill(device, |_| true);
}

/// Fills what layers asked for since then.
pub(super) fn fill_late_ends(device: &Device) {
    let absent = table::to_word(unknown::absent());
    fill(device, |current| table::to_word(current) == absent);
}

fn fill(device: &Device, wanted: impl Fn(Slot) -> bool) {
    // A copy: nothing is locked while the driver is asked.
    let asked = *device.instance().asked_ends.lock();
    for index in asked.all() {
        let entry = &device.ends()[index];
        if wanted(entry.get()) {
            entry.set(end(device, index));
        }
    }
}

/// What the end of a device's chain has.
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
