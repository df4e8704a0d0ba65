//! What is opened, how often, and what is told about it.

use loader_tests::ash::vk;
use loader_tests::{call, case};

use crate::kit::{Layer, chain, loads, place, put_text, unloads};

/// LAY-157
#[test]
fn lay_157_when_the_nearest_of_equal_names_does_not_load_the_other_is_used() {
    case(|scene| {
        let twin = |short: &str| {
            Layer::explicit(short)
                .folder("listed")
                .member("name", "\"VK_LAYER_same\"")
        };
        let broken = twin("two").member("library_path", "\"/no/such/library.so\"");
        place(scene, &[twin("one"), broken]);
        let entry = |short: &str| {
            format!(r#"{{"name": "VK_LAYER_same", "path": "@ROOT@/listed/{short}.json", "control": "on"}}"#)
        };
        let text = format!(
            r#"{{"file_format_version": "1.0.0", "settings": {{"layers": [{}, {}]}}}}"#,
            entry("one"),
            entry("two")
        );
        put_text(
            scene,
            "xdg/data-home/vulkan/loader_settings.d/vk_loader_settings.json",
            &text,
        );
        // The application's own request is met as well, by the one that loads.
        let outcome = scene.run(|vk| {
            let instance = vk.spec().layer("VK_LAYER_same").create();
            drop(instance.expect("vkCreateInstance"));
        });
        assert_eq!(chain(outcome.ok()), ["VK_LAYER_one"]);
    });
}

/// LAY-201, LAY-204
#[test]
fn lay_201_libraries_that_close_because_another_is_missing_are_told() {
    case(|scene| {
        let broken = Layer::explicit("b").member("library_path", "\"/no/such/library.so\"");
        place(scene, &[Layer::explicit("a"), broken]);
        let outcome = scene.run(|vk| {
            let result = vk.spec().layer("VK_LAYER_a").layer("VK_LAYER_b").create().err();
            assert_eq!(result, Some(vk::Result::ERROR_LAYER_NOT_PRESENT));
        });
        let library = scene.text_path("libraries/liblayer_a.so");
        outcome
            .ok()
            .logged("DEBUG | LAYER", &format!("Unloading layer library {library}"));
        assert_eq!(
            (loads(&outcome), unloads(&outcome)),
            (vec!["VK_LAYER_a"], vec!["VK_LAYER_a"])
        );
    });
}

/// LAY-201, BI-27
#[test]
fn bi_27_a_library_without_symbols_closes_again_and_is_told() {
    case(|scene| {
        let bare = Layer::implicit("a")
            .hide("vkNegotiateLoaderLayerInterfaceVersion")
            .hide("vkGetInstanceProcAddr");
        place(scene, &[bare]);
        let outcome = scene.run(|vk| drop(vk.instance()));
        let library = scene.text_path("libraries/liblayer_a.so");
        outcome
            .ok()
            .logged("DEBUG | LAYER", &format!("Unloading layer library {library}"))
            .not_logged("Requested layer");
    });
}

/// LAY-142
#[test]
fn lay_142_a_set_but_empty_variable_is_told() {
    case(|scene| {
        place(scene, &[Layer::explicit("a")]);
        scene.env("VK_INSTANCE_LAYERS", "");
        scene.run(|vk| drop(vk.instance())).ok().logged(
            "WARNING | LAYER",
            "env var 'VK_INSTANCE_LAYERS' defined and adding layers \"\"",
        );
    });
}

/// LAY-24, LAY-274: the scan for layers that intercept a query also answers it.
#[test]
fn lay_24_one_query_reads_a_manifest_once() {
    case(|scene| {
        place(scene, &[Layer::implicit("a")]);
        let outcome = scene.run(|vk| {
            let mut count = 0;
            let result = call!(
                vk,
                PFN_vkEnumerateInstanceLayerProperties(&mut count, std::ptr::null_mut())
            );
            assert_eq!(result, vk::Result::SUCCESS);
            assert_eq!(count, 1);
        });
        let file = scene.text_path("layers/a/vulkan/implicit_layer.d/a.json");
        let told = outcome.ok().log("INFO");
        let reads = told.iter().filter(|text| text.contains(&file)).count();
        assert_eq!(reads, 1, "{}", outcome.all());
    });
}
