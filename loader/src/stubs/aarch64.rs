//! Stubs for 64-bit Arm. Each stub starts with `bti c`, the landing instruction of branch-target identification, in an encoding that older
//! processors execute as a no-op.

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

stubs! {
    landing = "hint #34", fill = "", mode = "", end = "";
    device_thunk: 16, [
        "ldr x16, [x0]",
        "ldr x16, [x16, #{slots} + vkl_offset]",
        "br x16",
    ];
    physical_device_thunk: 32, [
        "ldr x16, [x0]",
        "ldr x0, [x0, #{handle}]",
        "ldr x16, [x16, #{unknown} + vkl_offset]",
        "br x16",
    ];
    physical_device_terminator: 64, [
        "ldr x17, [x0, #{driver}]",
        "ldr x16, [x17, #{unknown} + vkl_offset]",
        "cbz x16, 3f",
        "ldr x0, [x0, #{handle}]",
        "br x16",
        "3:",
        "mov x0, x17",
        "mov w1, #vkl_index",
        "b {missing}",
    ];
    missing: 16, ["mov w0, #vkl_index", "b {report}"];
    reject: ["b {rejected}"];
}
