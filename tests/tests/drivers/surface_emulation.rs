//! Tests of queries about surfaces that a driver lacks, or answers only in part (DRV-159 to DRV-167).

use std::ptr;

use loader_tests::ash::vk;
use loader_tests::vk::{count_from, two_call};
use loader_tests::{Scene, call, case};

use crate::surface_queries::WSI;

/// Adds a driver with surfaces that lacks the functions of `commands`.
fn lacking(scene: &mut Scene, commands: &[&str]) {
    let driver = scene.usual_driver("a");
    for command in commands {
        driver.missing(command);
    }
}

/// DRV-161 table: the loader emulates vkGetPhysicalDeviceSurfaceCapabilities2KHR and vkGetPhysicalDeviceSurfaceFormats2KHR with the older
/// queries.
#[test]
fn drv_161_capabilities2_is_emulated() {
    case(|scene| {
        lacking(
            scene,
            &[
                "vkGetPhysicalDeviceSurfaceCapabilities2KHR",
                "vkGetPhysicalDeviceSurfaceFormats2KHR",
            ],
        );
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
            let formats = two_call(|count, out: *mut vk::SurfaceFormat2KHR<'_>| {
                call!(
                    instance,
                    PFN_vkGetPhysicalDeviceSurfaceFormats2KHR(device, &info, count, out)
                )
            });
            let formats: Vec<_> = formats
                .expect("formats")
                .iter()
                .map(|one| one.surface_format.format)
                .collect();
            assert_eq!(formats, [vk::Format::B8G8R8A8_UNORM, vk::Format::R8G8B8A8_UNORM]);
            instance.destroy_surface(surface);
        });
        let library = scene.library("a").display().to_string();
        let text = format!(
            "vkGetPhysicalDeviceSurfaceCapabilities2KHR: Emulating call in ICD \"{library}\" using vkGetPhysicalDeviceSurfaceCapabilitiesKHR"
        );
        outcome.ok().logged("INFO", &text);
    });
}

/// DRV-161 table: if the driver has no query for surfaces, the answers of the loader are empty.
#[test]
fn drv_161_drivers_without_surface_functions() {
    case(|scene| {
        let first = [
            "vkGetPhysicalDeviceSurfaceSupportKHR",
            "vkGetPhysicalDeviceSurfaceCapabilitiesKHR",
            "vkGetPhysicalDeviceSurfaceFormatsKHR",
            "vkGetPhysicalDeviceSurfacePresentModesKHR",
            "vkGetPhysicalDevicePresentRectanglesKHR",
        ];
        let second = [
            "vkGetPhysicalDeviceSurfaceCapabilities2KHR",
            "vkGetPhysicalDeviceSurfaceFormats2KHR",
        ];
        lacking(scene, &[&first[..], &second[..]].concat());
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &WSI);
            let (device, surface) = (instance.first(), instance.headless_surface());
            assert_eq!(instance.surface_support(device, surface), Ok(false));
            let mut capabilities = vk::SurfaceCapabilitiesKHR {
                min_image_count: 9,
                ..Default::default()
            };
            let result = call!(
                instance,
                PFN_vkGetPhysicalDeviceSurfaceCapabilitiesKHR(device, surface, &mut capabilities)
            );
            assert_eq!((result, capabilities.min_image_count), (vk::Result::SUCCESS, 0));
            let found = count_from(9, |count| {
                call!(
                    instance,
                    PFN_vkGetPhysicalDeviceSurfaceFormatsKHR(device, surface, count, ptr::null_mut())
                )
            });
            assert_eq!(found, (vk::Result::SUCCESS, 0));
            let found = count_from(9, |count| {
                call!(
                    instance,
                    PFN_vkGetPhysicalDeviceSurfacePresentModesKHR(device, surface, count, ptr::null_mut())
                )
            });
            assert_eq!(found, (vk::Result::SUCCESS, 0));
            let found = count_from(9, |count| {
                call!(
                    instance,
                    PFN_vkGetPhysicalDevicePresentRectanglesKHR(device, surface, count, ptr::null_mut())
                )
            });
            assert_eq!(found, (vk::Result::SUCCESS, 0));
            let info = vk::PhysicalDeviceSurfaceInfo2KHR::default().surface(surface);
            let mut out = vk::SurfaceCapabilities2KHR {
                surface_capabilities: capabilities,
                ..Default::default()
            };
            out.surface_capabilities.min_image_count = 9;
            let result = call!(
                instance,
                PFN_vkGetPhysicalDeviceSurfaceCapabilities2KHR(device, &info, &mut out)
            );
            assert_eq!(
                (result, out.surface_capabilities.min_image_count),
                (vk::Result::SUCCESS, 0)
            );
            let found = count_from(9, |count| {
                call!(
                    instance,
                    PFN_vkGetPhysicalDeviceSurfaceFormats2KHR(device, &info, count, ptr::null_mut())
                )
            });
            assert_eq!(found, (vk::Result::SUCCESS, 0));
            instance.destroy_surface(surface);
        });
        let outcome = outcome.ok();
        // The last message differs from the others: it has the name that the command had in a draft.
        let (_, usual) = first.split_last().expect("there are some");
        outcome.logged(
            "ERROR",
            "ICD associated with VkPhysicalDevice does not support GetPhysicalDevicePresentRectanglesKHX",
        );
        for command in usual {
            outcome.logged(
                "ERROR",
                &format!("ICD for selected physical device does not export {command}!"),
            );
        }
    });
}

/// DRV-161 table: the loader emulates vkGetPhysicalDeviceSurfaceCapabilities2EXT with the older query, without counters.
#[test]
fn drv_161_capabilities2_ext_is_emulated() {
    const COUNTER: &str = "VK_EXT_display_surface_counter";
    case(|scene| {
        scene
            .usual_driver("a")
            .extension(COUNTER)
            .missing("vkGetPhysicalDeviceSurfaceCapabilities2EXT");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &[&WSI[..], &[COUNTER, "VK_KHR_display"]].concat());
            let (device, surface) = (instance.first(), instance.headless_surface());
            let mut out = vk::SurfaceCapabilities2EXT {
                supported_surface_counters: vk::SurfaceCounterFlagsEXT::from_raw(7),
                ..Default::default()
            };
            let result = call!(
                instance,
                PFN_vkGetPhysicalDeviceSurfaceCapabilities2EXT(device, surface, &mut out)
            );
            assert_eq!((result, out.max_image_count), (vk::Result::SUCCESS, 8));
            assert_eq!(out.supported_surface_counters.as_raw(), 0);
            vk.add_lines("a", "fail vkGetPhysicalDeviceSurfaceCapabilitiesKHR -3");
            out.max_image_count = 77;
            let result = call!(
                instance,
                PFN_vkGetPhysicalDeviceSurfaceCapabilities2EXT(device, surface, &mut out)
            );
            assert_eq!(
                (result, out.max_image_count),
                (vk::Result::ERROR_INITIALIZATION_FAILED, 77)
            );
            instance.destroy_surface(surface);
        });
        outcome.ok();
    });
}

/// DRV-161 table: the loader reports no presentation support if the driver lacks the query for the support.
#[test]
fn drv_161_presentation_support() {
    case(|scene| {
        let platforms = [
            "VK_KHR_surface",
            "VK_KHR_xcb_surface",
            "VK_KHR_xlib_surface",
            "VK_KHR_wayland_surface",
        ];
        scene.usual_driver("a");
        scene.driver("b").device("gpu-b");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.0", &platforms);
            for (name, expected) in [("gpu-a", vk::TRUE), ("gpu-b", vk::FALSE)] {
                let device = instance.named(name);
                assert_eq!(
                    call!(
                        instance,
                        PFN_vkGetPhysicalDeviceXcbPresentationSupportKHR(device, 3, ptr::null_mut(), 0)
                    ),
                    expected
                );
                assert_eq!(
                    call!(
                        instance,
                        PFN_vkGetPhysicalDeviceXlibPresentationSupportKHR(device, 3, ptr::null_mut(), 0)
                    ),
                    expected
                );
                assert_eq!(
                    call!(
                        instance,
                        PFN_vkGetPhysicalDeviceWaylandPresentationSupportKHR(device, 3, ptr::null_mut())
                    ),
                    expected
                );
            }
        });
        outcome.ok().logged(
            "ERROR",
            "ICD for selected physical device does not export vkGetPhysicalDeviceXcbPresentationSupportKHR!",
        );
    });
}

/// DRV-162: compatible present modes and scaling are emulated if the driver lacks surface maintenance.
#[test]
fn drv_162_surface_maintenance_is_emulated() {
    case(|scene| {
        scene.usual_driver("a");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &WSI);
            let (device, surface) = (instance.first(), instance.headless_surface());
            let mut mode = vk::SurfacePresentModeEXT::default().present_mode(vk::PresentModeKHR::MAILBOX);
            let info = vk::PhysicalDeviceSurfaceInfo2KHR::default()
                .surface(surface)
                .push_next(&mut mode);
            let mut modes = [vk::PresentModeKHR::IMMEDIATE; 3];
            let mut compatible = vk::SurfacePresentModeCompatibilityEXT::default().present_modes(&mut modes);
            let mut scaling = vk::SurfacePresentScalingCapabilitiesEXT {
                supported_present_scaling: vk::PresentScalingFlagsEXT::from_raw(7),
                supported_present_gravity_x: vk::PresentGravityFlagsEXT::from_raw(7),
                supported_present_gravity_y: vk::PresentGravityFlagsEXT::from_raw(7),
                ..Default::default()
            };
            let mut out = vk::SurfaceCapabilities2KHR::default()
                .push_next(&mut compatible)
                .push_next(&mut scaling);
            let result = call!(
                instance,
                PFN_vkGetPhysicalDeviceSurfaceCapabilities2KHR(device, &info, &mut out)
            );
            assert_eq!(result, vk::Result::SUCCESS);
            assert_eq!(compatible.present_mode_count, 1);
            assert_eq!(modes[..2], [vk::PresentModeKHR::MAILBOX, vk::PresentModeKHR::IMMEDIATE]);
            assert_eq!(
                (
                    scaling.supported_present_scaling.as_raw(),
                    scaling.supported_present_gravity_x.as_raw(),
                    scaling.supported_present_gravity_y.as_raw()
                ),
                (0, 0, 0)
            );
            assert_eq!(
                (
                    scaling.min_scaled_image_extent.width,
                    scaling.max_scaled_image_extent.width
                ),
                (1, 4096)
            );
            // The array is NULL, so the query asks only for the count.
            let mut compatible = vk::SurfacePresentModeCompatibilityEXT::default();
            let mut out = vk::SurfaceCapabilities2KHR::default().push_next(&mut compatible);
            let result = call!(
                instance,
                PFN_vkGetPhysicalDeviceSurfaceCapabilities2KHR(device, &info, &mut out)
            );
            assert_eq!((result, compatible.present_mode_count), (vk::Result::SUCCESS, 1));
            instance.destroy_surface(surface);
        });
        outcome.ok();
    });
}

/// DRV-162: the loader does not emulate surface maintenance for a driver that has the KHR or the EXT version of the extension.
#[test]
fn drv_162_surface_maintenance_is_left_to_drivers_that_have_it() {
    const FORMS: [&str; 2] = ["VK_EXT_surface_maintenance1", "VK_KHR_surface_maintenance1"];
    case(|scene| {
        scene.usual_driver("a").extensions(&FORMS);
        scene.usual_driver("b");
        let outcome = scene.run(|vk| {
            for form in FORMS {
                let instance = vk.instance_with("1.1", &[&WSI[..], &[form]].concat());
                let surface = instance.headless_surface();
                let mut mode = vk::SurfacePresentModeEXT::default().present_mode(vk::PresentModeKHR::MAILBOX);
                let info = vk::PhysicalDeviceSurfaceInfo2KHR::default()
                    .surface(surface)
                    .push_next(&mut mode);
                for (name, expected) in [("gpu-a", 77), ("gpu-b", 1)] {
                    let mut compatible = vk::SurfacePresentModeCompatibilityEXT {
                        present_mode_count: 77,
                        ..Default::default()
                    };
                    let mut out = vk::SurfaceCapabilities2KHR::default().push_next(&mut compatible);
                    let result = call!(
                        instance,
                        PFN_vkGetPhysicalDeviceSurfaceCapabilities2KHR(instance.named(name), &info, &mut out)
                    );
                    let found = (result, compatible.present_mode_count);
                    assert_eq!(found, (vk::Result::SUCCESS, expected), "{name} with {form}");
                }
                instance.destroy_surface(surface);
            }
        });
        outcome.ok();
    });
}

/// DRV-162: the loader emulates surface maintenance even if the driver's query fails. The loader does not change an array of length zero,
/// or the answer to a query that names no present mode.
#[test]
fn drv_162_surface_maintenance_at_its_edges() {
    case(|scene| {
        scene
            .usual_driver("a")
            .fail("vkGetPhysicalDeviceSurfaceCapabilities2KHR", -3);
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &WSI);
            let (device, surface) = (instance.first(), instance.headless_surface());
            let mut modes = [vk::PresentModeKHR::IMMEDIATE; 2];
            let p_present_modes = modes.as_mut_ptr();
            let ask = |with_mode: bool, room: u32, array: *mut vk::PresentModeKHR| {
                let mut mode = vk::SurfacePresentModeEXT::default().present_mode(vk::PresentModeKHR::MAILBOX);
                let mut info = vk::PhysicalDeviceSurfaceInfo2KHR::default().surface(surface);
                if with_mode {
                    info = info.push_next(&mut mode);
                }
                let mut compatible = vk::SurfacePresentModeCompatibilityEXT {
                    present_mode_count: room,
                    p_present_modes: array,
                    ..Default::default()
                };
                let mut out = vk::SurfaceCapabilities2KHR::default().push_next(&mut compatible);
                let result = call!(
                    instance,
                    PFN_vkGetPhysicalDeviceSurfaceCapabilities2KHR(device, &info, &mut out)
                );
                assert_eq!(result, vk::Result::ERROR_INITIALIZATION_FAILED);
                compatible.present_mode_count
            };
            assert_eq!(ask(true, 0, p_present_modes), 0);
            assert_eq!(ask(false, 2, p_present_modes), 2);
            assert_eq!(modes, [vk::PresentModeKHR::IMMEDIATE; 2]);
            assert_eq!(ask(true, 2, modes.as_mut_ptr()), 1);
            assert_eq!(modes, [vk::PresentModeKHR::MAILBOX, vk::PresentModeKHR::IMMEDIATE]);
            instance.destroy_surface(surface);
        });
        outcome.ok();
    });
}

/// DRV-161 table: the emulation leaves structures that it cannot fill unchanged, with a warning for each structure.
#[test]
fn drv_161_structures_that_the_emulation_ignores() {
    const COUNTER: &str = "VK_EXT_display_surface_counter";
    case(|scene| {
        lacking(
            scene,
            &[
                "vkGetPhysicalDeviceSurfaceCapabilities2KHR",
                "vkGetPhysicalDeviceSurfaceFormats2KHR",
                "vkGetPhysicalDeviceSurfaceCapabilities2EXT",
            ],
        );
        scene.driver("with").extension(COUNTER).device("with");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &[&WSI[..], &[COUNTER]].concat());
            let (device, surface) = (instance.named("gpu-a"), instance.headless_surface());
            let mut strange = vk::BaseOutStructure {
                s_type: vk::StructureType::from_raw(777_000),
                ..Default::default()
            };
            let p_next = ptr::from_mut(&mut strange).cast();
            let info = vk::PhysicalDeviceSurfaceInfo2KHR {
                p_next,
                surface,
                ..Default::default()
            };
            let mut out = vk::SurfaceCapabilities2KHR {
                p_next,
                ..Default::default()
            };
            let result = call!(
                instance,
                PFN_vkGetPhysicalDeviceSurfaceCapabilities2KHR(device, &info, &mut out)
            );
            assert_eq!((result, out.p_next), (vk::Result::SUCCESS, p_next));
            let mut formats = [vk::SurfaceFormat2KHR {
                p_next,
                ..Default::default()
            }; 2];
            // The count allows one of the two formats that the driver has.
            let found = count_from(1, |count| {
                call!(
                    instance,
                    PFN_vkGetPhysicalDeviceSurfaceFormats2KHR(device, &info, count, formats.as_mut_ptr())
                )
            });
            assert_eq!(found, (vk::Result::INCOMPLETE, 1));
            assert_eq!(formats[0].surface_format.format, vk::Format::B8G8R8A8_UNORM);
            assert_eq!(formats[1].surface_format.format, vk::Format::UNDEFINED);
            let mut out = vk::SurfaceCapabilities2EXT {
                p_next,
                ..Default::default()
            };
            let result = call!(
                instance,
                PFN_vkGetPhysicalDeviceSurfaceCapabilities2EXT(device, surface, &mut out)
            );
            assert_eq!((result, out.p_next), (vk::Result::SUCCESS, p_next));
            instance.destroy_surface(surface);
        });
        outcome.ok();
        for (command, parameter) in [
            ("Capabilities2KHR", "pSurfaceInfo->"),
            ("Capabilities2KHR", "pSurfaceCapabilities->"),
            ("Formats2KHR", "pSurfaceInfo->"),
            ("Formats2KHR", "pSurfaceFormats[0]."),
            ("Capabilities2EXT", "pSurfaceCapabilities->"),
        ] {
            let text = format!(
                "vkGetPhysicalDeviceSurface{command}: Emulation found unrecognized structure type in {parameter}pNext - this struct will be ignored"
            );
            outcome.logged("WARNING", &text);
        }
    });
}

/// DRV-163: the loader sets `supportsProtected` to false before the driver writes its answer.
#[test]
fn drv_163_protected_capabilities_are_preset() {
    const PROTECTED: &str = "VK_KHR_surface_protected_capabilities";
    case(|scene| {
        scene.usual_driver("a").extension(PROTECTED);
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &[&WSI[..], &[PROTECTED]].concat());
            let (device, surface) = (instance.first(), instance.headless_surface());
            let info = vk::PhysicalDeviceSurfaceInfo2KHR::default().surface(surface);
            let mut protected = vk::SurfaceProtectedCapabilitiesKHR {
                supports_protected: 77,
                ..Default::default()
            };
            let mut out = vk::SurfaceCapabilities2KHR::default().push_next(&mut protected);
            let result = call!(
                instance,
                PFN_vkGetPhysicalDeviceSurfaceCapabilities2KHR(device, &info, &mut out)
            );
            assert_eq!((result, protected.supports_protected), (vk::Result::SUCCESS, vk::FALSE));
            instance.destroy_surface(surface);
        });
        outcome.ok();
    });
}
