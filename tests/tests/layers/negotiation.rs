//! Tests of loading layer libraries and of the negotiation (LAY-200 to LAY-217).

use loader_tests::ash::vk;
use loader_tests::{Outcome, Scene, case};

use crate::kit::{Layer, chain, device_chain, loads, of_32_bits, place, put_manifest, unloads};

/// Creates an instance with the layers in `names`, and a device. Returns the outcome.
fn with_device(scene: &mut Scene, names: &'static [&'static str]) -> Outcome {
    let outcome = scene.run(|vk| {
        let spec = names.iter().fold(vk.spec(), |spec, name| spec.layer(name));
        let instance = spec.create().expect("vkCreateInstance");
        drop(instance.device(instance.first(), &[]));
    });
    outcome.ok();
    outcome
}

/// LAY-200, LAY-201: the loader loads libraries beginning with the last layer in the chain, and closes them with the instance.
#[test]
fn lay_200_libraries_load_from_the_driver_s_side_and_leave_with_the_instance() {
    case(|scene| {
        place(
            scene,
            &[Layer::explicit("a"), Layer::explicit("b"), Layer::explicit("unused")],
        );
        let outcome = with_device(scene, &["VK_LAYER_a", "VK_LAYER_b"]);
        assert_eq!(loads(&outcome), ["VK_LAYER_b", "VK_LAYER_a"]);
        let mut gone = unloads(&outcome);
        gone.sort_unstable();
        assert_eq!(gone, ["VK_LAYER_a", "VK_LAYER_b"]);
        let library = scene.text_path("libraries/liblayer_a.so");
        outcome
            .logged("DEBUG | LAYER", &format!("Loading layer library {library}"))
            .logged("DEBUG | LAYER", &format!("Unloading layer library {library}"));
    });
}

/// Requests a layer whose library cannot be used, once by the application and once by a variable.
fn unusable(scene: &mut Scene, layer: Layer, level: &str, text: &str) {
    place(scene, &[layer, Layer::explicit("good")]);
    let named = scene.run(|vk| {
        let result = vk.spec().layer("VK_LAYER_a").create().err();
        assert_eq!(result, Some(vk::Result::ERROR_LAYER_NOT_PRESENT));
    });
    named.ok().logged_with(level, text);
    scene.env("VK_INSTANCE_LAYERS", "VK_LAYER_a:VK_LAYER_good");
    let outcome = scene.run(|vk| drop(vk.instance()));
    assert_eq!(chain(outcome.ok()), ["VK_LAYER_good"]);
}

/// LAY-204, APP-92: if the application names a layer whose library is missing, instance creation fails.
#[test]
fn lay_204_a_missing_library_fails_the_call_of_an_application_that_names_it() {
    case(|scene| {
        let layer = Layer::explicit("a").member("library_path", "\"/no/such/library.so\"");
        unusable(
            scene,
            layer,
            "ERROR | LAYER",
            "Requested layer \"VK_LAYER_a\" failed to load!",
        );
    });
}

/// LAY-204: if the application does not name the layer, the loader only logs the missing library.
#[test]
fn lay_204_a_missing_library_is_an_information_otherwise() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::implicit("a").member("library_path", "\"/no/such/library.so\""),
                Layer::implicit("b"),
            ],
        );
        let outcome = scene.run(|vk| drop(vk.instance()));
        assert_eq!(chain(outcome.ok()), ["VK_LAYER_b"]);
        outcome.logged("INFO | LAYER", "Requested layer \"VK_LAYER_a\" failed to load.");
    });
}

/// LAY-100, BI-23: the loader treats an empty library path as a missing library.
#[test]
fn bi_23_an_empty_library_path_is_a_missing_library() {
    case(|scene| {
        let layer = Layer::explicit("a").member("library_path", "\"\"");
        unusable(scene, layer, "ERROR | LAYER", "Requested layer \"VK_LAYER_a\"");
    });
}

/// LAY-204, BI-24: the loader treats a folder as a missing library.
#[test]
fn bi_24_a_folder_as_library_is_a_missing_library() {
    case(|scene| {
        let layer = Layer::explicit("a").member("library_path", "\"@ROOT@/libraries\"");
        unusable(
            scene,
            layer,
            "ERROR | LAYER",
            "Requested layer \"VK_LAYER_a\" failed to load!",
        );
    });
}

/// LAY-204, BI-24: the loader treats a very long library path as a missing library.
#[test]
fn bi_24_a_very_long_library_path_is_a_missing_library() {
    case(|scene| {
        let layer = Layer::explicit("a").member("library_path", format!("\"/{}\"", "x/".repeat(50_000)));
        unusable(
            scene,
            layer,
            "ERROR | LAYER",
            "Requested layer \"VK_LAYER_a\" failed to load!",
        );
    });
}

/// LAY-204, BI-25: the loader treats a text file as a missing library.
#[test]
fn bi_25_a_text_file_as_library_is_a_missing_library() {
    case(|scene| {
        scene.file("libraries/text.so", "not a library");
        let layer = Layer::explicit("a").member("library_path", "\"@ROOT@/libraries/text.so\"");
        unusable(
            scene,
            layer,
            "ERROR | LAYER",
            // Windows returns the same error for a text file and for a library of another word size.
            if cfg!(windows) {
                "Requested layer \"VK_LAYER_a\" was wrong bit-type!"
            } else {
                "Requested layer \"VK_LAYER_a\" failed to load!"
            },
        );
    });
}

/// LAY-202, LAY-204, BI-25: the loader logs a library for another word size at level INFO.
#[test]
fn lay_202_a_library_of_the_other_class_is_told_as_information() {
    case(|scene| {
        let layer = Layer::explicit("a");
        place(scene, &[layer, Layer::explicit("good")]);
        let library = scene.path("libraries/liblayer_a.so");
        scene.on_disk(|| {
            let mut bytes = std::fs::read(&library).expect("the library is there");
            of_32_bits(&mut bytes);
            std::fs::write(library, bytes).expect("scratch files can be written");
        });
        let outcome = scene.run(|vk| {
            let result = vk.spec().layer("VK_LAYER_a").create().err();
            assert_eq!(result, Some(vk::Result::ERROR_LAYER_NOT_PRESENT));
        });
        outcome.ok().logged_with(
            "INFO",
            if cfg!(windows) {
                "with error 193"
            } else {
                "wrong ELF class:"
            },
        );
        assert!(
            outcome
                .stderr
                .contains("Requested layer \"VK_LAYER_a\" was wrong bit-type!"),
            "{}",
            outcome.all()
        );
    });
}

/// LAY-204, BI-27: the loader refuses a library that exports none of the functions that the loader looks up.
#[test]
fn bi_27_a_library_without_a_known_symbol_is_refused() {
    case(|scene| {
        let layer = Layer::explicit("a")
            .hide("vkNegotiateLoaderLayerInterfaceVersion")
            .hide("vkGetInstanceProcAddr")
            .hide("vkGetDeviceProcAddr");
        let library = scene.text_path("libraries/liblayer_a.so");
        let text =
            format!("loader_create_instance_chain: Failed to find 'vkGetInstanceProcAddr' in layer \"{library}\"");
        unusable(scene, layer, "ERROR | LAYER", &text);
    });
}

/// LAY-210, LAY-211: negotiation offers version 2 and an empty structure.
#[test]
fn lay_211_negotiation_offers_version_2_and_an_empty_structure() {
    case(|scene| {
        place(scene, &[Layer::explicit("a")]);
        let outcome = with_device(scene, &["VK_LAYER_a"]);
        assert_eq!(
            outcome.calls("VK_LAYER_a", "negotiate"),
            ["sType=1 pNext=null version=2 empty=true"]
        );
        assert!(outcome.calls("VK_LAYER_a", "export").is_empty(), "{}", outcome.all());
        assert_eq!(device_chain(&outcome), ["VK_LAYER_a"]);
    });
}

/// LAY-211, LAY-102: the loader calls the negotiation function by the name in the manifest.
#[test]
fn lay_211_a_renamed_negotiation_is_called() {
    case(|scene| {
        let layer = Layer::explicit("a")
            .member(
                "functions",
                r#"{"vkNegotiateLoaderLayerInterfaceVersion": "layer1Negotiate"}"#,
            )
            .section(1, "name VK_LAYER_a1");
        place(scene, &[layer]);
        let outcome = with_device(scene, &["VK_LAYER_a"]);
        assert_eq!(chain(&outcome), ["VK_LAYER_a1"]);
        assert!(outcome.calls("VK_LAYER_a", "negotiate").is_empty());
    });
}

/// LAY-216, LAY-102: each layer of a library has a separate negotiation.
#[test]
fn lay_216_each_layer_of_a_library_is_negotiated_by_itself() {
    case(|scene| {
        scene.usual_driver("driver");
        let rename = |index: u32| format!(r#"{{"vkNegotiateLoaderLayerInterfaceVersion": "layer{index}Negotiate"}}"#);
        let base = Layer::explicit("many")
            .section(1, "name VK_LAYER_n1")
            .section(2, "name VK_LAYER_n2");
        base.put_library(scene);
        let objects = [
            base.clone()
                .member("name", "\"VK_LAYER_one\"")
                .member("functions", rename(1))
                .object(),
            base.clone()
                .member("name", "\"VK_LAYER_two\"")
                .member("functions", rename(2))
                .object(),
        ];
        let objects: Vec<&str> = objects.iter().map(String::as_str).collect();
        put_manifest(scene, &format!("{}/many.json", crate::kit::EXPLICIT), "1.2.0", &objects);
        let outcome = with_device(scene, &["VK_LAYER_one", "VK_LAYER_two"]);
        assert_eq!(chain(&outcome), ["VK_LAYER_n1", "VK_LAYER_n2"]);
        assert_eq!(device_chain(&outcome), ["VK_LAYER_n1", "VK_LAYER_n2"]);
    });
}

/// Defines tests of the negotiation. A row contains the mock layer's answer, and the layer whose functions the loader uses. The pointers in
/// the structure belong to layer 1 of the library, so the journal distinguishes them from the exported functions.
macro_rules! negotiations {
    ($($(#[$doc:meta])* $name:ident: $($key:literal = $value:expr),* => $used:literal;)*) => {$(
        $(#[$doc])*
        #[test]
        fn $name() {
            case(|scene| {
                let layer = Layer::explicit("a")$(.conf($key, $value))*
                    .conf("negotiate-identity", 1).section(1, "name VK_LAYER_struct");
                place(scene, &[layer]);
                let outcome = with_device(scene, &["VK_LAYER_a"]);
                assert_eq!(chain(&outcome), [$used], "{}", outcome.all());
                assert_eq!(device_chain(&outcome), [$used], "{}", outcome.all());
            });
        }
    )*};
}

negotiations! {
    /// LAY-212: after negotiation of version 2, the loader uses the functions in the structure.
    lay_212_version_2_uses_the_structure: "negotiate" = 2 => "VK_LAYER_struct";
    /// LAY-212: after negotiation of version 1, the loader uses the exported functions.
    lay_212_version_1_uses_the_exports: "negotiate" = 1 => "VK_LAYER_a";
    /// LAY-212, BI-28: after negotiation of version 0, the loader uses the exported functions.
    lay_212_version_0_uses_the_exports: "negotiate" = 0 => "VK_LAYER_a";
    /// LAY-212, BI-28: after a failed negotiation, the loader uses the exported functions.
    lay_212_an_error_uses_the_exports: "negotiate-result" = -3 => "VK_LAYER_a";
    /// LAY-212, BI-28: the loader treats a negotiated version above 2 as 2.
    lay_212_a_version_beyond_2_counts_as_2: "negotiate" = 1000 => "VK_LAYER_struct";
}

/// LAY-212, BI-28: the exported function replaces an instance look-up that is NULL in the structure.
#[test]
fn lay_212_a_null_instance_look_up_is_replaced_by_the_export() {
    case(|scene| {
        place(scene, &[Layer::explicit("a").conf("negotiate-null", "gipa")]);
        let outcome = with_device(scene, &["VK_LAYER_a"]);
        assert_eq!(chain(&outcome), ["VK_LAYER_a"]);
        assert!(
            outcome.calls("VK_LAYER_a", "export").contains(&"gipa"),
            "{}",
            outcome.all()
        );
    });
}

/// LAY-212, BI-28: the exported function replaces a device look-up that is NULL in the structure.
#[test]
fn lay_212_a_null_device_look_up_is_replaced_by_the_export() {
    case(|scene| {
        place(scene, &[Layer::explicit("a").conf("negotiate-null", "gdpa")]);
        let outcome = with_device(scene, &["VK_LAYER_a"]);
        assert_eq!(device_chain(&outcome), ["VK_LAYER_a"]);
        assert!(
            outcome.calls("VK_LAYER_a", "export").contains(&"gdpa"),
            "{}",
            outcome.all()
        );
    });
}

/// LAY-213: without a negotiation function, the loader uses the exported functions.
#[test]
fn lay_213_without_negotiation_the_exports_are_used() {
    case(|scene| {
        place(
            scene,
            &[Layer::explicit("a").hide("vkNegotiateLoaderLayerInterfaceVersion")],
        );
        let outcome = with_device(scene, &["VK_LAYER_a"]);
        assert_eq!(chain(&outcome), ["VK_LAYER_a"]);
        assert_eq!(device_chain(&outcome), ["VK_LAYER_a"]);
    });
}

/// LAY-213, LAY-103: without a negotiation function, the loader uses the look-up functions that the manifest names.
#[test]
fn lay_213_renamed_look_ups_are_used_without_negotiation() {
    case(|scene| {
        let layer = Layer::explicit("a")
            .hide("vkNegotiateLoaderLayerInterfaceVersion")
            .member(
                "functions",
                r#"{"vkGetInstanceProcAddr": "layer2GetInstanceProcAddr", "vkGetDeviceProcAddr": "layer2GetDeviceProcAddr"}"#,
            )
            .section(2, "name VK_LAYER_renamed");
        place(scene, &[layer]);
        let outcome = with_device(scene, &["VK_LAYER_a"]);
        assert_eq!(chain(&outcome), ["VK_LAYER_renamed"]);
        assert_eq!(device_chain(&outcome), ["VK_LAYER_renamed"]);
    });
}

/// LAY-103: if the library has a negotiation function, the manifest's names for the look-up functions are ignored.
#[test]
fn lay_103_renamed_look_ups_are_ignored_beside_a_negotiation() {
    case(|scene| {
        let layer = Layer::explicit("a")
            .member("functions", r#"{"vkGetInstanceProcAddr": "layer2GetInstanceProcAddr"}"#)
            .section(2, "name VK_LAYER_renamed");
        place(scene, &[layer]);
        assert_eq!(chain(&with_device(scene, &["VK_LAYER_a"])), ["VK_LAYER_a"]);
    });
}

/// LAY-214: a layer with an older interface has no physical-device look-up.
#[test]
fn lay_214_older_interfaces_have_no_physical_device_look_up() {
    case(|scene| {
        let layer = Layer::explicit("a").conf("negotiate", 1).conf("lookups", "");
        place(scene, &[layer]);
        let outcome = scene.run(|vk| {
            let instance = vk.spec().layer("VK_LAYER_a").create().expect("vkCreateInstance");
            vk.get(instance.raw, "vkUnknownCommand");
        });
        assert!(
            outcome.ok().calls("VK_LAYER_a", "gpdpa").is_empty(),
            "{}",
            outcome.all()
        );
        assert!(
            !outcome.calls("VK_LAYER_a", "export").contains(&"gpdpa"),
            "{}",
            outcome.all()
        );
    });
}

/// LAY-215, BI-26: the loader's own library cannot be a layer.
#[test]
fn bi_26_the_loader_itself_is_no_layer() {
    case(|scene| {
        let path = loader_tests::under_test();
        let layer = Layer::explicit("a").member("library_path", format!("\"{}\"", path.display()));
        place(scene, &[layer, Layer::explicit("good")]);
        let outcome = scene.run(|vk| {
            let result = vk.spec().layer("VK_LAYER_a").create().err();
            assert_eq!(result, Some(vk::Result::ERROR_LAYER_NOT_PRESENT));
        });
        outcome.ok();
        scene.env("VK_INSTANCE_LAYERS", "VK_LAYER_a:VK_LAYER_good");
        let outcome = scene.run(|vk| drop(vk.instance()));
        assert_eq!(chain(outcome.ok()), ["VK_LAYER_good"]);
    });
}

/// LAY-217: the loader never calls the exported introspection functions.
#[test]
fn lay_217_introspection_exports_are_never_called() {
    case(|scene| {
        place(
            scene,
            &[Layer::implicit("a").hide("vkNegotiateLoaderLayerInterfaceVersion")],
        );
        let outcome = scene.run(|vk| {
            vk.layers().expect("layers");
            vk.extensions().expect("extensions");
            let instance = vk.instance();
            instance.device_extensions(instance.first()).expect("extensions");
        });
        assert!(
            outcome.ok().calls("VK_LAYER_a", "introspection").is_empty(),
            "{}",
            outcome.all()
        );
    });
}

/// LAY-206: if the path is a link to the library, the log does not report a different path.
#[test]
fn lay_206_another_real_path_is_told() {
    case(|scene| {
        place(
            scene,
            &[Layer::explicit("a").member("library_path", "\"@ROOT@/links/a.so\"")],
        );
        let (target, link) = (
            scene.path("libraries/liblayer_a.so"),
            scene.folder("links").join("a.so"),
        );
        // The loader resolves both paths, so it reports no difference if only the name of the link differs from the name of its target.
        scene.on_disk(|| loader_tests::symlink(target, link).expect("links can be made"));
        with_device(scene, &["VK_LAYER_a"]).not_logged("was found to differ from OS loaded path");
    });
}
