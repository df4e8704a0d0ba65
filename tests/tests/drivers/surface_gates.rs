//! Tests of surfaces on an instance or a platform that does not support them (DRV-170 to DRV-189, DRV-164).

use std::ptr;

use loader_tests::ash::vk;
use loader_tests::vk::{Instance, count_from};
use loader_tests::{call, case};

/// Calls each exported command that creates a surface. Returns the command, its extension and the result.
fn create_all(instance: &Instance<'_>) -> [(&'static str, &'static str, vk::Result); 5] {
    let (vk, raw, null) = (instance.vk, instance.raw, ptr::null());
    let mut surface = vk::SurfaceKHR::null();
    let info = vk::XcbSurfaceCreateInfoKHR::default();
    let xcb = call!(vk, PFN_vkCreateXcbSurfaceKHR(raw, &info, null, &mut surface));
    let info = vk::XlibSurfaceCreateInfoKHR::default();
    let xlib = call!(vk, PFN_vkCreateXlibSurfaceKHR(raw, &info, null, &mut surface));
    let info = vk::WaylandSurfaceCreateInfoKHR::default();
    let wayland = call!(vk, PFN_vkCreateWaylandSurfaceKHR(raw, &info, null, &mut surface));
    let info = vk::HeadlessSurfaceCreateInfoEXT::default();
    let headless = call!(vk, PFN_vkCreateHeadlessSurfaceEXT(raw, &info, null, &mut surface));
    let info = vk::DisplaySurfaceCreateInfoKHR::default();
    let display = call!(vk, PFN_vkCreateDisplayPlaneSurfaceKHR(raw, &info, null, &mut surface));
    assert_eq!(surface, vk::SurfaceKHR::null());
    [
        ("vkCreateXcbSurfaceKHR", "VK_KHR_xcb_surface", xcb),
        ("vkCreateXlibSurfaceKHR", "VK_KHR_xlib_surface", xlib),
        ("vkCreateWaylandSurfaceKHR", "VK_KHR_wayland_surface", wayland),
        ("vkCreateHeadlessSurfaceEXT", "VK_EXT_headless_surface", headless),
        ("vkCreateDisplayPlaneSurfaceKHR", "VK_KHR_display", display),
    ]
}

/// DRV-164, APP-161: creating a surface without the platform's extension fails, for every platform, with VK_KHR_surface and without.
#[test]
fn drv_164_creation_without_the_extension() {
    case(|scene| {
        scene.usual_driver("a");
        for enabled in [&[][..], &["VK_KHR_surface"]] {
            let outcome = scene.run(|vk| {
                let instance = vk.instance_with("1.1", enabled);
                for (command, extension, result) in create_all(&instance) {
                    assert_eq!(result, vk::Result::ERROR_EXTENSION_NOT_PRESENT, "{command}");
                    // The log line about headless surfaces contains two consecutive spaces.
                    let blank = if command == "vkCreateHeadlessSurfaceEXT" {
                        " "
                    } else {
                        ""
                    };
                    let text = format!("{extension} extension not enabled.{blank} {command} not executed!");
                    vk.say("line", text);
                }
            });
            outcome.ok();
            assert_eq!(outcome.said("line").len(), 5);
            for line in outcome.said("line") {
                outcome.logged("ERROR", line);
            }
        }
    });
}

/// DRV-164: queries for which the loader does not check the extension reach the driver: present rectangles, and capabilities of the counter
/// extension.
#[test]
fn drv_164_queries_that_are_not_checked() {
    const COUNTER: &str = "VK_EXT_display_surface_counter";
    case(|scene| {
        scene.usual_driver("a").extension(COUNTER);
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            let (device, surface) = (instance.first(), vk::SurfaceKHR::null());
            let found = count_from(9, |count| {
                call!(
                    vk,
                    PFN_vkGetPhysicalDevicePresentRectanglesKHR(device, surface, count, ptr::null_mut())
                )
            });
            assert_eq!(found, (vk::Result::SUCCESS, 1));
            let instance = vk.instance_with("1.0", &[COUNTER]);
            let mut out = vk::SurfaceCapabilities2EXT::default();
            let result = call!(
                instance,
                PFN_vkGetPhysicalDeviceSurfaceCapabilities2EXT(instance.first(), surface, &mut out)
            );
            let counters = vk::SurfaceCounterFlagsEXT::VBLANK;
            assert_eq!(
                (result, out.supported_surface_counters),
                (vk::Result::SUCCESS, counters)
            );
        });
        outcome.ok().not_logged("not executed!");
    });
}
