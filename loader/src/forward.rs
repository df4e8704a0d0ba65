//! Bodies of the trampolines and terminators that only pass a call on; `generated/` has the functions.
//!
//! The rows list the arguments in the form that the next level expects: a pointer whose type differs between levels is cast. The unsafe
//! steps rely on what Vulkan demands of the caller; `translation` states the requirements of each of its functions.

use crate::generated::types::VkResult;

/// Body of a device-level trampoline: checks the handle and jumps to the function in the table of the device (APP-159).
///
/// On x86-64, the body is machine code, because a compiler would load the function into a register before it jumps. On x86, the body is
/// machine code too: all arguments are on the stack, and a compiler would copy them for a call.
#[cfg(not(any(target_arch = "x86", target_arch = "x86_64")))]
macro_rules! forward {
    ($name:ident($handle:ident $(, $argument:expr)*)) => {
        match unsafe { crate::translation::device_table($handle) } {
            Some(table) => unsafe { (*table.$name)($handle $(, $argument)*) },
            None => crate::translation::reject(crate::generated::lookup::row::$name),
        }
    };
}

// This code makes the first check of `translation::device_table`: the table must be the table of the newest device. `vkl_other_device`
// makes the other checks, for all commands. Only rax and r11 change before the jump. The code has 32 bytes, so that it is within one cache
// line.
#[cfg(target_arch = "x86_64")]
macro_rules! forward {
    ($name:ident $arguments:tt) => {
        core::arch::naked_asm!(
            $crate::frame::jump_begins!(),
            concat!("test ", crate::stubs::first!(), ", ", crate::stubs::first!()),
            "je 2f",
            concat!("mov rax, [", crate::stubs::first!(), "]"),
            "cmp rax, [rip + {devices} + {newest}]",
            "jne 2f",
            $crate::guard::jump!("rax + {slot}"),
            "2:",
            "mov ax, {number}",
            "jmp {other}",
            $crate::frame::jump_ends!(),
            ".p2align 5, 0xCC",
            devices = sym crate::device::DEVICES,
            newest = const crate::translation::offsets::NEWEST,
            slot = const core::mem::offset_of!(crate::generated::dispatch::DeviceTable, $name),
            number = const crate::generated::dispatch::device::slot::$name,
            other = sym crate::stubs::vkl_other_device,
        )
    };
}

// This code checks only the magic: a comparison with the newest device's table would need a register for the address of the code.
#[cfg(target_arch = "x86")]
macro_rules! forward {
    ($name:ident $arguments:tt) => {
        core::arch::naked_asm!(
            $crate::frame::frame_begins!(),
            "mov eax, [esp + 4]",
            "test eax, eax",
            "je 3f",
            "mov eax, [eax]",
            "test eax, eax",
            "je 3f",
            "cmp dword ptr [eax], {low}",
            "jne 3f",
            "cmp dword ptr [eax + 4], {high}",
            "jne 3f",
            $crate::guard::jump!("eax + {slot}"),
            "3:",
            "mov dword ptr [esp + 4], {row}",
            "jmp {reject}",
            $crate::frame::frame_ends!(),
            low = const crate::translation::DEVICE_MAGIC as u32,
            high = const (crate::translation::DEVICE_MAGIC >> 32) as u32,
            slot = const core::mem::offset_of!(crate::generated::dispatch::DeviceTable, $name),
            row = const crate::generated::lookup::row::$name,
            reject = sym crate::translation::rejected_handle,
        )
    };
}

/// Body of a physical-device trampoline: checks the handle and jumps through the table of the instance with the chain's handle.
#[cfg(not(any(target_arch = "x86", target_arch = "x86_64")))]
macro_rules! forward_of_physical_device {
    ($name:ident($handle:ident $(, $argument:expr)*)) => {
        match unsafe { crate::translation::physical_device($handle) } {
            Some((table, handle)) => unsafe { (*table.$name)(handle $(, $argument)*) },
            None => crate::translation::reject(crate::generated::lookup::row::$name),
        }
    };
}

// This code does the steps of `translation::physical_device`. The body is machine code, so that all executed instructions are within one
// cache line: a compiler cannot be told to align a single function.
#[cfg(target_arch = "x86_64")]
macro_rules! forward_of_physical_device {
    ($name:ident $arguments:tt) => {
        core::arch::naked_asm!(
            $crate::frame::jump_begins!(),
            concat!("test ", crate::stubs::first!(), ", ", crate::stubs::first!()),
            "je 2f",
            "mov rax, {magic}",
            concat!("cmp [", crate::stubs::first!(), " + {place}], rax"),
            "jne 2f",
            concat!("mov rax, [", crate::stubs::first!(), "]"),
            concat!("mov ", crate::stubs::first!(), ", [", crate::stubs::first!(), " + {chain}]"),
            $crate::guard::jump!("rax + {slot}"),
            "2:",
            concat!("mov ", crate::stubs::first_half!(), ", {row}"),
            "jmp {reject}",
            $crate::frame::jump_ends!(),
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

#[cfg(target_arch = "x86")]
macro_rules! forward_of_physical_device {
    ($name:ident $arguments:tt) => {
        core::arch::naked_asm!(
            $crate::frame::frame_begins!(),
            "mov eax, [esp + 4]",
            "test eax, eax",
            "je 2f",
            "cmp dword ptr [eax + {place}], {low}",
            "jne 2f",
            "cmp dword ptr [eax + {place} + 4], {high}",
            "jne 2f",
            "mov ecx, [eax]",
            "mov eax, [eax + {chain}]",
            "mov [esp + 4], eax",
            $crate::guard::jump!("ecx + {slot}"),
            "2:",
            "mov dword ptr [esp + 4], {row}",
            "jmp {reject}",
            $crate::frame::frame_ends!(),
            low = const crate::translation::PHYSICAL_DEVICE_MAGIC as u32,
            high = const (crate::translation::PHYSICAL_DEVICE_MAGIC >> 32) as u32,
            place = const crate::translation::offsets::PHYSICAL_DEVICE_MAGIC,
            chain = const crate::translation::offsets::PHYSICAL_DEVICE_CHAIN,
            slot = const core::mem::offset_of!(crate::generated::dispatch::InstanceTable, $name),
            row = const crate::generated::lookup::row::$name,
            reject = sym crate::translation::rejected_handle,
        )
    };
}

/// Body of an instance-level trampoline: checks the handle and calls the function in the table of the instance with the chain's handle.
macro_rules! forward_of_instance {
    ($name:ident($handle:ident $(, $argument:expr)*)) => {
        match unsafe { $crate::translation::instance($handle) } {
            Some((table, handle)) => unsafe { (*table.$name)(handle $(, $argument)*) },
            None => $crate::translation::reject($crate::generated::lookup::row::$name),
        }
    };
}

/// Body of a device-level trampoline that returns dispatchable objects: after success, each object gets the dispatch pointer of its device
/// (DRV-201). The arguments after the call are the objects and their number.
macro_rules! forward_and_adopt {
    ($name:ident($handle:ident $(, $argument:expr)*), $objects:expr, $count:expr) => {
        match unsafe { $crate::translation::device_table($handle) } {
            Some(table) => unsafe {
                let outcome = (*table.$name)($handle $(, $argument)*);
                if $crate::forward::Outcome::is_success(&outcome) {
                    $crate::translation::adopt_all(table, $objects, $count);
                }
                outcome
            },
            None => $crate::translation::reject($crate::generated::lookup::row::$name),
        }
    };
}

/// Result of a command that creates objects.
pub(crate) trait Outcome {
    /// Returns `true` if the command created the objects.
    fn is_success(&self) -> bool;
}

impl Outcome for () {
    #[inline(always)]
    fn is_success(&self) -> bool {
        true
    }
}

impl Outcome for VkResult {
    #[inline(always)]
    fn is_success(&self) -> bool {
        *self == Self::VK_SUCCESS
    }
}

/// Body of a physical-device terminator: calls the driver's function with the driver's handle.
///
/// If the driver lacks the function, the process ends (DRV-161), or, if a value follows the call, the terminator logs a message and returns
/// that value. If a required extension is not enabled, no driver is asked (DRV-164).
macro_rules! ask_driver {
    ($name:ident($handle:ident $(, $argument:expr)*)) => {{
        let (driver, handle) = unsafe { $crate::translation::driver_of($handle) };
        match driver.table.$name {
            Some(function) => unsafe { function(handle $(, $argument)*) },
            // The message has the name without `vk`.
            None => $crate::translation::unsupported(const { stringify!($name).split_at(2).1 }),
        }
    }};
    (
        $name:ident($handle:ident $(, $argument:expr)*), absent($severity:ident, $value:expr) $(, requires($extension:ident))?
    ) => {{
        $(
            let extension = discovery::extension::InstanceExtension::$extension;
            let enabled = unsafe { $crate::translation::enabled($handle, extension, stringify!($name)) };
            if !enabled {
                return $value;
            }
        )?
        let (driver, handle) = unsafe { $crate::translation::driver_of($handle) };
        match driver.table.$name {
            Some(function) => unsafe { function(handle $(, $argument)*) },
            None => {
                let severity = discovery::journal::LogBits::$severity;
                $crate::translation::absent(driver, stringify!($name), severity, $value)
            }
        }
    }};
}

pub(crate) use {ask_driver, forward, forward_and_adopt, forward_of_instance, forward_of_physical_device};
