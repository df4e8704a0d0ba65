//! Targets of a terminator's call: the object for a handle from the layers, the driver of a query, and the older commands that replace a
//! missing command.

mod objects;

pub(crate) use objects::{device_of, require_device, require_instance};

use crate::ffi::{self, TwoCalls};
use crate::generated::types::{VkPhysicalDevice, VkResult, VkStructureType, VkSystemAllocationScope};
use crate::handle::{Chain, Driver};
use crate::instance::{Instance, InstanceDriver};
use crate::translation;
use core::ffi::c_void;
use core::fmt::{Arguments, Display};
use discovery::extension::InstanceExtension;
use discovery::journal::LogBits;
use discovery::log;
use discovery::version::ApiVersion;

/// A physical device with its driver and the driver's handle, and the command of the query.
pub(crate) struct Target {
    /// Driver of the physical device.
    pub driver: &'static InstanceDriver,
    /// Handle of the physical device in the driver.
    pub handle: VkPhysicalDevice<Driver>,
    /// Name of the command, including `vk`.
    pub command: &'static str,
}

impl Target {
    /// Returns the target of a call of `command`.
    ///
    /// # Safety
    /// `handle` is the handle that the loader's terminator returned to the lowest layer.
    pub(crate) unsafe fn new(handle: VkPhysicalDevice<Chain>, command: &'static str) -> Self {
        // SAFETY: the caller promises a handle that the loader's terminator created.
        let object = unsafe { translation::chain_physical_device(handle) };
        Self {
            driver: object.driver(),
            handle: object.handle,
            command,
        }
    }

    /// Returns the instance of the call.
    pub(crate) fn instance(&self) -> &'static Instance {
        self.driver.instance()
    }

    /// Returns `true` if the application or a layer enabled an extension (APP-28).
    pub(crate) fn enabled(&self, extension: InstanceExtension) -> bool {
        self.instance().enabled.contains(extension)
    }

    /// Returns the driver's core function if the application uses Vulkan 1.1, otherwise the extension's function if the extension is
    /// enabled on the instance (DRV-159).
    pub(crate) fn choose<F>(&self, core: Option<F>, khr: Option<F>, extension: InstanceExtension) -> Option<F> {
        let core = core.filter(|_| self.instance().api_version() >= ApiVersion::V1_1);
        core.or_else(|| khr.filter(|_| self.enabled(extension)))
    }

    /// Logs that the call is emulated, and by which function (DRV-159).
    pub(crate) fn announce(&self, older: Option<&str>) {
        let name = self.driver.name();
        match older {
            Some(older) => {
                self.log(
                    LogBits::INFO,
                    format_args!("Emulating call in ICD \"{name}\" using {older}"),
                );
            }
            None => self.log(LogBits::INFO, format_args!("Emulating call in ICD \"{name}\"")),
        }
    }

    /// Warns about each structure in the chain of `parameter` that `known` does not handle.
    ///
    /// # Safety
    /// `first` is NULL or the head of a valid chain.
    pub(crate) unsafe fn ignore_chain(
        &self,
        first: *const c_void,
        parameter: impl Display,
        mut known: impl FnMut(VkStructureType, *mut c_void) -> bool,
    ) {
        // SAFETY: the caller promises a chain that is valid or NULL.
        for at in unsafe { ffi::chain(first) } {
            // SAFETY: members of a valid chain are readable.
            let kind = unsafe { (*at).sType };
            if !known(kind, at.cast_mut().cast()) {
                self.log(
                    LogBits::WARN,
                    format_args!(
                        "Emulation found unrecognized structure type in {parameter}pNext - this struct will be ignored"
                    ),
                );
            }
        }
    }

    /// Answers an enumeration of extensible structures with an older enumeration of plain structures.
    ///
    /// `ask` is the older enumeration; `put` copies one answer into the element of its index. The driver's own count bounds the temporary
    /// array, even if the caller claims more room. No more elements are read than were allocated, even if the driver reports more
    /// (DRV-169).
    ///
    /// # Errors
    /// The code that `ask` returned, or out of host memory; `*count` may have changed.
    ///
    /// # Safety
    /// `count` is valid; `array` is NULL or has room for `*count` elements. An `Old` whose bytes are all zero is valid.
    pub(crate) unsafe fn by_elements<Old: Copy, New>(
        &self,
        count: *mut u32,
        array: *mut New,
        mut ask: impl FnMut(*mut u32, *mut Old) -> VkResult,
        mut put: impl FnMut(usize, &mut New, Old),
    ) -> Result<VkResult, VkResult> {
        let not_negative = |result: VkResult| if result.0 < 0 { Err(result) } else { Ok(result) };
        if array.is_null() {
            return not_negative(ask(count, core::ptr::null_mut()));
        }
        // SAFETY: the array is not null, so the caller promises a readable count.
        let most = unsafe { *count };
        let mut result = VkResult::VK_SUCCESS;
        let call = |number: *mut u32, answers: *mut Old| {
            let told = not_negative(ask(number, answers))?;
            result = match answers.is_null() {
                // SAFETY: `TwoCalls::ask` passes a pointer to its local count.
                true if most == 0 && unsafe { *number } != 0 => VkResult::VK_INCOMPLETE,
                true => VkResult::VK_SUCCESS,
                false => told,
            };
            Ok(true)
        };
        let scope = VkSystemAllocationScope::VK_SYSTEM_ALLOCATION_SCOPE_COMMAND;
        let asking = TwoCalls {
            most,
            attempts: 1,
            even_empty: false,
        };
        // SAFETY: the caller promises that an `Old` whose bytes are all zero is valid.
        let answers = unsafe { asking.ask(self.instance().allocator.scoped(scope), call) }?;
        for (index, &answer) in answers.iter().enumerate() {
            // SAFETY: the index is below the count that the caller passed.
            unsafe { put(index, &mut *array.add(index), answer) };
        }
        // SAFETY: the caller promises a writable count.
        unsafe { *count = answers.len() as u32 };
        Ok(result)
    }

    /// Logs a message that starts with the name of the command.
    pub(crate) fn log(&self, bits: LogBits, text: Arguments<'_>) {
        log::emit(Some(self.instance()), bits, format_args!("{}: {text}", self.command));
    }
}

/// Returns `false` for every structure, as the handler of [`Target::ignore_chain`] for chains without known structures.
pub(crate) fn none(_: VkStructureType, _: *mut c_void) -> bool {
    false
}
