//! Tests of the enumeration of layers and of their extensions (LAY-320 to LAY-326).

use std::ffi::CStr;
use std::ptr;

use loader_tests::ash::vk;
use loader_tests::vk::{Commands, Instance, fill_some, text, two_call};
use loader_tests::{call, case};

use crate::kit::{Layer, list, place};

/// Returns the JSON of an extension list, in which each extension has revision 2.
pub(crate) fn extensions(names: &[&str]) -> String {
    let items: Vec<String> = names
        .iter()
        .map(|name| format!(r#"{{"name": "{name}", "spec_version": "2"}}"#))
        .collect();
    format!("[{}]", items.join(", "))
}

/// Returns the device extensions that the chain reports for a layer's name, or for NULL.
pub(crate) fn of_device(instance: &Instance<'_>, layer: Option<&CStr>) -> Result<Vec<String>, vk::Result> {
    let device = instance.first();
    let layer = layer.map_or(ptr::null(), CStr::as_ptr);
    let query = |count: &mut u32, out| {
        call!(
            instance,
            PFN_vkEnumerateDeviceExtensionProperties(device, layer, count, out)
        )
    };
    let list: Vec<vk::ExtensionProperties> = two_call(query)?;
    Ok(list.iter().map(|one| text(&one.extension_name)).collect())
}

/// LAY-320: the list of layers contains every layer, active or not.
#[test]
fn lay_320_every_layer_is_listed_active_or_not() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::explicit("e"),
                Layer::implicit("on"),
                Layer::implicit("off"),
                Layer::meta("m", &["VK_LAYER_e"]),
                Layer::overriding(&["VK_LAYER_e"]),
            ],
        );
        scene.env("DISABLE_off", "1");
        let outcome = scene.run(|vk| {
            let expected = [
                "VK_LAYER_on",
                "VK_LAYER_off",
                "VK_LAYER_LUNARG_override",
                "VK_LAYER_e",
                "VK_LAYER_m",
            ];
            assert_eq!(vk.layers().expect("layers"), expected);
        });
        outcome.ok();
    });
}

/// LAY-320: vkEnumerateInstanceLayerProperties fills a short array, and returns VK_INCOMPLETE.
#[test]
fn lay_320_a_short_array_is_filled_and_incomplete() {
    case(|scene| {
        place(
            scene,
            &[Layer::explicit("a"), Layer::explicit("b"), Layer::explicit("c")],
        );
        let outcome = scene.run(|vk| {
            for (room, result) in [
                (0, vk::Result::INCOMPLETE),
                (2, vk::Result::INCOMPLETE),
                (3, vk::Result::SUCCESS),
                (9, vk::Result::SUCCESS),
            ] {
                let query = |count: &mut u32, out| call!(vk, PFN_vkEnumerateInstanceLayerProperties(count, out));
                let (got, list): (_, Vec<vk::LayerProperties>) = fill_some(room, query);
                assert_eq!((got, list.len()), (result, room.min(3) as usize));
            }
        });
        outcome.ok();
    });
}

/// LAY-321: the extensions of each layer can be queried, active or not.
#[test]
fn lay_321_any_layer_s_extensions_can_be_asked_for() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::explicit("e").member("instance_extensions", extensions(&["VK_EXT_e1", "VK_EXT_e2"])),
                Layer::implicit("off").member("instance_extensions", extensions(&["VK_EXT_off"])),
                Layer::explicit("none"),
            ],
        );
        scene.env("DISABLE_off", "1");
        let outcome = scene.run(|vk| {
            let pair = |name: &str| (name.to_string(), 2);
            assert_eq!(
                vk.extension_versions(Some(c"VK_LAYER_e")),
                Ok(vec![pair("VK_EXT_e1"), pair("VK_EXT_e2")])
            );
            assert_eq!(
                vk.extension_versions(Some(c"VK_LAYER_off")),
                Ok(vec![pair("VK_EXT_off")])
            );
            assert_eq!(vk.extension_versions(Some(c"VK_LAYER_none")), Ok(vec![]));
        });
        outcome.ok();
    });
}

/// LAY-321: a query for the extensions of an unknown layer returns VK_ERROR_LAYER_NOT_PRESENT.
#[test]
fn lay_321_an_unknown_layer_is_not_present() {
    case(|scene| {
        place(scene, &[Layer::explicit("a")]);
        let outcome = scene.run(|vk| {
            let refused = Err(vk::Result::ERROR_LAYER_NOT_PRESENT);
            assert_eq!(vk.extension_versions(Some(c"VK_LAYER_A")), refused);
            assert_eq!(vk.extension_versions(Some(c"VK_LAYER_")), refused);
        });
        outcome.ok();
    });
}

/// LAY-321: a query for extensions with a malformed layer name returns VK_ERROR_EXTENSION_NOT_PRESENT.
#[test]
fn lay_321_a_malformed_name_is_an_extension_error() {
    case(|scene| {
        place(scene, &[Layer::explicit("a")]);
        let outcome = scene.run(|vk| {
            let refused = Err(vk::Result::ERROR_EXTENSION_NOT_PRESENT);
            let long = std::ffi::CString::new(vec![b'x'; 5000]).expect("no zero byte");
            assert_eq!(vk.extension_versions(Some(&long)), refused);
            assert_eq!(vk.extension_versions(Some(c"VK_LAYER_\xff")), refused);
        });
        outcome.ok();
    });
}

/// LAY-321: a query for extensions treats an empty layer name as NULL.
#[test]
fn lay_321_an_empty_name_is_the_same_as_none() {
    case(|scene| {
        place(scene, &[Layer::explicit("a")]);
        let outcome = scene.run(|vk| assert_eq!(vk.extension_versions(Some(c"")), vk.extension_versions(None)));
        outcome.ok();
    });
}

/// LAY-322: the list of instance extensions contains the extensions of active implicit layers.
#[test]
fn lay_322_active_implicit_layers_add_their_extensions() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::implicit("on").member("instance_extensions", extensions(&["VK_EXT_on", "VK_KHR_surface"])),
                Layer::implicit("twin").member("instance_extensions", extensions(&["VK_EXT_on", "VK_EXT_twin"])),
                Layer::implicit("off").member("instance_extensions", extensions(&["VK_EXT_off"])),
                Layer::explicit("e").member("instance_extensions", extensions(&["VK_EXT_e"])),
            ],
        );
        scene.env("DISABLE_off", "1").env("VK_INSTANCE_LAYERS", "VK_LAYER_e");
        let outcome = scene.run(|vk| {
            let names = vk.extensions().expect("extensions");
            assert_eq!(names[names.len() - 2..], ["VK_EXT_on", "VK_EXT_twin"], "{names:?}");
            for name in &names {
                assert_eq!(names.iter().filter(|other| *other == name).count(), 1, "{name}");
            }
            assert!(
                !names.contains(&"VK_EXT_off".into()) && !names.contains(&"VK_EXT_e".into()),
                "{names:?}"
            );
        });
        outcome.ok();
    });
}

/// LAY-322: the list of instance extensions contains the extensions of the components of an active implicit meta-layer.
#[test]
fn lay_322_components_of_an_active_implicit_meta_layer_add_theirs() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::implicit_meta("m", &["VK_LAYER_a"]),
                Layer::overriding(&["VK_LAYER_b"]),
                Layer::explicit("a").member("instance_extensions", extensions(&["VK_EXT_a"])),
                Layer::explicit("b").member("instance_extensions", extensions(&["VK_EXT_b"])),
                Layer::explicit("c").member("instance_extensions", extensions(&["VK_EXT_c"])),
            ],
        );
        let outcome = scene.run(|vk| {
            let names = vk.extensions().expect("extensions");
            assert!(
                names.contains(&"VK_EXT_a".into()) && names.contains(&"VK_EXT_b".into()),
                "{names:?}"
            );
            assert!(!names.contains(&"VK_EXT_c".into()), "{names:?}");
        });
        outcome.ok();
    });
}

/// LAY-323, BI-53: the device's list includes the device extensions of active implicit layers.
#[test]
fn lay_323_device_extensions_of_active_implicit_layers_are_merged() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::implicit("i").member("device_extensions", extensions(&["VK_EXT_i", "VK_KHR_swapchain"])),
                Layer::explicit("e").member("device_extensions", extensions(&["VK_EXT_e"])),
            ],
        );
        let outcome = scene.run(|vk| {
            let instance = vk.spec().layer("VK_LAYER_e").create().expect("vkCreateInstance");
            assert_eq!(
                of_device(&instance, None),
                Ok(vec!["VK_KHR_swapchain".into(), "VK_EXT_i".into()])
            );
            let device = instance.first();
            let null = ptr::null();
            let query = |count: &mut u32, out| {
                call!(
                    instance,
                    PFN_vkEnumerateDeviceExtensionProperties(device, null, count, out)
                )
            };
            let (result, some): (_, Vec<vk::ExtensionProperties>) = fill_some(1, query);
            assert_eq!((result, some.len()), (vk::Result::INCOMPLETE, 1));
        });
        outcome.ok();
    });
}

/// LAY-324, APP-132: a layer answers the query for the layer's device extensions.
#[test]
fn lay_324_a_layer_answers_for_its_own_name() {
    case(|scene| {
        place(
            scene,
            &[Layer::explicit("a")
                .conf("device-extension", "VK_EXT_by_layer 1")
                .member("device_extensions", extensions(&["VK_EXT_by_manifest"]))],
        );
        let outcome = scene.run(|vk| {
            let instance = vk.spec().layer("VK_LAYER_a").create().expect("vkCreateInstance");
            assert_eq!(
                of_device(&instance, Some(c"VK_LAYER_a")),
                Ok(vec!["VK_EXT_by_layer".into()])
            );
        });
        outcome.ok();
    });
}

/// LAY-324, APP-132: if no layer answers the query for a layer's device extensions, the loader's terminator answers from the manifest.
#[test]
fn lay_324_the_terminator_answers_from_the_manifest_of_any_layer() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::explicit("a").member("device_extensions", extensions(&["VK_EXT_a"])),
                Layer::explicit("inactive").member("device_extensions", extensions(&["VK_EXT_inactive"])),
            ],
        );
        let outcome = scene.run(|vk| {
            let instance = vk.spec().layer("VK_LAYER_a").create().expect("vkCreateInstance");
            assert_eq!(of_device(&instance, Some(c"VK_LAYER_a")), Ok(vec!["VK_EXT_a".into()]));
            assert_eq!(
                of_device(&instance, Some(c"VK_LAYER_inactive")),
                Ok(vec!["VK_EXT_inactive".into()])
            );
            assert_eq!(of_device(&instance, Some(c"VK_LAYER_none")), Ok(vec![]));
            assert_eq!(
                of_device(&instance, Some(c"VK_LAYER_\xff")),
                Err(vk::Result::ERROR_EXTENSION_NOT_PRESENT)
            );
        });
        outcome
            .ok()
            .logged_with("ERROR", "vkEnumerateDeviceExtensionProperties");
    });
}

/// LAY-324: a query for a layer's device extensions returns VK_INCOMPLETE if the pointer to the count is NULL.
#[test]
fn lay_324_a_null_count_is_incomplete() {
    case(|scene| {
        place(
            scene,
            &[Layer::explicit("a").member("device_extensions", extensions(&["VK_EXT_a"]))],
        );
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            let device = instance.first();
            let null = ptr::null_mut();
            let name = c"VK_LAYER_a".as_ptr();
            let result = call!(
                instance,
                PFN_vkEnumerateDeviceExtensionProperties(device, name, null, ptr::null_mut())
            );
            assert_eq!(result, vk::Result::INCOMPLETE);
        });
        outcome.ok();
    });
}

/// LAY-325: the list of a device's layers contains the layers of its instance, and the query does not reach the layers.
#[test]
fn lay_325_device_layers_are_the_instance_s_and_layers_are_not_asked() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::implicit("i").conf("intercept", "vkEnumerateDeviceLayerProperties"),
                Layer::explicit("a"),
                Layer::explicit("unused"),
            ],
        );
        let outcome = scene.run(|vk| {
            let instance = vk.spec().layer("VK_LAYER_a").create().expect("vkCreateInstance");
            assert_eq!(crate::meta::active(&instance), ["VK_LAYER_i", "VK_LAYER_a"]);
        });
        assert!(
            outcome
                .ok()
                .calls("VK_LAYER_i", "vkEnumerateDeviceLayerProperties")
                .is_empty()
        );
    });
}

/// LAY-326: the look-up returns the loader's debug-marker functions if a layer has the extension.
#[test]
fn lay_326_debug_marker_commands_are_the_loader_s_when_a_layer_has_the_extension() {
    case(|scene| {
        let layer = Layer::explicit("a").member("device_extensions", extensions(&["VK_EXT_debug_marker"]));
        place(
            scene,
            &[layer.conf("own-device-command", "vkDebugMarkerSetObjectNameEXT")],
        );
        let outcome = scene.run(|vk| {
            let instance = vk.spec().layer("VK_LAYER_a").create().expect("vkCreateInstance");
            let name = "vkDebugMarkerSetObjectNameEXT";
            let trampoline = vk.get(instance.raw, name);
            let without = instance.device(instance.first(), &[]);
            assert_eq!(without.address(name), 0);
            let device = instance.device(instance.first(), &["VK_EXT_debug_marker"]);
            assert_eq!(device.address(name), trampoline);
            let info = vk::DebugMarkerObjectNameInfoEXT {
                object_type: vk::DebugReportObjectTypeEXT::DEVICE,
                object: vk::Handle::as_raw(device.raw),
                p_object_name: c"name".as_ptr(),
                ..Default::default()
            };
            // The mock driver's result depends only on its argument, so the test ignores the result.
            let _ = call!(device, PFN_vkDebugMarkerSetObjectNameEXT(device.raw, &info));
        });
        assert_eq!(outcome.ok().calls("VK_LAYER_a", "own").len(), 1);
    });
}

/// LAY-320, LAY-82: the list of layers contains the layers of a manifest in the order of the manifest.
#[test]
fn lay_320_layers_of_one_manifest_keep_their_order() {
    case(|scene| {
        scene.usual_driver("driver");
        let objects = ["c", "a", "b"].map(|short| Layer::explicit(short).object());
        let objects: Vec<&str> = objects.iter().map(String::as_str).collect();
        crate::kit::put_manifest(scene, &format!("{}/all.json", crate::kit::EXPLICIT), "1.0.1", &objects);
        let outcome =
            scene.run(|vk| assert_eq!(vk.layers().expect("layers"), ["VK_LAYER_c", "VK_LAYER_a", "VK_LAYER_b"]));
        outcome.ok();
    });
}

/// LAY-322, LAY-164: an inactive override layer adds no extensions.
#[test]
fn lay_322_an_override_layer_that_is_off_adds_nothing() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::overriding(&["VK_LAYER_a"]).member("blacklisted_layers", list(&[])),
                Layer::explicit("a").member("instance_extensions", extensions(&["VK_EXT_a"])),
            ],
        );
        scene.env("DISABLE_override", "1");
        let outcome = scene.run(|vk| assert!(!vk.extensions().expect("extensions").contains(&"VK_EXT_a".into())));
        outcome.ok();
    });
}
