//! Tests of `vkGetDeviceProcAddr` with chosen names (APP-40 to APP-50). `lookup_table.rs` contains the tests with every
//! command of the registry.

use std::ffi::{CStr, CString};

use loader_tests::ash::vk::{self, Handle};
use loader_tests::vk::CREATE_WINDOW_SURFACE;
use loader_tests::vk::{Commands, Instance};
use loader_tests::{call, case};

fn get(instance: &Instance<'_>, device: u64, name: Option<&CStr>) -> usize {
    let name = name.map_or(std::ptr::null(), CStr::as_ptr);
    let found = call!(instance, PFN_vkGetDeviceProcAddr(vk::Device::from_raw(device), name));
    found.map_or(0, |function| function as usize)
}

/// APP-40, APP-41: for an invalid name or device, the look-up returns NULL. For an invalid device, the look-up still returns the loader's
/// functions for four names.
#[test]
fn app_040_bad_names_and_bad_devices() {
    case(|scene| {
        scene.usual_driver("a");
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            let device = instance.device(instance.first(), &[]);
            let raw = device.raw.as_raw();
            assert_eq!(get(&instance, raw, None), 0);
            for name in [c"", c"v", c"vk", c"Vkx", c"xkCmdDraw", c"CmdDraw"] {
                assert_eq!(get(&instance, raw, Some(name)), 0, "{name:?}");
            }
            assert_ne!(get(&instance, raw, Some(c"vkCmdDraw")), 0);
            let garbage = [0_u64; 8];
            let table = [0x1234_u64; 8];
            let wrong = [table.as_ptr() as u64; 2];
            for bad in [0, garbage.as_ptr() as u64, wrong.as_ptr() as u64] {
                assert_eq!(get(&instance, bad, Some(c"vkCmdDraw")), 0);
                assert_eq!(get(&instance, bad, Some(c"vkGetDeviceQueue2")), 0);
                for name in [
                    "vkGetDeviceProcAddr",
                    "vkDestroyDevice",
                    "vkGetDeviceQueue",
                    "vkAllocateCommandBuffers",
                ] {
                    let text = CString::new(name).expect("a name");
                    assert_eq!(get(&instance, bad, Some(&text)), instance.address(name), "{name}");
                }
            }
        });
        outcome.ok();
    });
}

/// APP-48, APP-26: every way to look up `vkGetDeviceProcAddr` returns the same function.
#[test]
fn app_048_the_lookup_by_every_route() {
    case(|scene| {
        scene.usual_driver("a");
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            let device = instance.device(instance.first(), &[]);
            let exported = Commands::address(vk, "vkGetDeviceProcAddr");
            assert_eq!(instance.address("vkGetDeviceProcAddr"), exported);
            assert_eq!(device.address("vkGetDeviceProcAddr"), exported);
        });
        outcome.ok();
    });
}

/// APP-47: `vkGetDeviceProcAddr` returns NULL for global, instance and physical-device commands. The mock driver would return a function
/// for each of these names.
#[test]
fn app_047_names_of_other_levels() {
    case(|scene| {
        scene.usual_driver("a").line("opaque", "*");
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            vk.remove_lines("a", &["opaque"]);
            let device = instance.device(instance.first(), &[]);
            vk.add_lines("a", "opaque *");
            for name in [
                "vkCreateInstance",
                "vkCreateDevice",
                "vkEnumeratePhysicalDevices",
                "vkGetPhysicalDeviceFeatures",
                "vkGetInstanceProcAddr",
                CREATE_WINDOW_SURFACE,
            ] {
                assert_eq!(device.address(name), 0, "{name}");
            }
            vk.remove_lines("a", &["opaque"]);
        });
        outcome.ok();
    });
}

/// APP-44: the look-up returns the debug-utils functions for object names if their extension is enabled.
#[test]
fn app_044_debug_utils_naming() {
    case(|scene| {
        scene.driver("a").device("one");
        let outcome = scene.run(|vk| {
            for (extensions, there) in [(&[][..], false), (&["VK_EXT_debug_utils"], true)] {
                let instance = vk.instance_with("1.1", extensions);
                let device = instance.device(instance.first(), &[]);
                for name in ["vkSetDebugUtilsObjectNameEXT", "vkSetDebugUtilsObjectTagEXT"] {
                    assert_eq!(device.address(name) != 0, there, "{name}");
                    assert_eq!(device.address(name), instance.address(name));
                }
                for name in ["vkCmdBeginDebugUtilsLabelEXT", "vkQueueInsertDebugUtilsLabelEXT"] {
                    assert_eq!(device.address(name) != 0, there, "{name}");
                    assert_eq!(instance.address(name) != 0, there, "{name}");
                }
            }
        });
        outcome.ok();
    });
}
