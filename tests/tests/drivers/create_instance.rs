//! Tests of vkCreateInstance on every driver (DRV-109 to DRV-117).

use loader_tests::ash::vk::{self, Handle};
use loader_tests::vk::{Allocator, Instance};
use loader_tests::vk::{CREATE_WINDOW_SURFACE, WINDOW_SURFACE};
use loader_tests::{call, case};

/// DRV-109, APP-95: each driver receives those requested extensions that it supports, in the requested order.
#[test]
fn drv_109_each_driver_gets_its_extensions_and_no_layers() {
    case(|scene| {
        scene
            .driver("a")
            .device("one")
            .extensions(&["VK_KHR_surface", WINDOW_SURFACE]);
        scene
            .driver("b")
            .device("two")
            .extensions(&["VK_KHR_display", "VK_KHR_surface"]);
        scene.driver("c").device("three");
        let outcome = scene.run(|vk| {
            let requested = [WINDOW_SURFACE, "VK_KHR_display", "VK_EXT_debug_utils", "VK_KHR_surface"];
            drop(vk.instance_with("1.1", &requested));
        });
        let outcome = outcome.ok();
        for (driver, extensions) in [
            ("a", format!("{WINDOW_SURFACE} VK_KHR_surface")),
            ("b", "VK_KHR_display VK_KHR_surface".into()),
            ("c", String::new()),
        ] {
            let call = outcome.calls(driver, "vkCreateInstance")[0];
            assert!(
                call.contains(&format!(" layers=0 ext=[{extensions}] ")),
                "{}",
                outcome.all()
            );
        }
    });
}

/// DRV-109: `pNext` and the allocator reach the driver.
#[test]
fn drv_109_chain_and_allocator_are_passed_on() {
    case(|scene| {
        scene.driver("a").device("one");
        let outcome = scene.run(|vk| {
            let allocator = Allocator::default();
            vk.say("mark", allocator.mark());
            let unknown = vk::BaseInStructure {
                s_type: vk::StructureType::from_raw(777_000),
                ..Default::default()
            };
            let instance = vk
                .spec()
                .next(&unknown)
                .allocator(&allocator)
                .create()
                .expect("vkCreateInstance");
            instance.destroy();
            assert_eq!(allocator.live(), 0);
        });
        let outcome = outcome.ok();
        let mark = outcome.said("mark")[0];
        let create = outcome.calls("a", "vkCreateInstance")[0];
        assert!(
            create.contains("777000]") && create.ends_with(mark),
            "{}",
            outcome.all()
        );
        assert_eq!(outcome.calls("a", "vkDestroyInstance"), [mark]);
    });
}

/// DRV-110: the loader adds the extension that sorting needs if the application or the driver has version 1.0, and adds it only once.
#[test]
fn drv_110_the_extension_for_sorting_is_added() {
    const EXTENSION: &str = "VK_KHR_get_physical_device_properties2";
    case(|scene| {
        scene.driver("new").device("one").extension(EXTENSION);
        scene.driver("old").device("two").api("1.0.0").extension(EXTENSION);
        scene.driver("none").device("three").api("1.0.0");
        for (api, requested, new, old) in [
            ("1.0", &[][..], true, true),
            ("1.1", &[], false, true),
            ("1.0", &[EXTENSION], true, true),
        ] {
            let outcome = scene.run(|vk| {
                let instance = vk.instance_with(api, requested);
                // The extension is enabled for the application only if the application requested it.
                let name = "vkGetPhysicalDeviceProperties2KHR";
                assert_eq!(vk.get(instance.raw, name) != 0, !requested.is_empty());
            });
            outcome.ok();
            for (driver, expected) in [("new", new), ("old", old), ("none", false)] {
                let call = outcome.calls(driver, "vkCreateInstance")[0];
                let list = if expected {
                    format!("ext=[{EXTENSION}]")
                } else {
                    "ext=[]".into()
                };
                assert!(
                    call.contains(&list),
                    "{driver}, {api}, {requested:?}\n{}",
                    outcome.all()
                );
            }
        }
    });
}

/// DRV-110: the version in a driver's manifest, and not the version that the driver reports, makes the loader treat the driver as a driver
/// of version 1.0.
#[test]
fn drv_110_the_manifest_says_which_driver_is_old() {
    const EXTENSION: &str = "VK_KHR_get_physical_device_properties2";
    case(|scene| {
        let rows = [
            ("newer", "1.0.0", "1.3.0", true),
            ("older", "1.3.0", "1.0.0", false),
            ("old", "1.0.0", "1.0.0", true),
            ("new", "1.3.0", "1.3.0", false),
        ];
        for (name, manifest, driver, _) in rows {
            scene
                .driver(name)
                .device(name)
                .api(driver)
                .manifest_api(manifest)
                .extension(EXTENSION);
        }
        scene
            .driver("silent")
            .device("silent")
            .missing("vkEnumerateInstanceVersion")
            .extension(EXTENSION);
        let outcome = scene.run(|vk| drop(vk.instance_with("1.1", &[])));
        outcome.ok();
        for (name, expected) in rows
            .map(|(name, _, _, expected)| (name, expected))
            .into_iter()
            .chain([("silent", false)])
        {
            let call = outcome.calls(name, "vkCreateInstance")[0];
            assert_eq!(call.contains(EXTENSION), expected, "{name}\n{}", outcome.all());
        }
    });
}

/// DRV-111: a driver that fails to create its instance is skipped.
#[test]
fn drv_111_a_driver_that_fails_is_skipped() {
    case(|scene| {
        scene.driver("a").device("one");
        scene.driver("bad").device("bad").fail("vkCreateInstance", -3);
        scene.driver("b").device("two");
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            assert_eq!(instance.device_names(), ["two", "one"]);
            vk.mark("in use");
            drop(instance);
            vk.mark("gone");
        });
        let library = scene.library("bad").display().to_string();
        // The loader closes the library of the failed driver together with the other libraries, because drivers may not expect an earlier
        // close.
        let last = outcome.between("in use", "gone");
        let closed = last.iter().filter(|line| line.ends_with("unload live=[]"));
        assert_eq!(closed.count(), 3, "{last:?}");
        outcome.ok().logged(
            "WARNING",
            &format!("terminator_CreateInstance: Received return code -3 from call to vkCreateInstance in ICD {library}. Skipping this driver."),
        );
    });
}

/// APP-96: if the last driver fails and another driver works, instance creation succeeds.
#[test]
fn app_096_the_last_drivers_failure_does_not_fail_the_call() {
    case(|scene| {
        scene.driver("a").device("one");
        scene.driver("bad").device("bad").fail("vkCreateInstance", -7);
        scene.run(|vk| assert_eq!(vk.instance().device_names(), ["one"])).ok();
    });
}

/// DRV-113: if no driver works, instance creation returns the same error for every cause.
#[test]
fn drv_113_without_a_working_driver_the_code_is_always_the_same() {
    case(|scene| {
        scene.driver("a").device("one").fail("vkCreateInstance", -3);
        scene.driver("b").device("two").fail("vkCreateInstance", -7);
        let outcome = scene.run(|vk| assert_eq!(vk.spec().create().err(), Some(vk::Result::ERROR_INCOMPATIBLE_DRIVER)));
        outcome
            .ok()
            .logged_with("ERROR | DRIVER", "terminator_CreateInstance: Found no drivers!");
    });
}

/// DRV-4, DRV-111, DRV-114: if a driver returns VK_ERROR_OUT_OF_HOST_MEMORY, instance creation fails, and the instances of all drivers are
/// destroyed.
#[test]
fn drv_114_out_of_memory_undoes_everything() {
    case(|scene| {
        scene.driver("a").device("one");
        scene.driver("bad").device("bad").fail("vkCreateInstance", -1);
        scene.driver("b").device("two");
        let outcome = scene.run(|vk| {
            let allocator = Allocator::default();
            let mut raw = vk::Instance::from_raw(0x1234);
            let result = vk.spec().allocator(&allocator).create_into(&mut raw);
            assert_eq!(result, vk::Result::ERROR_OUT_OF_HOST_MEMORY);
            // APP-99: the handle remains unchanged.
            assert_eq!(raw.as_raw(), 0x1234);
            assert_eq!(allocator.live(), 0);
            vk.remove_lines("bad", &["fail"]);
            assert_eq!(vk.instance().device_names().len(), 3);
        });
        let outcome = outcome.ok();
        assert_eq!(outcome.calls("b", "vkCreateInstance").len(), 1, "{}", outcome.all());
    });
}

/// DRV-111, DRV-259: the loader treats a driver that succeeds with a NULL handle as failed.
#[test]
fn drv_111_a_null_instance_counts_as_failure() {
    case(|scene| {
        scene
            .driver("bad")
            .device("bad")
            .line("null_result", "vkCreateInstance");
        scene.driver("good").device("good");
        scene
            .run(|vk| assert_eq!(vk.instance().device_names(), ["good"]))
            .ok()
            .logged_with("WARNING", "libmock_bad.so");
    });
}

/// DRV-112, APP-95a, APP-96: the loader omits a driver without a required function, and destroys its instance.
#[test]
fn drv_112_required_functions() {
    case(|scene| {
        scene.driver("good").device("good");
        let required = [
            "vkEnumeratePhysicalDevices",
            "vkGetPhysicalDeviceFeatures",
            "vkGetPhysicalDeviceFormatProperties",
            "vkGetPhysicalDeviceImageFormatProperties",
            "vkGetPhysicalDeviceProperties",
            "vkGetPhysicalDeviceQueueFamilyProperties",
            "vkGetPhysicalDeviceMemoryProperties",
            "vkGetDeviceProcAddr",
            "vkCreateDevice",
            "vkEnumerateDeviceExtensionProperties",
            "vkGetPhysicalDeviceSparseImageFormatProperties",
        ];
        for command in required {
            scene.driver(command).device("bad").missing(command).unlisted();
            let files = format!(
                "{}:{}",
                scene.manifest(command).display(),
                scene.manifest("good").display()
            );
            scene.env("VK_DRIVER_FILES", files);
            let outcome = scene.run(|vk| assert_eq!(vk.instance().device_names(), ["good"]));
            let library = scene.library(command).display().to_string();
            outcome
                .ok()
                .logged("WARNING", &format!("Unable to load {command} from ICD {library}"));
            assert_eq!(
                outcome.calls(command, "vkDestroyInstance"),
                ["alloc=null"],
                "{}",
                outcome.all()
            );
        }
    });
}

/// DRV-112: the loader also omits a driver without vkDestroyInstance, because no function could destroy the driver's instance.
#[test]
fn drv_112_a_driver_without_a_destroy_function_is_dropped() {
    case(|scene| {
        scene.driver("bad").device("bad").missing("vkDestroyInstance");
        scene.driver("good").device("good");
        let outcome = scene.run(|vk| assert_eq!(vk.instance().device_names(), ["good"]));
        let library = scene.library("bad").display().to_string();
        outcome.ran().logged(
            "WARNING",
            &format!("Unable to load vkDestroyInstance from ICD {library}"),
        );
    });
}

/// DRV-112: the loader asks drivers for every known instance and physical-device function, also if the function's extension is not enabled.
#[test]
fn drv_112_every_known_function_is_asked_for() {
    case(|scene| {
        scene.driver("a").device("one").flag("journal_lookups");
        let outcome = scene.run(|vk| drop(vk.instance()));
        let asked = outcome.ok().calls("a", "vk_icdGetInstanceProcAddr");
        for name in [
            "vkGetPhysicalDeviceFeatures2",
            "vkGetPhysicalDeviceFeatures2KHR",
            CREATE_WINDOW_SURFACE,
            "vkDestroySurfaceKHR",
            "vkCreateDebugUtilsMessengerEXT",
            "vkGetPhysicalDeviceDisplayPropertiesKHR",
            "vkEnumeratePhysicalDeviceGroups",
        ] {
            assert!(
                asked.contains(&format!("instance {name}").as_str()),
                "{name}\n{}",
                outcome.all()
            );
        }
    });
}

/// APP-100: the object of an instance has the magic word that some applications read.
#[test]
fn app_100_the_instance_carries_its_mark() {
    case(|scene| {
        scene.driver("a").device("one");
        scene
            .run(|vk| assert_eq!(Instance::mark(vk.instance().raw.as_raw(), 1), 0x10AD_ED01_0110_ADED))
            .ok();
    });
}

/// APP-80: NULL for a required pointer is reported, and the process continues.
#[test]
fn app_080_null_pointers_are_reported_without_abort() {
    case(|scene| {
        scene.driver("a").device("one");
        scene.env("VK_LOADER_DEBUG", "");
        let outcome = scene.run(|vk| {
            let (info, null) = (vk::InstanceCreateInfo::default(), std::ptr::null());
            let mut raw = vk::Instance::null();
            let result = call!(vk, PFN_vkCreateInstance(null, std::ptr::null(), &mut raw));
            assert_eq!(result, vk::Result::ERROR_INITIALIZATION_FAILED);
            let result = call!(vk, PFN_vkCreateInstance(&info, std::ptr::null(), std::ptr::null_mut()));
            assert_eq!(result, vk::Result::ERROR_INITIALIZATION_FAILED);
        });
        let outcome = outcome.ok();
        for name in ["pCreateInfo", "pInstance"] {
            assert!(
                outcome
                    .stderr
                    .contains(&format!("VUID-vkCreateInstance-{name}-parameter")),
                "{}",
                outcome.all()
            );
        }
    });
}

/// APP-83: the log starts with the names, layers and extensions of the application's request.
#[test]
fn app_083_the_request_is_logged_first() {
    case(|scene| {
        let outcome = scene.run(|vk| {
            let application = vk::ApplicationInfo::default()
                .application_name(c"the name")
                .application_version(7)
                .engine_name(c"the engine")
                .engine_version(8)
                .api_version(vk::make_api_version(0, 1, 2, 3));
            let extensions = [c"VK_KHR_surface".as_ptr()];
            let info = vk::InstanceCreateInfo::default()
                .application_info(&application)
                .enabled_extension_names(&extensions);
            let mut raw = vk::Instance::null();
            for info in [info, vk::InstanceCreateInfo::default()] {
                let result = call!(vk, PFN_vkCreateInstance(&info, std::ptr::null(), &mut raw));
                assert_eq!(result, vk::Result::ERROR_INCOMPATIBLE_DRIVER);
            }
        });
        let info = outcome.ok().log("INFO");
        let start = info
            .iter()
            .position(|line| line.starts_with("vkCreateInstance: applicationName"))
            .expect("logged");
        assert_eq!(
            info[start..start + 4],
            [
                "vkCreateInstance: applicationName: \"the name\", applicationVersion: 7, engineName: \"the engine\", engineVersion: 8, apiVersion: 1.2.3",
                "vkCreateInstance: Requested 0 instance layer(s):",
                "vkCreateInstance: Requested 1 instance extension(s):",
                "   VK_KHR_surface",
            ],
            "{}",
            outcome.all()
        );
        outcome.logged("INFO", "vkCreateInstance: applicationName: \"\", applicationVersion: 0, engineName: \"\", engineVersion: 0, apiVersion: 0.0.0");
    });
}

/// APP-88, APP-89, APP-90: a missing layer takes precedence over missing drivers, and missing drivers take precedence over a missing
/// extension.
#[test]
fn app_088_the_order_of_the_checks() {
    case(|scene| {
        let outcome = scene.run(|vk| {
            let spec = vk.spec().layer("VK_LAYER_nobody").extensions(&["VK_NEW_thing"]);
            assert_eq!(spec.create().err(), Some(vk::Result::ERROR_LAYER_NOT_PRESENT));
            let spec = vk.spec().extensions(&["VK_NEW_thing"]);
            assert_eq!(spec.create().err(), Some(vk::Result::ERROR_INCOMPATIBLE_DRIVER));
        });
        let text = "loader_validate_layers: Layer 0 does not exist in the list of available layers";
        outcome.ok().logged("ERROR", text);
    });
}

/// APP-110: destroying a NULL instance does nothing.
#[test]
fn app_110_destroying_null_does_nothing() {
    case(|scene| {
        let null = std::ptr::null();
        scene
            .run(|vk| call!(vk, PFN_vkDestroyInstance(vk::Instance::null(), null)))
            .ok();
    });
}
