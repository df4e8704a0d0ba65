//! Machine code under control-flow guard, which checks calls through pointers on Windows.
//!
//! With `/guard:cf`, the linker lists the functions that may be called through pointers, and the system ends a process that calls any other
//! address. The compiler lists its own functions. Stubs, whose addresses are computed, list themselves. Jumps through tables are checked
//! only if the compiler checks its own calls, with `-Ccontrol-flow-guard`; the build script then sets `vkl_guarded`.

/// Defines the assembler macro that [`stub`] uses. Comes before the first stub of a block.
#[cfg(all(windows, target_env = "msvc"))]
macro_rules! stubs_begin {
    () => {
        ".macro vkl_stub
        .def vkl_stub_\\@
        .scl 3
        .type 32
        .endef
        vkl_stub_\\@:
        .section .gfids$y, \"dr\"
        .symidx vkl_stub_\\@
        .text
        .endm"
    };
}
#[cfg(not(all(windows, target_env = "msvc")))]
macro_rules! stubs_begin {
    () => {
        ""
    };
}

/// Lists the following code as a function that may be called through a pointer.
#[cfg(all(windows, target_env = "msvc"))]
macro_rules! stub {
    () => {
        "vkl_stub"
    };
}
#[cfg(not(all(windows, target_env = "msvc")))]
macro_rules! stub {
    () => {
        ""
    };
}

/// Removes the assembler macro. Comes after the last stub of a block.
#[cfg(all(windows, target_env = "msvc"))]
macro_rules! stubs_end {
    () => {
        ".purgem vkl_stub"
    };
}
#[cfg(not(all(windows, target_env = "msvc")))]
macro_rules! stubs_end {
    () => {
        ""
    };
}

/// Jumps to the function whose address the memory operand `$place` contains. Changes only rax; on x86, eax, ecx and edx.
#[cfg(all(target_arch = "x86_64", not(vkl_guarded)))]
macro_rules! jump {
    ($place:literal) => {
        concat!("jmp qword ptr [", $place, "]")
    };
}
#[cfg(all(target_arch = "x86_64", vkl_guarded))]
macro_rules! jump {
    ($place:literal) => {
        concat!(
            "mov rax, [",
            $place,
            "]\njmp qword ptr [rip + __guard_dispatch_icall_fptr]"
        )
    };
}
#[cfg(all(target_arch = "x86", not(vkl_guarded)))]
macro_rules! jump {
    ($place:literal) => {
        concat!("jmp dword ptr [", $place, "]")
    };
}
#[cfg(all(target_arch = "x86", vkl_guarded))]
macro_rules! jump {
    ($place:literal) => {
        concat!(
            "mov ecx, [",
            $place,
            "]\ncall dword ptr [___guard_check_icall_fptr]\njmp ecx"
        )
    };
}

/// Jumps to the function whose address is in a register. Changes the same registers as [`jump`].
#[cfg(all(any(target_arch = "x86", target_arch = "x86_64"), not(vkl_guarded)))]
macro_rules! jump_to {
    ($register:literal) => {
        concat!("jmp ", $register)
    };
}
#[cfg(all(target_arch = "x86_64", vkl_guarded))]
macro_rules! jump_to {
    ($register:literal) => {
        concat!(
            "mov rax, ",
            $register,
            "\njmp qword ptr [rip + __guard_dispatch_icall_fptr]"
        )
    };
}
#[cfg(all(target_arch = "x86", vkl_guarded))]
macro_rules! jump_to {
    ($register:literal) => {
        concat!(
            "mov ecx, ",
            $register,
            "\ncall dword ptr [___guard_check_icall_fptr]\njmp ecx"
        )
    };
}

#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
pub(crate) use {jump, jump_to};
pub(crate) use {stub, stubs_begin, stubs_end};
