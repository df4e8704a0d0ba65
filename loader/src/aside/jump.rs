//! The jump of an exported function, in machine code.
//!
//! Each macro expands to a jump through element `$number` of the array `$targets`. The jump preserves all arguments. It changes only a
//! register that every call between libraries may change. On x86 and Arm, the jump begins with the landing instruction for indirect calls,
//! which older processors ignore.

#[cfg(target_arch = "x86_64")]
macro_rules! jump {
    ($targets:path, $number:expr) => {
        core::arch::naked_asm!(
            "endbr64",
            "jmp qword ptr [rip + {targets} + {offset}]",
            targets = sym $targets,
            offset = const $number as usize * size_of::<usize>(),
        )
    };
}

// All arguments are on the stack, so `eax` is free. No addressing mode is relative to the instruction pointer, so a call to the next
// instruction gets the address of that instruction.
#[cfg(target_arch = "x86")]
macro_rules! jump {
    ($targets:path, $number:expr) => {
        core::arch::naked_asm!(
            "endbr32",
            "call 2f",
            "2:",
            "popl %eax",
            "jmpl *({targets} + {offset} - 2b)(%eax)",
            targets = sym $targets,
            offset = const $number as usize * size_of::<usize>(),
            options(att_syntax),
        )
    };
}

#[cfg(target_arch = "aarch64")]
macro_rules! jump {
    ($targets:path, $number:expr) => {
        core::arch::naked_asm!(
            "hint #34",
            "adrp x16, {targets} + {offset}",
            "ldr x16, [x16, #:lo12:{targets} + {offset}]",
            "br x16",
            targets = sym $targets,
            offset = const $number as usize * size_of::<usize>(),
        )
    };
}

// In a load, the program counter is the address of the instruction plus 8 bytes.
#[cfg(all(target_arch = "arm", not(target_feature = "thumb-mode")))]
macro_rules! jump {
    ($targets:path, $number:expr) => {
        core::arch::naked_asm!(
            "ldr r12, 3f",
            "2:",
            "ldr pc, [pc, r12]",
            "3:",
            ".word {targets} + {offset} - 2b - 8",
            targets = sym $targets,
            offset = const $number as usize * size_of::<usize>(),
        )
    };
}

#[cfg(target_arch = "riscv64")]
macro_rules! jump {
    ($targets:path, $number:expr) => {
        core::arch::naked_asm!(
            "2:",
            "auipc t1, %pcrel_hi({targets} + {offset})",
            "ld t1, %pcrel_lo(2b)(t1)",
            "jr t1",
            targets = sym $targets,
            offset = const $number as usize * size_of::<usize>(),
        )
    };
}

#[cfg(target_arch = "loongarch64")]
macro_rules! jump {
    ($targets:path, $number:expr) => {
        core::arch::naked_asm!(
            "pcalau12i $t0, %pc_hi20({targets} + {offset})",
            "ld.d $t0, $t0, %pc_lo12({targets} + {offset})",
            "jr $t0",
            targets = sym $targets,
            offset = const $number as usize * size_of::<usize>(),
        )
    };
}

#[cfg(not(all(
    target_os = "linux",
    any(
        target_arch = "x86",
        target_arch = "x86_64",
        all(target_arch = "arm", not(target_feature = "thumb-mode")),
        target_arch = "aarch64",
        target_arch = "riscv64",
        target_arch = "loongarch64"
    )
)))]
compile_error!("steps-aside is for Linux on x86, Arm, RISC-V of 64 bits and LoongArch");

pub(crate) use jump;
