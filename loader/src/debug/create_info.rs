//! Creation and destruction of the drivers' objects for messengers and report callbacks.

use crate::driver_interface::failure;
use crate::generated::types::{
    VkAllocationCallbacks, VkDebugReportCallbackCreateInfoEXT, VkDebugUtilsMessengerCreateInfoEXT, VkResult,
};
use crate::handle::{Driver, MessengerHandle, ReportCallbackHandle};
use crate::instance::InstanceDriver;
use crate::late::Real;
use crate::messenger::Callback;
use crate::messenger::Kind;

/// Parameters of the object that the application creates.
#[derive(Clone, Copy)]
pub(super) enum CreateInfo<'a> {
    /// Parameters of a messenger.
    Messenger(&'a VkDebugUtilsMessengerCreateInfoEXT),
    /// Parameters of a report callback.
    Report(&'a VkDebugReportCallbackCreateInfoEXT),
}

impl CreateInfo<'_> {
    /// Returns the kind of object.
    pub(super) fn kind(self) -> Kind {
        match self {
            Self::Messenger(_) => Kind::Messenger,
            Self::Report(_) => Kind::Report,
        }
    }

    /// Returns the application's callback, which the loader calls for its own messages.
    pub(super) fn callback(self) -> Callback {
        match self {
            Self::Messenger(info) => info.into(),
            Self::Report(info) => info.into(),
        }
    }

    /// Returns `true` if the driver has the function that creates this kind of object (DRV-166).
    pub(super) fn supported_by(self, driver: &InstanceDriver) -> bool {
        match self {
            Self::Messenger(_) => driver.table.vkCreateDebugUtilsMessengerEXT.is_some(),
            Self::Report(_) => driver.table.vkCreateDebugReportCallbackEXT.is_some(),
        }
    }

    /// Creates the driver's object from the application's own create info and callbacks (APP-190). Returns zero for a driver without the
    /// function.
    ///
    /// # Safety
    /// `callbacks` is NULL or valid; table and instance belong to one driver, which stays open during the call.
    pub(super) unsafe fn create(
        self,
        (table, instance): Real<'_>,
        callbacks: *const VkAllocationCallbacks,
    ) -> Result<u64, VkResult> {
        let (result, handle) = match self {
            Self::Messenger(info) => {
                let Some(create) = table.vkCreateDebugUtilsMessengerEXT else {
                    return Ok(0);
                };
                let mut made = MessengerHandle::<Driver>::NULL;
                // SAFETY: the caller promises that the function belongs to the driver of the live instance; `info` is a reference, and
                // `callbacks` is NULL or valid.
                (unsafe { create(instance, info, callbacks, &mut made) }, made.raw())
            }
            Self::Report(info) => {
                let Some(create) = table.vkCreateDebugReportCallbackEXT else {
                    return Ok(0);
                };
                let mut made = ReportCallbackHandle::<Driver>::NULL;
                // SAFETY: the caller promises that the function belongs to the driver of the live instance; `info` is a reference, and
                // `callbacks` is NULL or valid.
                (unsafe { create(instance, info, callbacks, &mut made) }, made.raw())
            }
        };
        if result == VkResult::VK_SUCCESS {
            Ok(handle)
        } else {
            Err(failure(result))
        }
    }
}
