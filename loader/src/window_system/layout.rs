//! Structures through which drivers below interface version 3 read a surface (DRV-170 to DRV-172).
//!
//! For these drivers, `VkSurfaceKHR` is the address of one of these structures. Each structure starts with the enumerant of its platform.
//! Platforms newer than interface version 3 also have a structure, which no driver needs: since that version, drivers create surfaces of
//! their own.

use crate::generated::types::*;
use core::ffi::c_void;

/// Declares a platform's structure with its name in C, its enumerant, its size, and its offsets for 64-bit pointers.
macro_rules! platform_layouts {
    ($(
        $(#[$doc:meta])*
        $name:ident $(($c_name:literal))? = $platform:literal, $size:literal { $($member:ident: $type:ty, $offset:literal;)* }
    )*) => {
        $(
            $(#[$doc])*
            $(#[doc = concat!("Structure `", $c_name, "` of `vk_icd.h`.")])?
            #[repr(C)]
            #[derive(Clone, Copy)]
            pub(crate) struct $name {
                /// Enumerant of the platform.
                pub platform: u32,
                $(
                    #[doc = concat!("`", stringify!($member), "` of the create info.")]
                    pub $member: $type,
                )*
            }

            impl $name {
                /// The platform's number in the driver interface.
                pub(crate) const PLATFORM: u32 = $platform;
            }
        )*

        #[cfg(all(target_pointer_width = "64", not(windows)))]
        const _: () = {
            $(
                assert!(size_of::<$name>() == $size);
                $(assert!(core::mem::offset_of!($name, $member) == $offset);)*
            )*
        };

        /// The platform's part of a surface, as large as the largest one.
        #[repr(C)]
        #[derive(Clone, Copy)]
        pub(crate) union PlatformPart {
            /// Enumerant of the platform. Every part starts with this member.
            pub platform: u32,
            $(
                #[doc = concat!("[`", stringify!($name), "`]")]
                pub $name: $name,
            )*
        }

        $(
            impl From<$name> for PlatformPart {
                fn from(part: $name) -> Self {
                    Self { $name: part }
                }
            }
        )*
    };
}

// Number 0 was Mir, which the registry no longer contains.
platform_layouts! {
    Wayland ("VkIcdSurfaceWayland") = 1, 24 { display: *mut wl_display, 8; surface: *mut wl_surface, 16; }
    Win32 ("VkIcdSurfaceWin32") = 2, 24 { hinstance: HINSTANCE, 8; hwnd: HWND, 16; }
    Xcb ("VkIcdSurfaceXcb") = 3, 24 { connection: *mut xcb_connection_t, 8; window: xcb_window_t, 16; }
    Xlib ("VkIcdSurfaceXlib") = 4, 24 { dpy: *mut Display, 8; window: Window, 16; }
    Android ("VkIcdSurfaceAndroid") = 5, 16 { window: *mut ANativeWindow, 8; }
    MacOs ("VkIcdSurfaceMacOS") = 6, 16 { pView: *const c_void, 8; }
    Ios ("VkIcdSurfaceIOS") = 7, 16 { pView: *const c_void, 8; }
    DisplayPlane ("VkIcdSurfaceDisplay") = 8, 48 {
        displayMode: VkDisplayModeKHR, 8;
        planeIndex: u32, 16;
        planeStackIndex: u32, 20;
        transform: VkSurfaceTransformFlagBitsKHR, 24;
        globalAlpha: f32, 28;
        alphaMode: VkDisplayPlaneAlphaFlagBitsKHR, 32;
        imageExtent: VkExtent2D, 36;
    }
    Headless ("VkIcdSurfaceHeadless") = 9, 4 {}
    Metal ("VkIcdSurfaceMetal") = 10, 16 { pLayer: *const CAMetalLayer, 8; }
    DirectFb ("VkIcdSurfaceDirectFB") = 11, 24 { dfb: *mut IDirectFB, 8; surface: *mut IDirectFBSurface, 16; }
    Vi ("VkIcdSurfaceVi") = 12, 16 { window: *mut c_void, 8; }
    Ggp ("VkIcdSurfaceGgp") = 13, 8 { streamDescriptor: GgpStreamDescriptor, 4; }
    Screen ("VkIcdSurfaceScreen") = 14, 24 { context: *mut _screen_context, 8; window: *mut _screen_window, 16; }
    ImagePipe ("VkIcdSurfaceImagePipe") = 15, 4 {}
    /// An OpenHarmony window. No header assigns a number, so this number is the loader's own (DRV-172).
    Ohos = 16, 16 { window: *mut OHNativeWindow, 8; }
    /// A Samsung UBM surface. No header assigns a number, so this number is the loader's own (DRV-172).
    Ubm = 17, 24 { device: *mut ubm_device, 8; surface: *mut ubm_surface, 16; }
}

#[cfg(all(target_pointer_width = "64", not(windows)))]
const _: () = assert!(size_of::<PlatformPart>() == 48);

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers are those of `VkIcdWsiPlatform` in `vk_icd.h`, which lists the platforms in this order.
    #[test]
    fn drv_172_each_platform_has_the_number_that_drivers_know() {
        let numbers = [
            Wayland::PLATFORM,
            Win32::PLATFORM,
            Xcb::PLATFORM,
            Xlib::PLATFORM,
            Android::PLATFORM,
            MacOs::PLATFORM,
            Ios::PLATFORM,
            DisplayPlane::PLATFORM,
            Headless::PLATFORM,
            Metal::PLATFORM,
            DirectFb::PLATFORM,
            Vi::PLATFORM,
            Ggp::PLATFORM,
            Screen::PLATFORM,
            ImagePipe::PLATFORM,
            Ohos::PLATFORM,
            Ubm::PLATFORM,
        ];
        assert!(numbers.into_iter().eq(1..=17), "{numbers:?}");
    }
}
