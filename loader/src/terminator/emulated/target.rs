//! The driver that a query goes to, and what there is to say when it cannot answer.

use crate::generated::extensions::InstanceExtension;
use crate::generated::types::{VkPhysicalDevice, VkStructureType};
use crate::handle::{Chain, Driver};
use crate::instance::{Instance, InstanceDriver};
use crate::journal::LogBits;
use crate::log::{self, Bytes};
use crate::version::ApiVersion;
use crate::{ffi, seam};
use std::ffi::c_void;
use std::fmt::{Arguments, Display};

/// A physical device as its driver knows it, and the command that asks.
pub(super) struct Target {
    /// The driver.
    pub driver: &'static InstanceDriver,
    /// The driver's handle.
    pub handle: VkPhysicalDevice<Driver>,
    /// The command, with its `vk`.
    command: &'static str,
}

impl Target {
    /// The target of a call of `command`.
    ///
    /// # Safety
    /// `handle` is what the loader's terminator gave to the lowest layer.
    pub(super) unsafe fn new(handle: VkPhysicalDevice<Chain>, command: &'static str) -> Self {
        // SAFETY: by this function's contract.
        let object = unsafe { seam::chain_physical_device(handle) };
        Self {
            driver: object.driver(),
            handle: object.handle,
            command,
        }
    }

    /// The instance of the call.
    pub(super) fn instance(&self) -> &'static Instance {
        self.driver.instance()
    }

    /// Whether the application or a layer enabled an extension (APP-28).
    pub(super) fn enabled(&self, extension: InstanceExtension) -> bool {
        self.instance().enabled.contains(extension)
    }

    /// The driver's core function if the application speaks 1.1, else the extension's if that is enabled on the
    /// instance (DRV-159).
    pub(super) fn choose<F>(&self, core: Option<F>, khr: Option<F>, extension: InstanceExtension) -> Option<F> {
        let core = core.filter(|_| self.instance().api_version() >= ApiVersion::V1_1);
        core.or_else(|| khr.filter(|_| self.enabled(extension)))
    }

    /// Says that the call is emulated, and by what (DRV-159).
    pub(super) fn announce(&self, older: Option<&str>) {
        let name = Bytes(self.driver.name.bytes());
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
    pub(super) unsafe fn ignore_chain(
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

    /// Reports a message that starts with the command.
    pub(super) fn log(&self, bits: LogBits, text: Arguments<'_>) {
        log::emit(Some(self.instance()), bits, format_args!("{}: {text}", self.command));
    }
}

/// Says of no structure that it is handled, for [`Target::ignore_chain`].
pub(super) fn none(_: VkStructureType, _: *mut c_void) -> bool {
    false
}
