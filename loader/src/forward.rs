//! The bodies of the trampolines that only check a handle and jump on; `generated/trampoline/` has the functions.

/// The body of a device-level command's trampoline: a check of the handle and a jump through its table (APP-159).
///
/// On x86-64 the body is machine code: a compiler would load the function into a register before it jumps.
#[cfg(not(target_arch = "x86_64"))]
macro_rules! forward {
    ($name:ident($handle:ident $(, $argument:ident)*)) => {
        match unsafe { crate::translation::device_table($handle) } {
            Some(table) => unsafe { (*table.$name)($handle $(, $argument)*) },
            None => crate::translation::reject(crate::generated::lookup::row::$name),
        }
    };
}

// The steps are those of `translation::device_table`. Nothing but rax and r11 changes before the jump.
#[cfg(target_arch = "x86_64")]
macro_rules! forward {
    ($name:ident $arguments:tt) => {
        core::arch::naked_asm!(
            $crate::forward::frame_begins!(),
            concat!("test ", crate::stubs::first!(), ", ", crate::stubs::first!()),
            "je 3f",
            concat!("mov rax, [", crate::stubs::first!(), "]"),
            "cmp rax, [rip + {devices} + {newest}]",
            "jne 2f",
            "1:",
            "jmp qword ptr [rax + {slot}]",
            "2:",
            "test rax, rax",
            "je 3f",
            "mov r11, {magic}",
            "cmp [rax], r11",
            "je 1b",
            "3:",
            concat!("mov ", crate::stubs::first_half!(), ", {row}"),
            "jmp {reject}",
            $crate::forward::frame_ends!(),
            devices = sym crate::device::DEVICES,
            newest = const crate::translation::offsets::NEWEST,
            slot = const core::mem::offset_of!(crate::generated::dispatch::DeviceTable, $name),
            magic = const crate::translation::DEVICE_MAGIC,
            row = const crate::generated::lookup::row::$name,
            reject = sym crate::translation::rejected_handle,
        )
    };
}

/// The body of the trampoline of a physical device's command: a check, and a jump through the table of the instance with
/// the handle that the chain knows.
#[cfg(not(target_arch = "x86_64"))]
macro_rules! forward_of_physical_device {
    ($name:ident($handle:ident $(, $argument:ident)*)) => {
        match unsafe { crate::translation::physical_device($handle) } {
            Some((table, handle)) => unsafe { (*table.$name)(handle $(, $argument)*) },
            None => crate::translation::reject(crate::generated::lookup::row::$name),
        }
    };
}

// The steps are those of `translation::physical_device`. All that runs lies within one line of the cache, which a compiler
// cannot be told of a single function.
#[cfg(target_arch = "x86_64")]
macro_rules! forward_of_physical_device {
    ($name:ident $arguments:tt) => {
        core::arch::naked_asm!(
            $crate::forward::frame_begins!(),
            concat!("test ", crate::stubs::first!(), ", ", crate::stubs::first!()),
            "je 2f",
            "mov rax, {magic}",
            concat!("cmp [", crate::stubs::first!(), " + {place}], rax"),
            "jne 2f",
            concat!("mov rax, [", crate::stubs::first!(), "]"),
            concat!("mov ", crate::stubs::first!(), ", [", crate::stubs::first!(), " + {chain}]"),
            "jmp qword ptr [rax + {slot}]",
            "2:",
            concat!("mov ", crate::stubs::first_half!(), ", {row}"),
            "jmp {reject}",
            $crate::forward::frame_ends!(),
            ".p2align 6, 0xCC",
            magic = const crate::translation::PHYSICAL_DEVICE_MAGIC,
            place = const crate::translation::offsets::PHYSICAL_DEVICE_MAGIC,
            chain = const crate::translation::offsets::PHYSICAL_DEVICE_CHAIN,
            slot = const core::mem::offset_of!(crate::generated::dispatch::InstanceTable, $name),
            row = const crate::generated::lookup::row::$name,
            reject = sym crate::translation::rejected_handle,
        )
    };
}

/// Tells debuggers and profilers that the stack is as the caller left it. The gap keeps functions apart.
#[cfg(all(target_arch = "x86_64", not(windows)))]
macro_rules! frame_begins {
    () => {
        ".cfi_startproc"
    };
}
#[cfg(all(target_arch = "x86_64", not(windows)))]
macro_rules! frame_ends {
    () => {
        ".cfi_endproc\n.p2align 4, 0xCC"
    };
}
/// On Windows a function without an entry in the unwind table is known to be that simple.
#[cfg(all(target_arch = "x86_64", windows))]
macro_rules! frame_begins {
    () => {
        ""
    };
}
#[cfg(all(target_arch = "x86_64", windows))]
macro_rules! frame_ends {
    () => {
        ".p2align 4, 0xCC"
    };
}

pub(crate) use {forward, forward_of_physical_device};
#[cfg(target_arch = "x86_64")]
pub(crate) use {frame_begins, frame_ends};
