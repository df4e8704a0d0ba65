//! Stubs for 64-bit RISC-V. The first argument is in a0, and the registers t0 to t6 are free. All instructions have four bytes and the
//! linker does not change them, so all stubs of a kind have the same size.
//!
//! Offsets are split: a load reaches 2047 bytes forward and 2048 back, and `lui` adds the rest.

use super::DEVICE_ENDS;
use crate::dispatch_table::UNKNOWN_SLOTS;
use crate::generated::dispatch::{DeviceTable, InstanceTable};
use crate::translation::{self, offsets};
use core::arch::global_asm;

#[path = "blocks.rs"]
mod blocks;
pub(crate) use blocks::*;

const DEVICE_THUNK: usize = 32;
const PHYSICAL_DEVICE_THUNK: usize = 32;
const PHYSICAL_DEVICE_TERMINATOR: usize = 64;
const MISSING: usize = 16;

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
            ".text\n.option push\n.option norvc\n.option norelax\n.globl ",
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
            "ld t1, 0(a0)",
            "lui t2, (vkl_offset + 0x800) >> 12",
            "add t1, t1, t2",
            "ld t1, (((vkl_offset + 0x800) & 0xfff) - 0x800)(t1)",
            "jr t1",
            ".set vkl_offset, vkl_offset + 8",
            ".endr",
            ".org 2b + {count} * {size}",
            ".option pop",
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
    "ld t1, 0(a0)",
    "ld a0, {handle}(a0)",
    "lui t2, (vkl_offset + 0x800) >> 12",
    "add t1, t1, t2",
    "ld t1, (((vkl_offset + 0x800) & 0xfff) - 0x800)(t1)",
    "jr t1",
    ".set vkl_offset, vkl_offset + 8",
    ".endr",
    ".org 2b + {count} * {size}",
    ".option pop",
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
    "ld t3, {driver}(a0)",
    "lui t2, (vkl_offset + 0x800) >> 12",
    "add t1, t3, t2",
    "ld t1, (((vkl_offset + 0x800) & 0xfff) - 0x800)(t1)",
    "beqz t1, 3f",
    "ld a0, {handle}(a0)",
    "jr t1",
    "3:",
    "mv a0, t3",
    "li a1, vkl_index",
    "tail {missing}",
    ".set vkl_index, vkl_index + 1",
    ".set vkl_offset, vkl_offset + 8",
    ".endr",
    ".org 2b + {count} * {size}",
    ".option pop",
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
            "li a0, vkl_index",
            "tail {report}",
            ".set vkl_index, vkl_index + 1",
            ".endr",
            ".org 2b + {count} * {size}",
            ".option pop",
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

global_asm!(local_symbol!("vkl_reject"), "tail {rejected}", ".option pop", rejected = sym translation::rejected_handle);
