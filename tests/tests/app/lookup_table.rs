//! Tests `vkGetInstanceProcAddr` and `vkGetDeviceProcAddr` for every command of the registry.

use std::collections::HashMap;

use loader_tests::ash::vk;
use loader_tests::vk::{Commands, Instance, opaque_address};
use loader_tests::{Scene, Vk, case};

use crate::names::{Command, GLOBAL, all};

/// Instance extensions for the window systems of this platform.
const WINDOWS: &[&str] = if cfg!(windows) {
    &["VK_KHR_win32_surface"]
} else {
    &[
        "VK_EXT_acquire_xlib_display",
        "VK_KHR_wayland_surface",
        "VK_KHR_xcb_surface",
        "VK_KHR_xlib_surface",
    ]
};
/// Instance extensions on which commands depend, except those in `WINDOWS`, and the debug extensions that the loader implements.
const OTHERS: [&str; 15] = [
    "VK_EXT_acquire_drm_display",
    "VK_EXT_debug_report",
    "VK_EXT_debug_utils",
    "VK_EXT_direct_mode_display",
    "VK_EXT_display_surface_counter",
    "VK_EXT_headless_surface",
    "VK_KHR_device_group_creation",
    "VK_KHR_display",
    "VK_KHR_external_fence_capabilities",
    "VK_KHR_external_memory_capabilities",
    "VK_KHR_external_semaphore_capabilities",
    "VK_KHR_get_display_properties2",
    "VK_KHR_get_physical_device_properties2",
    "VK_KHR_surface",
    "VK_NV_external_memory_capabilities",
];

/// Returns the names of all instance extensions whose commands the tests look up.
fn every() -> Vec<&'static str> {
    [&OTHERS[..], WINDOWS].concat()
}

fn driver(scene: &mut Scene) {
    scene
        .driver("a")
        .extensions(&every())
        .extension("VK_KHR_get_surface_capabilities2")
        .device("one");
}

/// APP-20 to APP-29: returns `true` if the instance's lookup finds the command.
fn found(command: &Command, minor: u32, enabled: &[&str]) -> bool {
    if command.name == "vkGetInstanceProcAddr" {
        return true;
    }
    if GLOBAL.contains(&command.name) {
        return minor < 3;
    }
    let gate = command.gate();
    let open = gate.is_empty() || gate.iter().any(|one| enabled.contains(one));
    // Commands of device extensions are always found, except those of other platforms (APP-29, GEN-52).
    command.core.is_some() || command.is_here() && open
}

fn check(vk: &Vk, minor: u32, enabled: &[&str]) {
    let instance = vk.instance_with(&format!("1.{minor}"), enabled);
    let wrong = |command: &Command| (instance.address(command.name) != 0) != found(command, minor, enabled);
    let wrong: Vec<&str> = all()
        .iter()
        .filter(|command| wrong(command))
        .map(|command| command.name)
        .collect();
    assert!(wrong.is_empty(), "on a 1.{minor} instance with {enabled:?}: {wrong:?}");
}

/// APP-22, APP-25, APP-29: for an instance of each version without extensions, the look-up finds exactly the commands for which [`found`]
/// returns `true`.
#[test]
fn app_025_every_name_without_extensions() {
    case(|scene| {
        driver(scene);
        scene.env("VK_LOADER_DEBUG", "error").limit(60);
        scene.run(|vk| (0..=4).for_each(|minor| check(vk, minor, &[]))).ok();
    });
}

/// APP-27: for an instance with all extensions, the look-up finds exactly the commands for which [`found`] returns `true`.
#[test]
fn app_027_every_name_with_all_extensions() {
    case(|scene| {
        driver(scene);
        scene.env("VK_LOADER_DEBUG", "error").limit(60);
        scene
            .run(|vk| [0, 3].into_iter().for_each(|minor| check(vk, minor, &every())))
            .ok();
    });
}

/// APP-27: an instance with one extension has the commands of that extension, and no commands of other extensions.
#[test]
fn app_027_every_name_with_each_extension() {
    case(|scene| {
        driver(scene);
        scene.env("VK_LOADER_DEBUG", "error").limit(60);
        scene
            .run(|vk| every().iter().for_each(|extension| check(vk, 1, &[extension])))
            .ok();
    });
}

/// APP-21, APP-23, DRV-213: without an instance, the look-up finds only vkGetInstanceProcAddr and the global commands.
#[test]
fn app_021_every_name_without_an_instance() {
    case(|scene| {
        driver(scene);
        let outcome = scene.run(|vk| {
            for command in all() {
                let there = vk.get(vk::Instance::null(), command.name) != 0;
                let expected = GLOBAL.contains(&command.name) || command.name == "vkGetInstanceProcAddr";
                assert_eq!(there, expected, "{}", command.name);
            }
        });
        outcome.ok();
    });
}

/// APP-25a, APP-30: different names have different addresses. Only aliases can share an address.
#[test]
fn app_025a_addresses_are_distinct() {
    case(|scene| {
        driver(scene);
        scene.env("VK_LOADER_DEBUG", "error");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &every());
            let mut seen: HashMap<usize, &str> = HashMap::new();
            for command in all() {
                let address = instance.address(command.name);
                if address == 0 || !command.gate().is_empty() {
                    continue;
                }
                if let Some(other) = seen.insert(address, command.name) {
                    panic!("{} and {other} share an address", command.name);
                }
            }
            assert!(seen.len() > 600);
        });
        outcome.ok();
    });
}

/// APP-35, APP-25a: truncated, extended and changed names are unknown to the look-up.
#[test]
fn app_035_names_near_a_known_one() {
    case(|scene| {
        driver(scene);
        scene.env("VK_LOADER_DEBUG", "error").limit(60);
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &every());
            let commands = all();
            let known = |name: &str| commands.iter().any(|command| command.name == name);
            for command in &commands {
                let name = command.name;
                let near = [
                    format!("{name}X"),
                    name[..name.len() - 1].into(),
                    name.to_uppercase(),
                    format!("x{name}"),
                ];
                for name in near.iter().filter(|name| !known(name)) {
                    assert_eq!(instance.address(name), 0, "{name}");
                }
            }
        });
        outcome.ok();
    });
}

/// APP-26: an exported symbol and the result of its look-up are the same function.
#[test]
fn app_026_exported_symbols_are_what_the_lookup_gives() {
    case(|scene| {
        driver(scene);
        scene.env("VK_LOADER_DEBUG", "error");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &every());
            let mut exported = 0;
            for command in all() {
                let symbol = Commands::address(vk, command.name);
                assert!(
                    symbol != 0 || command.core.is_none(),
                    "{} is not exported",
                    command.name
                );
                if symbol != 0 {
                    exported += 1;
                    assert_eq!(instance.address(command.name), symbol, "{}", command.name);
                }
            }
            vk.say("exported", exported);
        });
        let exported: u32 = outcome.ok().said("exported")[0].parse().expect("a number");
        assert!(exported >= 230, "{exported}");
    });
}

/// Returns the expected result of the device's look-up for a command: the loader's function, the driver's pointer, or NULL.
fn of_device(
    instance: &Instance<'_>,
    command: &Command,
    opaque: impl Fn(&str) -> usize,
    enabled: &[&str],
) -> Option<usize> {
    let name = command.name;
    const OWN: [&str; 5] = [
        "vkGetDeviceProcAddr",
        "vkDestroyDevice",
        "vkGetDeviceQueue",
        "vkGetDeviceQueue2",
        "vkAllocateCommandBuffers",
    ];
    if OWN.contains(&name) {
        return Some(instance.address(name));
    }
    if command.level != "device" {
        return Some(0);
    }
    let on = |extension: &str| enabled.contains(&extension);
    let terminator = match name {
        "vkCreateSwapchainKHR" => on("VK_KHR_swapchain"),
        "vkGetDeviceGroupSurfacePresentModesKHR" => on("VK_KHR_swapchain") || on("VK_KHR_device_group"),
        "vkGetDeviceGroupSurfacePresentModes2EXT" => on("VK_EXT_full_screen_exclusive"),
        "vkCreateSharedSwapchainsKHR" => on("VK_KHR_display_swapchain"),
        "vkDebugMarkerSetObjectNameEXT" | "vkDebugMarkerSetObjectTagEXT" => on("VK_EXT_debug_marker"),
        _ if command.extensions.contains(&"VK_EXT_debug_utils") => on("VK_EXT_debug_utils"),
        _ => return Some(opaque(name)),
    };
    // The test does not know the address of a terminator, so it checks only that the address is not NULL.
    if terminator { None } else { Some(0) }
}

/// APP-41, APP-43, APP-44, APP-45, APP-47: tests the look-up of every command of a device. The device's driver returns a different number
/// for every name.
#[test]
fn app_043_every_name_on_a_device() {
    case(|scene| {
        scene
            .driver("a")
            .extensions(&every())
            .line("opaque", "*")
            .device_with("one", |device| {
                device.extension("VK_KHR_swapchain").extension("VK_EXT_debug_marker")
            });
        scene.env("VK_LOADER_DEBUG", "error").limit(60);
        let outcome = scene.run(|vk| {
            for (minor, device_extensions, utils) in [
                (0, &[][..], false),
                (3, &["VK_KHR_swapchain", "VK_EXT_debug_marker"], false),
                (1, &[], true),
            ] {
                let extensions: &[&str] = if utils { &["VK_EXT_debug_utils"] } else { &[] };
                let instance = vk.instance_with(&format!("1.{minor}"), extensions);
                // The driver's own vkDestroyDevice must be reachable, so that the device can be destroyed.
                vk.remove_lines("a", &["opaque"]);
                let device = instance.device(instance.first(), device_extensions);
                vk.add_lines("a", "opaque *");
                let second = instance.device(instance.first(), device_extensions);
                let enabled = [device_extensions, extensions].concat();
                for command in all() {
                    // The loader does not know commands of other platforms, so the layers and the driver decide the result.
                    if !command.is_here() {
                        continue;
                    }
                    let address = second.address(command.name);
                    match of_device(&instance, &command, opaque_address, &enabled) {
                        Some(expected) => assert_eq!(address, expected, "{} with {enabled:?}", command.name),
                        None => assert!(
                            address != 0 && address != opaque_address(command.name),
                            "{}",
                            command.name
                        ),
                    }
                }
                std::mem::forget(second);
                drop(device);
                vk.remove_lines("a", &["opaque"]);
                vk.add_lines("a", "opaque *");
            }
        });
        outcome.ran();
    });
}

/// APP-46, DRV-198, APP-284: commands of newer core versions are suppressed only if `VK_KHR_maintenance5` and its feature are enabled.
#[test]
fn app_046_core_version_suppression() {
    case(|scene| {
        scene
            .driver("a")
            .line("opaque", "vkCmdPipelineBarrier2")
            .line("opaque", "vkGetBufferDeviceAddress")
            .line("opaque", "vkCmdPipelineBarrier2KHR")
            .line("opaque", "vkTrimCommandPool")
            .device_with("one", |device| {
                device
                    .extension("VK_KHR_maintenance5")
                    .extension("VK_KHR_synchronization2")
            });
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &[]);
            let on = vk::PhysicalDeviceMaintenance5FeaturesKHR::default().maintenance5(true);
            let off = vk::PhysicalDeviceMaintenance5FeaturesKHR::default().maintenance5(false);
            for (extension, features, suppressed) in [
                (true, Some(&on), true),
                (true, Some(&off), false),
                (true, None, false),
                (false, Some(&on), false),
            ] {
                let extensions: &[&str] = if extension { &["VK_KHR_maintenance5"] } else { &[] };
                let mut spec = instance.device_spec(instance.first()).extensions(extensions);
                if let Some(features) = features {
                    spec = spec.next(features);
                }
                let device = spec.create().expect("vkCreateDevice");
                for name in ["vkCmdPipelineBarrier2", "vkGetBufferDeviceAddress"] {
                    assert_eq!(device.address(name) == 0, suppressed, "{name}, {extension}");
                }
                // The look-up never suppresses commands of the instance's version or commands of extensions.
                for name in [
                    "vkTrimCommandPool",
                    "vkCmdPipelineBarrier2KHR",
                    "vkGetDeviceQueue2",
                    "vkGetDeviceQueue",
                ] {
                    assert_ne!(device.address(name), 0, "{name}");
                }
            }
        });
        outcome.ok();
    });
}

/// APP-42, APP-46: vkGetDeviceQueue2 is treated as a core command of 1.1.
#[test]
fn app_042_get_device_queue_2_is_suppressed_on_1_0() {
    case(|scene| {
        scene
            .driver("a")
            .device_with("one", |device| device.extension("VK_KHR_maintenance5"));
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            let on = vk::PhysicalDeviceMaintenance5FeaturesKHR::default().maintenance5(true);
            let spec = instance
                .device_spec(instance.first())
                .extensions(&["VK_KHR_maintenance5"])
                .next(&on);
            let device = spec.create().expect("vkCreateDevice");
            assert_eq!(device.address("vkGetDeviceQueue2"), 0);
            assert_ne!(instance.device(instance.first(), &[]).address("vkGetDeviceQueue2"), 0);
        });
        outcome.ok();
    });
}
