//! Making and destroying the drivers' objects, for both kinds of callback.

use crate::driver::failure;
use crate::generated::types::{
    VkAllocationCallbacks, VkDebugReportCallbackCreateInfoEXT, VkDebugUtilsMessengerCreateInfoEXT, VkResult,
};
use crate::handle::{Driver, MessengerHandle, ReportCallbackHandle};
use crate::instance::InstanceDriver;
use crate::messenger::Callback;
use crate::messenger::Kind;

/// What the application wants made.
#[derive(Clone, Copy)]
pub(super) enum CreateInfo<'a> {
    /// A messenger.
    Messenger(&'a VkDebugUtilsMessengerCreateInfoEXT),
    /// A report callback.
    Report(&'a VkDebugReportCallbackCreateInfoEXT),
}

impl CreateInfo<'_> {
    /// Which kind of object.
    pub(super) fn kind(self) -> Kind {
        match self {
            Self::Messenger(_) => Kind::Messenger,
            Self::Report(_) => Kind::Report,
        }
    }

    /// What the loader itself calls.
    pub(super) fn callback(self) -> Callback {
        match self {
            Self::Messenger(info) => info.into(),
            Self::Report(info) => info.into(),
        }
    }

    /// Whether the driver has the function that makes such an object (DRV-166).
    pub(super) fn supported_by(self, driver: &InstanceDriver) -> bool {
        match self {
            Self::Messenger(_) => driver.table.vkCreateDebugUtilsMessengerEXT.is_some(),
            Self::Report(_) => driver.table.vkCreateDebugReportCallbackEXT.is_some(),
        }
    }

    /// Makes the driver's object, from the application's own create info and callbacks (APP-190). Zero for a driver
    /// that has no such function.
    ///
    /// # Safety
    /// `callbacks` is NULL or valid; the driver is pinned.
    pub(super) unsafe fn create(
        self,
        driver: &InstanceDriver,
        callbacks: *const VkAllocationCallbacks,
    ) -> Result<u64, VkResult> {
        let (result, handle) = match self {
            Self::Messenger(info) => {
                let Some(create) = driver.table.vkCreateDebugUtilsMessengerEXT else {
                    return Ok(0);
                };
                let mut made = MessengerHandle::<Driver>::NULL;
                // SAFETY: the driver's function with its live instance and valid parameters.
                (unsafe { create(driver.handle, info, callbacks, &mut made) }, made.raw())
            }
            Self::Report(info) => {
                let Some(create) = driver.table.vkCreateDebugReportCallbackEXT else {
                    return Ok(0);
                };
                let mut made = ReportCallbackHandle::<Driver>::NULL;
                // SAFETY: the driver's function with its live instance and valid parameters.
                (unsafe { create(driver.handle, info, callbacks, &mut made) }, made.raw())
            }
        };
        if result == VkResult::VK_SUCCESS {
            Ok(handle)
        } else {
            Err(failure(result))
        }
    }
}
