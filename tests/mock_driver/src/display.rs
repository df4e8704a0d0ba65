//! Display queries. Each device has one display with one mode and one plane.

use ash::vk::{self, Handle};

use crate::entry::{Call, two_call};
use crate::{alloc::Allocator, object, physical, physical2};

/// Returns the display of a device. The handle is the same each time.
fn display(physical: vk::PhysicalDevice) -> vk::DisplayKHR {
    vk::DisplayKHR::from_raw(object::child(physical.as_raw(), "display", || {
        0xd15b_0000 + physical.as_raw() % 0x1000
    }))
}

fn mode() -> vk::DisplayModePropertiesKHR {
    let region = vk::Extent2D {
        width: 1920,
        height: 1080,
    };
    let parameters = vk::DisplayModeParametersKHR {
        visible_region: region,
        refresh_rate: 60_000,
    };
    vk::DisplayModePropertiesKHR {
        display_mode: vk::DisplayModeKHR::from_raw(0x0d0d_e001),
        parameters,
    }
}

fn properties_of(physical: vk::PhysicalDevice) -> vk::DisplayPropertiesKHR<'static> {
    vk::DisplayPropertiesKHR {
        display: display(physical),
        ..Default::default()
    }
}

fn plane_of(physical: vk::PhysicalDevice) -> vk::DisplayPlanePropertiesKHR {
    vk::DisplayPlanePropertiesKHR {
        current_display: display(physical),
        current_stack_index: 3,
    }
}

/// Defines the two commands of a display query: the older command, and the newer command, whose elements have `pNext` chains.
macro_rules! query {
    ($function:ident, $name:literal, $ty:ty, ($physical:ident $(, $arg:ident: $argty:ty)*), $item:expr) => {
        #[doc = concat!("`", $name, "`.")]
        pub(crate) unsafe extern "system" fn $function($physical: vk::PhysicalDevice $(, $arg: $argty)*, count: *mut u32, out: *mut $ty) -> vk::Result {
            let (call, _) = physical::enter($name, $physical);
            // SAFETY: the caller follows the two-call idiom.
            unsafe { two_call(&call, &[$item], count, out) }
        }
    };
    ($function:ident, $name:literal, $ty:ty, ($physical:ident $(, $arg:ident: $argty:ty)*), $item:expr, $member:ident) => {
        #[doc = concat!("`", $name, "`.")]
        pub(crate) unsafe extern "system" fn $function($physical: vk::PhysicalDevice $(, $arg: $argty)*, count: *mut u32, out: *mut $ty) -> vk::Result {
            let (call, _) = physical::enter($name, $physical);
            // SAFETY: the caller follows the two-call idiom.
            unsafe { physical2::fill_elements(&call, &[$item], count, out, |element, item| element.$member = item) }
        }
    };
}

query!(
    properties,
    "vkGetPhysicalDeviceDisplayPropertiesKHR",
    vk::DisplayPropertiesKHR<'static>,
    (physical),
    properties_of(physical)
);
query!(
    properties2,
    "vkGetPhysicalDeviceDisplayProperties2KHR",
    vk::DisplayProperties2KHR<'static>,
    (physical),
    properties_of(physical),
    display_properties
);
query!(
    planes,
    "vkGetPhysicalDeviceDisplayPlanePropertiesKHR",
    vk::DisplayPlanePropertiesKHR,
    (physical),
    plane_of(physical)
);
query!(
    planes2,
    "vkGetPhysicalDeviceDisplayPlaneProperties2KHR",
    vk::DisplayPlaneProperties2KHR<'static>,
    (physical),
    plane_of(physical),
    display_plane_properties
);
query!(supported, "vkGetDisplayPlaneSupportedDisplaysKHR", vk::DisplayKHR, (physical, _plane: u32), display(physical));
query!(modes, "vkGetDisplayModePropertiesKHR", vk::DisplayModePropertiesKHR, (physical, _display: vk::DisplayKHR), mode());
query!(modes2, "vkGetDisplayModeProperties2KHR", vk::DisplayModeProperties2KHR<'static>, (physical, _display: vk::DisplayKHR), mode(), display_mode_properties);

/// Implements `vkCreateDisplayModeKHR`.
pub(crate) unsafe extern "system" fn create_mode(
    physical: vk::PhysicalDevice,
    _display: vk::DisplayKHR,
    _info: *const vk::DisplayModeCreateInfoKHR<'static>,
    allocator: *const vk::AllocationCallbacks<'static>,
    out: *mut vk::DisplayModeKHR,
) -> vk::Result {
    let (call, _) = physical::enter("vkCreateDisplayModeKHR", physical);
    call.note(Allocator(allocator));
    // SAFETY: the caller passes a valid place for the result.
    unsafe { *out = mode().display_mode };
    call.result()
}

/// Implements `vkGetDisplayPlaneCapabilitiesKHR`.
pub(crate) unsafe extern "system" fn plane_capabilities(
    physical: vk::PhysicalDevice,
    mode: vk::DisplayModeKHR,
    plane: u32,
    out: *mut vk::DisplayPlaneCapabilitiesKHR,
) -> vk::Result {
    let (call, _) = physical::enter("vkGetDisplayPlaneCapabilitiesKHR", physical);
    call.note(format_args!("mode={:#x} plane={plane}", mode.as_raw()));
    // SAFETY: the caller passes a valid place for the result.
    unsafe { (*out).supported_alpha = vk::DisplayPlaneAlphaFlagsKHR::OPAQUE };
    call.result()
}

/// Implements `vkGetDisplayPlaneCapabilities2KHR`.
pub(crate) unsafe extern "system" fn plane_capabilities2(
    physical: vk::PhysicalDevice,
    _info: *const vk::DisplayPlaneInfo2KHR<'static>,
    out: *mut vk::DisplayPlaneCapabilities2KHR<'static>,
) -> vk::Result {
    let (call, _) = physical::enter("vkGetDisplayPlaneCapabilities2KHR", physical);
    // SAFETY: the caller passes a valid place for the result.
    unsafe { (*out).capabilities.supported_alpha = vk::DisplayPlaneAlphaFlagsKHR::OPAQUE };
    call.result()
}

/// Implements `vkReleaseDisplayEXT`.
pub(crate) unsafe extern "system" fn release(physical: vk::PhysicalDevice, display: vk::DisplayKHR) -> vk::Result {
    taking(
        "vkReleaseDisplayEXT",
        physical,
        format_args!("display={:#x}", display.as_raw()),
    )
    .result()
}

/// Records a call that acquires or releases a display, with a separate line for its arguments.
fn taking(name: &'static str, physical: vk::PhysicalDevice, arguments: std::fmt::Arguments<'_>) -> Call {
    let (call, _) = physical::enter(name, physical);
    call.note(arguments);
    call
}

/// Implements `vkAcquireXlibDisplayEXT`.
pub(crate) unsafe extern "system" fn acquire_xlib(
    physical: vk::PhysicalDevice,
    server: *mut vk::Display,
    display: vk::DisplayKHR,
) -> vk::Result {
    let (server, display) = (server as usize, display.as_raw());
    let arguments = format_args!("server={server:#x} display={display:#x}");
    taking("vkAcquireXlibDisplayEXT", physical, arguments).result()
}

/// Implements `vkAcquireDrmDisplayEXT`.
pub(crate) unsafe extern "system" fn acquire_drm(
    physical: vk::PhysicalDevice,
    fd: i32,
    display: vk::DisplayKHR,
) -> vk::Result {
    let arguments = format_args!("fd={fd} display={:#x}", display.as_raw());
    taking("vkAcquireDrmDisplayEXT", physical, arguments).result()
}

/// Implements `vkGetDrmDisplayEXT`.
pub(crate) unsafe extern "system" fn drm(
    physical: vk::PhysicalDevice,
    fd: i32,
    connector: u32,
    out: *mut vk::DisplayKHR,
) -> vk::Result {
    let arguments = format_args!("fd={fd} connector={connector}");
    let call = taking("vkGetDrmDisplayEXT", physical, arguments);
    // SAFETY: the caller passes a valid place for the result.
    unsafe { *out = display(physical) };
    call.result()
}

/// Implements `vkGetRandROutputDisplayEXT`.
pub(crate) unsafe extern "system" fn randr(
    physical: vk::PhysicalDevice,
    server: *mut vk::Display,
    output: vk::RROutput,
    out: *mut vk::DisplayKHR,
) -> vk::Result {
    let arguments = format_args!("server={:#x} output={output:#x}", server as usize);
    let call = taking("vkGetRandROutputDisplayEXT", physical, arguments);
    // SAFETY: the caller passes a valid place for the result.
    unsafe { *out = display(physical) };
    call.result()
}
