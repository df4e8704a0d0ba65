//! A function of the application that receives messages.

use super::message::Message;
use crate::generated::types::{
    PFN_vkDebugReportCallbackEXT, PFN_vkDebugUtilsMessengerCallbackEXT, VkDebugReportCallbackCreateInfoEXT,
    VkDebugReportFlagsEXT, VkDebugUtilsMessageSeverityFlagsEXT, VkDebugUtilsMessageTypeFlagsEXT,
    VkDebugUtilsMessengerCreateInfoEXT,
};
use core::ffi::c_void;

/// A function of the application, with the kinds of messages that the function receives. The members are copies, because the create info
/// need not outlive the create call (APP-197).
#[derive(Clone, Copy)]
pub(crate) enum Callback {
    /// A debug-utils messenger.
    Messenger {
        /// Severities that the function receives.
        severities: VkDebugUtilsMessageSeverityFlagsEXT,
        /// Types that the function receives.
        types: VkDebugUtilsMessageTypeFlagsEXT,
        /// Function of the application.
        function: PFN_vkDebugUtilsMessengerCallbackEXT,
        /// Last argument of the function.
        user_data: *mut c_void,
    },
    /// A debug-report callback.
    Report {
        /// Flags that the function receives.
        flags: VkDebugReportFlagsEXT,
        /// Function of the application.
        function: PFN_vkDebugReportCallbackEXT,
        /// Last argument of the function.
        user_data: *mut c_void,
    },
}

impl From<&VkDebugUtilsMessengerCreateInfoEXT> for Callback {
    fn from(info: &VkDebugUtilsMessengerCreateInfoEXT) -> Self {
        Self::Messenger {
            severities: info.messageSeverity,
            types: info.messageType,
            function: info.pfnUserCallback,
            user_data: info.pUserData,
        }
    }
}

impl From<&VkDebugReportCallbackCreateInfoEXT> for Callback {
    fn from(info: &VkDebugReportCallbackCreateInfoEXT) -> Self {
        Self::Report {
            flags: info.flags,
            function: info.pfnCallback,
            user_data: info.pUserData,
        }
    }
}

impl Callback {
    /// Calls the function if the message is one of its kinds (APP-193a). The result of the function is ignored (APP-193).
    ///
    /// # Safety
    /// All pointers in the message are valid; the function may be called with its user data.
    pub(crate) unsafe fn hear(&self, message: &Message) {
        match *self {
            Self::Messenger {
                severities,
                types,
                function: Some(function),
                user_data,
            } => {
                if severities.0 & message.severity.0 != 0 && types.0 & message.types.0 != 0 {
                    // SAFETY: the caller promises valid pointers, and a function that may be called with its user data.
                    unsafe { function(message.severity, message.types, message.data, user_data) };
                }
            }
            Self::Report {
                flags,
                function: Some(function),
                user_data,
            } => {
                if flags.0 & message.flags.0 != 0 {
                    let report = message.report;
                    // SAFETY: the caller promises valid pointers, and a function that may be called with its user data.
                    unsafe {
                        function(
                            message.flags,
                            report.object_type,
                            report.object,
                            report.location,
                            report.code,
                            report.prefix,
                            report.text,
                            user_data,
                        )
                    };
                }
            }
            Self::Messenger { function: None, .. } | Self::Report { function: None, .. } => {}
        }
    }
}
