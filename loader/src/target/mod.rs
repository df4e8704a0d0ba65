//! Where a terminator's call goes: the object behind a handle that came through the layers, the driver that a query goes to, and
//! how an older command of it answers in place of one that it lacks.

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

/// A physical device as its driver knows it, and the command that asks.
pub(crate) struct Target {
    /// The driver.
    pub driver: &'static InstanceDriver,
    /// The driver's handle.
    pub handle: VkPhysicalDevice<Driver>,
    /// The command, with its `vk`.
    pub command: &'static str,
}

impl Target {
    /// The target of a call of `command`.
    ///
    /// # Safety
    /// `handle` is what the loader's terminator gave to the lowest layer.
    pub(crate) unsafe fn new(handle: VkPhysicalDevice<Chain>, command: &'static str) -> Self {
        // SAFETY: by this function's contract.
        let object = unsafe { translation::chain_physical_device(handle) };
        Self {
            driver: object.driver(),
            handle: object.handle,
            command,
        }
    }

    /// The instance of the call.
    pub(crate) fn instance(&self) -> &'static Instance {
        self.driver.instance()
    }

    /// Whether the application or a layer enabled an extension (APP-28).
    pub(crate) fn enabled(&self, extension: InstanceExtension) -> bool {
        self.instance().enabled.contains(extension)
    }

    /// The driver's core function if the application speaks 1.1, else the extension's if that is enabled on the
    /// instance (DRV-159).
    pub(crate) fn choose<F>(&self, core: Option<F>, khr: Option<F>, extension: InstanceExtension) -> Option<F> {
        let core = core.filter(|_| self.instance().api_version() >= ApiVersion::V1_1);
        core.or_else(|| khr.filter(|_| self.enabled(extension)))
    }

    /// Says that the call is emulated, and by what (DRV-159).
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
        // SAFETY: by this function's contract.
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

    /// Answers an enumeration of extensible structures by an older one of plain structures.
    ///
    /// `ask` is the older enumeration; `put` copies one answer into the element of its index. The driver's own count bounds
    /// the temporary array, whatever room the caller claims to have, and no more elements are read than were allocated,
    /// whatever the driver says (DRV-169).
    ///
    /// # Errors
    /// What `ask` returned, or out of host memory; the count may have changed then.
    ///
    /// # Safety
    /// `count` is valid; `array` is NULL or has room for `*count` elements. All zeros is a valid `Old`.
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
        // SAFETY: by this function's contract.
        let most = unsafe { *count };
        let mut result = VkResult::VK_SUCCESS;
        let call = |number: *mut u32, answers: *mut Old| {
            let told = not_negative(ask(number, answers))?;
            result = match answers.is_null() {
                // SAFETY: a number of the loader's own.
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
        // SAFETY: by this function's contract.
        let answers = unsafe { asking.ask(self.instance().allocator.scoped(scope), call) }?;
        for (index, &answer) in answers.iter().enumerate() {
            // SAFETY: the index is below the count that the caller gave.
            unsafe { put(index, &mut *array.add(index), answer) };
        }
        // SAFETY: by this function's contract; not longer than the count was.
        unsafe { *count = answers.len() as u32 };
        Ok(result)
    }

    /// Reports a message that starts with the command.
    pub(crate) fn log(&self, bits: LogBits, text: Arguments<'_>) {
        log::emit(Some(self.instance()), bits, format_args!("{}: {text}", self.command));
    }
}

/// Says of no structure that it is handled, for [`Target::ignore_chain`].
pub(crate) fn none(_: VkStructureType, _: *mut c_void) -> bool {
    false
}
