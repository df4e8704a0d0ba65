//! Thunks for 32-bit x86. All arguments are on the stack, so the thunk can replace the first argument on the stack.

use super::{SLOTS, route};

/// Assembly text before the thunks. On 32-bit Windows, C names begin with an underscore.
#[cfg(windows)]
macro_rules! begin {
    () => {
        ".section .text$mock_layer_thunks,\"xr\"\n.p2align 4\n.globl _mock_layer_thunks\n_mock_layer_thunks:"
    };
}
#[cfg(not(windows))]
macro_rules! begin {
    () => {
        ".pushsection .text.mock_layer_thunks,\"ax\",@progbits\n.p2align 4\n.hidden mock_layer_thunks\n.globl mock_layer_thunks\nmock_layer_thunks:"
    };
}

/// Assembly text that follows the thunks and selects the previous section again.
#[cfg(windows)]
macro_rules! end {
    () => {
        ".text"
    };
}
#[cfg(not(windows))]
macro_rules! end {
    () => {
        ".popsection"
    };
}

std::arch::global_asm!(
    begin!(),
    ".rept {slots}",
    ".p2align 4",
    // This call pushes an address inside the thunk onto the stack.
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
    end!(),
    slots = const SLOTS,
    route = sym route,
);
