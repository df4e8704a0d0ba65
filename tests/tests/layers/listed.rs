//! Tests of the layers and devices that an application sees if the settings file lists layers or devices (APP-240 to APP-262).

use loader_tests::ash::vk;
use loader_tests::case;

use crate::enumeration::extensions;
use crate::kit::{Layer, chain, place, put_manifest, put_text};
use crate::meta::active;
use crate::settings::{entry, implicit_entry, listed, listed_implicit, plain, settings};

const FILE: &str = "xdg/data-home/vulkan/loader_settings.d/vk_loader_settings.json";

/// Returns a `device_configurations` element for a mock device. All bytes of its device UUID are `device`, and all bytes of its driver UUID
/// are `driver`.
fn configuration(device: u8, driver: u8) -> String {
    let uuid = |number: u8| format!("[{}]", vec![number.to_string(); 16].join(", "));
    format!(
        r#"{{"deviceUUID": {}, "driverUUID": {}, "driverVersion": 1}}"#,
        uuid(device),
        uuid(driver)
    )
}

/// APP-121: a layer receives the devices in the order of the settings file, and the application receives the list that the layer returns.
#[test]
fn app_121_devices_are_chosen_below_the_layers() {
    case(|scene| {
        Layer::implicit("turning")
            .folder(crate::kit::IMPLICIT)
            .conf("devices", "reverse")
            .put(scene);
        scene.unset("VK_DRIVER_FILES");
        let driver = scene.driver("driver").folder("xdg/data-home/vulkan/icd.d");
        for (number, name) in (1..).zip(["one", "two", "three"]) {
            driver.device_with(name, |device| device.uuids(number, 9));
        }
        let text = format!(
            r#"{{"file_format_version": "1.0.0", "settings": {{"device_configurations": [{}, {}]}}}}"#,
            configuration(3, 9),
            configuration(1, 9)
        );
        put_text(scene, FILE, &text);
        let outcome = scene.run(|vk| assert_eq!(vk.instance().device_names(), ["one", "three"]));
        assert_eq!(chain(outcome.ok()), ["VK_LAYER_turning"]);
        scene.env("DISABLE_turning", "1");
        let outcome = scene.run(|vk| assert_eq!(vk.instance().device_names(), ["three", "one"]));
        outcome.ok();
    });
}

/// APP-253: an entry adds only the layer with its name, even if the manifest has other layers.
#[test]
fn app_253_other_layers_of_the_manifest_are_ignored() {
    case(|scene| {
        place(scene, &[]);
        let layers = ["a", "b", "c"].map(listed);
        for layer in &layers {
            layer.put_library(scene);
        }
        let objects = layers.map(|layer| layer.object());
        let objects: Vec<&str> = objects.iter().map(String::as_str).collect();
        put_manifest(scene, "listed/b.json", "1.0.1", &objects);
        settings(scene, &[entry("b", "on")]);
        let outcome = plain(scene);
        assert_eq!(outcome.said("layer"), ["VK_LAYER_b"]);
        assert_eq!(chain(&outcome), ["VK_LAYER_b"]);
    });
}

/// APP-253: two layers with equal names and different libraries are both listed as active, although only one is in the chain.
#[test]
fn app_253_equal_names_are_both_listed_for_a_device() {
    case(|scene| {
        let twin = |short: &str| listed(short).member("name", "\"VK_LAYER_same\"");
        place(scene, &[twin("one"), listed("middle"), twin("two")]);
        let named = |short: &str| entry(short, "on").replace(&format!("VK_LAYER_{short}"), "VK_LAYER_same");
        settings(scene, &[named("one"), entry("middle", "on"), named("two")]);
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            assert_eq!(active(&instance), ["VK_LAYER_same", "VK_LAYER_middle", "VK_LAYER_same"]);
        });
        assert_eq!(chain(outcome.ok()), ["VK_LAYER_middle", "VK_LAYER_two"]);
    });
}

/// APP-254: an entry without `treat_as_implicit_manifest` is an explicit layer, even if its manifest names variables.
#[test]
fn app_254_variables_of_a_manifest_make_no_implicit_layer() {
    case(|scene| {
        place(scene, &[listed_implicit("auto"), listed_implicit("on")]);
        settings(scene, &[entry("auto", "auto"), entry("on", "on")]);
        assert_eq!(
            chain(&plain(scene)),
            ["VK_LAYER_on"],
            "an explicit layer needs a request"
        );
        scene.env("DISABLE_on", "1");
        assert_eq!(
            chain(&plain(scene)),
            ["VK_LAYER_on"],
            "an explicit layer has no variable"
        );
    });
}

/// APP-254: the enable variable of an implicit entry has an effect if the entry is `auto`.
#[test]
fn app_254_the_enable_variable_counts() {
    case(|scene| {
        place(scene, &[listed_implicit("a").enabled_by("ON", "1")]);
        settings(scene, &[implicit_entry("a", "auto")]);
        assert!(chain(&plain(scene)).is_empty());
        scene.env("ON", "1");
        assert_eq!(chain(&plain(scene)), ["VK_LAYER_a"]);
        scene.env("DISABLE_a", "1");
        assert!(chain(&plain(scene)).is_empty());
    });
}

/// APP-255: a listed meta-layer adds its components, which precede the meta-layer.
#[test]
fn app_255_a_listed_meta_layer_brings_its_components() {
    case(|scene| {
        let meta = Layer::meta("m", &["VK_LAYER_b", "VK_LAYER_a"]).folder("listed");
        place(scene, &[listed("a"), listed("b"), listed("c"), meta]);
        settings(
            scene,
            &[
                entry("m", "on"),
                entry("a", "auto"),
                entry("b", "auto"),
                entry("c", "auto"),
            ],
        );
        assert_eq!(chain(&plain(scene)), ["VK_LAYER_b", "VK_LAYER_a"]);
    });
}

/// APP-256: an implicit entry that is `off` adds no extensions to the list of instance extensions. An entry also adds no extensions if the
/// layer's own variables disable the layer.
#[test]
fn app_256_extensions_of_listed_layers_follow_their_own_rules() {
    case(|scene| {
        let with = |layer: Layer, name: &str| layer.member("instance_extensions", extensions(&[name]));
        place(
            scene,
            &[
                with(listed_implicit("auto"), "VK_EXT_auto"),
                with(listed_implicit("forced"), "VK_EXT_forced").enabled_by("NEVER", "1"),
                with(listed_implicit("off"), "VK_EXT_off"),
                with(listed_implicit("disabled"), "VK_EXT_disabled"),
                with(listed("explicit"), "VK_EXT_explicit"),
                with(Layer::implicit("unlisted"), "VK_EXT_unlisted"),
            ],
        );
        scene.env("VK_LOADER_LAYERS_DISABLE", "*disabled");
        settings(
            scene,
            &[
                implicit_entry("auto", "auto"),
                implicit_entry("forced", "on"),
                implicit_entry("off", "off"),
                implicit_entry("disabled", "auto"),
                entry("explicit", "on"),
            ],
        );
        let outcome = scene.run(|vk| {
            let names = vk.extensions().expect("extensions");
            let ours =
                ["auto", "forced", "off", "disabled", "explicit", "unlisted"].map(|short| format!("VK_EXT_{short}"));
            let found: Vec<_> = names.iter().filter(|name| ours.contains(name)).collect();
            assert_eq!(found, ["VK_EXT_auto"], "{names:?}");
        });
        outcome.ok();
    });
}

/// APP-251: if there are several markers for unlisted layers, the loader uses only the first marker.
#[test]
fn app_251_the_first_place_for_other_layers_counts() {
    case(|scene| {
        place(
            scene,
            &[listed("a"), listed("b"), listed("c"), Layer::implicit("unlisted")],
        );
        let marker = || crate::settings::MARKER.to_string();
        settings(
            scene,
            &[entry("a", "on"), marker(), entry("b", "on"), marker(), entry("c", "on")],
        );
        let outcome = plain(scene);
        let expected = ["VK_LAYER_a", "VK_LAYER_unlisted", "VK_LAYER_b", "VK_LAYER_c"];
        assert_eq!(outcome.said("layer"), expected);
        assert_eq!(chain(&outcome), expected);
    });
}

/// APP-68: a layer that is off has no extensions, and the query succeeds. The query for a layer fails if the settings file lists the layer
/// but its manifest is missing.
#[test]
fn app_068_a_layer_that_is_off_has_no_extensions() {
    case(|scene| {
        let with = |layer: Layer| layer.member("instance_extensions", extensions(&["VK_EXT_a"]));
        place(scene, &[with(listed("off")), with(listed("auto"))]);
        settings(
            scene,
            &[
                entry("off", "off"),
                entry("auto", "auto"),
                entry("auto_missing", "auto"),
                entry("on_missing", "on"),
            ],
        );
        let outcome = scene.run(|vk| {
            let of = |name| vk.extension_versions(Some(name));
            assert_eq!(of(c"VK_LAYER_off"), Ok(vec![]));
            assert_eq!(of(c"VK_LAYER_auto").map(|list| list.len()), Ok(1));
            for absent in [c"VK_LAYER_auto_missing", c"VK_LAYER_on_missing", c"VK_LAYER_none"] {
                assert_eq!(of(absent), Err(vk::Result::ERROR_LAYER_NOT_PRESENT), "{absent:?}");
            }
        });
        outcome.ok();
    });
}

/// LAY-130, LAY-152: an override layer that the settings file disables remains in the list, but enables no layer.
#[test]
fn lay_152_an_override_layer_that_is_off_turns_nothing_on() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::overriding(&["VK_LAYER_i", "VK_LAYER_j"]),
                Layer::implicit("i"),
                Layer::implicit("j"),
            ],
        );
        let off = entry("override", "off").replace("VK_LAYER_override", crate::overriding::OVERRIDE);
        settings(scene, &[off, crate::settings::MARKER.to_string()]);
        scene.env("DISABLE_i", "1");
        assert_eq!(chain(&plain(scene)), ["VK_LAYER_j"]);
    });
}
