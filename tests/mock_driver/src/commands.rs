//! Table of all commands: the name, the condition and the function of each command.

use std::ffi::c_void;

use crate::config::Config;
use crate::{debug, device, display, global, lookup, naming, physical, physical2, plain, surface, swapchain};

/// Level of a command, which determines the look-up functions that return it.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Level {
    Global,
    Instance,
    Physical,
    Device,
}

/// Condition under which the driver has a command.
#[derive(Clone, Copy)]
enum Need {
    /// The command is part of Vulkan 1 from this minor version on.
    Core(u32),
    /// The command belongs to this instance extension.
    Instance(&'static str),
    /// The command belongs to this device extension.
    Device(&'static str),
}

/// Row of the table. The number is the hash of the name.
struct Command(Level, Need, &'static str, *const c_void, u32);

// SAFETY: the pointers are addresses of functions, which any thread may call.
unsafe impl Sync for Command {}

macro_rules! commands {
    ($($level:ident $need:ident($arg:expr) { $($name:literal => $function:path,)* })*) => {
        static COMMANDS: &[Command] = &[$($(Command(Level::$level, Need::$need($arg), $name, $function as *const c_void, hash($name)),)*)*];
    };
}

/// Hashes of the names in [`plain::NOTHING`], in the same order.
static NOTHING: [u32; plain::NOTHING.len()] = {
    let mut hashes = [0; plain::NOTHING.len()];
    let mut at = 0;
    while at < hashes.len() {
        hashes[at] = hash(plain::NOTHING[at]);
        at += 1;
    }
    hashes
};

/// Returns the FNV-1a hash of a name. A comparison of names for each row would be the slowest part of many tests, and a map would need an
/// allocation.
const fn hash(name: &str) -> u32 {
    let name = name.as_bytes();
    let mut hash: u32 = 0x811c_9dc5;
    let mut at = 0;
    while at < name.len() {
        hash = (hash ^ name[at] as u32).wrapping_mul(0x0100_0193);
        at += 1;
    }
    hash
}

/// Returns the row of a command.
fn row(name: &str) -> Option<&'static Command> {
    let wanted = hash(name);
    COMMANDS.iter().find(|command| command.4 == wanted && command.2 == name)
}

commands! {
    Global Core(0) {
        "vkCreateInstance" => global::create_instance,
        "vkEnumerateInstanceExtensionProperties" => global::enumerate_instance_extension_properties,
        "vkEnumerateInstanceLayerProperties" => global::enumerate_instance_layer_properties,
        "vkGetInstanceProcAddr" => lookup::instance,
        "vk_icdNegotiateLoaderICDInterfaceVersion" => global::negotiate,
        "vk_icdGetPhysicalDeviceProcAddr" => lookup::physical,
        "vkEnumerateInstanceVersion" => global::enumerate_instance_version,
    }
    Instance Core(0) {
        "vkDestroyInstance" => global::destroy_instance,
        "vkEnumeratePhysicalDevices" => physical::enumerate_physical_devices,
        "vkGetDeviceProcAddr" => lookup::device,
    }
    Instance Core(1) { "vkEnumeratePhysicalDeviceGroups" => physical::enumerate_physical_device_groups, }
    Instance Instance("VK_KHR_device_group_creation") {
        "vkEnumeratePhysicalDeviceGroupsKHR" => physical::enumerate_physical_device_groups_khr,
    }
    Physical Core(0) {
        "vkGetPhysicalDeviceProperties" => physical::properties,
        "vkGetPhysicalDeviceFeatures" => physical::features,
        "vkGetPhysicalDeviceMemoryProperties" => physical::memory,
        "vkGetPhysicalDeviceFormatProperties" => physical::format,
        "vkGetPhysicalDeviceImageFormatProperties" => physical::image_format,
        "vkGetPhysicalDeviceQueueFamilyProperties" => physical::queue_family,
        "vkGetPhysicalDeviceSparseImageFormatProperties" => physical::sparse,
        "vkEnumerateDeviceExtensionProperties" => physical::enumerate_device_extension_properties,
        "vkEnumerateDeviceLayerProperties" => physical::enumerate_device_layer_properties,
        "vkCreateDevice" => device::create,
    }
    Physical Core(1) {
        "vkGetPhysicalDeviceProperties2" => physical2::properties2,
        "vkGetPhysicalDeviceFeatures2" => physical2::features2,
        "vkGetPhysicalDeviceMemoryProperties2" => physical2::memory2,
        "vkGetPhysicalDeviceFormatProperties2" => physical2::format2,
        "vkGetPhysicalDeviceImageFormatProperties2" => physical2::image_format2,
        "vkGetPhysicalDeviceQueueFamilyProperties2" => physical2::queue_family2,
        "vkGetPhysicalDeviceSparseImageFormatProperties2" => physical2::sparse2,
        "vkGetPhysicalDeviceExternalBufferProperties" => physical2::external_buffer,
        "vkGetPhysicalDeviceExternalSemaphoreProperties" => physical2::external_semaphore,
        "vkGetPhysicalDeviceExternalFenceProperties" => physical2::external_fence,
    }
    Physical Core(3) { "vkGetPhysicalDeviceToolProperties" => physical2::tool_properties, }
    Physical Instance("VK_KHR_get_physical_device_properties2") {
        "vkGetPhysicalDeviceProperties2KHR" => physical2::properties2_khr,
        "vkGetPhysicalDeviceFeatures2KHR" => physical2::features2_khr,
        "vkGetPhysicalDeviceMemoryProperties2KHR" => physical2::memory2_khr,
        "vkGetPhysicalDeviceFormatProperties2KHR" => physical2::format2_khr,
        "vkGetPhysicalDeviceImageFormatProperties2KHR" => physical2::image_format2_khr,
        "vkGetPhysicalDeviceQueueFamilyProperties2KHR" => physical2::queue_family2_khr,
        "vkGetPhysicalDeviceSparseImageFormatProperties2KHR" => physical2::sparse2_khr,
    }
    Physical Instance("VK_KHR_external_memory_capabilities") {
        "vkGetPhysicalDeviceExternalBufferPropertiesKHR" => physical2::external_buffer_khr,
    }
    Physical Instance("VK_KHR_external_semaphore_capabilities") {
        "vkGetPhysicalDeviceExternalSemaphorePropertiesKHR" => physical2::external_semaphore_khr,
    }
    Physical Instance("VK_KHR_external_fence_capabilities") {
        "vkGetPhysicalDeviceExternalFencePropertiesKHR" => physical2::external_fence_khr,
    }
    Physical Instance("VK_NV_external_memory_capabilities") {
        "vkGetPhysicalDeviceExternalImageFormatPropertiesNV" => physical2::external_image_format_nv,
    }
    Physical Device("VK_EXT_tooling_info") {
        "vkGetPhysicalDeviceToolPropertiesEXT" => physical2::tool_properties_ext,
    }
    Instance Instance("VK_KHR_xcb_surface") { "vkCreateXcbSurfaceKHR" => surface::create_xcb, }
    Instance Instance("VK_KHR_xlib_surface") { "vkCreateXlibSurfaceKHR" => surface::create_xlib, }
    Instance Instance("VK_KHR_wayland_surface") { "vkCreateWaylandSurfaceKHR" => surface::create_wayland, }
    Instance Instance("VK_KHR_win32_surface") { "vkCreateWin32SurfaceKHR" => surface::create_win32, }
    Instance Instance("VK_EXT_headless_surface") { "vkCreateHeadlessSurfaceEXT" => surface::create_headless, }
    Instance Instance("VK_KHR_display") { "vkCreateDisplayPlaneSurfaceKHR" => surface::create_display, }
    Instance Instance("VK_KHR_surface") { "vkDestroySurfaceKHR" => surface::destroy, }
    Physical Instance("VK_KHR_xcb_surface") { "vkGetPhysicalDeviceXcbPresentationSupportKHR" => surface::xcb_support, }
    Physical Instance("VK_KHR_xlib_surface") { "vkGetPhysicalDeviceXlibPresentationSupportKHR" => surface::xlib_support, }
    Physical Instance("VK_KHR_wayland_surface") {
        "vkGetPhysicalDeviceWaylandPresentationSupportKHR" => surface::wayland_support,
    }
    Physical Instance("VK_KHR_win32_surface") {
        "vkGetPhysicalDeviceWin32PresentationSupportKHR" => surface::win32_support,
    }
    Physical Instance("VK_KHR_surface") {
        "vkGetPhysicalDeviceSurfaceSupportKHR" => surface::support,
        "vkGetPhysicalDeviceSurfaceCapabilitiesKHR" => surface::capabilities,
        "vkGetPhysicalDeviceSurfaceFormatsKHR" => surface::formats,
        "vkGetPhysicalDeviceSurfacePresentModesKHR" => surface::present_modes,
        "vkGetPhysicalDevicePresentRectanglesKHR" => surface::present_rectangles,
    }
    Physical Instance("VK_KHR_get_surface_capabilities2") {
        "vkGetPhysicalDeviceSurfaceCapabilities2KHR" => surface::capabilities2,
        "vkGetPhysicalDeviceSurfaceFormats2KHR" => surface::formats2,
    }
    Physical Instance("VK_EXT_display_surface_counter") {
        "vkGetPhysicalDeviceSurfaceCapabilities2EXT" => surface::capabilities2_ext,
    }
    Physical Instance("VK_KHR_display") {
        "vkGetPhysicalDeviceDisplayPropertiesKHR" => display::properties,
        "vkGetPhysicalDeviceDisplayPlanePropertiesKHR" => display::planes,
        "vkGetDisplayPlaneSupportedDisplaysKHR" => display::supported,
        "vkGetDisplayModePropertiesKHR" => display::modes,
        "vkCreateDisplayModeKHR" => display::create_mode,
        "vkGetDisplayPlaneCapabilitiesKHR" => display::plane_capabilities,
    }
    Physical Instance("VK_KHR_get_display_properties2") {
        "vkGetPhysicalDeviceDisplayProperties2KHR" => display::properties2,
        "vkGetPhysicalDeviceDisplayPlaneProperties2KHR" => display::planes2,
        "vkGetDisplayModeProperties2KHR" => display::modes2,
        "vkGetDisplayPlaneCapabilities2KHR" => display::plane_capabilities2,
    }
    Physical Instance("VK_EXT_direct_mode_display") { "vkReleaseDisplayEXT" => display::release, }
    Physical Instance("VK_EXT_acquire_xlib_display") {
        "vkAcquireXlibDisplayEXT" => display::acquire_xlib,
        "vkGetRandROutputDisplayEXT" => display::randr,
    }
    Physical Instance("VK_EXT_acquire_drm_display") {
        "vkAcquireDrmDisplayEXT" => display::acquire_drm,
        "vkGetDrmDisplayEXT" => display::drm,
    }
    Instance Instance("VK_EXT_debug_utils") {
        "vkCreateDebugUtilsMessengerEXT" => debug::create_messenger,
        "vkDestroyDebugUtilsMessengerEXT" => debug::destroy_messenger,
        "vkSubmitDebugUtilsMessageEXT" => debug::submit_message,
    }
    Instance Instance("VK_EXT_debug_report") {
        "vkCreateDebugReportCallbackEXT" => debug::create_report,
        "vkDestroyDebugReportCallbackEXT" => debug::destroy_report,
        "vkDebugReportMessageEXT" => debug::report_message,
    }
    Device Core(0) {
        "vkDestroyDevice" => device::destroy,
        "vkGetDeviceQueue" => device::get_queue,
        "vkAllocateCommandBuffers" => device::allocate_command_buffers,
        "vkFreeCommandBuffers" => device::free_command_buffers,
        "vkDeviceWaitIdle" => device::wait_idle,
        "vkQueueWaitIdle" => device::queue_wait_idle,
        "vkQueueSubmit" => device::queue_submit,
        "vkBeginCommandBuffer" => device::begin,
        "vkEndCommandBuffer" => device::end,
        "vkResetCommandBuffer" => device::reset,
        "vkCmdDraw" => device::draw,
        "vkMapMemory" => device::map_memory,
        "vkGetBufferMemoryRequirements" => plain::memory_requirements,
        "vkGetImageMemoryRequirements" => plain::memory_requirements,
        "vkCreateCommandPool" => plain::create_command_pool,
        "vkDestroyCommandPool" => plain::destroy_command_pool,
        "vkCreateBuffer" => plain::create_buffer,
        "vkDestroyBuffer" => plain::destroy_buffer,
        "vkCreateImage" => plain::create_image,
        "vkDestroyImage" => plain::destroy_image,
        "vkCreateFence" => plain::create_fence,
        "vkDestroyFence" => plain::destroy_fence,
        "vkCreateSemaphore" => plain::create_semaphore,
        "vkDestroySemaphore" => plain::destroy_semaphore,
        "vkAllocateMemory" => plain::allocate_memory,
        "vkFreeMemory" => plain::free_memory,
        "vkCreateShaderModule" => plain::create_shader_module,
        "vkDestroyShaderModule" => plain::destroy_shader_module,
        "vkCreateSampler" => plain::create_sampler,
        "vkDestroySampler" => plain::destroy_sampler,
        "vkCreateEvent" => plain::create_event,
        "vkDestroyEvent" => plain::destroy_event,
        "vkCreateQueryPool" => plain::create_query_pool,
        "vkDestroyQueryPool" => plain::destroy_query_pool,
        "vkCreateRenderPass" => plain::create_render_pass,
        "vkDestroyRenderPass" => plain::destroy_render_pass,
        "vkCreatePipelineLayout" => plain::create_pipeline_layout,
        "vkDestroyPipelineLayout" => plain::destroy_pipeline_layout,
    }
    Device Core(1) { "vkGetDeviceQueue2" => device::get_queue2, }
    Device Core(3) { "vkQueueSubmit2" => device::queue_submit2, }
    Device Device("VK_KHR_swapchain") {
        "vkCreateSwapchainKHR" => swapchain::create,
        "vkDestroySwapchainKHR" => swapchain::destroy,
        "vkGetSwapchainImagesKHR" => swapchain::images,
        "vkAcquireNextImageKHR" => swapchain::acquire,
        "vkAcquireNextImage2KHR" => swapchain::acquire2,
        "vkQueuePresentKHR" => swapchain::present,
        "vkGetDeviceGroupSurfacePresentModesKHR" => swapchain::group_modes,
        "vkGetDeviceGroupPresentCapabilitiesKHR" => swapchain::group_capabilities,
    }
    Device Device("VK_KHR_display_swapchain") { "vkCreateSharedSwapchainsKHR" => swapchain::create_shared, }
    Physical Device("VK_EXT_full_screen_exclusive") {
        "vkGetPhysicalDeviceSurfacePresentModes2EXT" => surface::present_modes2,
    }
    Device Device("VK_EXT_full_screen_exclusive") {
        "vkGetDeviceGroupSurfacePresentModes2EXT" => swapchain::group_modes2,
    }
    Device Device("VK_EXT_debug_marker") {
        "vkDebugMarkerSetObjectNameEXT" => naming::marker_name,
        "vkDebugMarkerSetObjectTagEXT" => naming::marker_tag,
        "vkCmdDebugMarkerBeginEXT" => naming::marker_begin,
        "vkCmdDebugMarkerEndEXT" => naming::marker_end,
        "vkCmdDebugMarkerInsertEXT" => naming::marker_insert,
    }
    Device Instance("VK_EXT_debug_utils") {
        "vkSetDebugUtilsObjectNameEXT" => naming::set_name,
        "vkSetDebugUtilsObjectTagEXT" => naming::set_tag,
        "vkQueueBeginDebugUtilsLabelEXT" => naming::queue_begin,
        "vkQueueEndDebugUtilsLabelEXT" => naming::queue_end,
        "vkQueueInsertDebugUtilsLabelEXT" => naming::queue_insert,
        "vkCmdBeginDebugUtilsLabelEXT" => naming::cmd_begin,
        "vkCmdEndDebugUtilsLabelEXT" => naming::cmd_end,
        "vkCmdInsertDebugUtilsLabelEXT" => naming::cmd_insert,
    }
}

fn available(config: &Config, need: Need) -> bool {
    match need {
        Need::Core(minor) => (config.api_version >> 12) & 0x3ff >= minor || (config.api_version >> 22) > 1,
        Need::Instance(extension) => config.has_extension(extension),
        Need::Device(extension) => config.has_device_extension(extension),
    }
}

fn nothing(name: &str) -> *const c_void {
    let wanted = hash(name);
    let mut rows = NOTHING.iter().zip(plain::NOTHING);
    if rows.any(|(hash, row)| *hash == wanted && *row == name) {
        plain::nothing as *const c_void
    } else {
        std::ptr::null()
    }
}

/// Returns the function of `name`. Returns NULL if the driver lacks the function, or if `wanted` rejects the level of
/// the command.
pub(crate) fn find(config: &Config, name: &str, wanted: impl Fn(Level) -> bool) -> *const c_void {
    match row(name) {
        Some(command) if wanted(command.0) && available(config, command.1) => command.3,
        Some(_) => std::ptr::null(),
        None if wanted(Level::Device) => nothing(name),
        None => std::ptr::null(),
    }
}

/// Returns the function of `name` for a device, in the same way as `find`. For commands of device extensions, the
/// extension must be enabled on the device.
pub(crate) fn find_for_device(config: &Config, name: &str, enabled: &[String]) -> *const c_void {
    let Some(command) = row(name) else {
        return nothing(name);
    };
    let there = match command.1 {
        Need::Device(extension) => enabled.iter().any(|have| have == extension),
        need => available(config, need),
    };
    // A driver's own `vkGetDeviceProcAddr` can return instance-level commands, so this look-up returns them too. A loader must not pass
    // these results on to the application.
    if there { command.3 } else { std::ptr::null() }
}
