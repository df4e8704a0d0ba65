//! Thunks for 32-bit Arm, in A32 code. A read of the program counter returns the address of the second instruction after the current
//! instruction. This address is inside the thunk.

use super::{SLOTS, route};

std::arch::global_asm!(
    ".pushsection .text.mock_layer_thunks,\"ax\",%progbits",
    ".syntax unified",
    ".arm",
    ".p2align 4",
    ".hidden mock_layer_thunks",
    ".globl mock_layer_thunks",
    "mock_layer_thunks:",
    ".rept {slots}",
    ".p2align 4",
    "mov ip, pc",
    "b 2f",
    ".endr",
    ".p2align 4",
    "2:",
    "push {{r0, r1, r2, r3, ip, lr}}",
    "vpush {{d0, d1, d2, d3, d4, d5, d6, d7}}",
    "mov r0, ip",
    "add r1, sp, #64",
    "bl {route}",
    "mov ip, r0",
    "vpop {{d0, d1, d2, d3, d4, d5, d6, d7}}",
    "pop {{r0, r1, r2, r3}}",
    "ldr lr, [sp, #4]",
    "add sp, sp, #8",
    "bx ip",
    ".popsection",
    slots = const SLOTS,
    route = sym route,
);
