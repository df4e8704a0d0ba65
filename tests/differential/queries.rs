//! Queries of a program about physical devices and surfaces. The queries include at least one command for each way in which the loader
//! treats commands.

use std::ptr;

use loader_tests::ash::vk;
use loader_tests::vk::{Commands, text};

use crate::player::{Player, attempt};

/// Records the answer of a query, or a note that the instance lacks the query.
fn told(player: &Player<'_>, what: &str, answer: Option<impl std::fmt::Debug>) {
    if let Some(answer) = answer {
        player.note::<()>(what, format_args!("{answer:?}"));
    }
}

/// Calls an alias of a command, with the function type of the command.
macro_rules! also {
    ($player:expr, $name:literal as $pfn:ident($($argument:expr),* $(,)?)) => {
        match $player.address($name) {
            0 => $player.note($name, "is not answered"),
            _ => Some(loader_tests::call!($player, $name as $pfn($($argument),*))),
        }
    };
}

/// Calls the queries about a physical device, in all their versions.
pub(crate) fn ask_physical(player: &Player<'_>, device: vk::PhysicalDevice) {
    let mut first = vk::PhysicalDeviceProperties::default();
    attempt!(player, PFN_vkGetPhysicalDeviceProperties(device, &mut first));
    told(
        player,
        "properties",
        Some((text(&first.device_name), first.api_version)),
    );
    attempt!(player, PFN_vkGetPhysicalDeviceFeatures(device, &mut Default::default()));
    attempt!(
        player,
        PFN_vkGetPhysicalDeviceMemoryProperties(device, &mut Default::default())
    );
    let mut count = 0;
    attempt!(
        player,
        PFN_vkGetPhysicalDeviceQueueFamilyProperties(device, &mut count, ptr::null_mut())
    );
    told(player, "queue families", Some(count));
    let format = vk::Format::R8G8B8A8_UNORM;
    attempt!(
        player,
        PFN_vkGetPhysicalDeviceFormatProperties(device, format, &mut Default::default())
    );
    second_generation(player, device);
    let mut tools = 0;
    let answer = attempt!(
        player,
        PFN_vkGetPhysicalDeviceToolProperties(device, &mut tools, ptr::null_mut())
    );
    told(player, "tools", answer.map(|answer| (answer, tools)));
    let mut displays = 0;
    let answer = attempt!(
        player,
        PFN_vkGetPhysicalDeviceDisplayPropertiesKHR(device, &mut displays, ptr::null_mut())
    );
    told(player, "displays", answer.map(|answer| (answer, displays)));
    let answer = attempt!(
        player,
        PFN_vkGetPhysicalDeviceDisplayProperties2KHR(device, &mut displays, ptr::null_mut())
    );
    told(player, "displays", answer.map(|answer| (answer, displays)));
}

fn second_generation(player: &Player<'_>, device: vk::PhysicalDevice) {
    let mut ids = vk::PhysicalDeviceIDProperties::default();
    let mut second = vk::PhysicalDeviceProperties2::default().push_next(&mut ids);
    attempt!(player, PFN_vkGetPhysicalDeviceProperties2(device, &mut second));
    told(player, "properties2", Some(text(&second.properties.device_name)));
    also!(
        player,
        "vkGetPhysicalDeviceProperties2KHR" as PFN_vkGetPhysicalDeviceProperties2(device, &mut Default::default())
    );
    attempt!(
        player,
        PFN_vkGetPhysicalDeviceFeatures2(device, &mut Default::default())
    );
    also!(
        player,
        "vkGetPhysicalDeviceFeatures2KHR" as PFN_vkGetPhysicalDeviceFeatures2(device, &mut Default::default())
    );
    attempt!(
        player,
        PFN_vkGetPhysicalDeviceMemoryProperties2(device, &mut Default::default())
    );
    let mut count = 0;
    attempt!(
        player,
        PFN_vkGetPhysicalDeviceQueueFamilyProperties2(device, &mut count, ptr::null_mut())
    );
    let info = vk::PhysicalDeviceImageFormatInfo2::default();
    let answer = attempt!(
        player,
        PFN_vkGetPhysicalDeviceImageFormatProperties2(device, &info, &mut Default::default())
    );
    told(player, "image format", answer);
    let info = vk::PhysicalDeviceExternalBufferInfo::default();
    attempt!(
        player,
        PFN_vkGetPhysicalDeviceExternalBufferProperties(device, &info, &mut Default::default())
    );
    let info = vk::PhysicalDeviceExternalFenceInfo::default();
    attempt!(
        player,
        PFN_vkGetPhysicalDeviceExternalFenceProperties(device, &info, &mut Default::default())
    );
}

/// Runs the step `surface headless|xcb|xlib|wayland|display`, with `alloc=A`.
pub(crate) fn create_surface(player: &mut Player<'_>, words: &[&str]) {
    let this = &*player;
    let (instance, callbacks) = (this.instance, this.callbacks(words));
    let mut surface = vk::SurfaceKHR::null();
    let made = match words[0] {
        "headless" => {
            let info = vk::HeadlessSurfaceCreateInfoEXT::default();
            attempt!(
                this,
                PFN_vkCreateHeadlessSurfaceEXT(instance, &info, callbacks, &mut surface)
            )
        }
        "xcb" => {
            let info = vk::XcbSurfaceCreateInfoKHR::default();
            attempt!(
                this,
                PFN_vkCreateXcbSurfaceKHR(instance, &info, callbacks, &mut surface)
            )
        }
        "xlib" => {
            let info = vk::XlibSurfaceCreateInfoKHR::default();
            attempt!(
                this,
                PFN_vkCreateXlibSurfaceKHR(instance, &info, callbacks, &mut surface)
            )
        }
        "wayland" => {
            let info = vk::WaylandSurfaceCreateInfoKHR::default();
            attempt!(
                this,
                PFN_vkCreateWaylandSurfaceKHR(instance, &info, callbacks, &mut surface)
            )
        }
        "display" => {
            let info = vk::DisplaySurfaceCreateInfoKHR::default();
            attempt!(
                this,
                PFN_vkCreateDisplayPlaneSurfaceKHR(instance, &info, callbacks, &mut surface)
            )
        }
        other => panic!("catalogue.txt: what surface is `{other}`?"),
    };
    told(this, "surface", Some(made));
    player.surface = surface;
}

/// Calls the queries about a surface. The first query makes the driver create its own surface.
pub(crate) fn ask_surface(player: &Player<'_>, device: vk::PhysicalDevice, surface: vk::SurfaceKHR) {
    let mut supported = 7;
    let answer = attempt!(
        player,
        PFN_vkGetPhysicalDeviceSurfaceSupportKHR(device, 0, surface, &mut supported)
    );
    told(player, "support", answer.map(|answer| (answer, supported)));
    let answer = attempt!(
        player,
        PFN_vkGetPhysicalDeviceSurfaceCapabilitiesKHR(device, surface, &mut Default::default())
    );
    told(player, "capabilities", answer);
    let mut count = 0;
    let answer = attempt!(
        player,
        PFN_vkGetPhysicalDeviceSurfaceFormatsKHR(device, surface, &mut count, ptr::null_mut())
    );
    told(player, "formats", answer.map(|answer| (answer, count)));
    let answer = attempt!(
        player,
        PFN_vkGetPhysicalDeviceSurfacePresentModesKHR(device, surface, &mut count, ptr::null_mut())
    );
    told(player, "present modes", answer.map(|answer| (answer, count)));
    let info = vk::PhysicalDeviceSurfaceInfo2KHR::default().surface(surface);
    let answer = attempt!(
        player,
        PFN_vkGetPhysicalDeviceSurfaceCapabilities2KHR(device, &info, &mut Default::default())
    );
    told(player, "capabilities2", answer);
    let answer = attempt!(
        player,
        PFN_vkGetPhysicalDeviceSurfaceFormats2KHR(device, &info, &mut count, ptr::null_mut())
    );
    told(player, "formats2", answer.map(|answer| (answer, count)));
    let answer = attempt!(
        player,
        PFN_vkGetPhysicalDevicePresentRectanglesKHR(device, surface, &mut count, ptr::null_mut())
    );
    told(player, "rectangles", answer.map(|answer| (answer, count)));
}
