//! Commands for surfaces. This module creates surfaces, reads the loader's structure for surfaces that this driver did not create, and
//! answers queries.

use std::ffi::c_void;

use ash::vk::{self, Handle};

use crate::alloc::Allocator;
use crate::entry::{Call, two_call};
use crate::{chain, object, physical, physical2};

/// Creates a surface and records the call, for all commands that create surfaces.
unsafe fn make(
    name: &'static str,
    instance: vk::Instance,
    details: String,
    next: *const c_void,
    allocator: *const vk::AllocationCallbacks<'static>,
    out: *mut vk::SurfaceKHR,
) -> vk::Result {
    object::expect(name, &["instance"], instance.as_raw());
    let call = Call::enter(
        name,
        format_args!("{details} {} {}", chain::show(next), Allocator(allocator)),
    );
    if let Some(code) = call.failure {
        return code;
    }
    if call.config.gives_null(name) {
        return vk::Result::SUCCESS;
    }
    let surface = object::number("surface");
    call.note(format_args!("made {surface:#x}"));
    // SAFETY: the caller passes a valid place for the result.
    unsafe { *out = vk::SurfaceKHR::from_raw(surface) };
    vk::Result::SUCCESS
}

/// Defines a command that creates a surface, and writes members of its create info into the journal.
macro_rules! creator {
    ($function:ident, $name:literal, $info:ty, |$it:ident| $details:expr) => {
        #[doc = concat!("`", $name, "`.")]
        pub(crate) unsafe extern "system" fn $function(
            instance: vk::Instance,
            info: *const $info,
            allocator: *const vk::AllocationCallbacks<'static>,
            out: *mut vk::SurfaceKHR,
        ) -> vk::Result {
            // SAFETY: the create info is valid during the call.
            let $it = unsafe { &*info };
            // SAFETY: the caller passes a valid place for the surface.
            unsafe { make($name, instance, $details, $it.p_next, allocator, out) }
        }
    };
}

creator!(
    create_xcb,
    "vkCreateXcbSurfaceKHR",
    vk::XcbSurfaceCreateInfoKHR<'static>,
    |info| format!("connection={:#x} window={:#x}", info.connection as usize, info.window)
);
creator!(
    create_xlib,
    "vkCreateXlibSurfaceKHR",
    vk::XlibSurfaceCreateInfoKHR<'static>,
    |info| format!("display={:#x} window={:#x}", info.dpy as usize, info.window)
);
creator!(
    create_wayland,
    "vkCreateWaylandSurfaceKHR",
    vk::WaylandSurfaceCreateInfoKHR<'static>,
    |info| format!(
        "display={:#x} surface={:#x}",
        info.display as usize, info.surface as usize
    )
);
creator!(
    create_win32,
    "vkCreateWin32SurfaceKHR",
    vk::Win32SurfaceCreateInfoKHR<'static>,
    |info| format!("connection={:#x} window={:#x}", info.hinstance, info.hwnd)
);
creator!(
    create_headless,
    "vkCreateHeadlessSurfaceEXT",
    vk::HeadlessSurfaceCreateInfoEXT<'static>,
    |_info| String::from("headless")
);
creator!(
    create_display,
    "vkCreateDisplayPlaneSurfaceKHR",
    vk::DisplaySurfaceCreateInfoKHR<'static>,
    |info| format!(
        "mode={:#x} plane={} stack={}",
        info.display_mode.as_raw(),
        info.plane_index,
        info.plane_stack_index
    )
);

/// Implements `vkDestroySurfaceKHR`.
pub(crate) unsafe extern "system" fn destroy(
    _instance: vk::Instance,
    surface: vk::SurfaceKHR,
    allocator: *const vk::AllocationCallbacks<'static>,
) {
    Call::enter(
        "vkDestroySurfaceKHR",
        format_args!("{:#x} {}", surface.as_raw(), Allocator(allocator)),
    );
    object::release("vkDestroySurfaceKHR", "surface", surface.as_raw());
}

/// Size in bytes of the union of all platforms' members. The display surface has the largest members: 48 bytes if 64-bit handles are
/// aligned to 8 bytes.
const UNION: usize = 32 + 2 * align_of::<u64>();

/// Beginning of the loader's surface object (DRV-171), which a driver without its own surfaces reads.
#[repr(C)]
struct IcdSurface {
    platform: i32,
    first: usize,
    second: usize,
    rest_of_union: [u8; UNION - 3 * size_of::<usize>()],
    sizes: [u32; 5],
}

/// Records the surface that a query received. With the configuration line `flag reads_surfaces`, also reads and records the loader's
/// structure.
pub(crate) fn note(call: &Call, surface: vk::SurfaceKHR) {
    if surface.is_null() {
        return call.note("surface=null");
    }
    if !call.config.flag("reads_surfaces") {
        object::expect(call.name, &["surface"], surface.as_raw());
        return call.note(format_args!("surface={:#x}", surface.as_raw()));
    }
    // SAFETY: by setting this flag, the test promises that the handle is the loader's object.
    let icd = unsafe { &*(surface.as_raw() as *const IcdSurface) };
    // A headless surface has no members after the base.
    let members = match icd.platform {
        9 => String::new(),
        _ => format!("first={:#x} second={:#x} ", icd.first, icd.second as u32),
    };
    call.note(format_args!(
        "surface platform={} {members}sizes={:?}",
        icd.platform,
        &icd.sizes[..3]
    ));
}

/// Implements `vkGetPhysicalDeviceSurfaceSupportKHR`.
pub(crate) unsafe extern "system" fn support(
    physical: vk::PhysicalDevice,
    _family: u32,
    surface: vk::SurfaceKHR,
    out: *mut vk::Bool32,
) -> vk::Result {
    let (call, _) = physical::enter("vkGetPhysicalDeviceSurfaceSupportKHR", physical);
    note(&call, surface);
    let is_able = !call.config.flag("presents_nothing");
    // SAFETY: the caller passes a valid place for the result.
    unsafe { *out = is_able.into() };
    call.result()
}

/// Returns the capabilities of every surface.
fn capabilities_of() -> vk::SurfaceCapabilitiesKHR {
    vk::SurfaceCapabilitiesKHR {
        min_image_count: 2,
        max_image_count: 8,
        current_extent: vk::Extent2D {
            width: 640,
            height: 480,
        },
        min_image_extent: vk::Extent2D { width: 1, height: 1 },
        max_image_extent: vk::Extent2D {
            width: 4096,
            height: 2048,
        },
        max_image_array_layers: 1,
        ..Default::default()
    }
}

/// Returns the formats of every surface.
fn formats_of() -> [vk::SurfaceFormatKHR; 2] {
    let format = |format| vk::SurfaceFormatKHR {
        format,
        color_space: vk::ColorSpaceKHR::SRGB_NONLINEAR,
    };
    [format(vk::Format::B8G8R8A8_UNORM), format(vk::Format::R8G8B8A8_UNORM)]
}

/// Implements `vkGetPhysicalDeviceSurfaceCapabilitiesKHR`.
pub(crate) unsafe extern "system" fn capabilities(
    physical: vk::PhysicalDevice,
    surface: vk::SurfaceKHR,
    out: *mut vk::SurfaceCapabilitiesKHR,
) -> vk::Result {
    let (call, _) = physical::enter("vkGetPhysicalDeviceSurfaceCapabilitiesKHR", physical);
    note(&call, surface);
    if call.failure.is_none() {
        // SAFETY: the caller passes a valid place for the result.
        unsafe { out.write(capabilities_of()) };
    }
    call.result()
}

/// Implements `vkGetPhysicalDeviceSurfaceFormatsKHR`.
pub(crate) unsafe extern "system" fn formats(
    physical: vk::PhysicalDevice,
    surface: vk::SurfaceKHR,
    count: *mut u32,
    out: *mut vk::SurfaceFormatKHR,
) -> vk::Result {
    let (call, _) = physical::enter("vkGetPhysicalDeviceSurfaceFormatsKHR", physical);
    note(&call, surface);
    // SAFETY: the caller follows the two-call idiom.
    unsafe { two_call(&call, &formats_of(), count, out) }
}

/// Implements `vkGetPhysicalDeviceSurfacePresentModesKHR`.
pub(crate) unsafe extern "system" fn present_modes(
    physical: vk::PhysicalDevice,
    surface: vk::SurfaceKHR,
    count: *mut u32,
    out: *mut vk::PresentModeKHR,
) -> vk::Result {
    let (call, _) = physical::enter("vkGetPhysicalDeviceSurfacePresentModesKHR", physical);
    note(&call, surface);
    let modes = [vk::PresentModeKHR::FIFO, vk::PresentModeKHR::MAILBOX];
    // SAFETY: the caller follows the two-call idiom.
    unsafe { two_call(&call, &modes, count, out) }
}

/// Implements `vkGetPhysicalDeviceSurfacePresentModes2EXT`.
pub(crate) unsafe extern "system" fn present_modes2(
    physical: vk::PhysicalDevice,
    info: *const vk::PhysicalDeviceSurfaceInfo2KHR<'static>,
    count: *mut u32,
    out: *mut vk::PresentModeKHR,
) -> vk::Result {
    let (call, _) = physical::enter("vkGetPhysicalDeviceSurfacePresentModes2EXT", physical);
    // SAFETY: the caller passes a valid structure.
    let info = unsafe { &*info };
    call.note(chain::show(info.p_next));
    note(&call, info.surface);
    // SAFETY: the caller follows the two-call idiom.
    unsafe { two_call(&call, &[vk::PresentModeKHR::FIFO], count, out) }
}

/// Implements `vkGetPhysicalDevicePresentRectanglesKHR`.
pub(crate) unsafe extern "system" fn present_rectangles(
    physical: vk::PhysicalDevice,
    surface: vk::SurfaceKHR,
    count: *mut u32,
    out: *mut vk::Rect2D,
) -> vk::Result {
    let (call, _) = physical::enter("vkGetPhysicalDevicePresentRectanglesKHR", physical);
    note(&call, surface);
    // SAFETY: the caller follows the two-call idiom.
    unsafe { two_call(&call, &[vk::Rect2D::default()], count, out) }
}

/// Implements `vkGetPhysicalDeviceSurfaceCapabilities2KHR`.
pub(crate) unsafe extern "system" fn capabilities2(
    physical: vk::PhysicalDevice,
    info: *const vk::PhysicalDeviceSurfaceInfo2KHR<'static>,
    out: *mut vk::SurfaceCapabilities2KHR<'static>,
) -> vk::Result {
    let (call, _) = physical::enter("vkGetPhysicalDeviceSurfaceCapabilities2KHR", physical);
    // SAFETY: the caller passes valid structures.
    let (info, out) = unsafe { (&*info, &mut *out) };
    call.note(format_args!(
        "in {} out {}",
        chain::show(info.p_next),
        chain::show(out.p_next)
    ));
    note(&call, info.surface);
    out.surface_capabilities = capabilities_of();
    call.result()
}

/// Implements `vkGetPhysicalDeviceSurfaceFormats2KHR`.
pub(crate) unsafe extern "system" fn formats2(
    physical: vk::PhysicalDevice,
    info: *const vk::PhysicalDeviceSurfaceInfo2KHR<'static>,
    count: *mut u32,
    out: *mut vk::SurfaceFormat2KHR<'static>,
) -> vk::Result {
    let (call, _) = physical::enter("vkGetPhysicalDeviceSurfaceFormats2KHR", physical);
    // SAFETY: the caller passes a valid structure.
    note(&call, unsafe { (*info).surface });
    // SAFETY: the caller follows the two-call idiom.
    unsafe {
        physical2::fill_elements(&call, &formats_of(), count, out, |element, item| {
            element.surface_format = item
        })
    }
}

/// Implements `vkGetPhysicalDeviceSurfaceCapabilities2EXT`.
pub(crate) unsafe extern "system" fn capabilities2_ext(
    physical: vk::PhysicalDevice,
    surface: vk::SurfaceKHR,
    out: *mut vk::SurfaceCapabilities2EXT<'static>,
) -> vk::Result {
    let (call, _) = physical::enter("vkGetPhysicalDeviceSurfaceCapabilities2EXT", physical);
    note(&call, surface);
    // SAFETY: the caller passes a valid structure.
    unsafe { (*out).supported_surface_counters = vk::SurfaceCounterFlagsEXT::VBLANK };
    call.result()
}

/// Defines a presentation-support query, which always reports support.
macro_rules! presentation {
    ($function:ident, $name:literal $(, $arg:ident: $ty:ty)*) => {
        #[doc = concat!("`", $name, "`.")]
        pub(crate) unsafe extern "system" fn $function(physical: vk::PhysicalDevice, family: u32 $(, $arg: $ty)*) -> vk::Bool32 {
            let (call, _) = physical::enter($name, physical);
            call.note(format_args!("family={family}"));
            vk::TRUE
        }
    };
}

presentation!(xcb_support, "vkGetPhysicalDeviceXcbPresentationSupportKHR", _connection: *mut c_void, _visual: u32);
presentation!(xlib_support, "vkGetPhysicalDeviceXlibPresentationSupportKHR", _display: *mut c_void, _visual: u64);
presentation!(wayland_support, "vkGetPhysicalDeviceWaylandPresentationSupportKHR", _display: *mut c_void);
presentation!(win32_support, "vkGetPhysicalDeviceWin32PresentationSupportKHR");
