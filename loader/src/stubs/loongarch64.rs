//! Stubs for 64-bit LoongArch. The first argument is in a0, and the registers t0 to t8 are free.

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

// Range of `ldptr.d`, the load instruction with the longest reach. The offsets in this instruction are multiples of four.
const REACH: usize = 0x8000;
const _: () = assert!(offsets::DEVICE_UNKNOWN + 8 * UNKNOWN_SLOTS <= REACH);
const _: () = assert!(offsets::DEVICE_ENDS + 8 * DEVICE_ENDS <= REACH);
const _: () = assert!(offsets::INSTANCE_UNKNOWN + 8 * UNKNOWN_SLOTS <= REACH);
const _: () = assert!(offsets::DRIVER_UNKNOWN + 8 * UNKNOWN_SLOTS <= REACH);
// One instruction loads the number of a slot, so the number must be below 2048.
const _: () = assert!(DeviceTable::SLOT_COUNT <= 2048 && InstanceTable::SLOT_COUNT <= 2048 && UNKNOWN_SLOTS <= 2048);

stubs! {
    landing = "", fill = "", mode = "", end = "";
    device_thunk: 16, [
        "ld.d $t0, $a0, 0",
        "ldptr.d $t0, $t0, {slots} + vkl_offset",
        "jr $t0",
    ];
    physical_device_thunk: 16, [
        "ld.d $t0, $a0, 0",
        "ld.d $a0, $a0, {handle}",
        "ldptr.d $t0, $t0, {unknown} + vkl_offset",
        "jr $t0",
    ];
    physical_device_terminator: 32, [
        "ld.d $t1, $a0, {driver}",
        "ldptr.d $t0, $t1, {unknown} + vkl_offset",
        "beqz $t0, 3f",
        "ld.d $a0, $a0, {handle}",
        "jr $t0",
        "3:",
        "move $a0, $t1",
        "ori $a1, $zero, vkl_index",
        "b {missing}",
    ];
    missing: 8, ["ori $a0, $zero, vkl_index", "b {report}"];
    reject: ["b {rejected}"];
}
