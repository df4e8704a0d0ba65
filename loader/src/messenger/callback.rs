//! A function of the application that wants to hear messages.

use super::message::Message;
use crate::generated::types::{
    PFN_vkDebugReportCallbackEXT, PFN_vkDebugUtilsMessengerCallbackEXT, VkDebugReportCallbackCreateInfoEXT,
    VkDebugReportFlagsEXT, VkDebugUtilsMessageSeverityFlagsEXT, VkDebugUtilsMessageTypeFlagsEXT,
    VkDebugUtilsMessengerCreateInfoEXT,
};
use core::ffi::c_void;

/// The function and what it wants to hear. Copied from the create info, which need not outlive its call (APP-197).
#[derive(Clone, Copy)]
pub(crate) enum Callback {
    /// A debug-utils messenger.
    Messenger {
        /// Severities it wants.
        severities: VkDebugUtilsMessageSeverityFlagsEXT,
        /// Types it wants.
        types: VkDebugUtilsMessageTypeFlagsEXT,
        /// The function.
        function: PFN_vkDebugUtilsMessengerCallbackEXT,
        /// Its last parameter.
        user_data: *mut c_void,
    },
    /// A debug-report callback.
    Report {
        /// Flags it wants.
        flags: VkDebugReportFlagsEXT,
        /// The function.
        function: PFN_vkDebugReportCallbackEXT,
        /// Its last parameter.
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
    /// Calls the function if it wants the message (APP-193a). What it returns is ignored (APP-193).
    ///
    /// # Safety
    /// Everything that the message points to is valid; the function may be called with its user data.
    pub(crate) unsafe fn hear(&self, message: &Message) {
        match *self {
            Self::Messenger {
                severities,
                types,
                function: Some(function),
                user_data,
            } => {
                if severities.0 & message.severity.0 != 0 && types.0 & message.types.0 != 0 {
                    // SAFETY: by this function's contract.
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
                    // SAFETY: by this function's contract.
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
