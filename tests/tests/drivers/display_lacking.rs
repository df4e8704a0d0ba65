//! Tests of display queries with a driver without displays, or an instance without the extensions for displays (DRV-159 to DRV-167).

use std::ptr::{null, null_mut};

use loader_tests::ash::vk::{self, Handle};
use loader_tests::vk::{Instance, count_from};
use loader_tests::{call, case};

use crate::display::{DISPLAY, NONE};

const ACQUIRING: [&str; 5] = [
    "VK_KHR_surface",
    "VK_KHR_display",
    "VK_EXT_direct_mode_display",
    "VK_EXT_acquire_xlib_display",
    "VK_EXT_acquire_drm_display",
];

/// Queries the count of each older enumeration through the exported functions. Each count is 9 before the call.
fn first_generation(instance: &Instance<'_>, device: vk::PhysicalDevice) -> [(&'static str, (vk::Result, u32)); 4] {
    let vk = instance.vk;
    let displays = count_from(9, |count| {
        call!(
            vk,
            PFN_vkGetPhysicalDeviceDisplayPropertiesKHR(device, count, null_mut())
        )
    });
    let planes = count_from(9, |count| {
        call!(
            vk,
            PFN_vkGetPhysicalDeviceDisplayPlanePropertiesKHR(device, count, null_mut())
        )
    });
    let supported = count_from(9, |count| {
        call!(
            vk,
            PFN_vkGetDisplayPlaneSupportedDisplaysKHR(device, 0, count, null_mut())
        )
    });
    let modes = count_from(9, |count| {
        call!(vk, PFN_vkGetDisplayModePropertiesKHR(device, NONE, count, null_mut()))
    });
    [
        ("vkGetPhysicalDeviceDisplayPropertiesKHR", displays),
        ("vkGetPhysicalDeviceDisplayPlanePropertiesKHR", planes),
        ("vkGetDisplayPlaneSupportedDisplaysKHR", supported),
        ("vkGetDisplayModePropertiesKHR", modes),
    ]
}

/// Calls the newer display queries for the number of elements.
fn second_generation(instance: &Instance<'_>, device: vk::PhysicalDevice) -> [(vk::Result, u32); 3] {
    let vk = instance.vk;
    let displays = count_from(9, |count| {
        call!(
            vk,
            PFN_vkGetPhysicalDeviceDisplayProperties2KHR(device, count, null_mut())
        )
    });
    let planes = count_from(9, |count| {
        call!(
            vk,
            PFN_vkGetPhysicalDeviceDisplayPlaneProperties2KHR(device, count, null_mut())
        )
    });
    let modes = count_from(9, |count| {
        call!(vk, PFN_vkGetDisplayModeProperties2KHR(device, NONE, count, null_mut()))
    });
    [displays, planes, modes]
}

/// Queries the capabilities of a display plane with the older and the newer command. Returns each result, and the value of
/// `supportedAlpha`, which remains 9 if the command writes no answer.
fn plane_capabilities(instance: &Instance<'_>, device: vk::PhysicalDevice) -> [(vk::Result, u32); 2] {
    let vk = instance.vk;
    let mut first = vk::DisplayPlaneCapabilitiesKHR {
        supported_alpha: vk::DisplayPlaneAlphaFlagsKHR::from_raw(9),
        ..Default::default()
    };
    let mode = vk::DisplayModeKHR::null();
    let by_first = call!(vk, PFN_vkGetDisplayPlaneCapabilitiesKHR(device, mode, 0, &mut first));
    let mut second = vk::DisplayPlaneCapabilities2KHR::default();
    second.capabilities.supported_alpha = vk::DisplayPlaneAlphaFlagsKHR::from_raw(9);
    let info = vk::DisplayPlaneInfo2KHR::default();
    let by_second = call!(vk, PFN_vkGetDisplayPlaneCapabilities2KHR(device, &info, &mut second));
    [
        (by_first, first.supported_alpha.as_raw()),
        (by_second, second.capabilities.supported_alpha.as_raw()),
    ]
}

fn create_mode(instance: &Instance<'_>, device: vk::PhysicalDevice) -> vk::Result {
    let info = vk::DisplayModeCreateInfoKHR::default();
    let mut mode = vk::DisplayModeKHR::null();
    call!(
        instance.vk,
        PFN_vkCreateDisplayModeKHR(device, NONE, &info, null(), &mut mode)
    )
}

/// DRV-161 table: queries on a driver without display functions return nothing.
#[test]
fn drv_161_drivers_without_displays() {
    case(|scene| {
        scene.driver("with").extensions(&DISPLAY).device("with");
        scene.driver("a").device("one");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.0", &DISPLAY);
            let device = instance.named("one");
            for (command, found) in first_generation(&instance, device) {
                assert_eq!(found, (vk::Result::SUCCESS, 0), "{command}");
                vk.say("command", command);
            }
            assert_eq!(second_generation(&instance, device), [(vk::Result::SUCCESS, 0); 3]);
            assert_eq!(plane_capabilities(&instance, device), [(vk::Result::SUCCESS, 0); 2]);
            assert_eq!(create_mode(&instance, device), vk::Result::ERROR_INITIALIZATION_FAILED);
        });
        outcome.ok();
        let lacks = |command| format!("ICD for selected physical device does not export {command}!");
        for command in outcome.said("command") {
            outcome.logged("WARNING", &lacks(command));
        }
        outcome.logged("WARNING", &lacks("vkGetDisplayPlaneCapabilitiesKHR"));
        outcome.logged("ERROR", &lacks("vkCreateDisplayModeKHR"));
    });
}

/// DRV-164, APP-161: without VK_KHR_display, the queries of VK_KHR_display write nothing. For the queries of
/// VK_KHR_get_display_properties2, the loader does not check the extension.
#[test]
fn drv_164_displays_without_the_extension() {
    case(|scene| {
        scene.driver("a").extensions(&DISPLAY).device("one");
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            let device = instance.first();
            for (command, found) in first_generation(&instance, device) {
                assert_eq!(found, (vk::Result::SUCCESS, 9), "{command}");
                vk.say("command", command);
            }
            assert_eq!(second_generation(&instance, device), [(vk::Result::SUCCESS, 1); 3]);
            let opaque = vk::DisplayPlaneAlphaFlagsKHR::OPAQUE.as_raw();
            let expected = [9, opaque].map(|alpha| (vk::Result::SUCCESS, alpha));
            assert_eq!(plane_capabilities(&instance, device), expected);
            assert_eq!(create_mode(&instance, device), vk::Result::ERROR_EXTENSION_NOT_PRESENT);
        });
        outcome.ok();
        let more = ["vkGetDisplayPlaneCapabilitiesKHR", "vkCreateDisplayModeKHR"];
        for command in outcome.said("command").into_iter().chain(more) {
            let text = format!("VK_KHR_display extension not enabled. {command} not executed!");
            outcome.logged("ERROR", &text);
            assert!(outcome.calls("a", command).is_empty(), "{}", outcome.all());
        }
    });
}

/// Calls the four commands that find or acquire a display of an X server or DRM device, and returns the results.
fn acquire(instance: &Instance<'_>, device: vk::PhysicalDevice) -> [(vk::Result, u64); 4] {
    let mut found = [vk::DisplayKHR::from_raw(9); 2];
    let server = 0x51 as *mut vk::Display;
    let wanted = vk::DisplayKHR::from_raw(0x52);
    let [of_output, of_connector] = &mut found;
    let randr = call!(
        instance,
        PFN_vkGetRandROutputDisplayEXT(device, server, 0x53, of_output)
    );
    let drm = call!(instance, PFN_vkGetDrmDisplayEXT(device, 54, 55, of_connector));
    [
        (call!(instance, PFN_vkAcquireXlibDisplayEXT(device, server, wanted)), 0),
        (randr, found[0].as_raw()),
        (call!(instance, PFN_vkAcquireDrmDisplayEXT(device, 54, wanted)), 0),
        (drm, found[1].as_raw()),
    ]
}

/// DRV-161 table: displays can be acquired and released on a driver with these commands, and acquiring fails on a driver without them.
#[test]
fn drv_161_acquiring_displays() {
    case(|scene| {
        scene.driver("with").extensions(&ACQUIRING).device("with");
        scene.driver("a").device("one");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.0", &ACQUIRING);
            let with = instance.named("with");
            let taken = acquire(&instance, with);
            assert!(taken.iter().all(|(result, _)| *result == vk::Result::SUCCESS));
            assert_ne!(taken[1].1, 9);
            assert_eq!(taken[1].1, taken[3].1);
            let display = vk::DisplayKHR::from_raw(0x52);
            let result = call!(instance, PFN_vkReleaseDisplayEXT(with, display));
            assert_eq!(result, vk::Result::SUCCESS);

            let expected = [
                (vk::Result::ERROR_INITIALIZATION_FAILED, 0),
                (vk::Result::SUCCESS, 0),
                (vk::Result::ERROR_EXTENSION_NOT_PRESENT, 0),
                (vk::Result::ERROR_EXTENSION_NOT_PRESENT, 9),
            ];
            assert_eq!(acquire(&instance, instance.named("one")), expected);
        });
        outcome.ok();
        let lacks = |command| format!("ICD for selected physical device does not export {command}!");
        let without = format!(
            "vkGetRandROutputDisplayEXT: Emulating call in ICD \"{}\" by returning null display",
            scene.library("a").display()
        );
        for (command, level, arguments, text) in [
            (
                "vkAcquireXlibDisplayEXT",
                "INFO",
                "server=0x51 display=0x52",
                lacks("vkAcquireXlibDisplayEXT"),
            ),
            ("vkGetRandROutputDisplayEXT", "INFO", "server=0x51 output=0x53", without),
            (
                "vkAcquireDrmDisplayEXT",
                "ERROR",
                "fd=54 display=0x52",
                lacks("vkAcquireDrmDisplayEXT"),
            ),
            (
                "vkGetDrmDisplayEXT",
                "ERROR",
                "fd=54 connector=55",
                lacks("vkGetDrmDisplayEXT"),
            ),
        ] {
            assert!(
                outcome.calls("with", command).contains(&arguments),
                "{command}\n{}",
                outcome.all()
            );
            outcome.logged(level, &text);
        }
        assert!(
            outcome.calls("with", "vkReleaseDisplayEXT").contains(&"display=0x52"),
            "{}",
            outcome.all()
        );
    });
}

/// DRV-161 table: releasing a display aborts the process if the driver cannot acquire a display.
#[test]
fn drv_161_releasing_a_display_that_cannot_be_taken_aborts() {
    case(|scene| {
        scene.driver("with").extensions(&ACQUIRING).device("with");
        scene.driver("a").device("one");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.0", &ACQUIRING);
            let _ = call!(instance, PFN_vkReleaseDisplayEXT(instance.named("one"), NONE));
        });
        outcome.aborted("ReleaseDisplayEXT");
    });
}
