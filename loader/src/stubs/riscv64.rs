//! Stubs for 64-bit RISC-V. The first argument is in a0, and the registers t0 to t6 are free. All instructions have four bytes and the
//! linker does not change them, so all stubs of a kind have the same size.
//!
//! Offsets are split: a load reaches 2047 bytes forward and 2048 back, and `lui` adds the rest.

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

// One instruction loads the number of a slot, so the number must be below 2048.
const _: () = assert!(DeviceTable::SLOT_COUNT <= 2048 && InstanceTable::SLOT_COUNT <= 2048 && UNKNOWN_SLOTS <= 2048);

stubs! {
    landing = "", fill = "", mode = ".option push\n.option norvc\n.option norelax", end = ".option pop";
    device_thunk: 32, [
        "ld t1, 0(a0)",
        "lui t2, ({slots} + vkl_offset + 0x800) >> 12",
        "add t1, t1, t2",
        "ld t1, ((({slots} + vkl_offset + 0x800) & 0xfff) - 0x800)(t1)",
        "jr t1",
    ];
    physical_device_thunk: 32, [
        "ld t1, 0(a0)",
        "ld a0, {handle}(a0)",
        "lui t2, ({unknown} + vkl_offset + 0x800) >> 12",
        "add t1, t1, t2",
        "ld t1, ((({unknown} + vkl_offset + 0x800) & 0xfff) - 0x800)(t1)",
        "jr t1",
    ];
    physical_device_terminator: 64, [
        "ld t3, {driver}(a0)",
        "lui t2, ({unknown} + vkl_offset + 0x800) >> 12",
        "add t1, t3, t2",
        "ld t1, ((({unknown} + vkl_offset + 0x800) & 0xfff) - 0x800)(t1)",
        "beqz t1, 3f",
        "ld a0, {handle}(a0)",
        "jr t1",
        "3:",
        "mv a0, t3",
        "li a1, vkl_index",
        "tail {missing}",
    ];
    missing: 16, ["li a0, vkl_index", "tail {report}"];
    reject: ["tail {rejected}"];
}
