//! The jump of an exported function, in machine code.

/// Expands to a jump through element `$number` of the array `$targets`, which changes no argument. It begins with the landing
/// instruction for indirect calls.
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

/// Expands to such a jump through x16, which calls between libraries may change. Older processors ignore the landing instruction.
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

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
compile_error!("steps-aside is for Linux on x86-64 and 64-bit Arm");

pub(crate) use jump;
