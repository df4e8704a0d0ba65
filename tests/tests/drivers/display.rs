//! Tests of displays (DRV-159 to DRV-167).

use std::ptr::null_mut;

use loader_tests::ash::vk;
use loader_tests::vk::{Allocator, count_from, two_call};
use loader_tests::{call, case};

pub(crate) const DISPLAY: [&str; 3] = ["VK_KHR_surface", "VK_KHR_display", "VK_KHR_get_display_properties2"];
pub(crate) const NONE: vk::DisplayKHR = vk::DisplayKHR::null();

/// If a driver has the older and the newer display queries, the loader returns the driver's answers.
#[test]
fn drv_161_display_queries_pass_through() {
    case(|scene| {
        scene.driver("a").extensions(&DISPLAY).device("one");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.0", &DISPLAY);
            let device = instance.first();
            let first: Vec<vk::DisplayPropertiesKHR<'_>> = two_call(|count, out| {
                call!(
                    instance,
                    PFN_vkGetPhysicalDeviceDisplayPropertiesKHR(device, count, out)
                )
            })
            .expect("displays");
            let second: Vec<vk::DisplayProperties2KHR<'_>> = two_call(|count, out| {
                call!(
                    instance,
                    PFN_vkGetPhysicalDeviceDisplayProperties2KHR(device, count, out)
                )
            })
            .expect("displays");
            assert_eq!(first[0].display, second[0].display_properties.display);
            let display = first[0].display;
            let modes: Vec<vk::DisplayModePropertiesKHR> =
                two_call(|count, out| call!(instance, PFN_vkGetDisplayModePropertiesKHR(device, display, count, out)))
                    .expect("modes");
            assert_eq!(modes[0].parameters.refresh_rate, 60_000);
            let supported: Vec<vk::DisplayKHR> = two_call(|count, out| {
                call!(
                    instance,
                    PFN_vkGetDisplayPlaneSupportedDisplaysKHR(device, 0, count, out)
                )
            })
            .expect("displays");
            assert_eq!(supported, [display]);
            let planes: Vec<vk::DisplayPlanePropertiesKHR> = two_call(|count, out| {
                call!(
                    instance,
                    PFN_vkGetPhysicalDeviceDisplayPlanePropertiesKHR(device, count, out)
                )
            })
            .expect("planes");
            assert_eq!((planes[0].current_display, planes[0].current_stack_index), (display, 3));
            let mut mode = vk::DisplayModeKHR::null();
            let info = vk::DisplayModeCreateInfoKHR::default();
            let allocator = Allocator::default();
            vk.say("mark", allocator.mark());
            let result = call!(
                instance,
                PFN_vkCreateDisplayModeKHR(device, display, &info, allocator.callbacks(), &mut mode)
            );
            assert_eq!((result, mode), (vk::Result::SUCCESS, modes[0].display_mode));
        });
        let mark = outcome.said("mark")[0];
        assert!(
            outcome.ok().calls("a", "vkCreateDisplayModeKHR").contains(&mark),
            "{}",
            outcome.all()
        );
    });
}

/// DRV-161 table: the loader emulates the newer display queries with the older queries.
#[test]
fn drv_161_newer_display_queries_are_emulated() {
    case(|scene| {
        scene
            .driver("a")
            .extensions(&DISPLAY)
            .device("one")
            .missing("vkGetPhysicalDeviceDisplayProperties2KHR")
            .missing("vkGetPhysicalDeviceDisplayPlaneProperties2KHR")
            .missing("vkGetDisplayModeProperties2KHR")
            .missing("vkGetDisplayPlaneCapabilities2KHR");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.0", &DISPLAY);
            let device = instance.first();
            let displays: Vec<vk::DisplayProperties2KHR<'_>> = two_call(|count, out| {
                call!(
                    instance,
                    PFN_vkGetPhysicalDeviceDisplayProperties2KHR(device, count, out)
                )
            })
            .expect("displays");
            assert_ne!(displays[0].display_properties.display, NONE);
            let planes: Vec<vk::DisplayPlaneProperties2KHR<'_>> = two_call(|count, out| {
                call!(
                    instance,
                    PFN_vkGetPhysicalDeviceDisplayPlaneProperties2KHR(device, count, out)
                )
            })
            .expect("planes");
            assert_eq!(planes[0].display_plane_properties.current_stack_index, 3);
            let modes: Vec<vk::DisplayModeProperties2KHR<'_>> =
                two_call(|count, out| call!(instance, PFN_vkGetDisplayModeProperties2KHR(device, NONE, count, out)))
                    .expect("modes");
            let mode = modes[0].display_mode_properties;
            assert_eq!(mode.parameters.refresh_rate, 60_000);
            let info = vk::DisplayPlaneInfo2KHR::default()
                .mode(mode.display_mode)
                .plane_index(5);
            let mut out = vk::DisplayPlaneCapabilities2KHR::default();
            let result = call!(instance, PFN_vkGetDisplayPlaneCapabilities2KHR(device, &info, &mut out));
            assert_eq!(
                (result, out.capabilities.supported_alpha),
                (vk::Result::SUCCESS, vk::DisplayPlaneAlphaFlagsKHR::OPAQUE)
            );
        });
        let library = scene.library("a").display().to_string();
        let text = format!("vkGetPhysicalDeviceDisplayProperties2KHR: Emulating call in ICD \"{library}\"");
        outcome.ok().logged("INFO", &text);
        outcome.not_logged("using vkGetPhysicalDeviceDisplayPropertiesKHR");
        assert!(
            outcome
                .calls("a", "vkGetDisplayPlaneCapabilitiesKHR")
                .contains(&"mode=0xd0de001 plane=5"),
            "{}",
            outcome.all()
        );
    });
}

/// APP-61: `vkGetPhysicalDeviceDisplayProperties2KHR` and `vkGetPhysicalDeviceSurfaceFormats2KHR` return `VK_INCOMPLETE` for an array
/// without space, with and without emulation.
#[test]
fn app_061_an_array_without_room_is_incomplete() {
    case(|scene| {
        let extensions = [&DISPLAY[..], &["VK_KHR_get_surface_capabilities2"]].concat();
        scene.driver("a").extensions(&extensions).device("new");
        let old = scene.driver("b").extensions(&extensions).device("old");
        old.missing("vkGetPhysicalDeviceDisplayProperties2KHR")
            .missing("vkGetPhysicalDeviceSurfaceFormats2KHR");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.0", &extensions);
            for name in ["new", "old"] {
                let device = instance.named(name);
                let mut display = vk::DisplayProperties2KHR::default();
                let answer = count_from(0, |count| {
                    call!(
                        instance,
                        PFN_vkGetPhysicalDeviceDisplayProperties2KHR(device, count, &mut display)
                    )
                });
                assert_eq!(answer, (vk::Result::INCOMPLETE, 0), "{name}");
                let info = vk::PhysicalDeviceSurfaceInfo2KHR::default();
                let mut format = vk::SurfaceFormat2KHR::default();
                let answer = count_from(0, |count| {
                    call!(
                        instance,
                        PFN_vkGetPhysicalDeviceSurfaceFormats2KHR(device, &info, count, &mut format)
                    )
                });
                assert_eq!(answer, (vk::Result::INCOMPLETE, 0), "{name}");
            }
        });
        outcome.ok();
    });
}

/// DRV-161 table: if a driver's display query fails, the loader returns the error, and writes nothing.
#[test]
fn drv_161_failing_display_queries_are_returned() {
    const OLDER: [&str; 4] = [
        "vkGetPhysicalDeviceDisplayPropertiesKHR",
        "vkGetPhysicalDeviceDisplayPlanePropertiesKHR",
        "vkGetDisplayModePropertiesKHR",
        "vkGetDisplayPlaneCapabilitiesKHR",
    ];
    case(|scene| {
        let driver = scene.driver("a").extensions(&DISPLAY).device("one");
        for command in OLDER {
            driver.missing(&command.replace("KHR", "2KHR")).fail(command, -2);
        }
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.0", &DISPLAY);
            let device = instance.first();
            let failed = (vk::Result::ERROR_OUT_OF_DEVICE_MEMORY, 9);
            for room in [false, true] {
                let mut displays = [vk::DisplayProperties2KHR::default(); 9];
                let mut planes = [vk::DisplayPlaneProperties2KHR::default(); 9];
                let mut modes = [vk::DisplayModeProperties2KHR::default(); 9];
                let (mut to_displays, mut to_planes, mut to_modes) = (null_mut(), null_mut(), null_mut());
                if room {
                    (to_displays, to_planes, to_modes) =
                        (displays.as_mut_ptr(), planes.as_mut_ptr(), modes.as_mut_ptr());
                }
                let found = count_from(9, |count| {
                    call!(
                        instance,
                        PFN_vkGetPhysicalDeviceDisplayProperties2KHR(device, count, to_displays)
                    )
                });
                assert_eq!(found, failed);
                let found = count_from(9, |count| {
                    call!(
                        instance,
                        PFN_vkGetPhysicalDeviceDisplayPlaneProperties2KHR(device, count, to_planes)
                    )
                });
                assert_eq!(found, failed);
                let found = count_from(9, |count| {
                    call!(
                        instance,
                        PFN_vkGetDisplayModeProperties2KHR(device, NONE, count, to_modes)
                    )
                });
                assert_eq!(found, failed);
            }
            let info = vk::DisplayPlaneInfo2KHR::default();
            let mut out = vk::DisplayPlaneCapabilities2KHR::default();
            let result = call!(instance, PFN_vkGetDisplayPlaneCapabilities2KHR(device, &info, &mut out));
            assert_eq!(result, failed.0);
        });
        outcome.ok();
    });
}

/// DRV-161 table, DRV-169: an emulated enumeration fills a short array, and ignores elements that the driver reports beyond the array.
#[test]
fn drv_161_emulated_display_queries_and_small_rooms() {
    const OLDER: &str = "vkGetPhysicalDeviceDisplayPropertiesKHR";
    case(|scene| {
        scene
            .driver("a")
            .extensions(&DISPLAY)
            .device("one")
            .missing("vkGetPhysicalDeviceDisplayProperties2KHR");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.0", &DISPLAY);
            let device = instance.first();
            let fill = |room| {
                let mut list = [vk::DisplayProperties2KHR::default(); 4];
                let (result, count) = count_from(room, |count| {
                    call!(
                        instance,
                        PFN_vkGetPhysicalDeviceDisplayProperties2KHR(device, count, list.as_mut_ptr())
                    )
                });
                let written = list.iter().filter(|one| one.display_properties.display != NONE).count();
                (result, count, written)
            };
            // The driver has one display. The loader treats an array without space as too small (APP-61).
            assert_eq!(fill(0), (vk::Result::INCOMPLETE, 0, 0));
            assert_eq!(fill(3), (vk::Result::SUCCESS, 1, 1));
            vk.add_lines("a", &format!("grow {OLDER} 50"));
            let (result, count, written) = fill(2);
            assert_eq!((result, count <= 2, written), (vk::Result::SUCCESS, true, 1));
        });
        outcome.ok();
    });
}
