//! Messengers and report callbacks that are registered while the driver is not open. The loader keeps these objects, and passes them to the
//! driver when it opens the driver.

use super::Sleeper;
use super::stubs::pass_on;
use crate::generated::types::{
    VkAllocationCallbacks, VkDebugReportCallbackCreateInfoEXT, VkDebugReportCallbackEXT,
    VkDebugUtilsMessengerCreateInfoEXT, VkDebugUtilsMessengerEXT, VkResult,
};
use crate::handle::{Driver, InstanceHandle, MessengerHandle, ReportCallbackHandle};
use record::{DRIVER, Key, Query};

impl Sleeper {
    /// Returns `true` if the driver is not open, and its record says that the driver creates objects of the kind `kind`.
    fn creates(&self, kind: u32) -> bool {
        let key = Key::of(DRIVER, Query::Callbacks).at(kind);
        let record = self.closed.record().filter(|_| self.opened().is_none());
        record.is_some_and(|record| record.find(key).is_some())
    }
}

/// Defines the commands that register a callback.
macro_rules! callbacks {
    ($($name:ident: $kind:path, $info:ident, $out:ident, $handle:ident;)*) => {$(
        /// Succeeds with a null handle if the driver receives the callback later. A create info with a chain or with allocation callbacks
        /// opens the driver.
        ///
        /// # Safety
        /// The parameters are as the specification of the command demands.
        pub(super) unsafe extern "system" fn $name(
            instance: InstanceHandle<Driver>,
            info: *const $info,
            callbacks: *const VkAllocationCallbacks,
            out: *mut $out<Driver>,
        ) -> VkResult {
            // SAFETY: the loader passes a handle of this module, and the caller passes a valid create info.
            let is_kept = unsafe {
                callbacks.is_null() && (*info).pNext.is_null() && Sleeper::of(instance).creates($kind)
            };
            if is_kept {
                // SAFETY: the caller promises a writable handle.
                unsafe { *out = $handle::NULL };
                return VkResult::VK_SUCCESS;
            }
            // SAFETY: the caller promises valid parameters of this command.
            unsafe { pass_on!($name(instance, info, callbacks, out)) }
        }
    )*};
}

callbacks! {
    vkCreateDebugUtilsMessengerEXT: record::MESSENGERS, VkDebugUtilsMessengerCreateInfoEXT, VkDebugUtilsMessengerEXT, MessengerHandle;
    vkCreateDebugReportCallbackEXT: record::REPORTS, VkDebugReportCallbackCreateInfoEXT, VkDebugReportCallbackEXT, ReportCallbackHandle;
}
