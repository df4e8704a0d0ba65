//! Stubs for 32-bit Arm, in A32 code. Every caller can enter A32 code, and its addresses need no mark for the instruction set. The first
//! argument is in r0, and the only free register is ip (r12). The application profile has no landing instruction.
//!
//! Offsets are split: a load reaches 4095 bytes, and an addition adds the rest.

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
const PHYSICAL_DEVICE_TERMINATOR: usize = 64;
const MISSING: usize = 16;

// One addition can add an offset up to this limit.
const _: () = assert!(offsets::DEVICE_UNKNOWN + 4 * UNKNOWN_SLOTS <= 0x10_0000);
const _: () = assert!(offsets::DEVICE_ENDS + 4 * DEVICE_ENDS <= 0x10_0000);
const _: () = assert!(offsets::INSTANCE_UNKNOWN + 4 * UNKNOWN_SLOTS <= 0x10_0000);
const _: () = assert!(offsets::DRIVER_UNKNOWN + 4 * UNKNOWN_SLOTS <= 0x10_0000);
// The number of a slot in the terminators is one byte.
const _: () = assert!(UNKNOWN_SLOTS <= 256);

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

/// Begins a block of A32 code with a symbol that is visible only inside this library.
macro_rules! local_symbol {
    ($name:literal) => {
        concat!(
            ".text\n.syntax unified\n.arm\n.globl ",
            $name,
            "\n.hidden ",
            $name,
            "\n.type ",
            $name,
            ", %function\n.p2align 6\n",
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
            "ldr ip, [r0]",
            "add ip, ip, #(vkl_offset & 0xff000)",
            "ldr pc, [ip, #(vkl_offset & 0xfff)]",
            ".set vkl_offset, vkl_offset + 4",
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
    "ldr ip, [r0]",
    "ldr r0, [r0, #{handle}]",
    "add ip, ip, #(vkl_offset & 0xff000)",
    "ldr pc, [ip, #(vkl_offset & 0xfff)]",
    ".set vkl_offset, vkl_offset + 4",
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
    "ldr ip, [r0, #{driver}]",
    "add ip, ip, #(vkl_offset & 0xff000)",
    "ldr ip, [ip, #(vkl_offset & 0xfff)]",
    "cmp ip, #0",
    "ldrne r0, [r0, #{handle}]",
    "bxne ip",
    "ldr r0, [r0, #{driver}]",
    "mov r1, #vkl_index",
    "b {missing}",
    ".set vkl_index, vkl_index + 1",
    ".set vkl_offset, vkl_offset + 4",
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
            "mov r0, #(vkl_index & 0xff)",
            "orr r0, r0, #(vkl_index & 0xff00)",
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
