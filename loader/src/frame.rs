//! The directives by which debuggers and profilers find the caller of a function in machine code, on x86 and x86-64.

/// Tells debuggers and profilers that the stack is unchanged since the call. The padding in `frame_ends` separates functions.
#[cfg(not(windows))]
macro_rules! frame_begins {
    () => {
        ".cfi_startproc"
    };
}
#[cfg(not(windows))]
macro_rules! frame_ends {
    () => {
        ".cfi_endproc\n.p2align 4, 0xCC"
    };
}
/// Does nothing: on Windows, a function without an entry in the unwind table counts as one that leaves the stack unchanged.
#[cfg(windows)]
macro_rules! frame_begins {
    () => {
        ""
    };
}
#[cfg(windows)]
macro_rules! frame_ends {
    () => {
        ".p2align 4, 0xCC"
    };
}

/// The frame of a trampoline that only jumps. In the shipped library for Linux, all these trampolines are in one section. One entry of the
/// unwind table covers the section (`stubs/x86_64.rs`), because one entry for each trampoline would be as large as the code.
#[cfg(all(target_arch = "x86_64", vkl_one_frame))]
macro_rules! jump_begins {
    () => {
        ""
    };
}
#[cfg(all(target_arch = "x86_64", vkl_one_frame))]
macro_rules! jump_ends {
    () => {
        ""
    };
}
#[cfg(all(target_arch = "x86_64", not(vkl_one_frame)))]
pub(crate) use {frame_begins as jump_begins, frame_ends as jump_ends};

pub(crate) use {frame_begins, frame_ends};
#[cfg(all(target_arch = "x86_64", vkl_one_frame))]
pub(crate) use {jump_begins, jump_ends};
