//! Commands of surfaces, swapchains and displays.
//!
//! A `VkSurfaceKHR` of the application is a [`Surface`](crate::window_system::Surface) of the loader. Old drivers read the platform's
//! structure at the start of that object. A newer driver creates its own surface on first use; [`surface_for`] finds this surface or asks
//! the driver to create it. Each driver has a table of its surface handles, indexed by the slot of the loader's surface.
//!
//! | module | content |
//! |---|---|
//! | `create`, `unwrap` | the life of a surface, and the look-up of a driver's surface |
//! | `surface_query`, `capabilities` | queries of surfaces |
//! | `display`, `display2` | queries of displays |
//! | `swapchain`, [`entry`] | device commands |

mod capabilities;
mod create;
mod display;
mod display2;
pub(crate) mod entry;
mod query;
mod surface_query;
mod swapchain;
mod unwrap;

pub(crate) use unwrap::surface_for;

/// Bodies of terminators, with the names that the emitted functions call.
pub(crate) mod terminator {
    pub(crate) use super::capabilities::{
        get_physical_device_surface_capabilities2_ext, get_physical_device_surface_capabilities2_khr,
    };
    pub(crate) use super::create::destroy_surface_khr;
    pub(crate) use super::create::{
        create_android_surface_khr, create_direct_fb_surface_ext, create_display_plane_surface_khr,
        create_headless_surface_ext, create_image_pipe_surface_fuchsia, create_ios_surface_mvk,
        create_mac_os_surface_mvk, create_metal_surface_ext, create_screen_surface_qnx,
        create_stream_descriptor_surface_ggp, create_surface_ohos, create_ubm_surface_sec, create_vi_surface_nn,
        create_wayland_surface_khr, create_win32_surface_khr, create_xcb_surface_khr, create_xlib_surface_khr,
    };
    pub(crate) use super::display::{
        create_display_mode_khr, get_display_mode_properties_khr, get_display_plane_capabilities_khr,
        get_display_plane_supported_displays_khr, get_physical_device_display_plane_properties_khr,
        get_physical_device_display_properties_khr, get_rand_r_output_display_ext, release_display_ext,
    };
    pub(crate) use super::display2::{
        get_display_mode_properties2_khr, get_display_plane_capabilities2_khr,
        get_physical_device_display_plane_properties2_khr, get_physical_device_display_properties2_khr,
    };
    pub(crate) use super::surface_query::{
        get_physical_device_present_rectangles_khr, get_physical_device_surface_capabilities_khr,
        get_physical_device_surface_formats_khr, get_physical_device_surface_formats2_khr,
        get_physical_device_surface_present_modes_khr, get_physical_device_surface_present_modes2_ext,
        get_physical_device_surface_support_khr,
    };
    pub(crate) use super::swapchain::{
        create_shared_swapchains_khr, create_swapchain_khr, get_device_group_surface_present_modes_khr,
        get_device_group_surface_present_modes2_ext,
    };
}

/// Message about a missing device function, with the same words for the trampoline and the terminators (APP-50).
struct MissingFunction {
    command: &'static str,
    extension: &'static str,
}

impl core::fmt::Display for MissingFunction {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { command, extension } = self;
        write!(
            f,
            "{command}: Driver's function pointer was NULL, returning VK_SUCCESS. Was the {extension} extension enabled?"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::MissingFunction;

    #[test]
    fn app_50_the_line_that_users_look_for() {
        assert_eq!(
            MissingFunction {
                command: "vkCreateSwapchainKHR",
                extension: "VK_KHR_swapchain"
            }
            .to_string(),
            "vkCreateSwapchainKHR: Driver's function pointer was NULL, returning VK_SUCCESS. Was the VK_KHR_swapchain \
             extension enabled?"
        );
    }
}
