//! Stubs for x86-64. Each stub starts with the landing instruction of indirect-branch tracking.

use super::DEVICE_ENDS;
use crate::dispatch_table::UNKNOWN_SLOTS;
use crate::frame::{frame_begins, frame_ends};
use crate::generated::dispatch::{DeviceTable, InstanceTable};
use crate::guard::{jump, jump_to, stub, stubs_begin, stubs_end};
use crate::table::Slots;
use crate::translation::{self, offsets};
use core::arch::global_asm;

#[macro_use]
#[path = "blocks.rs"]
mod blocks;
pub(crate) use blocks::*;

unsafe extern "C" {
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

stubs! {
    landing = "endbr64", fill = ", 0xCC", mode = "", end = "";
    // A jump that Control Flow Guard checks makes the code longer.
    device_thunk: if cfg!(vkl_guarded) { 32 } else { 16 }, [
        concat!("mov rax, [", first!(), "]"),
        jump!("rax + {slots} + vkl_offset"),
    ];
    physical_device_thunk: 16, ["mov eax, vkl_offset", "jmp 3f"] then [
        "3:",
        concat!("add rax, [", first!(), "]"),
        concat!("mov ", first!(), ", [", first!(), " + {handle}]"),
        jump!("rax + {unknown}"),
    ];
    physical_device_terminator: 16, ["mov eax, vkl_index", "jmp 3f"] then [
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
    ];
    missing: 16, [concat!("mov ", first_half!(), ", vkl_index"), "jmp {report}"];
    reject: ["jmp {rejected}"];
}

// For a device that is not the newest one, checks the magic in front of the device's table, and jumps through the slot whose number is in
// ax.
global_asm!(
    ".text",
    local_symbol!("vkl_other_device", ", 0xCC"),
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

// One entry of the unwind table for all trampolines that only jump. These trampolines have a section of their own, and none of them changes
// the stack: the return address is always at rsp.
#[cfg(vkl_one_frame)]
global_asm!(
    ".pushsection .text.vkl_jumps, \"ax\", @progbits",
    ".subsection 1",
    local_symbol!("vkl_jumps_end", ", 0xCC"),
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
