//! Stubs for 32-bit Arm, in A32 code. Every caller can enter A32 code, and its addresses have no Thumb bit. The first argument is in r0,
//! and the only free register is ip (r12). The application profile has no landing instruction.
//!
//! Offsets are split: a load reaches 4095 bytes, and an addition adds the rest.

use super::DEVICE_ENDS;
use crate::dispatch_table::UNKNOWN_SLOTS;
use crate::generated::dispatch::{DeviceTable, InstanceTable};
use crate::guard::{stub, stubs_begin, stubs_end};
use crate::translation::{self, offsets};
use core::arch::global_asm;

#[macro_use]
#[path = "blocks.rs"]
mod blocks;
pub(crate) use blocks::*;

// One addition can add an offset up to this limit.
const _: () = assert!(offsets::DEVICE_UNKNOWN + 4 * UNKNOWN_SLOTS <= 0x10_0000);
const _: () = assert!(offsets::DEVICE_ENDS + 4 * DEVICE_ENDS <= 0x10_0000);
const _: () = assert!(offsets::INSTANCE_UNKNOWN + 4 * UNKNOWN_SLOTS <= 0x10_0000);
const _: () = assert!(offsets::DRIVER_UNKNOWN + 4 * UNKNOWN_SLOTS <= 0x10_0000);
// A terminator loads the number of its slot with one instruction, so the number must be below 256.
const _: () = assert!(UNKNOWN_SLOTS <= 256);

stubs! {
    landing = "", fill = "", mode = ".syntax unified\n.arm", end = "";
    device_thunk: 16, [
        "ldr ip, [r0]",
        "add ip, ip, #(({slots} + vkl_offset) & 0xff000)",
        "ldr pc, [ip, #(({slots} + vkl_offset) & 0xfff)]",
    ];
    physical_device_thunk: 16, [
        "ldr ip, [r0]",
        "ldr r0, [r0, #{handle}]",
        "add ip, ip, #(({unknown} + vkl_offset) & 0xff000)",
        "ldr pc, [ip, #(({unknown} + vkl_offset) & 0xfff)]",
    ];
    physical_device_terminator: 64, [
        "ldr ip, [r0, #{driver}]",
        "add ip, ip, #(({unknown} + vkl_offset) & 0xff000)",
        "ldr ip, [ip, #(({unknown} + vkl_offset) & 0xfff)]",
        "cmp ip, #0",
        "ldrne r0, [r0, #{handle}]",
        "bxne ip",
        "ldr r0, [r0, #{driver}]",
        "mov r1, #vkl_index",
        "b {missing}",
    ];
    missing: 16, [
        "mov r0, #(vkl_index & 0xff)",
        "orr r0, r0, #(vkl_index & 0xff00)",
        "b {report}",
    ];
    reject: ["b {rejected}"];
}
