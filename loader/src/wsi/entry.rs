//! The trampoline that explains itself (APP-50).

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

/// `vkCreateSwapchainKHR`. Calling it on a device that did not enable the extension ends the process.
///
/// # Safety
/// The parameters are as the command's reference page demands; the handle as [`translation::device_table`] does.
pub(crate) unsafe fn create_swapchain_khr(
    device: VkDevice,
    create_info: *const VkSwapchainCreateInfoKHR<App>,
    callbacks: *const VkAllocationCallbacks,
    swapchain: *mut VkSwapchainKHR,
) -> VkResult {
    // SAFETY: passed on to the caller.
    let Some(dispatch) = (unsafe { translation::device_table(device) }) else {
        return translation::reject(row::vkCreateSwapchainKHR);
    };
    let function = dispatch.vkCreateSwapchainKHR.get();
    // SAFETY: only the type is erased, to compare addresses.
    if stubs::is_missing_device(unsafe { table::from_word(function as *mut ()) }) {
        log::fatal(format_args!("{}", MISSING));
        os::abort();
    }
    // SAFETY: the chain's function with the caller's parameters; application and chain hold the same surfaces.
    unsafe { function(device, create_info.cast(), callbacks, swapchain) }
}
