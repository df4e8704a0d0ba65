//! Entry points that have a number instead of a type.
//!
//! A *thunk* forwards a call whose arguments are unknown: it may change only the first argument and one scratch register, and jumps
//! (DRV-228). A *missing stub* is in a table slot without a function. The stub loads the number of the slot and jumps to a function that
//! names the command and ends the process (LAY-290).
//!
//! All stubs of a kind have the same size, so the address of a stub follows from its number.

use crate::dispatch_table::UNKNOWN_SLOTS;
use crate::generated::dispatch::device::slot;
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

pub(crate) use code::{SUPPORTED, vkl_reject};
#[cfg(target_arch = "x86_64")]
pub(crate) use code::{first, first_half, vkl_other_device};

/// Stubs of one size, one after the other.
struct Stubs {
    /// Address of the first stub.
    first: *const u8,
    /// Size of each stub in bytes.
    size: usize,
    /// Number of stubs.
    count: usize,
}

impl Stubs {
    fn at(&self, index: usize) -> Slot {
        assert!(index < self.count, "no stub has this number");
        // SAFETY: the index is below the count, so the stub is in the block, and each stub is a function.
        unsafe { crate::table::from_word(self.first.add(index * self.size).cast_mut().cast()) }
    }

    fn holds(&self, address: *const ()) -> bool {
        (address as usize).wrapping_sub(self.first as usize) < self.size * self.count
    }
}

/// Returns the application's thunk for the unknown device function `index`: it jumps through slot `index` for unknown functions in the
/// device's table.
pub(crate) fn device_thunk(index: usize) -> Slot {
    code::device_thunks().and_then(|stubs| stubs.at(index))
}

/// Returns the application's thunk for the unknown physical-device function `index`: it replaces the application's handle by the chain's
/// handle, and jumps through slot `index` of the instance's table.
pub(crate) fn physical_device_thunk(index: usize) -> Slot {
    code::physical_device_thunks().and_then(|stubs| stubs.at(index))
}

/// Number of device functions at the end of the chain: the known ones by their slots, then the unknown ones.
pub(crate) const DEVICE_ENDS: usize = DeviceTable::SLOT_COUNT + UNKNOWN_SLOTS;

/// Returns the end of the chain for the device function `index` of [`DEVICE_ENDS`]: a stub that jumps to the function that the device
/// stores for that index.
pub(crate) fn device_terminator(index: usize) -> Slot {
    code::device_terminators().and_then(|stubs| stubs.at(index))
}

/// Returns the end of the chain for the unknown physical-device function `index`. This end replaces the chain's handle by the driver's
/// handle, and jumps to the driver's function or reports that the driver lacks the function (DRV-220, DRV-221).
pub(crate) fn physical_device_terminator(index: usize) -> Slot {
    code::physical_device_terminators().and_then(|stubs| stubs.at(index))
}

/// Returns the stub for slot `index` of a device table if nothing implements the command.
pub(crate) fn missing_device(index: usize) -> Slot {
    assert!(index < DeviceTable::SLOT_COUNT, "no slot has this number");
    code::missing_device(index)
}

/// Returns the stub for slot `index` of an instance table if nothing implements the command.
pub(crate) fn missing_instance(index: usize) -> Slot {
    assert!(index < InstanceTable::SLOT_COUNT, "no slot has this number");
    code::missing_instance(index)
}

/// Returns a function that does nothing and returns zero, for commands that tolerate a missing implementation (GEN-51). `index` is the
/// command's slot in a device table.
pub(crate) fn return_zero(index: usize) -> Slot {
    // On 32-bit Windows the callee removes its arguments from the stack, so this function must have as many arguments as the command.
    if cfg!(all(windows, target_arch = "x86")) && OF_ONE_ARGUMENT.contains(&index) {
        let function: unsafe extern "system" fn(usize) -> usize = zero_of_one;
        // SAFETY: both types are function pointers; the function ignores its argument and has as many arguments as the command, so it may
        // replace the command.
        return unsafe { core::mem::transmute::<unsafe extern "system" fn(usize) -> usize, Slot>(function) };
    }
    let function: unsafe extern "system" fn(usize, usize) -> usize = zero_of_two;
    // SAFETY: both types are function pointers. The function ignores its arguments. On 32-bit Windows, the function has as many arguments
    // as the command; elsewhere, the number does not matter. Callers of a command without a result ignore the returned register.
    unsafe { core::mem::transmute::<unsafe extern "system" fn(usize, usize) -> usize, Slot>(function) }
}

/// Slots of the commands in `NULL_TOLERANT` whose only argument is the object. All other commands in that list also take a pointer.
const OF_ONE_ARGUMENT: [usize; 2] = [slot::vkCmdEndDebugUtilsLabelEXT, slot::vkQueueEndDebugUtilsLabelEXT];

// If the number of commands in `NULL_TOLERANT` changes, check the number of arguments of the new command.
#[cfg(all(windows, target_arch = "x86"))]
const _: () = assert!(crate::generated::dispatch::device::NULL_TOLERANT.len() == 8);

unsafe extern "system" fn zero_of_one(_: usize) -> usize {
    0
}

unsafe extern "system" fn zero_of_two(_: usize, _: usize) -> usize {
    0
}

/// Returns `true` if the function is a replacement for a device command that nothing implements.
pub(crate) fn is_missing_device(function: Slot) -> bool {
    let word = crate::table::to_word(function);
    word == crate::table::to_word(return_zero(0))
        || word == crate::table::to_word(return_zero(OF_ONE_ARGUMENT[0]))
        || code::is_missing_device(function)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generated::dispatch::device::NULL_TOLERANT;
    use crate::generated::pfn;

    type One<A, R> = unsafe extern "system" fn(A) -> R;
    type Two<A, B, R> = unsafe extern "system" fn(A, B) -> R;

    fn one<A, R>(slot: usize, _: Option<One<A, R>>) -> (usize, bool) {
        (slot, true)
    }

    fn two<A, B, R>(slot: usize, _: Option<Two<A, B, R>>) -> (usize, bool) {
        (slot, false)
    }

    #[test]
    fn gen_51_what_stands_in_takes_as_many_arguments_as_the_command() {
        macro_rules! known {
            ($($count:ident $name:ident $function:ident;)*) => {
                [$($count(slot::$name, None::<pfn::$function>)),*]
            };
        }
        let known = known! {
            two vkCmdBeginDebugUtilsLabelEXT PFN_vkCmdBeginDebugUtilsLabelEXT;
            one vkCmdEndDebugUtilsLabelEXT PFN_vkCmdEndDebugUtilsLabelEXT;
            two vkCmdInsertDebugUtilsLabelEXT PFN_vkCmdInsertDebugUtilsLabelEXT;
            two vkQueueBeginDebugUtilsLabelEXT PFN_vkQueueBeginDebugUtilsLabelEXT;
            one vkQueueEndDebugUtilsLabelEXT PFN_vkQueueEndDebugUtilsLabelEXT;
            two vkQueueInsertDebugUtilsLabelEXT PFN_vkQueueInsertDebugUtilsLabelEXT;
            two vkSetDebugUtilsObjectNameEXT PFN_vkSetDebugUtilsObjectNameEXT;
            two vkSetDebugUtilsObjectTagEXT PFN_vkSetDebugUtilsObjectTagEXT;
        };
        assert_eq!(known.map(|(slot, _)| slot), NULL_TOLERANT);
        for (slot, is_one) in known {
            assert_eq!(OF_ONE_ARGUMENT.contains(&slot), is_one, "slot {slot}");
            assert!(is_missing_device(return_zero(slot)), "slot {slot}");
        }
    }
}
