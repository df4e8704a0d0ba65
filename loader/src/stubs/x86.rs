//! Stubs for 32-bit x86. Arguments are on the stack, the first after the return address, and the callee may change them there. Each stub
//! starts with the landing instruction of indirect-branch tracking.

use super::DEVICE_ENDS;
use crate::dispatch_table::UNKNOWN_SLOTS;
use crate::generated::dispatch::{DeviceTable, InstanceTable};
use crate::guard::{jump, jump_to, stub, stubs_begin, stubs_end};
use crate::translation::{self, offsets};
use core::arch::global_asm;

#[macro_use]
#[path = "blocks.rs"]
mod blocks;
pub(crate) use blocks::*;

stubs! {
    landing = "endbr32", fill = ", 0xCC", mode = "", end = "";
    // A jump that Control Flow Guard checks makes the code longer.
    device_thunk: if cfg!(vkl_guarded) { 32 } else { 16 }, [
        "mov eax, [esp + 4]",
        "mov eax, [eax]",
        jump!("eax + {slots} + vkl_offset"),
    ];
    physical_device_thunk: 32, [
        "mov eax, [esp + 4]",
        "mov ecx, [eax]",
        "mov eax, [eax + {handle}]",
        "mov [esp + 4], eax",
        jump!("ecx + {unknown} + vkl_offset"),
    ];
    // The call at label 3 reports the missing function and never returns. The stack there has the alignment that a C call requires.
    physical_device_terminator: 64, [
        "mov eax, [esp + 4]",
        "mov ecx, [eax + {driver}]",
        "mov edx, [ecx + {unknown} + vkl_offset]",
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
    ];
    missing: 16, ["mov eax, vkl_index", "jmp 3f"] then ["3:", "sub esp, 8", "push eax", "call {report}"];
    reject: ["jmp {rejected}"];
}
