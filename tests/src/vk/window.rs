//! Window system that most tests of surfaces use: XCB on Unix, and Win32 on Windows.

use ash::vk;

use super::Instance;
use crate::call;

/// Surface extension of the window system.
pub const WINDOW_SURFACE: &str = if cfg!(windows) {
    "VK_KHR_win32_surface"
} else {
    "VK_KHR_xcb_surface"
};

/// Command that creates a surface, in the extension [`WINDOW_SURFACE`].
pub const CREATE_WINDOW_SURFACE: &str = if cfg!(windows) {
    "vkCreateWin32SurfaceKHR"
} else {
    "vkCreateXcbSurfaceKHR"
};

/// Surface extensions of all window systems of this platform.
pub const WINDOW_SURFACES: &[&str] = if cfg!(windows) {
    &["VK_KHR_win32_surface"]
} else {
    &["VK_KHR_xcb_surface", "VK_KHR_xlib_surface", "VK_KHR_wayland_surface"]
};

/// Creates a surface whose connection and window are invented numbers.
#[cfg(unix)]
pub(crate) fn create(instance: &Instance<'_>, connection: usize, window: u32, out: &mut vk::SurfaceKHR) -> vk::Result {
    let info = vk::XcbSurfaceCreateInfoKHR {
        connection: connection as *mut std::ffi::c_void,
        window,
        ..Default::default()
    };
    call!(
        instance,
        PFN_vkCreateXcbSurfaceKHR(instance.raw, &info, std::ptr::null(), out)
    )
}

/// Creates a surface whose connection and window are invented numbers.
#[cfg(windows)]
pub(crate) fn create(instance: &Instance<'_>, connection: usize, window: u32, out: &mut vk::SurfaceKHR) -> vk::Result {
    let info = vk::Win32SurfaceCreateInfoKHR {
        hinstance: connection as isize,
        hwnd: window as isize,
        ..Default::default()
    };
    call!(
        instance,
        PFN_vkCreateWin32SurfaceKHR(instance.raw, &info, std::ptr::null(), out)
    )
}
