//! The thunks for 32-bit x86. All arguments lie on the stack, where the first may be replaced in place.

use super::{SLOTS, route};

std::arch::global_asm!(
    ".pushsection .text.mock_layer_thunks,\"ax\",@progbits",
    ".p2align 4",
    ".hidden mock_layer_thunks",
    ".globl mock_layer_thunks",
    "mock_layer_thunks:",
    ".rept {slots}",
    ".p2align 4",
    // Leaves an address inside the thunk on the stack.
    "call 2f",
    ".endr",
    ".p2align 4",
    "2:",
    "pop eax",
    "lea ecx, [esp + 4]",
    "sub esp, 4",
    "push ecx",
    "push eax",
    "call {route}",
    "add esp, 12",
    "jmp eax",
    ".popsection",
    slots = const SLOTS,
    route = sym route,
);
