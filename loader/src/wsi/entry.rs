//! The trampoline of `vkCreateSwapchainKHR`, which logs why the command is missing (APP-50).

use super::MissingFunction;
use crate::generated::lookup::row;
use crate::generated::types::*;
use crate::handle::App;
use crate::stubs;
use crate::{table, translation};
use discovery::log;

const MISSING: MissingFunction = MissingFunction {
    command: "vkCreateSwapchainKHR",
    extension: "VK_KHR_swapchain",
};

/// Implements `vkCreateSwapchainKHR` for the application. Ends the process if the device did not enable the extension.
///
/// # Safety
/// The parameters are as the command's reference page demands; the handle is as [`translation::device_table`] demands.
pub(crate) unsafe fn create_swapchain_khr(
    device: VkDevice,
    create_info: *const VkSwapchainCreateInfoKHR<App>,
    callbacks: *const VkAllocationCallbacks,
    swapchain: *mut VkSwapchainKHR,
) -> VkResult {
    // SAFETY: the caller promises a handle as `device_table` demands.
    let Some(dispatch) = (unsafe { translation::device_table(device) }) else {
        return translation::reject(row::vkCreateSwapchainKHR);
    };
    let function = dispatch.vkCreateSwapchainKHR.get();
    // SAFETY: the word is a function's address; its type is erased only to compare addresses.
    if stubs::is_missing_device(unsafe { table::from_word(function as *mut ()) }) {
        log::fatal(format_args!("{}", MISSING));
        os::abort();
    }
    // SAFETY: the function is the chain's and receives the caller's parameters; application and chain have the same surface handles.
    unsafe { function(device, create_info.cast(), callbacks, swapchain) }
}
