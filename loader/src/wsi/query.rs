//! What queries of surfaces and displays have in common: whom they ask, and what they say when there is no answer.

use super::unwrap::surface_for;
use crate::alloc::{HostVec, OutOfMemory};
use crate::ffi;
use crate::generated::extensions::InstanceExtension;
use crate::generated::types::{VkResult, VkStructureType, VkSystemAllocationScope};
use crate::handle::{Chain, Driver, PhysicalDeviceHandle, SurfaceHandle};
use crate::instance::{Instance, InstanceDriver};
use crate::journal::LogBits;
use crate::log::Bytes;
use crate::{log, seam};
use std::ffi::c_void;
use std::mem::MaybeUninit;

/// Reports a call of a command whose extension is not enabled (DRV-164, APP-161).
pub(super) fn not_enabled(instance: &Instance, extension: InstanceExtension, command: &str) {
    let extension = Bytes(extension.name().to_bytes());
    log::emit(
        Some(instance),
        LogBits::ERROR,
        format_args!("{extension} extension not enabled. {command} not executed!"),
    );
}

/// Ends the process over a parameter that is NULL although the command writes through it (DRV-165, APP-159a).
#[cold]
pub(super) fn null_parameter(command: &str, parameter: &str) -> ! {
    log::fatal(format_args!("NULL pointer passed into {command} for {parameter}!"));
    std::process::abort()
}

/// Ends the process over a parameter that is NULL although the command reads it.
#[cold]
pub(super) fn null_input(command: &str, parameter: &str) -> ! {
    log::fatal(format_args!(
        "{command}: Invalid {parameter} [VUID-{command}-{parameter}-parameter]"
    ));
    std::process::abort()
}

/// The output behind a pointer; NULL ends the process.
///
/// # Safety
/// `pointer` is NULL or valid for writes, and nothing else refers to its target while the reference lives.
pub(super) unsafe fn output<'a, T>(pointer: *mut T, command: &str, parameter: &str) -> &'a mut T {
    // SAFETY: by this function's contract.
    unsafe { pointer.as_mut() }.unwrap_or_else(|| null_parameter(command, parameter))
}

/// The structure behind a pointer; NULL ends the process.
///
/// # Safety
/// `pointer` is NULL or valid, and its target does not change while the reference lives.
pub(super) unsafe fn input<'a, T>(pointer: *const T, command: &str, parameter: &str) -> &'a T {
    // SAFETY: by this function's contract.
    unsafe { pointer.as_ref() }.unwrap_or_else(|| null_input(command, parameter))
}

/// One query of one physical device.
pub(super) struct Query {
    /// The driver that owns the device.
    pub driver: &'static InstanceDriver,
    /// The driver's own handle.
    pub device: PhysicalDeviceHandle<Driver>,
    /// The command's name, for messages.
    pub command: &'static str,
}

impl Query {
    /// A query of the device behind a handle.
    ///
    /// # Safety
    /// `device` is what the loader's terminator gave to the lowest layer.
    pub(super) unsafe fn new(device: PhysicalDeviceHandle<Chain>, command: &'static str) -> Self {
        // SAFETY: by this function's contract.
        let object = unsafe { seam::chain_physical_device(device) };
        Self {
            driver: object.driver(),
            device: object.handle,
            command,
        }
    }

    /// Whether the instance enabled an extension; says so if not (DRV-164).
    pub(super) fn allows(&self, extension: InstanceExtension) -> bool {
        let instance = self.driver.instance();
        let enabled = instance.enabled.contains(extension);
        if !enabled {
            not_enabled(instance, extension, self.command);
        }
        enabled
    }

    /// Says something about the driver.
    pub(super) fn say(&self, bits: LogBits, text: std::fmt::Arguments<'_>) {
        log::emit(Some(self.driver.instance()), bits, text);
    }

    /// Says that the driver lacks the command.
    pub(super) fn missing(&self, bits: LogBits) {
        self.say(
            bits,
            format_args!("ICD for selected physical device does not export {}!", self.command),
        );
    }

    /// Says that an older command answers, or that nothing does.
    pub(super) fn emulating(&self, older: Option<&str>) {
        let (command, name) = (self.command, Bytes(self.driver.name.bytes()));
        match older {
            Some(older) => {
                self.say(
                    LogBits::INFO,
                    format_args!("{command}: Emulating call in ICD \"{name}\" using {older}"),
                );
            }
            None => self.say(
                LogBits::INFO,
                format_args!("{command}: Emulating call in ICD \"{name}\""),
            ),
        }
    }

    /// Says for each structure in a chain that the emulation ignores it, unless it is `known`.
    ///
    /// # Safety
    /// `chain` is the chain of a valid structure.
    pub(super) unsafe fn ignore(&self, parameter: &str, chain: *const c_void, known: &[VkStructureType]) {
        // SAFETY: by this function's contract.
        for structure in unsafe { ffi::chain(chain) } {
            // SAFETY: every member of a valid chain is readable.
            if !known.contains(unsafe { &(*structure).sType }) {
                self.say(
                    LogBits::WARN,
                    format_args!(
                        "{}: Emulation found unrecognized structure type in {parameter}->pNext - this struct will be \
                         ignored",
                        self.command
                    ),
                );
            }
        }
    }

    /// The driver's surface.
    ///
    /// # Errors
    /// As for [`surface_for`].
    ///
    /// # Safety
    /// As for [`surface_for`].
    pub(super) unsafe fn surface(&self, surface: SurfaceHandle<Chain>) -> Result<SurfaceHandle<Driver>, VkResult> {
        // SAFETY: passed on to the caller.
        unsafe { surface_for(self.driver, surface) }
    }

    /// Answers an enumeration of extensible structures by an older one of plain structures.
    ///
    /// `ask` is the older enumeration; `put` copies one element. Never reads more elements than were allocated,
    /// whatever the driver says (DRV-169). A count of zero asks for the count, like a NULL array.
    ///
    /// # Safety
    /// `count` is valid; `array` is NULL or has room for `*count` elements. All zeros is a valid `Old`.
    pub(super) unsafe fn by_elements<Old: Copy, New>(
        &self,
        count: &mut u32,
        array: *mut New,
        mut ask: impl FnMut(&mut u32, *mut Old) -> VkResult,
        mut put: impl FnMut(&mut New, Old),
    ) -> VkResult {
        if array.is_null() || *count == 0 {
            return ask(count, std::ptr::null_mut());
        }
        let Ok(mut elements) = self.temporary::<Old>(*count as usize) else {
            return OutOfMemory.into();
        };
        let result = ask(count, elements.as_mut_ptr().cast());
        if result.0 < 0 {
            return result;
        }
        *count = (*count).min(elements.len() as u32);
        for (index, element) in elements.iter().take(*count as usize).enumerate() {
            // SAFETY: the index is below the count that the caller gave; zeroed or written elements are valid.
            unsafe { put(&mut *array.add(index), element.assume_init()) };
        }
        result
    }

    /// Zeroed memory for an array of the driver's.
    fn temporary<T: Copy>(&self, len: usize) -> Result<HostVec<MaybeUninit<T>>, OutOfMemory> {
        let scope = VkSystemAllocationScope::VK_SYSTEM_ALLOCATION_SCOPE_COMMAND;
        let mut elements = HostVec::new(self.driver.instance().allocator.scoped(scope));
        elements.try_fill_to(len, MaybeUninit::zeroed())?;
        Ok(elements)
    }
}
