//! Stubs for 64-bit LoongArch. The first argument is in a0, and the registers t0 to t8 are free.

use super::DEVICE_ENDS;
use crate::dispatch_table::UNKNOWN_SLOTS;
use crate::generated::dispatch::{DeviceTable, InstanceTable};
use crate::translation::{self, offsets};
use core::arch::global_asm;

#[path = "blocks.rs"]
mod blocks;
pub(crate) use blocks::*;

const DEVICE_THUNK: usize = 16;
const PHYSICAL_DEVICE_THUNK: usize = 16;
const PHYSICAL_DEVICE_TERMINATOR: usize = 32;
const MISSING: usize = 8;

// Range of the load with the longest reach, whose offsets are multiples of four.
const REACH: usize = 0x8000;
const _: () = assert!(offsets::DEVICE_UNKNOWN + 8 * UNKNOWN_SLOTS <= REACH);
const _: () = assert!(offsets::DEVICE_ENDS + 8 * DEVICE_ENDS <= REACH);
const _: () = assert!(offsets::INSTANCE_UNKNOWN + 8 * UNKNOWN_SLOTS <= REACH);
const _: () = assert!(offsets::DRIVER_UNKNOWN + 8 * UNKNOWN_SLOTS <= REACH);
// One instruction loads the number of a slot.
const _: () = assert!(DeviceTable::SLOT_COUNT <= 2048 && InstanceTable::SLOT_COUNT <= 2048 && UNKNOWN_SLOTS <= 2048);

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

/// Begins a block of code with a symbol that is visible only inside this library.
macro_rules! local_symbol {
    ($name:literal) => {
        concat!(
            ".text\n.globl ",
            $name,
            "\n.hidden ",
            $name,
            "\n.p2align 6\n",
            $name,
            ":\n2:"
        )
    };
}

// Loads the dispatch table from the object's first word, and jumps through a slot of the record that begins with the table.
macro_rules! device_jumps {
    ($label:literal, $count:expr, $slots:expr) => {
        global_asm!(
            local_symbol!($label),
            ".set vkl_offset, {slots}",
            ".rept {count}",
            ".balign {size}",
            "ld.d $t0, $a0, 0",
            "ldptr.d $t0, $t0, vkl_offset",
            "jr $t0",
            ".set vkl_offset, vkl_offset + 8",
            ".endr",
            ".org 2b + {count} * {size}",
            count = const $count,
            size = const DEVICE_THUNK,
            slots = const $slots,
        );
    };
}

device_jumps!("vkl_device_thunks", UNKNOWN_SLOTS, offsets::DEVICE_UNKNOWN);
device_jumps!("vkl_device_terminators", DEVICE_ENDS, offsets::DEVICE_ENDS);

// Loads the instance's table from the object's first word, replaces the handle by the chain's, and jumps through a slot of the table.
global_asm!(
    local_symbol!("vkl_physical_device_thunks"),
    ".set vkl_offset, {unknown}",
    ".rept {count}",
    ".balign {size}",
    "ld.d $t0, $a0, 0",
    "ld.d $a0, $a0, {handle}",
    "ldptr.d $t0, $t0, vkl_offset",
    "jr $t0",
    ".set vkl_offset, vkl_offset + 8",
    ".endr",
    ".org 2b + {count} * {size}",
    count = const UNKNOWN_SLOTS,
    size = const PHYSICAL_DEVICE_THUNK,
    handle = const offsets::APP_PHYSICAL_DEVICE_HANDLE,
    unknown = const offsets::INSTANCE_UNKNOWN,
);

// Jumps to the driver's function with the driver's handle, or reports the driver and the number of a missing function.
global_asm!(
    local_symbol!("vkl_physical_device_terminators"),
    ".set vkl_index, 0",
    ".set vkl_offset, {unknown}",
    ".rept {count}",
    ".balign {size}",
    "ld.d $t1, $a0, {driver}",
    "ldptr.d $t0, $t1, vkl_offset",
    "beqz $t0, 3f",
    "ld.d $a0, $a0, {handle}",
    "jr $t0",
    "3:",
    "move $a0, $t1",
    "ori $a1, $zero, vkl_index",
    "b {missing}",
    ".set vkl_index, vkl_index + 1",
    ".set vkl_offset, vkl_offset + 8",
    ".endr",
    ".org 2b + {count} * {size}",
    count = const UNKNOWN_SLOTS,
    size = const PHYSICAL_DEVICE_TERMINATOR,
    driver = const offsets::CHAIN_PHYSICAL_DEVICE_DRIVER,
    handle = const offsets::CHAIN_PHYSICAL_DEVICE_HANDLE,
    unknown = const offsets::DRIVER_UNKNOWN,
    missing = sym translation::missing_unknown_function,
);

macro_rules! missing {
    ($label:literal, $count:expr, $report:path) => {
        global_asm!(
            local_symbol!($label),
            ".set vkl_index, 0",
            ".rept {count}",
            ".balign {size}",
            "ori $a0, $zero, vkl_index",
            "b {report}",
            ".set vkl_index, vkl_index + 1",
            ".endr",
            ".org 2b + {count} * {size}",
            count = const $count,
            size = const MISSING,
            report = sym $report,
        );
    };
}

missing!(
    "vkl_missing_device",
    DeviceTable::SLOT_COUNT,
    translation::missing_device_command
);
missing!(
    "vkl_missing_instance",
    InstanceTable::SLOT_COUNT,
    translation::missing_instance_command
);

global_asm!(local_symbol!("vkl_reject"), "b {rejected}", rejected = sym translation::rejected_handle);
