//! Label commands at the end of the device chain. The terminators also exist for drivers without the commands (APP-199, DRV-207).

use crate::generated::lookup::row;
use crate::generated::types::{VkCommandBuffer, VkDebugUtilsLabelEXT, VkQueue};
use crate::target::device_of;
use crate::translation;

/// Defines a terminator. The terminator calls the driver's function for the device to which the handle's first word points, if the driver
/// has one.
macro_rules! label_terminator {
    ($name:ident, $command:ident, $handle:ty $(, $info:ident)?) => {
        #[doc = concat!("`", stringify!($command), "` at the end of the chain.")]
        ///
        /// # Safety
        /// The parameters are as the Vulkan specification demands; the handle comes from the lowest layer.
        pub(crate) unsafe fn $name(handle: $handle $(, $info: *const VkDebugUtilsLabelEXT)?) {
            // SAFETY: a dispatchable handle starts with its device's dispatch pointer.
            let Some(device) = (unsafe { device_of(handle) }) else {
                return translation::reject(row::$command);
            };
            if let Some(function) = device.terminators().and_then(|table| table.$command) {
                // SAFETY: the function came from the driver of this device, and the handle belongs to that driver.
                unsafe { function(handle $(, $info)?) };
            }
        }
    };
}

label_terminator! { queue_begin_debug_utils_label_ext, vkQueueBeginDebugUtilsLabelEXT, VkQueue, info }
label_terminator! { queue_end_debug_utils_label_ext, vkQueueEndDebugUtilsLabelEXT, VkQueue }
label_terminator! { queue_insert_debug_utils_label_ext, vkQueueInsertDebugUtilsLabelEXT, VkQueue, info }
label_terminator! { cmd_begin_debug_utils_label_ext, vkCmdBeginDebugUtilsLabelEXT, VkCommandBuffer, info }
label_terminator! { cmd_end_debug_utils_label_ext, vkCmdEndDebugUtilsLabelEXT, VkCommandBuffer }
label_terminator! { cmd_insert_debug_utils_label_ext, vkCmdInsertDebugUtilsLabelEXT, VkCommandBuffer, info }
