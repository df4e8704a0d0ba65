//! Stubs for 32-bit x86. Arguments are on the stack, the first after the return address, and the callee may change them there. Each stub
//! starts with the landing instruction of indirect-branch tracking.

use super::DEVICE_ENDS;
use crate::dispatch_table::UNKNOWN_SLOTS;
use crate::generated::dispatch::{DeviceTable, InstanceTable};
use crate::guard::{jump, jump_to, stub, stubs_begin, stubs_end};
use crate::translation::{self, offsets};
use core::arch::global_asm;

#[path = "blocks.rs"]
mod blocks;
pub(crate) use blocks::*;

/// Size of the stub in bytes; a checked jump makes the code longer.
const DEVICE_THUNK: usize = if cfg!(vkl_guarded) { 32 } else { 16 };
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
#[cfg(windows)]
macro_rules! local_symbol {
    ($name:literal) => {
        concat!(".globl _", $name, "\n.p2align 6, 0xCC\n_", $name, ":\n2:")
    };
}
#[cfg(not(windows))]
macro_rules! local_symbol {
    ($name:literal) => {
        concat!(
            ".globl ",
            $name,
            "\n.hidden ",
            $name,
            "\n.p2align 6, 0xCC\n",
            $name,
            ":\n2:"
        )
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
            ".balign {size}, 0xCC",
            stub!(),
            "endbr32",
            "mov eax, [esp + 4]",
            "mov eax, [eax]",
            jump!("eax + {slots} + vkl_offset"),
            ".set vkl_offset, vkl_offset + 4",
            ".endr",
            stubs_end!(),
            ".org 2b + {count} * {size}, 0xCC",
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
    ".balign {size}, 0xCC",
    stub!(),
    "endbr32",
    "mov eax, [esp + 4]",
    "mov ecx, [eax]",
    "mov eax, [eax + {handle}]",
    "mov [esp + 4], eax",
    jump!("ecx + {unknown} + vkl_offset"),
    ".set vkl_offset, vkl_offset + 4",
    ".endr",
    stubs_end!(),
    ".org 2b + {count} * {size}, 0xCC",
    count = const UNKNOWN_SLOTS,
    size = const PHYSICAL_DEVICE_THUNK,
    handle = const offsets::APP_PHYSICAL_DEVICE_HANDLE,
    unknown = const offsets::INSTANCE_UNKNOWN,
);

// Jumps to the driver's function with the driver's handle, or reports the driver and the number of a missing function. The report never
// returns; it gets the stack alignment that a C call requires.
global_asm!(
    ".text",
    local_symbol!("vkl_physical_device_terminators"),
    ".set vkl_index, 0",
    stubs_begin!(),
    ".rept {count}",
    ".balign {size}, 0xCC",
    stub!(),
    "endbr32",
    "mov eax, [esp + 4]",
    "mov ecx, [eax + {driver}]",
    "mov edx, [ecx + {unknown} + 4 * vkl_index]",
    "test edx, edx",
    "je 3f",
    "mov eax, [eax + {handle}]",
    "mov [esp + 4], eax",
    jump_to!("edx"),
    "3:",
    "mov edx, vkl_index",
    "sub esp, 4",
    "push edx",
    "push ecx",
    "call {missing}",
    ".set vkl_index, vkl_index + 1",
    ".endr",
    stubs_end!(),
    ".org 2b + {count} * {size}, 0xCC",
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
            ".balign {size}, 0xCC",
            stub!(),
            "endbr32",
            "mov eax, vkl_index",
            "jmp 3f",
            ".set vkl_index, vkl_index + 1",
            ".endr",
            stubs_end!(),
            ".org 2b + {count} * {size}, 0xCC",
            "3:",
            "sub esp, 8",
            "push eax",
            "call {report}",
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

global_asm!(".text", local_symbol!("vkl_reject"), "endbr32", "jmp {rejected}", rejected = sym translation::rejected_handle);
