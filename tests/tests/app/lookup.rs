//! Tests of `vkGetInstanceProcAddr` with chosen names (APP-20 to APP-35). `lookup_table.rs` contains the tests with
//! every command of the registry.

use loader_tests::ash::vk::{self, Handle};
use loader_tests::vk::{Commands, isolated};
use loader_tests::{call, case};

/// APP-20: the look-up finds itself with any instance, valid or not.
#[test]
fn app_020_the_lookup_function_finds_itself() {
    case(|scene| {
        scene.driver("a").device("one");
        let outcome = scene.run(|vk| {
            let own = Commands::address(vk, "vkGetInstanceProcAddr");
            let garbage = [0_u64; 4];
            let instance = vk.instance();
            for handle in [0, garbage.as_ptr() as u64, 0x1234, instance.raw.as_raw()] {
                assert_eq!(vk.get(vk::Instance::from_raw(handle), "vkGetInstanceProcAddr"), own);
            }
        });
        outcome.ok();
    });
}

/// APP-22, APP-284: the look-up finds global commands with an instance of a version below 1.3, and does not find them
/// with an instance of a newer version.
#[test]
fn app_022_global_commands_with_an_instance() {
    case(|scene| {
        scene.driver("a").device("one");
        let outcome = scene.run(|vk| {
            for (api, there) in [
                ("1.0", true),
                ("1.1", true),
                ("1.2", true),
                ("1.3", false),
                ("1.4", false),
                ("2.0", false),
            ] {
                let instance = vk.instance_with(api, &[]);
                for name in crate::names::GLOBAL {
                    assert_eq!(vk.get(instance.raw, name) != 0, there, "{name} on {api}");
                }
            }
            // The loader treats a handle that is not an instance as an instance of an old version.
            let garbage = [0_u64; 4];
            assert_ne!(
                vk.get(vk::Instance::from_raw(garbage.as_ptr() as u64), "vkCreateInstance"),
                0
            );
        });
        outcome.ok();
    });
}

/// APP-24, APP-180: looking up an instance command with an invalid instance aborts the process.
#[test]
fn app_024_an_invalid_instance_aborts() {
    case(|scene| {
        scene.driver("a").device("one");
        scene.env("VK_LOADER_DEBUG", "");
        let outcome = scene.run(|vk| {
            let garbage = [0_u64; 4];
            let ending = isolated(|| {
                drop(
                    vk.get(vk::Instance::from_raw(garbage.as_ptr() as u64), "vkCmdDraw")
                        .to_string(),
                )
            });
            assert!(ending.aborted(), "{ending:?}");
            let text = "vkGetInstanceProcAddr: Invalid instance [VUID-vkGetInstanceProcAddr-instance-parameter]";
            assert!(ending.stderr.contains(text), "{}", ending.stderr);
        });
        outcome.ok();
    });
}

/// APP-31, DRV-212: the look-up finds an unknown name if a driver returns a function for this name.
#[test]
fn app_031_unknown_names() {
    case(|scene| {
        scene
            .driver("a")
            .device("one")
            .unknown_device("vkOddDevice")
            .unknown_physical("vkOddPhysical");
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            assert_ne!(instance.address("vkOddDevice"), 0);
            assert_ne!(instance.address("vkOddPhysical"), 0);
            assert_eq!(instance.address("vkOddNobody"), 0);
            assert_eq!(vk.get(vk::Instance::null(), "vkOddDevice"), 0);
        });
        outcome.ok();
    });
}

/// APP-72, APP-63, APP-61: without any manifest of a driver or layer, the query for layers succeeds with an empty list.
#[test]
fn app_072_no_layers_at_all() {
    case(|scene| {
        let outcome = scene.run(|vk| assert_eq!(vk.layers(), Ok(Vec::new())));
        outcome.ok();
    });
}

/// APP-68, APP-70: a query for extensions with a layer's name lists the extensions of that layer, or reports that the layer or name is
/// invalid.
#[test]
fn app_068_extensions_of_a_layer() {
    case(|scene| {
        let outcome = scene.run(|vk| {
            let absent = Some(vk::Result::ERROR_LAYER_NOT_PRESENT);
            assert_eq!(vk.extension_versions(Some(c"VK_LAYER_nobody")).err(), absent);
            for name in [c"\x01", c"VK_LAYER_\xff", c"\xc3"] {
                let result = vk.extension_versions(Some(name)).err();
                assert_eq!(result, Some(vk::Result::ERROR_EXTENSION_NOT_PRESENT), "{name:?}");
            }
            assert_eq!(vk.extension_versions(Some(c"VK_LAYER_\xc3\xa4")).err(), absent);
        });
        outcome.ok();
    });
}

/// APP-62: the look-up depends only on the major and minor version of the application, and not on the patch and variant.
#[test]
fn app_062_patch_and_variant_are_ignored() {
    case(|scene| {
        scene.driver("a").device("one");
        let outcome = scene.run(|vk| {
            for (version, there) in [
                (vk::make_api_version(0, 1, 2, 4095), true),
                (vk::make_api_version(0, 1, 3, 0), false),
                (vk::make_api_version(5, 1, 2, 0), true),
                (vk::make_api_version(5, 1, 3, 7), false),
                (0, true),
            ] {
                let instance = vk.spec().api_raw(version).create().expect("vkCreateInstance");
                assert_eq!(vk.get(instance.raw, "vkCreateInstance") != 0, there, "{version:#x}");
            }
            let instance = vk.spec().no_application().create().expect("vkCreateInstance");
            assert_ne!(vk.get(instance.raw, "vkCreateInstance"), 0);
        });
        outcome.ok();
    });
}

/// APP-88: enabling a layer that does not exist, or a malformed name, fails instance creation.
#[test]
fn app_088_layers_that_are_not_there() {
    case(|scene| {
        scene.driver("a").device("one");
        let outcome = scene.run(|vk| {
            let absent = vk::Result::ERROR_LAYER_NOT_PRESENT;
            assert_eq!(vk.spec().layer("VK_LAYER_nobody").create().err(), Some(absent));
            let info = vk::InstanceCreateInfo {
                enabled_layer_count: 1,
                ..Default::default()
            };
            let mut raw = vk::Instance::null();
            assert_eq!(
                call!(vk, PFN_vkCreateInstance(&info, std::ptr::null(), &mut raw)),
                absent
            );
            let names = [std::ptr::null()];
            let info = vk::InstanceCreateInfo::default().enabled_layer_names(&names);
            assert_eq!(
                call!(vk, PFN_vkCreateInstance(&info, std::ptr::null(), &mut raw)),
                absent
            );
        });
        outcome
            .ok()
            .logged(
                "ERROR",
                "loader_validate_layers: Layer 0 does not exist in the list of available layers",
            )
            .logged(
                "ERROR",
                "loader_validate_layers: ppEnabledLayerNames is NULL but enabledLayerCount is greater than zero",
            )
            .logged(
                "ERROR",
                "loader_validate_layers: ppEnabledLayerNames contains string that is too long or is badly formed",
            );
    });
}
