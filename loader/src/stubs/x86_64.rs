//! Stubs for x86-64. Each stub starts with the landing instruction of indirect-branch tracking.

use super::DEVICE_ENDS;
use crate::dispatch_table::UNKNOWN_SLOTS;
use crate::frame::{frame_begins, frame_ends};
use crate::generated::dispatch::{DeviceTable, InstanceTable};
use crate::guard::{jump, jump_to, stub, stubs_begin, stubs_end};
use crate::table::Slots;
use crate::translation::{self, offsets};
use core::arch::global_asm;

#[path = "blocks.rs"]
mod blocks;
pub(crate) use blocks::*;

/// Size of the stub in bytes; a checked jump makes the code longer.
const DEVICE_THUNK: usize = if cfg!(vkl_guarded) { 32 } else { 16 };
const PHYSICAL_DEVICE_THUNK: usize = 16;
const PHYSICAL_DEVICE_TERMINATOR: usize = 16;
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
    /// Continues the trampoline of a device command, whose slot is in ax, for devices other than the newest one.
    pub(crate) fn vkl_other_device();
}

#[cfg(not(windows))]
macro_rules! first {
    () => {
        "rdi"
    };
}
#[cfg(windows)]
macro_rules! first {
    () => {
        "rcx"
    };
}
#[cfg(not(windows))]
macro_rules! first_half {
    () => {
        "edi"
    };
}
#[cfg(windows)]
macro_rules! first_half {
    () => {
        "ecx"
    };
}
#[cfg(not(windows))]
macro_rules! second_half {
    () => {
        "esi"
    };
}
#[cfg(windows)]
macro_rules! second_half {
    () => {
        "edx"
    };
}

#[cfg(target_arch = "x86_64")]
pub(crate) use {first, first_half};

/// Defines a symbol that is visible only inside this library.
#[cfg(target_vendor = "apple")]
macro_rules! local_symbol {
    ($name:literal) => {
        concat!(
            ".globl _",
            $name,
            "\n.private_extern _",
            $name,
            "\n.p2align 6, 0xCC\n_",
            $name,
            ":\n2:"
        )
    };
}
#[cfg(windows)]
macro_rules! local_symbol {
    ($name:literal) => {
        concat!(".globl ", $name, "\n.p2align 6, 0xCC\n", $name, ":\n2:")
    };
}
#[cfg(not(any(target_vendor = "apple", windows)))]
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
            "endbr64",
            concat!("mov rax, [", first!(), "]"),
            jump!("rax + {slots} + vkl_offset"),
            ".set vkl_offset, vkl_offset + 8",
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

// Adds the offset of a slot to the address of the instance's table, which is the object's first word. Then replaces the handle by the
// chain's, and jumps through the slot.
global_asm!(
    ".text",
    local_symbol!("vkl_physical_device_thunks"),
    ".set vkl_offset, 0",
    stubs_begin!(),
    ".rept {count}",
    ".balign {size}, 0xCC",
    stub!(),
    "endbr64",
    "mov eax, vkl_offset",
    "jmp 3f",
    ".set vkl_offset, vkl_offset + 8",
    ".endr",
    stubs_end!(),
    ".org 2b + {count} * {size}, 0xCC",
    "3:",
    concat!("add rax, [", first!(), "]"),
    concat!("mov ", first!(), ", [", first!(), " + {handle}]"),
    jump!("rax + {unknown}"),
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
    ".balign {size}, 0xCC",
    stub!(),
    "endbr64",
    "mov eax, vkl_index",
    "jmp 3f",
    ".set vkl_index, vkl_index + 1",
    ".endr",
    stubs_end!(),
    ".org 2b + {count} * {size}, 0xCC",
    "3:",
    concat!("mov r11, [", first!(), " + {driver}]"),
    "mov r11, [r11 + {unknown} + 8 * rax]",
    "test r11, r11",
    "je 4f",
    concat!("mov ", first!(), ", [", first!(), " + {handle}]"),
    jump_to!("r11"),
    "4:",
    concat!("mov ", first!(), ", [", first!(), " + {driver}]"),
    concat!("mov ", second_half!(), ", eax"),
    "jmp {missing}",
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
            "endbr64",
            concat!("mov ", first_half!(), ", vkl_index"),
            "jmp {report}",
            ".set vkl_index, vkl_index + 1",
            ".endr",
            stubs_end!(),
            ".org 2b + {count} * {size}, 0xCC",
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

// Checks the handle of a device that is not the newest one by the magic before its table, and jumps through the slot whose number is in ax.
global_asm!(
    ".text",
    local_symbol!("vkl_other_device"),
    frame_begins!(),
    "movzx eax, ax",
    concat!("test ", first!(), ", ", first!()),
    "je 3f",
    concat!("mov r11, [", first!(), "]"),
    "test r11, r11",
    "je 3f",
    "cmp dword ptr [r11], {low}",
    "jne 3f",
    "cmp dword ptr [r11 + 4], {high}",
    "jne 3f",
    jump!("r11 + 8 * rax + {slots}"),
    "3:",
    concat!("mov ", first_half!(), ", eax"),
    "jmp {rejected}",
    frame_ends!(),
    low = const translation::DEVICE_MAGIC as u32,
    high = const (translation::DEVICE_MAGIC >> 32) as u32,
    slots = const <DeviceTable as Slots>::FIRST,
    rejected = sym translation::rejected_device_slot,
);

global_asm!(".text", local_symbol!("vkl_reject"), "endbr64", "jmp {rejected}", rejected = sym translation::rejected_handle);

// One entry of the unwind table for all trampolines that only jump. These trampolines have a section of their own, and none of them changes
// the stack: the return address is always at rsp.
#[cfg(vkl_one_frame)]
global_asm!(
    ".pushsection .text.vkl_jumps, \"ax\", @progbits",
    ".subsection 1",
    local_symbol!("vkl_jumps_end"),
    ".popsection",
    ".pushsection .eh_frame, \"a\", @unwind",
    ".balign 8",
    "2:",
    ".long 4f - 3f",
    "3:",
    // Identifier, version and augmentation of the common information entry, its alignment factors, and rip as the column of the return
    // address.
    ".long 0",
    ".byte 1",
    ".asciz \"zR\"",
    ".uleb128 1",
    ".sleb128 -8",
    ".byte 16",
    // Addresses are relative and have four bytes.
    ".uleb128 1",
    ".byte 0x1B",
    // The canonical frame address is rsp + 8. The return address is stored 8 bytes below the canonical frame address.
    ".byte 0x0C, 7, 8, 0x90, 1",
    ".balign 8",
    "4:",
    ".long 6f - 5f",
    "5:",
    ".long 5b - 2b",
    ".long .text.vkl_jumps - .",
    ".long vkl_jumps_end - .text.vkl_jumps",
    ".uleb128 0",
    ".balign 8",
    "6:",
    ".popsection",
);
