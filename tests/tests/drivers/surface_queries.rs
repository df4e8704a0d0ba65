//! Tests of queries about surfaces (DRV-159 to DRV-167, DRV-170 to DRV-189).

use std::ptr;

use loader_tests::ash::vk;
use loader_tests::vk::WINDOW_SURFACE;
use loader_tests::vk::{Instance, count_from, two_call};
use loader_tests::{call, case};

/// Instance extensions that these tests enable.
pub(crate) const WSI: [&str; 4] = [
    "VK_KHR_surface",
    "VK_EXT_headless_surface",
    "VK_KHR_get_surface_capabilities2",
    WINDOW_SURFACE,
];

/// Four queries with a surface parameter reach the driver with its own surface.
#[test]
fn drv_181_the_queries_unwrap() {
    case(|scene| {
        scene.usual_driver("a");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &WSI);
            let (device, surface) = (instance.first(), instance.headless_surface());
            let mut capabilities = vk::SurfaceCapabilitiesKHR::default();
            let result = call!(
                instance,
                PFN_vkGetPhysicalDeviceSurfaceCapabilitiesKHR(device, surface, &mut capabilities)
            );
            assert_eq!((result, capabilities.current_extent.width), (vk::Result::SUCCESS, 640));
            let formats = two_call(|count, out: *mut vk::SurfaceFormatKHR| {
                call!(
                    instance,
                    PFN_vkGetPhysicalDeviceSurfaceFormatsKHR(device, surface, count, out)
                )
            });
            assert_eq!(formats.expect("formats").len(), 2);
            let modes = two_call(|count, out: *mut vk::PresentModeKHR| {
                call!(
                    instance,
                    PFN_vkGetPhysicalDeviceSurfacePresentModesKHR(device, surface, count, out)
                )
            });
            assert_eq!(modes, Ok(vec![vk::PresentModeKHR::FIFO, vk::PresentModeKHR::MAILBOX]));
            let rectangles = two_call(|count, out: *mut vk::Rect2D| {
                call!(
                    instance,
                    PFN_vkGetPhysicalDevicePresentRectanglesKHR(device, surface, count, out)
                )
            });
            assert_eq!(rectangles.expect("rectangles").len(), 1);
            instance.destroy_surface(surface);
        });
        // The mock ends the process if it receives a handle that is not its own.
        outcome.ok();
    });
}

/// The queries of VK_KHR_get_surface_capabilities2 reach the driver with its own surface, and do not change the caller's structure.
#[test]
fn drv_181_the_extensible_queries_unwrap() {
    case(|scene| {
        scene.usual_driver("a");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &WSI);
            let (device, surface) = (instance.first(), instance.headless_surface());
            let info = vk::PhysicalDeviceSurfaceInfo2KHR::default().surface(surface);
            let mut out = vk::SurfaceCapabilities2KHR::default();
            let result = call!(
                instance,
                PFN_vkGetPhysicalDeviceSurfaceCapabilities2KHR(device, &info, &mut out)
            );
            assert_eq!(
                (result, out.surface_capabilities.min_image_count),
                (vk::Result::SUCCESS, 2)
            );
            assert_eq!(info.surface, surface, "the caller's structure is left alone");
            let formats = two_call(|count, out: *mut vk::SurfaceFormat2KHR<'_>| {
                call!(
                    instance,
                    PFN_vkGetPhysicalDeviceSurfaceFormats2KHR(device, &info, count, out)
                )
            });
            assert_eq!(
                formats.expect("formats")[1].surface_format.format,
                vk::Format::R8G8B8A8_UNORM
            );
            instance.destroy_surface(surface);
        });
        let outcome = outcome.ok();
        assert_eq!(
            outcome.calls("a", "vkGetPhysicalDeviceSurfaceCapabilities2KHR").len(),
            3,
            "{}",
            outcome.all()
        );
    });
}

/// DRV-164, APP-161: without VK_KHR_surface, the exported queries return success, write nothing, and cause an error line.
#[test]
fn drv_164_queries_without_the_extension() {
    case(|scene| {
        scene.usual_driver("a");
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            let (device, surface) = (instance.first(), vk::SurfaceKHR::null());
            let mut supported = 77;
            let result = call!(
                vk,
                PFN_vkGetPhysicalDeviceSurfaceSupportKHR(device, 0, surface, &mut supported)
            );
            assert_eq!((result, supported), (vk::Result::SUCCESS, 77));
            let mut capabilities = vk::SurfaceCapabilitiesKHR {
                min_image_count: 77,
                ..Default::default()
            };
            let result = call!(
                vk,
                PFN_vkGetPhysicalDeviceSurfaceCapabilitiesKHR(device, surface, &mut capabilities)
            );
            assert_eq!((result, capabilities.min_image_count), (vk::Result::SUCCESS, 77));
            let unchanged = (vk::Result::SUCCESS, 77);
            let found = count_from(77, |count| {
                call!(
                    vk,
                    PFN_vkGetPhysicalDeviceSurfaceFormatsKHR(device, surface, count, ptr::null_mut())
                )
            });
            assert_eq!(found, unchanged);
            let found = count_from(77, |count| {
                call!(
                    vk,
                    PFN_vkGetPhysicalDeviceSurfacePresentModesKHR(device, surface, count, ptr::null_mut())
                )
            });
            assert_eq!(found, unchanged);
            let info = vk::PhysicalDeviceSurfaceInfo2KHR::default();
            let found = count_from(77, |count| {
                call!(
                    vk,
                    PFN_vkGetPhysicalDeviceSurfaceFormats2KHR(device, &info, count, ptr::null_mut())
                )
            });
            assert_eq!(found, unchanged);
            let mut out = vk::SurfaceCapabilities2KHR::default();
            out.surface_capabilities.min_image_count = 77;
            let result = call!(
                vk,
                PFN_vkGetPhysicalDeviceSurfaceCapabilities2KHR(device, &info, &mut out)
            );
            assert_eq!((result, out.surface_capabilities.min_image_count), unchanged);
        });
        let outcome = outcome.ok();
        for command in ["Support", "Capabilities", "Formats", "PresentModes"] {
            let text =
                format!("VK_KHR_surface extension not enabled. vkGetPhysicalDeviceSurface{command}KHR not executed!");
            outcome.logged("ERROR", &text);
        }
        for call in ["Support", "Capabilities", "Formats", "PresentModes"] {
            assert!(
                outcome
                    .calls("a", &format!("vkGetPhysicalDeviceSurface{call}KHR"))
                    .is_empty(),
                "{}",
                outcome.all()
            );
        }
    });
}

/// DRV-164, APP-161: presentation support is unavailable without the platform's extension.
#[test]
fn drv_164_presentation_support_without_the_extension() {
    case(|scene| {
        scene.usual_driver("a");
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            let (device, null) = (instance.first(), ptr::null_mut());
            let xcb = call!(vk, PFN_vkGetPhysicalDeviceXcbPresentationSupportKHR(device, 0, null, 0));
            let null = ptr::null_mut();
            let xlib = call!(
                vk,
                PFN_vkGetPhysicalDeviceXlibPresentationSupportKHR(device, 0, null, 0)
            );
            let null = ptr::null_mut();
            let wayland = call!(
                vk,
                PFN_vkGetPhysicalDeviceWaylandPresentationSupportKHR(device, 0, null)
            );
            assert_eq!([xcb, xlib, wayland], [vk::FALSE; 3]);
        });
        let outcome = outcome.ok();
        for (platform, extension) in [("Xcb", "xcb"), ("Xlib", "xlib"), ("Wayland", "wayland")] {
            let command = format!("vkGetPhysicalDevice{platform}PresentationSupportKHR");
            let text = format!("VK_KHR_{extension}_surface extension not enabled. {command} not executed!");
            outcome.logged("ERROR", &text);
            assert!(outcome.calls("a", &command).is_empty(), "{}", outcome.all());
        }
    });
}

/// Calls a surface query with NULL for its output.
fn with_null(instance: &Instance<'_>, command: &str) -> vk::Result {
    let (device, surface) = (instance.first(), instance.headless_surface());
    let (count, null) = (ptr::null_mut(), ptr::null_mut());
    let info = vk::PhysicalDeviceSurfaceInfo2KHR::default().surface(surface);
    match command {
        "vkGetPhysicalDeviceSurfaceSupportKHR" => call!(
            instance,
            PFN_vkGetPhysicalDeviceSurfaceSupportKHR(device, 0, surface, count)
        ),
        "vkGetPhysicalDeviceSurfaceCapabilitiesKHR" => call!(
            instance,
            PFN_vkGetPhysicalDeviceSurfaceCapabilitiesKHR(device, surface, null)
        ),
        "vkGetPhysicalDeviceSurfaceFormatsKHR" => call!(
            instance,
            PFN_vkGetPhysicalDeviceSurfaceFormatsKHR(device, surface, count, ptr::null_mut())
        ),
        "vkGetPhysicalDeviceSurfacePresentModesKHR" => call!(
            instance,
            PFN_vkGetPhysicalDeviceSurfacePresentModesKHR(device, surface, count, ptr::null_mut())
        ),
        "vkGetPhysicalDeviceSurfaceCapabilities2KHR" => call!(
            instance,
            PFN_vkGetPhysicalDeviceSurfaceCapabilities2KHR(device, &info, ptr::null_mut())
        ),
        _ => call!(
            instance,
            PFN_vkGetPhysicalDeviceSurfaceFormats2KHR(device, &info, count, ptr::null_mut())
        ),
    }
}

/// DRV-165, APP-159a: a NULL output pointer in a surface query ends the process with a message.
#[test]
fn drv_165_null_outputs_abort() {
    case(|scene| {
        scene.usual_driver("a");
        scene.env("VK_LOADER_DEBUG", "");
        for (command, parameter) in [
            ("vkGetPhysicalDeviceSurfaceSupportKHR", "pSupported"),
            ("vkGetPhysicalDeviceSurfaceCapabilitiesKHR", "pSurfaceCapabilities"),
            ("vkGetPhysicalDeviceSurfaceFormatsKHR", "pSurfaceFormatCount"),
            ("vkGetPhysicalDeviceSurfacePresentModesKHR", "pPresentModeCount"),
            ("vkGetPhysicalDeviceSurfaceCapabilities2KHR", "pSurfaceCapabilities"),
            ("vkGetPhysicalDeviceSurfaceFormats2KHR", "pSurfaceFormatCount"),
        ] {
            let outcome = scene.run(|vk| {
                let _ = with_null(&vk.instance_with("1.0", &WSI), command);
            });
            outcome.aborted(&format!("NULL pointer passed into {command} for {parameter}!"));
        }
    });
}

/// DRV-177, DRV-181: if a driver creates no surface, every query except the query for support returns the driver's error. The loader does
/// not call the driver's query.
#[test]
fn drv_177_queries_return_the_failure_of_the_creation() {
    const COUNTER: &str = "VK_EXT_display_surface_counter";
    case(|scene| {
        scene.usual_driver("a").extension(COUNTER);
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &[&WSI[..], &[COUNTER]].concat());
            let (device, surface) = (instance.first(), instance.headless_surface());
            let error = vk::Result::ERROR_NATIVE_WINDOW_IN_USE_KHR;
            let refuse = format!("fail vkCreateHeadlessSurfaceEXT {}", error.as_raw());
            vk.add_lines("a", &refuse);
            let info = vk::PhysicalDeviceSurfaceInfo2KHR::default().surface(surface);
            let null = ptr::null_mut();
            let counts = [
                count_from(9, |count| {
                    call!(
                        instance,
                        PFN_vkGetPhysicalDeviceSurfaceFormatsKHR(device, surface, count, null)
                    )
                }),
                count_from(9, |count| {
                    call!(
                        instance,
                        PFN_vkGetPhysicalDeviceSurfacePresentModesKHR(device, surface, count, ptr::null_mut())
                    )
                }),
                count_from(9, |count| {
                    call!(
                        instance,
                        PFN_vkGetPhysicalDevicePresentRectanglesKHR(device, surface, count, ptr::null_mut())
                    )
                }),
                count_from(9, |count| {
                    call!(
                        instance,
                        PFN_vkGetPhysicalDeviceSurfaceFormats2KHR(device, &info, count, ptr::null_mut())
                    )
                }),
            ];
            assert_eq!(counts, [(error, 9); 4]);
            let mut second = vk::SurfaceCapabilities2KHR::default();
            let mut counters = vk::SurfaceCapabilities2EXT::default();
            let results = [
                call!(
                    instance,
                    PFN_vkGetPhysicalDeviceSurfaceCapabilities2KHR(device, &info, &mut second)
                ),
                call!(
                    instance,
                    PFN_vkGetPhysicalDeviceSurfaceCapabilities2EXT(device, surface, &mut counters)
                ),
            ];
            assert_eq!(results, [error; 2]);
            assert_eq!(instance.surface_support(device, surface), Ok(false));
            vk.remove_lines("a", &["fail"]);
            let result = call!(
                instance,
                PFN_vkGetPhysicalDeviceSurfaceCapabilities2EXT(device, surface, &mut counters)
            );
            let counters = counters.supported_surface_counters;
            assert_eq!(
                (result, counters),
                (vk::Result::SUCCESS, vk::SurfaceCounterFlagsEXT::VBLANK)
            );
            instance.destroy_surface(surface);
        });
        let outcome = outcome.ok();
        let queries = outcome
            .journal()
            .into_iter()
            .filter(|line| line.starts_with("a vkGetPhysicalDevice") && line.contains("surface="));
        assert_eq!(queries.count(), 1, "{}", outcome.all());
    });
}

/// DRV-179: a NULL surface reaches the driver, as VK_GOOGLE_surfaceless_query needs.
#[test]
fn drv_179_a_null_surface_is_passed_on() {
    const SURFACELESS: &str = "VK_GOOGLE_surfaceless_query";
    case(|scene| {
        scene.usual_driver("a").extension(SURFACELESS);
        scene
            .usual_driver("b")
            .extension(SURFACELESS)
            .missing("vkGetPhysicalDeviceSurfaceCapabilities2KHR")
            .missing("vkGetPhysicalDeviceSurfaceFormats2KHR");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &[&WSI[..], &[SURFACELESS]].concat());
            let null = vk::SurfaceKHR::null();
            for device in instance.devices().expect("devices") {
                let formats = two_call(|count, out: *mut vk::SurfaceFormatKHR| {
                    call!(
                        instance,
                        PFN_vkGetPhysicalDeviceSurfaceFormatsKHR(device, null, count, out)
                    )
                });
                assert_eq!(formats.expect("formats").len(), 2);
                let modes = two_call(|count, out: *mut vk::PresentModeKHR| {
                    call!(
                        instance,
                        PFN_vkGetPhysicalDeviceSurfacePresentModesKHR(device, null, count, out)
                    )
                });
                assert_eq!(modes.expect("modes").len(), 2);
                let info = vk::PhysicalDeviceSurfaceInfo2KHR::default();
                let mut out = vk::SurfaceCapabilities2KHR::default();
                let result = call!(
                    instance,
                    PFN_vkGetPhysicalDeviceSurfaceCapabilities2KHR(device, &info, &mut out)
                );
                assert_eq!(
                    (result, out.surface_capabilities.min_image_count),
                    (vk::Result::SUCCESS, 2)
                );
                let formats = two_call(|count, out: *mut vk::SurfaceFormat2KHR<'_>| {
                    call!(
                        instance,
                        PFN_vkGetPhysicalDeviceSurfaceFormats2KHR(device, &info, count, out)
                    )
                });
                assert_eq!(formats.expect("formats").len(), 2);
            }
        });
        outcome.ok();
    });
}
