//! Common parts of surface and display queries in addition to [`Target`]: messages for calls that cannot be answered.

use super::unwrap::surface_for;
use crate::generated::types::VkResult;
use crate::handle::{Chain, Driver, SurfaceHandle};
use crate::instance::Instance;
use crate::target::Target;
use discovery::extension::InstanceExtension;
use discovery::journal::LogBits;
use discovery::log;
use discovery::trace::{Begun, Step};
use os::Raw;

/// Reports a call of a command whose extension is not enabled (DRV-164, APP-161).
pub(super) fn not_enabled(instance: &Instance, extension: InstanceExtension, command: &str) {
    // The message for `VK_EXT_headless_surface` has two spaces between its sentences.
    let blank = match extension {
        InstanceExtension::VK_EXT_headless_surface => " ",
        _ => "",
    };
    let extension = Raw(extension.name().to_bytes());
    log::emit(
        Some(instance),
        LogBits::ERROR,
        format_args!("{extension} extension not enabled.{blank} {command} not executed!"),
    );
}

/// Ends the process because a parameter is NULL although the command writes through it (DRV-165, APP-159a).
#[cold]
pub(super) fn null_parameter(command: &str, parameter: &str) -> ! {
    log::fatal(format_args!("NULL pointer passed into {command} for {parameter}!"));
    os::abort()
}

/// Ends the process because a parameter is NULL although the command reads it.
#[cold]
pub(super) fn null_input(command: &str, parameter: &str) -> ! {
    log::fatal(format_args!(
        "{command}: Invalid {parameter} [VUID-{command}-{parameter}-parameter]"
    ));
    os::abort()
}

/// Returns the output at a pointer; NULL ends the process.
///
/// # Safety
/// `pointer` is NULL or valid for writes, and nothing else refers to its target while the reference lives.
pub(super) unsafe fn output<'a, T>(pointer: *mut T, command: &str, parameter: &str) -> &'a mut T {
    // SAFETY: the caller promises a pointer that is NULL or valid, without other references to its target.
    unsafe { pointer.as_mut() }.unwrap_or_else(|| null_parameter(command, parameter))
}

/// Returns the structure at a pointer; NULL ends the process.
///
/// # Safety
/// `pointer` is NULL or valid, and its target does not change while the reference lives.
pub(super) unsafe fn input<'a, T>(pointer: *const T, command: &str, parameter: &str) -> &'a T {
    // SAFETY: the caller promises a pointer that is NULL or valid, whose target does not change.
    unsafe { pointer.as_ref() }.unwrap_or_else(|| null_input(command, parameter))
}

impl Target {
    /// Returns `true` if the instance enabled an extension; logs an error if not (DRV-164).
    pub(super) fn allows(&self, extension: InstanceExtension) -> bool {
        let enabled = self.enabled(extension);
        if !enabled {
            not_enabled(self.instance(), extension, self.command);
        }
        enabled
    }

    /// Logs that the driver lacks the command.
    pub(super) fn missing(&self, bits: LogBits) {
        log::emit(
            Some(self.instance()),
            bits,
            format_args!("ICD for selected physical device does not export {}!", self.command),
        );
    }

    /// Writes to the trace that a call of the driver begins.
    pub(super) fn begin(&self) -> Begun<'static> {
        Step::Driver(self.driver.path()).begin(self.command.as_bytes())
    }

    /// Calls the driver through `call`, and records the call in the trace.
    pub(super) fn recorded(&self, call: impl FnOnce() -> VkResult) -> VkResult {
        let step = self.begin();
        let result = call();
        step.end(result.0);
        result
    }

    /// Returns the driver's surface.
    ///
    /// # Errors
    /// The errors of [`surface_for`].
    ///
    /// # Safety
    /// `surface` is `VK_NULL_HANDLE` or a live surface of the driver's instance.
    pub(super) unsafe fn surface(&self, surface: SurfaceHandle<Chain>) -> Result<SurfaceHandle<Driver>, VkResult> {
        // SAFETY: the caller promises a surface that is `VK_NULL_HANDLE` or live.
        unsafe { surface_for(self.driver, surface) }
    }
}
