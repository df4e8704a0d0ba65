//! Code that the stubs of all processors with machine code share: the blocks, their symbols, and the functions that return a stub. The
//! module of each of these processors includes this module, and has a table of the processor's instructions.

use super::super::{DEVICE_ENDS, Stubs};
use super::{DEVICE_THUNK, MISSING, PHYSICAL_DEVICE_TERMINATOR, PHYSICAL_DEVICE_THUNK};
use crate::dispatch_table::UNKNOWN_SLOTS;
use crate::generated::dispatch::{DeviceTable, InstanceTable};
use crate::table::Slot;

unsafe extern "C" {
    static vkl_device_thunks: u8;
    static vkl_device_terminators: u8;
    static vkl_physical_device_thunks: u8;
    static vkl_physical_device_terminators: u8;
    static vkl_missing_device: u8;
    static vkl_missing_instance: u8;
    /// Ends the process after a handle failed its check. The compiler cannot inline the function, so a call at the end of another function
    /// is a single jump.
    pub(crate) fn vkl_reject(row: u32);
}

/// Prefix of symbols in the object files of a system.
#[cfg(any(target_vendor = "apple", all(windows, target_arch = "x86")))]
macro_rules! prefix {
    () => {
        "_"
    };
}
#[cfg(not(any(target_vendor = "apple", all(windows, target_arch = "x86"))))]
macro_rules! prefix {
    () => {
        ""
    };
}

/// Limits a symbol to this library, and gives it a type if the system requires one.
#[cfg(target_vendor = "apple")]
macro_rules! hidden {
    ($name:literal) => {
        concat!(".private_extern _", $name)
    };
}
#[cfg(windows)]
macro_rules! hidden {
    ($name:literal) => {
        ""
    };
}
#[cfg(not(any(target_vendor = "apple", windows, target_arch = "arm")))]
macro_rules! hidden {
    ($name:literal) => {
        concat!(".hidden ", $name)
    };
}
#[cfg(target_arch = "arm")]
macro_rules! hidden {
    ($name:literal) => {
        concat!(".hidden ", $name, "\n.type ", $name, ", %function")
    };
}

/// Defines a symbol that is visible only inside this library. `fill` is the value of the bytes before the symbol, with a comma. The default
/// is code that does nothing.
macro_rules! local_symbol {
    ($name:literal, $fill:literal) => {
        concat!(
            ".globl ",
            prefix!(),
            $name,
            "\n",
            hidden!($name),
            "\n.p2align 6",
            $fill,
            "\n",
            prefix!(),
            $name,
            ":\n2:"
        )
    };
}

/// Defines a symbol, and `count` stubs of one size. `vkl_index` is the number of a stub, and `vkl_offset` the offset of its slot in an array
/// of slots. `after` is code that all stubs of the block share.
macro_rules! block {
    (
        ($landing:literal, $fill:literal, $mode:literal, $end:literal), $label:literal, $count:expr, $size:expr,
        [$($code:expr),*], [$($after:expr),*], $($operands:tt)*
    ) => {
        global_asm!(
            ".text",
            $mode,
            local_symbol!($label, $fill),
            ".set vkl_index, 0",
            stubs_begin!(),
            ".rept {count}",
            concat!(".balign {size}", $fill),
            stub!(),
            ".set vkl_offset, {word} * vkl_index",
            $landing,
            $($code,)*
            ".set vkl_index, vkl_index + 1",
            ".endr",
            stubs_end!(),
            concat!(".org 2b + {count} * {size}", $fill),
            $($after,)*
            $end,
            count = const $count,
            size = const $size,
            word = const size_of::<usize>(),
            $($operands)*
        );
    };
}

/// Defines all stubs of a processor. Each table has the size of a stub in bytes, its instructions, and code after all stubs of the kind.
///
/// - `landing` is the instruction at which an indirect jump may arrive, and `fill` the value of bytes between stubs, with a comma.
/// - `mode` and `end` are directives before and after each block.
/// - A device thunk loads the dispatch table from the object's first word, and jumps through a slot of the record that begins with the
///   table.
/// - A physical-device thunk loads the instance's table from the object's first word, replaces the application's handle by the
///   chain's handle, and jumps through a slot of the table.
/// - A physical-device terminator jumps to the driver's function with the driver's handle, or reports the driver and the number of a
///   missing function.
/// - A missing stub reports its number.
/// - The function `reject` jumps to the report of a wrong handle.
macro_rules! stubs {
    (
        landing = $landing:literal, fill = $fill:literal, mode = $mode:literal, end = $end:literal;
        device_thunk: $device_size:expr, [$($device:expr),* $(,)?];
        physical_device_thunk: $thunk_size:expr, [$($thunk:expr),* $(,)?] $(then [$($after_thunk:expr),* $(,)?])?;
        physical_device_terminator: $terminator_size:expr,
            [$($terminator:expr),* $(,)?] $(then [$($after_terminator:expr),* $(,)?])?;
        missing: $missing_size:expr, [$($missing:expr),* $(,)?] $(then [$($after_missing:expr),* $(,)?])?;
        reject: [$($reject:expr),* $(,)?];
    ) => {
        const DEVICE_THUNK: usize = $device_size;
        const PHYSICAL_DEVICE_THUNK: usize = $thunk_size;
        const PHYSICAL_DEVICE_TERMINATOR: usize = $terminator_size;
        const MISSING: usize = $missing_size;

        block! {
            ($landing, $fill, $mode, $end), "vkl_device_thunks", UNKNOWN_SLOTS, DEVICE_THUNK, [$($device),*], [],
            slots = const offsets::DEVICE_UNKNOWN,
        }
        block! {
            ($landing, $fill, $mode, $end), "vkl_device_terminators", DEVICE_ENDS, DEVICE_THUNK, [$($device),*], [],
            slots = const offsets::DEVICE_ENDS,
        }
        block! {
            ($landing, $fill, $mode, $end), "vkl_physical_device_thunks", UNKNOWN_SLOTS, PHYSICAL_DEVICE_THUNK,
            [$($thunk),*], [$($($after_thunk),*)?],
            handle = const offsets::APP_PHYSICAL_DEVICE_HANDLE,
            unknown = const offsets::INSTANCE_UNKNOWN,
        }
        block! {
            ($landing, $fill, $mode, $end), "vkl_physical_device_terminators", UNKNOWN_SLOTS, PHYSICAL_DEVICE_TERMINATOR,
            [$($terminator),*], [$($($after_terminator),*)?],
            driver = const offsets::CHAIN_PHYSICAL_DEVICE_DRIVER,
            handle = const offsets::CHAIN_PHYSICAL_DEVICE_HANDLE,
            unknown = const offsets::DRIVER_UNKNOWN,
            missing = sym translation::missing_unknown_function,
        }
        block! {
            ($landing, $fill, $mode, $end), "vkl_missing_device", DeviceTable::SLOT_COUNT, MISSING,
            [$($missing),*], [$($($after_missing),*)?],
            report = sym translation::missing_device_command,
        }
        block! {
            ($landing, $fill, $mode, $end), "vkl_missing_instance", InstanceTable::SLOT_COUNT, MISSING,
            [$($missing),*], [$($($after_missing),*)?],
            report = sym translation::missing_instance_command,
        }
        global_asm!(
            ".text",
            $mode,
            local_symbol!("vkl_reject", $fill),
            $landing,
            $($reject,)*
            $end,
            rejected = sym translation::rejected_handle,
        );
    };
}

/// `true` if this processor can forward unknown functions.
pub(crate) const SUPPORTED: bool = true;

pub(in super::super) fn device_thunks() -> Option<Stubs> {
    Some(Stubs {
        first: &raw const vkl_device_thunks,
        size: DEVICE_THUNK,
        count: UNKNOWN_SLOTS,
    })
}

pub(in super::super) fn device_terminators() -> Option<Stubs> {
    Some(Stubs {
        first: &raw const vkl_device_terminators,
        size: DEVICE_THUNK,
        count: DEVICE_ENDS,
    })
}

pub(in super::super) fn physical_device_thunks() -> Option<Stubs> {
    Some(Stubs {
        first: &raw const vkl_physical_device_thunks,
        size: PHYSICAL_DEVICE_THUNK,
        count: UNKNOWN_SLOTS,
    })
}

pub(in super::super) fn physical_device_terminators() -> Option<Stubs> {
    let first = &raw const vkl_physical_device_terminators;
    Some(Stubs {
        first,
        size: PHYSICAL_DEVICE_TERMINATOR,
        count: UNKNOWN_SLOTS,
    })
}

fn missing_devices() -> Stubs {
    Stubs {
        first: &raw const vkl_missing_device,
        size: MISSING,
        count: DeviceTable::SLOT_COUNT,
    }
}

fn missing_instances() -> Stubs {
    Stubs {
        first: &raw const vkl_missing_instance,
        size: MISSING,
        count: InstanceTable::SLOT_COUNT,
    }
}

pub(in super::super) fn missing_device(index: usize) -> Slot {
    missing_devices().at(index)
}

pub(in super::super) fn missing_instance(index: usize) -> Slot {
    missing_instances().at(index)
}

pub(in super::super) fn is_missing_device(function: Slot) -> bool {
    missing_devices().holds(crate::table::to_word(function))
}
