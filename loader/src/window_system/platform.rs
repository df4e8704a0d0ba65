//! Differences between platforms: one row each, from which everything else about the platform follows (DRV-172, DRV-173).

use super::layout::{self, PlatformPart};
use super::surface::Surface;
use crate::generated::dispatch::DriverTable;
use crate::generated::types::*;
use crate::handle::{Driver, InstanceHandle, SurfaceHandle};
use discovery::extension::InstanceExtension;

/// Creation of surfaces of one platform.
pub(crate) struct Platform {
    /// Command that creates the surfaces.
    pub command: &'static str,
    /// Structure that the command takes.
    pub create_info: &'static str,
    /// Extension that provides the command.
    pub extension: InstanceExtension,
    /// Size of the platform's part of a surface in bytes.
    pub part_size: u32,
    /// `true` if drivers may create surfaces of their own for the platform (DRV-180).
    pub per_driver: bool,
    /// `true` if `VkDisplaySurfaceStereoCreateInfoNV` may extend the create info (DRV-175).
    pub stereo: bool,
    /// Asks a driver to create its own surface; returns `None` if the driver lacks the command.
    ///
    /// The handle is the instance of the driver to which the functions belong; the surface must belong to the platform of this row.
    pub make: unsafe fn(&DriverTable, InstanceHandle<Driver>, &Surface, &mut SurfaceHandle<Driver>) -> Option<VkResult>,
    /// Copies a create info, which must be valid and the structure of this row. Also returns the structure through which drivers below interface
    /// version 3 read the surface.
    pub read: unsafe fn(*const VkBaseInStructure) -> (PlatformPart, CreateInfo),
}

/// A create info of some platform.
pub(crate) trait PlatformInfo {
    /// Platform of the surfaces that the create info describes.
    const PLATFORM: Platform;
}

/// Returns `true` if a driver has commands that create or destroy surfaces (DRV-73).
pub(crate) fn makes_surfaces(functions: &DriverTable) -> bool {
    functions.vkDestroySurfaceKHR.is_some() || creates_surfaces(functions)
}

/// Declares the types and conversions for the platforms in the rows of [`each_platform`].
macro_rules! platforms {
    ($(
        $body:ident: $command:ident, $info:ident => $part:ident { $($member:ident),* }, $extension:ident,
        per_driver: $per_driver:literal, stereo: $stereo:literal;
    )*) => {
        /// A copy of the create info of any platform.
        #[derive(Clone, Copy)]
        pub(crate) union CreateInfo {
            $(
                #[doc = concat!("[`", stringify!($info), "`]")]
                pub $part: $info,
            )*
        }

        $(
            impl PlatformInfo for $info {
                const PLATFORM: Platform = Platform {
                    command: stringify!($command),
                    create_info: stringify!($info),
                    extension: InstanceExtension::$extension,
                    part_size: size_of::<layout::$part>() as u32,
                    per_driver: $per_driver,
                    stereo: $stereo,
                    make: |driver, instance, surface, made| {
                        let function = driver.$command?;
                        // SAFETY: the caller passes a surface of this platform, which was created from this create info.
                        let saved = unsafe { surface.create_info.$part };
                        let info = $info { pNext: surface.extensions(), ..saved };
                        // SAFETY: function and instance belong to the same driver, and the structures outlive the call.
                        Some(unsafe { function(instance, &info, surface.callbacks(), made) })
                    },
                    read: |info| {
                        // SAFETY: the caller passes a valid create info of this platform.
                        let info = unsafe { *info.cast::<$info>() };
                        let platform = layout::$part::PLATFORM;
                        let part = layout::$part { platform, $($member: info.$member),* };
                        (part.into(), CreateInfo { $part: info })
                    },
                };
            }
        )*

        fn creates_surfaces(functions: &DriverTable) -> bool {
            $(functions.$command.is_some())||*
        }

        /// Every platform, for tests.
        #[cfg(test)]
        pub(crate) const ALL: &[Platform] = &[$(<$info as PlatformInfo>::PLATFORM),*];
    };
}

/// Passes a row for each platform to `$declare`.
///
/// A row has: the terminator's function, the command, the create info, the variant of [`PlatformPart`] with its members, and the extension.
/// Two flags follow: `per_driver` and `stereo` of [`Platform`].
macro_rules! each_platform {
    ($declare:ident) => {
        $declare! {
            create_android_surface_khr: vkCreateAndroidSurfaceKHR, VkAndroidSurfaceCreateInfoKHR => Android { window },
                VK_KHR_android_surface, per_driver: false, stereo: false;
            create_direct_fb_surface_ext: vkCreateDirectFBSurfaceEXT, VkDirectFBSurfaceCreateInfoEXT => DirectFb { dfb, surface },
                VK_EXT_directfb_surface, per_driver: true, stereo: false;
            create_display_plane_surface_khr: vkCreateDisplayPlaneSurfaceKHR, VkDisplaySurfaceCreateInfoKHR => DisplayPlane {
                    displayMode, planeIndex, planeStackIndex, transform, globalAlpha, alphaMode, imageExtent
                },
                VK_KHR_display, per_driver: true, stereo: true;
            create_headless_surface_ext: vkCreateHeadlessSurfaceEXT, VkHeadlessSurfaceCreateInfoEXT => Headless {},
                VK_EXT_headless_surface, per_driver: true, stereo: false;
            create_image_pipe_surface_fuchsia: vkCreateImagePipeSurfaceFUCHSIA, VkImagePipeSurfaceCreateInfoFUCHSIA
                    => ImagePipe {},
                VK_FUCHSIA_imagepipe_surface, per_driver: true, stereo: false;
            create_ios_surface_mvk: vkCreateIOSSurfaceMVK, VkIOSSurfaceCreateInfoMVK => Ios { pView },
                VK_MVK_ios_surface, per_driver: false, stereo: false;
            create_mac_os_surface_mvk: vkCreateMacOSSurfaceMVK, VkMacOSSurfaceCreateInfoMVK => MacOs { pView },
                VK_MVK_macos_surface, per_driver: true, stereo: false;
            create_metal_surface_ext: vkCreateMetalSurfaceEXT, VkMetalSurfaceCreateInfoEXT => Metal { pLayer },
                VK_EXT_metal_surface, per_driver: true, stereo: false;
            create_screen_surface_qnx: vkCreateScreenSurfaceQNX, VkScreenSurfaceCreateInfoQNX => Screen { context, window },
                VK_QNX_screen_surface, per_driver: true, stereo: false;
            create_stream_descriptor_surface_ggp: vkCreateStreamDescriptorSurfaceGGP, VkStreamDescriptorSurfaceCreateInfoGGP
                    => Ggp { streamDescriptor },
                VK_GGP_stream_descriptor_surface, per_driver: true, stereo: false;
            create_surface_ohos: vkCreateSurfaceOHOS, VkSurfaceCreateInfoOHOS => Ohos { window },
                VK_OHOS_surface, per_driver: true, stereo: false;
            create_ubm_surface_sec: vkCreateUbmSurfaceSEC, VkUbmSurfaceCreateInfoSEC => Ubm { device, surface },
                VK_SEC_ubm_surface, per_driver: true, stereo: false;
            create_vi_surface_nn: vkCreateViSurfaceNN, VkViSurfaceCreateInfoNN => Vi { window },
                VK_NN_vi_surface, per_driver: true, stereo: false;
            create_wayland_surface_khr: vkCreateWaylandSurfaceKHR, VkWaylandSurfaceCreateInfoKHR => Wayland { display, surface },
                VK_KHR_wayland_surface, per_driver: true, stereo: false;
            create_win32_surface_khr: vkCreateWin32SurfaceKHR, VkWin32SurfaceCreateInfoKHR => Win32 { hinstance, hwnd },
                VK_KHR_win32_surface, per_driver: true, stereo: false;
            create_xcb_surface_khr: vkCreateXcbSurfaceKHR, VkXcbSurfaceCreateInfoKHR => Xcb { connection, window },
                VK_KHR_xcb_surface, per_driver: true, stereo: false;
            create_xlib_surface_khr: vkCreateXlibSurfaceKHR, VkXlibSurfaceCreateInfoKHR => Xlib { dpy, window },
                VK_KHR_xlib_surface, per_driver: true, stereo: false;
        }
    };
}
pub(crate) use each_platform;

each_platform!(platforms);
