//! Machine code of the functions of a driver that is not open yet. The code keeps all arguments, so it serves commands of every type.

use super::stubs::awake;
use core::arch::naked_asm;

/// Function of a slot of the driver's table: opens the driver, and passes the call on.
///
/// # Safety
/// The parameters are those of the command in the slot.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
pub(crate) unsafe extern "system" fn stub<const SLOT: usize>() {
    naked_asm!(
        ".cfi_startproc",
        "endbr64",
        "mov eax, {slot}",
        "jmp {late}",
        ".cfi_endproc",
        ".p2align 4, 0xCC",
        slot = const SLOT,
        late = sym late,
    )
}

/// Rest of each stub, with the number of the slot in `eax`. Jumps to the driver's function with the driver's handle, or returns the result
/// that [`awake`] returns instead of a function.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
unsafe extern "system" fn late() {
    naked_asm!(
        ".cfi_startproc",
        "push rdi",
        "push rsi",
        "push rdx",
        "push rcx",
        "push r8",
        "push r9",
        "sub rsp, 8",
        ".cfi_adjust_cfa_offset 56",
        "mov esi, eax",
        "call {awake}",
        "mov r11, rdx",
        "add rsp, 8",
        "pop r9",
        "pop r8",
        "pop rcx",
        "pop rdx",
        "pop rsi",
        "pop rdi",
        ".cfi_adjust_cfa_offset -56",
        "test rax, rax",
        "je 2f",
        "mov rdi, r11",
        "jmp rax",
        "2:",
        "mov rax, r11",
        "ret",
        ".cfi_endproc",
        ".p2align 4, 0xCC",
        awake = sym awake,
    )
}

/// Function of a slot of the driver's table: opens the driver, and passes the call on. Begins with `bti c`, in an encoding that older
/// processors execute as a no-op.
///
/// # Safety
/// The parameters are those of the command in the slot.
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
pub(crate) unsafe extern "system" fn stub<const SLOT: usize>() {
    naked_asm!("hint #34", "mov w16, #{slot}", "b {late}", slot = const SLOT, late = sym late)
}

/// Rest of each stub, with the number of the slot in `w16`. Jumps to the driver's function with the driver's handle, or returns the result
/// that [`awake`] returns instead of a function.
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
unsafe extern "system" fn late() {
    naked_asm!(
        ".cfi_startproc",
        "stp x29, x30, [sp, #-80]!",
        ".cfi_def_cfa_offset 80",
        ".cfi_offset x29, -80",
        ".cfi_offset x30, -72",
        "mov x29, sp",
        "stp x0, x1, [sp, #16]",
        "stp x2, x3, [sp, #32]",
        "stp x4, x5, [sp, #48]",
        "stp x6, x7, [sp, #64]",
        "mov w1, w16",
        "bl {awake}",
        "mov x16, x0",
        "mov x17, x1",
        "ldp x0, x1, [sp, #16]",
        "ldp x2, x3, [sp, #32]",
        "ldp x4, x5, [sp, #48]",
        "ldp x6, x7, [sp, #64]",
        "ldp x29, x30, [sp], #80",
        ".cfi_restore x29",
        ".cfi_restore x30",
        ".cfi_def_cfa_offset 0",
        "mov x0, x17",
        "cbz x16, 2f",
        "br x16",
        "2:",
        "ret",
        ".cfi_endproc",
        awake = sym awake,
    )
}
