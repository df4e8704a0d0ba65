//! Entry points that are numbered instead of typed.
//!
//! A *thunk* forwards a call whose arguments are unknown: it may touch only the first argument and one scratch
//! register, and jumps (DRV-228). A *missing stub* stands in a table slot that nothing fills: it loads the number of the
//! slot and jumps to a function that names the command and ends the process (LAY-290).
//!
//! All stubs of a kind have the same size, so the address of one follows from its number.

use crate::dispatch_table::UNKNOWN_SLOTS;
use crate::generated::dispatch::{DeviceTable, InstanceTable};
use crate::table::Slot;

#[cfg(target_arch = "aarch64")]
#[path = "aarch64.rs"]
mod code;
#[cfg(target_arch = "x86_64")]
#[path = "x86_64.rs"]
mod code;
#[cfg(target_arch = "x86")]
#[path = "x86.rs"]
mod code;
#[cfg(all(target_arch = "arm", unix, not(target_vendor = "apple")))]
#[path = "arm.rs"]
mod code;
#[cfg(target_arch = "riscv64")]
#[path = "riscv64.rs"]
mod code;
#[cfg(target_arch = "loongarch64")]
#[path = "loongarch64.rs"]
mod code;
#[cfg(not(any(
    target_arch = "x86_64",
    target_arch = "x86",
    target_arch = "aarch64",
    target_arch = "riscv64",
    target_arch = "loongarch64",
    all(target_arch = "arm", unix, not(target_vendor = "apple"))
)))]
#[path = "fallback.rs"]
mod code;

pub use code::{SUPPORTED, vkl_reject};
#[cfg(target_arch = "x86_64")]
pub(crate) use code::{first, first_half};

/// Stubs of one size, one after the other.
struct Stubs {
    /// Address of the first.
    first: *const u8,
    /// Size of each in bytes.
    size: usize,
    /// How many there are.
    count: usize,
}

impl Stubs {
    fn at(&self, index: usize) -> Slot {
        assert!(index < self.count, "no stub has this number");
        // SAFETY: stub `index` lies within the block, and each stub is a function.
        unsafe { crate::table::from_word(self.first.add(index * self.size).cast_mut().cast()) }
    }

    fn holds(&self, address: *const ()) -> bool {
        (address as usize).wrapping_sub(self.first as usize) < self.size * self.count
    }
}

/// What the application calls for the unknown device function `index`: jumps through that slot of the device's table.
pub fn device_thunk(index: usize) -> Slot {
    code::device_thunks().and_then(|stubs| stubs.at(index))
}

/// What the application calls for the unknown physical-device function `index`: replaces the handle by the chain's and
/// jumps through that slot of the instance's table.
pub fn physical_device_thunk(index: usize) -> Slot {
    code::physical_device_thunks().and_then(|stubs| stubs.at(index))
}

/// How many device functions there are at the end of the chain: the known ones by their slots, then the unknown ones.
pub const DEVICE_ENDS: usize = DeviceTable::SLOT_COUNT + UNKNOWN_SLOTS;

/// What ends the chain for the device function `index` of [`DEVICE_ENDS`], whatever layers its device has above: jumps to
/// what the device keeps for that function.
pub fn device_terminator(index: usize) -> Slot {
    code::device_terminators().and_then(|stubs| stubs.at(index))
}

/// What ends the chain for the unknown physical-device function `index`: replaces the handle by the driver's and jumps to
/// the driver's function, or reports that there is none (DRV-220, DRV-221).
pub fn physical_device_terminator(index: usize) -> Slot {
    code::physical_device_terminators().and_then(|stubs| stubs.at(index))
}

/// What stands in slot `index` of a device table if nothing answers the command.
pub fn missing_device(index: usize) -> Slot {
    assert!(index < DeviceTable::SLOT_COUNT, "no slot has this number");
    code::missing_device(index)
}

/// What stands in slot `index` of an instance table if nothing answers the command.
pub fn missing_instance(index: usize) -> Slot {
    assert!(index < InstanceTable::SLOT_COUNT, "no slot has this number");
    code::missing_instance(index)
}

/// A function that does nothing and returns zero, for commands that tolerate a missing target (GEN-51).
pub fn return_zero() -> Slot {
    unsafe extern "system" fn zero() -> usize {
        0
    }
    let function: unsafe extern "system" fn() -> usize = zero;
    // SAFETY: a function that ignores its arguments may be called with any, and callers of commands without result
    // ignore the returned register.
    unsafe { core::mem::transmute::<unsafe extern "system" fn() -> usize, Slot>(function) }
}

/// Whether the function stands for a device command that nothing answers.
pub fn is_missing_device(function: Slot) -> bool {
    crate::table::to_word(function) == crate::table::to_word(return_zero()) || code::is_missing_device(function)
}
