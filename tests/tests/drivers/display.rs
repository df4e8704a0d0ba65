//! Displays (section 14).

use std::ptr;

use loader_tests::ash::vk;
use loader_tests::vk::{count_from, two_call};
use loader_tests::{call, case};

const DISPLAY: [&str; 3] = ["VK_KHR_surface", "VK_KHR_display", "VK_KHR_get_display_properties2"];
const NONE: vk::DisplayKHR = vk::DisplayKHR::null();

/// What a driver with both generations answers comes through.
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
        });
        outcome.ok();
    });
}

/// DRV-161 table: the second generation by the first.
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
        let text = format!(
            "vkGetPhysicalDeviceDisplayProperties2KHR: Emulating call in ICD \"{library}\" using vkGetPhysicalDeviceDisplayPropertiesKHR"
        );
        outcome.ok().logged("INFO", &text);
        assert!(
            outcome
                .calls("a", "vkGetDisplayPlaneCapabilitiesKHR")
                .contains(&"mode=0xd0de001 plane=5"),
            "{}",
            outcome.all()
        );
    });
}

/// DRV-161 table: negative results are returned.
#[test]
fn drv_161_failing_display_queries_are_returned() {
    case(|scene| {
        scene
            .driver("a")
            .extensions(&DISPLAY)
            .device("one")
            .missing("vkGetPhysicalDeviceDisplayProperties2KHR")
            .fail("vkGetPhysicalDeviceDisplayPropertiesKHR", -2);
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.0", &DISPLAY);
            let device = instance.first();
            let query = |count: &mut u32| {
                call!(
                    instance,
                    PFN_vkGetPhysicalDeviceDisplayProperties2KHR(device, count, ptr::null_mut())
                )
            };
            assert_eq!(count_from(0, query).0, vk::Result::ERROR_OUT_OF_DEVICE_MEMORY);
        });
        outcome.ok();
    });
}

/// DRV-161 table: a driver without displays at all.
#[test]
fn drv_161_drivers_without_displays() {
    case(|scene| {
        scene.driver("with").extensions(&DISPLAY).device("with");
        scene.driver("a").device("one");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.0", &DISPLAY);
            let device = instance.named("one");
            let success = vk::Result::SUCCESS;
            let found = count_from(9, |count| {
                call!(
                    instance,
                    PFN_vkGetPhysicalDeviceDisplayPropertiesKHR(device, count, ptr::null_mut())
                )
            });
            assert_eq!(found, (success, 0));
            let found = count_from(9, |count| {
                call!(
                    instance,
                    PFN_vkGetPhysicalDeviceDisplayProperties2KHR(device, count, ptr::null_mut())
                )
            });
            assert_eq!(found, (success, 0));
            let found = count_from(9, |count| {
                call!(
                    instance,
                    PFN_vkGetPhysicalDeviceDisplayPlanePropertiesKHR(device, count, ptr::null_mut())
                )
            });
            assert_eq!(found, (success, 0));
            let found = count_from(9, |count| {
                call!(
                    instance,
                    PFN_vkGetDisplayPlaneSupportedDisplaysKHR(device, 0, count, ptr::null_mut())
                )
            });
            assert_eq!(found, (success, 0));
            let found = count_from(9, |count| {
                call!(
                    instance,
                    PFN_vkGetDisplayModePropertiesKHR(device, NONE, count, ptr::null_mut())
                )
            });
            assert_eq!(found, (success, 0));
            let mut capabilities = vk::DisplayPlaneCapabilitiesKHR {
                supported_alpha: vk::DisplayPlaneAlphaFlagsKHR::OPAQUE,
                ..Default::default()
            };
            let mode = vk::DisplayModeKHR::null();
            assert_eq!(
                call!(
                    instance,
                    PFN_vkGetDisplayPlaneCapabilitiesKHR(device, mode, 0, &mut capabilities)
                ),
                success
            );
            assert_eq!(capabilities.supported_alpha.as_raw(), 0);
            let info = vk::DisplayModeCreateInfoKHR::default();
            let mut mode = mode;
            let result = call!(
                instance,
                PFN_vkCreateDisplayModeKHR(device, NONE, &info, ptr::null(), &mut mode)
            );
            assert_eq!(result, vk::Result::ERROR_INITIALIZATION_FAILED);
        });
        outcome.ok().logged(
            "WARNING",
            "ICD for selected physical device does not export vkGetPhysicalDeviceDisplayPropertiesKHR!",
        );
    });
}

/// DRV-164: display queries on an instance without the extension.
#[test]
fn drv_164_display_queries_without_the_extension() {
    case(|scene| {
        scene.driver("a").extensions(&DISPLAY).device("one");
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            let device = instance.first();
            let mut count = 77;
            let result = call!(
                vk,
                PFN_vkGetPhysicalDeviceDisplayPropertiesKHR(device, &mut count, ptr::null_mut())
            );
            assert_eq!((result, count), (vk::Result::SUCCESS, 77));
            let info = vk::DisplayModeCreateInfoKHR::default();
            let mut mode = vk::DisplayModeKHR::null();
            let result = call!(
                vk,
                PFN_vkCreateDisplayModeKHR(device, NONE, &info, ptr::null(), &mut mode)
            );
            assert_eq!(result, vk::Result::ERROR_EXTENSION_NOT_PRESENT);
        });
        outcome.ok().logged(
            "ERROR",
            "VK_KHR_display extension not enabled. vkGetPhysicalDeviceDisplayPropertiesKHR not executed!",
        );
    });
}

/// DRV-161 table: taking displays on a driver that cannot.
#[test]
fn drv_161_acquiring_displays() {
    const EXTENSIONS: [&str; 5] = [
        "VK_KHR_surface",
        "VK_KHR_display",
        "VK_EXT_direct_mode_display",
        "VK_EXT_acquire_xlib_display",
        "VK_EXT_acquire_drm_display",
    ];
    case(|scene| {
        scene.driver("with").extensions(&EXTENSIONS).device("with");
        scene.driver("a").device("one");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.0", &EXTENSIONS);
            let with = instance.named("with");
            assert_eq!(
                call!(instance, PFN_vkAcquireDrmDisplayEXT(with, 0, NONE)),
                vk::Result::SUCCESS
            );
            assert_eq!(
                call!(instance, PFN_vkReleaseDisplayEXT(with, NONE)),
                vk::Result::SUCCESS
            );
            let device = instance.named("one");
            let result = call!(instance, PFN_vkAcquireXlibDisplayEXT(device, ptr::null_mut(), NONE));
            assert_eq!(result, vk::Result::ERROR_INITIALIZATION_FAILED);
            let mut display = vk::DisplayKHR::default();
            let result = call!(
                instance,
                PFN_vkGetRandROutputDisplayEXT(device, ptr::null_mut(), 0, &mut display)
            );
            assert_eq!((result, display), (vk::Result::SUCCESS, NONE));
            let result = call!(instance, PFN_vkAcquireDrmDisplayEXT(device, 0, NONE));
            assert_eq!(result, vk::Result::ERROR_EXTENSION_NOT_PRESENT);
            let result = call!(instance, PFN_vkGetDrmDisplayEXT(device, 0, 0, &mut display));
            assert_eq!(result, vk::Result::ERROR_EXTENSION_NOT_PRESENT);
        });
        outcome.ok();
    });
}

/// DRV-161 table: no display can have been acquired there.
#[test]
fn drv_161_releasing_a_display_that_cannot_be_taken_aborts() {
    const EXTENSIONS: [&str; 3] = ["VK_KHR_surface", "VK_KHR_display", "VK_EXT_direct_mode_display"];
    case(|scene| {
        scene.driver("with").extensions(&EXTENSIONS).device("with");
        scene.driver("a").device("one");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.0", &EXTENSIONS);
            let _ = call!(instance, PFN_vkReleaseDisplayEXT(instance.named("one"), NONE));
        });
        outcome.aborted("ReleaseDisplayEXT");
    });
}
