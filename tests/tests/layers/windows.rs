//! Tests of features that only Windows has: layers in the registry, for all users and for one user.

use loader_tests::{Scene, built, case};

use crate::kit::{Layer, chain, place};

/// Data of a registry value that enables its manifest: four zero bytes.
const ZERO: [u8; 4] = [0; 4];

/// Puts a layer into a folder that no search visits. Returns the path of the layer's manifest, with backslashes.
fn put(scene: &Scene, layer: &Layer, short: &str) -> String {
    let file = format!("listed/{short}.json");
    layer.put_as(scene, &file);
    scene.text_path(&file).replace('/', "\\")
}

/// LAY-45, LAY-46, LAY-48, LAY-51: the machine's layers come before the user's layers, and the loader uses each path
/// once.
#[test]
fn lay_046_layers_of_the_machine_come_before_those_of_the_user() {
    case(|scene| {
        place(scene, &[]);
        let [a, b, c] = ["a", "b", "c"].map(|short| put(scene, &Layer::explicit(short), short));
        scene.registry("user", "ExplicitLayers", &a, &ZERO);
        scene.registry("user", "ExplicitLayers", &c, &ZERO);
        scene.registry("machine", "ExplicitLayers", &b, &ZERO);
        scene.registry("machine", "ExplicitLayers", &c, &ZERO);
        let outcome = scene.run(|vk| {
            assert_eq!(vk.layers().expect("layers"), ["VK_LAYER_b", "VK_LAYER_c", "VK_LAYER_a"]);
        });
        outcome.ok();
    });
}

/// LAY-48: a registry value with any data except four zero bytes disables its manifest.
#[test]
fn lay_048_only_values_of_zero_count() {
    case(|scene| {
        place(scene, &[]);
        let [a, b, c, d] = ["a", "b", "c", "d"].map(|short| put(scene, &Layer::explicit(short), short));
        scene.registry("machine", "ExplicitLayers", &a, &[1, 0, 0, 0]);
        scene.registry("machine", "ExplicitLayers", &b, &[0; 8]);
        scene.registry("machine", "ExplicitLayers", &c, &[]);
        scene.registry("machine", "ExplicitLayers", &d, &ZERO);
        let outcome = scene.run(|vk| assert_eq!(vk.layers().expect("layers"), ["VK_LAYER_d"]));
        outcome.ok();
    });
}

/// LAY-46: implicit layers have a separate registry key, and are active without a request.
#[test]
fn lay_046_implicit_layers_are_active() {
    case(|scene| {
        place(scene, &[]);
        let [a, b] = ["a", "b"].map(|short| put(scene, &Layer::implicit(short), short));
        scene.registry("machine", "ImplicitLayers", &a, &ZERO);
        scene.registry("user", "ImplicitLayers", &b, &ZERO);
        let outcome = scene.run(|vk| drop(vk.instance()));
        assert_eq!(chain(outcome.ok()), ["VK_LAYER_a", "VK_LAYER_b"]);
    });
}

/// LAY-47: an elevated process does not read the user's registry key.
#[test]
fn lay_047_the_user_is_not_asked_in_an_elevated_process() {
    case(|scene| {
        place(scene, &[]);
        let [a, b] = ["a", "b"].map(|short| put(scene, &Layer::implicit(short), short));
        scene.registry("machine", "ImplicitLayers", &a, &ZERO);
        scene.registry("user", "ImplicitLayers", &b, &ZERO);
        // An elevated process also ignores the variable that names the driver, so the machine's key names the driver.
        let driver = scene.manifest("driver").display().to_string();
        scene.registry("machine", "Drivers", &driver, &ZERO);
        let outcome = scene.elevated().run(|vk| drop(vk.instance()));
        assert_eq!(chain(outcome.ok()), ["VK_LAYER_a"]);
    });
}

/// LAY-51, LAY-17: a registry value can name a folder.
#[test]
fn lay_051_a_value_may_name_a_folder() {
    case(|scene| {
        place(scene, &[]);
        put(scene, &Layer::explicit("a"), "a");
        put(scene, &Layer::explicit("b"), "b");
        let folder = scene.text_path("listed").replace('/', "\\");
        scene.registry("user", "ExplicitLayers", &folder, &ZERO);
        let outcome = scene.run(|vk| {
            let mut layers = vk.layers().expect("layers");
            layers.sort_unstable();
            assert_eq!(layers, ["VK_LAYER_a", "VK_LAYER_b"]);
        });
        outcome.ok();
    });
}

/// LAY-45, LAY-61: a variable that replaces the search replaces the registry keys of the machine and the user.
#[test]
fn lay_045_a_replacing_variable_replaces_the_registry() {
    case(|scene| {
        place(scene, &[]);
        let [a, b] = ["a", "b"].map(|short| put(scene, &Layer::explicit(short), short));
        scene.registry("machine", "ExplicitLayers", &a, &ZERO);
        scene.registry("user", "ExplicitLayers", &a, &ZERO);
        scene.env("VK_LAYER_PATH", b);
        let outcome = scene.run(|vk| assert_eq!(vk.layers().expect("layers"), ["VK_LAYER_b"]));
        outcome.ok();
    });
}

/// LAY-46, LAY-200: the sample layer works on Windows too.
#[test]
fn lay_046_the_sample_layer() {
    case(|scene| {
        place(scene, &[]);
        scene.on_disk(|| {
            let bytes = std::fs::read(built("sample_layer")).expect("cargo built the sample layer");
            scene.file("listed/sample_layer.dll", bytes);
        });
        let manifest = scene.file(
            "listed/sample.json",
            r#"{"file_format_version": "1.2.0", "layer": {"name": "VK_LAYER_sample_count", "type": "GLOBAL",
                "library_path": ".\\sample_layer.dll", "api_version": "1.3.0", "implementation_version": "1", "description": "d"}}"#,
        );
        scene.registry("machine", "ExplicitLayers", &manifest.display().to_string(), &ZERO);
        let outcome = scene.run(|vk| {
            let instance = vk
                .spec()
                .layer("VK_LAYER_sample_count")
                .create()
                .expect("vkCreateInstance");
            drop(instance.device(instance.first(), &[]));
        });
        outcome.ok();
    });
}
