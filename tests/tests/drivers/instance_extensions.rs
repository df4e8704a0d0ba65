//! Tests of the list of instance extensions (DRV-102 to DRV-108).

use loader_tests::ash::vk;
use loader_tests::vk::{WINDOW_SURFACE, WINDOW_SURFACES};
use loader_tests::{call, case};

const OWN: [&str; 4] = [
    "VK_EXT_debug_report",
    "VK_EXT_debug_utils",
    "VK_KHR_portability_enumeration",
    "VK_LUNARG_direct_driver_loading",
];

/// DRV-102, APP-64: the list contains the extensions of drivers in scan order, and then the loader's own extensions. If a name occurs
/// several times, the loader uses the first.
#[test]
fn drv_102_the_union_in_its_order() {
    case(|scene| {
        scene
            .driver("a")
            .line("instance_extension", format_args!("{WINDOW_SURFACE} 5"))
            .line("instance_extension", "VK_KHR_surface 20");
        scene
            .driver("b")
            .line("instance_extension", "VK_KHR_surface 25")
            .line("instance_extension", "VK_KHR_display 3")
            .line("instance_extension", format_args!("{WINDOW_SURFACE} 6"));
        let outcome = scene.run(|vk| {
            let list = vk.extension_versions(None).expect("the query succeeds");
            let expected = [(WINDOW_SURFACE, 5), ("VK_KHR_surface", 20), ("VK_KHR_display", 3)];
            let found: Vec<(&str, u32)> = list.iter().map(|(name, version)| (name.as_str(), *version)).collect();
            assert_eq!(found[..3], expected);
            let names: Vec<&str> = found[3..].iter().map(|(name, _)| *name).collect();
            assert_eq!(names, OWN);
        });
        outcome.ok();
    });
}

/// DRV-103, DRV-104, APP-66, APP-67: unknown instance extensions are hidden unless the extension filter is disabled.
#[test]
fn drv_103_unknown_extensions_are_hidden_unless_the_filter_is_off() {
    case(|scene| {
        scene
            .driver("a")
            .device("one")
            .extensions(&["VK_KHR_surface", "VK_NEW_thing"]);
        for (value, shown) in [
            ("", false),
            ("0", false),
            ("1", true),
            ("7", true),
            ("no", false),
            ("-1", true),
        ] {
            scene.env("VK_LOADER_DISABLE_INST_EXT_FILTER", value);
            let outcome = scene.run(|vk| {
                let list = vk.extensions().expect("the query succeeds");
                assert!(list.contains(&"VK_KHR_surface".into()));
                assert_eq!(list.contains(&"VK_NEW_thing".into()), shown, "`{value}`");
                let expected = if shown {
                    None
                } else {
                    Some(vk::Result::ERROR_EXTENSION_NOT_PRESENT)
                };
                assert_eq!(
                    vk.spec().extensions(&["VK_NEW_thing"]).create().err(),
                    expected,
                    "`{value}`"
                );
            });
            outcome.ok();
        }
    });
}

/// DRV-104: the list of instance extensions has the drivers' extensions that the loader knows.
#[test]
fn drv_104_the_known_extensions_pass() {
    case(|scene| {
        let names = [
            "VK_KHR_surface",
            "VK_KHR_display",
            "VK_KHR_get_physical_device_properties2",
            "VK_KHR_device_group_creation",
            "VK_KHR_external_memory_capabilities",
            "VK_KHR_external_semaphore_capabilities",
            "VK_KHR_external_fence_capabilities",
            "VK_KHR_get_surface_capabilities2",
            "VK_KHR_get_display_properties2",
            "VK_KHR_surface_protected_capabilities",
            "VK_NV_external_memory_capabilities",
            "VK_EXT_validation_flags",
            "VK_EXT_validation_features",
            "VK_EXT_direct_mode_display",
            "VK_EXT_display_surface_counter",
            "VK_EXT_swapchain_colorspace",
            "VK_EXT_headless_surface",
            "VK_EXT_surface_maintenance1",
            "VK_EXT_acquire_drm_display",
            "VK_GOOGLE_surfaceless_query",
        ];
        let of_x = if cfg!(windows) {
            &[][..]
        } else {
            &["VK_EXT_acquire_xlib_display"]
        };
        let names = [&names[..], WINDOW_SURFACES, of_x].concat();
        scene.driver("a").device("one").extensions(&names);
        scene.driver("b").device("two").extensions(&[
            "VK_KHR_surface_maintenance1",
            "VK_EXT_layer_settings",
            "VK_NV_display_stereo",
        ]);
        let outcome = scene.run(|vk| {
            let list = vk.extensions().expect("the query succeeds");
            for name in &names {
                assert!(list.contains(&String::from(*name)), "{name} is missing in {list:?}");
            }
            drop(vk.instance_with("1.0", &names));
        });
        outcome.ok();
    });
}

/// DRV-104: the list of instance extensions has recent extensions too, if the loader knows them and a driver has them.
#[test]
fn drv_104_the_newer_known_extensions_pass() {
    case(|scene| {
        let names = [
            "VK_KHR_surface_maintenance1",
            "VK_EXT_layer_settings",
            "VK_NV_display_stereo",
        ];
        scene.driver("a").device("one").extensions(&names);
        let outcome = scene.run(|vk| {
            let list = vk.extensions().expect("the query succeeds");
            for name in &names {
                assert!(list.contains(&String::from(*name)), "{name} is missing in {list:?}");
            }
        });
        outcome.ok();
    });
}

/// DRV-105, DRV-187: extensions of window systems that are not built in are hidden, even if `VK_LOADER_DISABLE_INST_EXT_FILTER` disables
/// the filter of extensions.
#[test]
fn drv_105_window_systems_that_are_not_built_in_are_hidden() {
    case(|scene| {
        scene.driver("a").device("one").extensions(&[
            "VK_EXT_directfb_surface",
            "VK_QNX_screen_surface",
            "VK_NEW_thing",
        ]);
        scene.env("VK_LOADER_DISABLE_INST_EXT_FILTER", "1");
        let outcome = scene.run(|vk| {
            let list = vk.extensions().expect("the query succeeds");
            assert!(list.contains(&"VK_NEW_thing".into()));
            assert!(
                !list.contains(&"VK_EXT_directfb_surface".into()) && !list.contains(&"VK_QNX_screen_surface".into())
            );
        });
        outcome.ok();
    });
}

/// DRV-106, APP-90: enabling an extension that no driver and no layer has fails instance creation.
#[test]
fn drv_106_an_extension_that_no_driver_and_no_layer_offers_is_an_error() {
    case(|scene| {
        scene.driver("a").device("one").extension("VK_KHR_surface");
        let outcome = scene.run(|vk| {
            for name in [
                "VK_KHR_display",
                "VK_KHR_Surface",
                "VK_KHR_surface2",
                "VK_NEW_thing",
                "",
            ] {
                let result = vk.spec().extensions(&["VK_KHR_surface", name]).create().err();
                assert_eq!(result, Some(vk::Result::ERROR_EXTENSION_NOT_PRESENT), "`{name}`");
            }
        });
        outcome.ok().logged_with("ERROR", "VK_KHR_display");
    });
}

/// DRV-106, APP-70, APP-90: a malformed extension name fails instance creation.
#[test]
fn drv_106_a_malformed_name_is_an_error() {
    case(|scene| {
        scene.driver("a").device("one");
        let outcome = scene.run(|vk| {
            let long = vec![b'x'; 300];
            for name in [&b"VK_\x01x"[..], b"\xff\xfe", b"VK_\xc3", &long] {
                let result = vk.spec().extension_bytes(name).create().err();
                assert_eq!(result, Some(vk::Result::ERROR_EXTENSION_NOT_PRESENT));
            }
        });
        outcome.ok();
    });
}

/// APP-90: a number of extensions without an array is an error, and the application can repeat the name of an extension.
#[test]
fn app_090_a_missing_array_and_a_repeated_name() {
    case(|scene| {
        scene.driver("a").device("one").extension("VK_KHR_surface");
        let outcome = scene.run(|vk| {
            let info = vk::InstanceCreateInfo {
                enabled_extension_count: 1,
                ..Default::default()
            };
            let mut raw = vk::Instance::null();
            let result = call!(vk, PFN_vkCreateInstance(&info, std::ptr::null(), &mut raw));
            assert_eq!(result, vk::Result::ERROR_EXTENSION_NOT_PRESENT);
            drop(vk.instance_with("1.0", &["VK_KHR_surface", "VK_KHR_surface"]));
        });
        outcome.ok();
    });
}

/// DRV-107: the loader omits the extensions of a driver whose query fails.
#[test]
fn drv_107_a_driver_whose_query_fails_is_left_out() {
    case(|scene| {
        scene
            .driver("bad")
            .device("bad")
            .extension("VK_KHR_display")
            .fail("vkEnumerateInstanceExtensionProperties", -3);
        scene.driver("good").device("good").extension("VK_KHR_surface");
        let outcome = scene.run(|vk| {
            let list = vk.extensions().expect("the query succeeds");
            assert!(list.contains(&"VK_KHR_surface".into()) && !list.contains(&"VK_KHR_display".into()));
            assert_eq!(vk.instance().device_names(), ["good"]);
        });
        outcome.ok().logged_with("ERROR", "libmock_bad.so");
    });
}

/// DRV-107: the loader also omits the extensions of a driver that fails in the call that fills the array.
#[test]
fn drv_107_a_driver_whose_second_query_fails_is_left_out() {
    case(|scene| {
        scene.driver("bad").device("bad").extension("VK_KHR_display");
        scene.driver("good").device("good").extension("VK_KHR_surface");
        let outcome = scene.run(|vk| {
            for number in 2..5 {
                let line = format!("fail vkEnumerateInstanceExtensionProperties -4 {number} {number}");
                vk.add_lines("bad", &line);
                let (result, list) = loader_tests::vk::fill_some(9, |count, out: *mut vk::ExtensionProperties| {
                    call!(
                        vk,
                        PFN_vkEnumerateInstanceExtensionProperties(std::ptr::null(), count, out)
                    )
                });
                let names: Vec<String> = list
                    .iter()
                    .map(|one| loader_tests::vk::text(&one.extension_name))
                    .collect();
                assert!(
                    result == vk::Result::SUCCESS && names.contains(&"VK_KHR_surface".into()),
                    "{result} {names:?}"
                );
                assert!(vk.instance().device_names().contains(&"good".into()));
                vk.remove_lines("bad", &["fail"]);
            }
        });
        outcome.ok();
    });
}

/// DRV-4, APP-71: the extension query returns a driver's out-of-memory error.
#[test]
fn drv_004_out_of_memory_of_the_extension_query_is_returned() {
    case(|scene| {
        scene
            .driver("bad")
            .device("bad")
            .fail("vkEnumerateInstanceExtensionProperties", -1);
        scene.driver("good").device("good");
        let outcome = scene.run(|vk| {
            assert_eq!(vk.extensions().err(), Some(vk::Result::ERROR_OUT_OF_HOST_MEMORY));
            assert_eq!(vk.spec().create().err(), Some(vk::Result::ERROR_OUT_OF_HOST_MEMORY));
        });
        outcome.ok();
    });
}

/// DRV-169, DRV-257, DRV-258: a count that grows between the two calls and a name without a terminator cause no error.
#[test]
fn drv_169_a_growing_count_is_cut() {
    case(|scene| {
        scene
            .driver("a")
            .device("one")
            .extension("VK_KHR_surface")
            .line("grow", "vkEnumerateInstanceExtensionProperties 1000");
        let long = "x".repeat(400);
        scene
            .driver("b")
            .device("two")
            .extension(&long)
            .extension("VK_KHR_display");
        let outcome = scene.run(|vk| {
            let list = vk.extensions().expect("the query succeeds");
            assert!(
                list.contains(&"VK_KHR_surface".into()) && list.contains(&"VK_KHR_display".into()),
                "{list:?}"
            );
            assert_eq!(vk.instance().device_names(), ["two", "one"]);
        });
        outcome.ok();
    });
}

/// DRV-108: drivers receive no layer name in a query and no layers in a create info.
#[test]
fn drv_108_drivers_are_never_asked_about_layers() {
    case(|scene| {
        scene.driver("a").device("one");
        let outcome = scene.run(|vk| {
            let empty = vk.extension_versions(Some(c"")).expect("an empty name counts as none");
            assert!(empty.iter().any(|(name, _)| name == "VK_EXT_debug_utils"));
            let unknown = vk.extension_versions(Some(c"VK_LAYER_nobody"));
            assert_eq!(unknown.err(), Some(vk::Result::ERROR_LAYER_NOT_PRESENT));
            vk.layers().expect("the query succeeds");
            let instance = vk.instance();
            let device = instance.first();
            let mut count = 0;
            let layer = c"VK_LAYER_nobody".as_ptr();
            let null = std::ptr::null_mut();
            let result = call!(
                instance,
                PFN_vkEnumerateDeviceExtensionProperties(device, layer, &mut count, null)
            );
            assert_eq!((result, count), (vk::Result::SUCCESS, 0));
            let empty = c"".as_ptr();
            let result = call!(
                instance,
                PFN_vkEnumerateDeviceExtensionProperties(device, empty, &mut count, null)
            );
            assert_eq!(result, vk::Result::SUCCESS);
            let result = call!(
                instance,
                PFN_vkEnumerateDeviceLayerProperties(device, &mut count, std::ptr::null_mut())
            );
            assert_eq!(result, vk::Result::SUCCESS);
        });
        let outcome = outcome.ok();
        for call in [
            "vkEnumerateInstanceExtensionProperties",
            "vkEnumerateDeviceExtensionProperties",
        ] {
            let lines = outcome.calls("a", call);
            assert!(
                !lines.is_empty() && lines.iter().all(|line| line.contains("layer=null")),
                "{}",
                outcome.all()
            );
        }
        for call in ["vkEnumerateInstanceLayerProperties", "vkEnumerateDeviceLayerProperties"] {
            assert!(outcome.calls("a", call).is_empty(), "{}", outcome.all());
        }
    });
}

/// APP-61: the second call with a short array returns as many extensions as fit.
#[test]
fn app_061_a_short_array_gives_incomplete() {
    case(|scene| {
        scene.driver("a").extension("VK_KHR_surface");
        let outcome = scene.run(|vk| {
            let total = vk.extensions().expect("the query succeeds").len() as u32;
            for room in 0..=total + 1 {
                let (result, list) = loader_tests::vk::fill_some(room, |count, out: *mut vk::ExtensionProperties| {
                    call!(
                        vk,
                        PFN_vkEnumerateInstanceExtensionProperties(std::ptr::null(), count, out)
                    )
                });
                let expected = if room < total {
                    vk::Result::INCOMPLETE
                } else {
                    vk::Result::SUCCESS
                };
                // The pointer of an empty vector is not NULL, so the call asks for a list of no elements.
                assert_eq!((result, list.len() as u32), (expected, room.min(total)), "room {room}");
            }
        });
        outcome.ok();
    });
}
