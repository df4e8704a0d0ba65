//! Stubs for 64-bit Arm. Each stub starts with `bti c`, the landing instruction of branch-target identification, in an encoding that older
//! processors execute as a no-op.

use super::DEVICE_ENDS;
use crate::dispatch_table::UNKNOWN_SLOTS;
use crate::generated::dispatch::{DeviceTable, InstanceTable};
use crate::guard::{stub, stubs_begin, stubs_end};
use crate::translation::{self, offsets};
use core::arch::global_asm;

#[path = "blocks.rs"]
mod blocks;
pub(crate) use blocks::*;

const DEVICE_THUNK: usize = 16;
const PHYSICAL_DEVICE_THUNK: usize = 32;
const PHYSICAL_DEVICE_TERMINATOR: usize = 64;
const MISSING: usize = 16;

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

/// Defines a symbol that is visible only inside this library.
#[cfg(target_vendor = "apple")]
macro_rules! local_symbol {
    ($name:literal) => {
        concat!(
            ".globl _",
            $name,
            "\n.private_extern _",
            $name,
            "\n.p2align 6\n_",
            $name,
            ":\n2:"
        )
    };
}
#[cfg(windows)]
macro_rules! local_symbol {
    ($name:literal) => {
        concat!(".globl ", $name, "\n.p2align 6\n", $name, ":\n2:")
    };
}
#[cfg(not(any(target_vendor = "apple", windows)))]
macro_rules! local_symbol {
    ($name:literal) => {
        concat!(".globl ", $name, "\n.hidden ", $name, "\n.p2align 6\n", $name, ":\n2:")
    };
}

// Loads the dispatch table from the object's first word, and jumps through a slot of the record that begins with the table.
macro_rules! device_jumps {
    ($label:literal, $count:expr, $slots:expr) => {
        global_asm!(
            ".text",
            local_symbol!($label),
            ".set vkl_offset, 0",
            stubs_begin!(),
            ".rept {count}",
            ".balign {size}",
            stub!(),
            "hint #34",
            "ldr x16, [x0]",
            "ldr x16, [x16, #{slots} + vkl_offset]",
            "br x16",
            ".set vkl_offset, vkl_offset + 8",
            ".endr",
            stubs_end!(),
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
    ".text",
    local_symbol!("vkl_physical_device_thunks"),
    ".set vkl_offset, 0",
    stubs_begin!(),
    ".rept {count}",
    ".balign {size}",
    stub!(),
    "hint #34",
    "ldr x16, [x0]",
    "ldr x0, [x0, #{handle}]",
    "ldr x16, [x16, #{unknown} + vkl_offset]",
    "br x16",
    ".set vkl_offset, vkl_offset + 8",
    ".endr",
    stubs_end!(),
    ".org 2b + {count} * {size}",
    count = const UNKNOWN_SLOTS,
    size = const PHYSICAL_DEVICE_THUNK,
    handle = const offsets::APP_PHYSICAL_DEVICE_HANDLE,
    unknown = const offsets::INSTANCE_UNKNOWN,
);

// Jumps to the driver's function with the driver's handle, or reports the driver and the number of a missing function.
global_asm!(
    ".text",
    local_symbol!("vkl_physical_device_terminators"),
    ".set vkl_index, 0",
    stubs_begin!(),
    ".rept {count}",
    ".balign {size}",
    stub!(),
    "hint #34",
    "ldr x17, [x0, #{driver}]",
    "ldr x16, [x17, #{unknown} + 8 * vkl_index]",
    "cbz x16, 3f",
    "ldr x0, [x0, #{handle}]",
    "br x16",
    "3:",
    "mov x0, x17",
    "mov w1, #vkl_index",
    "b {missing}",
    ".set vkl_index, vkl_index + 1",
    ".endr",
    stubs_end!(),
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
            ".text",
            local_symbol!($label),
            ".set vkl_index, 0",
            stubs_begin!(),
            ".rept {count}",
            ".balign {size}",
            stub!(),
            "hint #34",
            "mov w0, #vkl_index",
            "b {report}",
            ".set vkl_index, vkl_index + 1",
            ".endr",
            stubs_end!(),
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

global_asm!(".text", local_symbol!("vkl_reject"), "hint #34", "b {rejected}", rejected = sym translation::rejected_handle);
