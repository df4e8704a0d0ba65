//! Tests of opening and closing layer libraries, and of the messages about these steps (LAY-200 to LAY-206).

use loader_tests::ash::vk;
use loader_tests::case;

use crate::kit::{Layer, chain, loads, of_32_bits, place, put_text, scan_once, unloads};

/// LAY-157: if two layers have the same name and the loader cannot load the last of them, it uses the other layer.
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
        // The layer that can be loaded also satisfies the application's own request.
        let outcome = scene.run(|vk| {
            let instance = vk.spec().layer("VK_LAYER_same").create();
            drop(instance.expect("vkCreateInstance"));
        });
        assert_eq!(chain(outcome.ok()), ["VK_LAYER_one"]);
    });
}

/// LAY-201, LAY-204: the log lists the libraries that are closed because another layer's library is missing.
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

/// LAY-201, BI-27: the loader closes a library without the required functions, and the log reports this.
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

/// LAY-142: the log mentions `VK_INSTANCE_LAYERS` also if the variable is empty.
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

/// LAY-24, LAY-274: a query reads each manifest once, although it also searches for layers that intercept the query.
#[test]
fn lay_24_one_query_reads_a_manifest_once() {
    case(|scene| {
        place(scene, &[Layer::implicit("a")]);
        let outcome = scene.run(|vk| assert_eq!(scan_once(vk), 1));
        let file = scene.text_path("layers/a/vulkan/implicit_layer.d/a.json");
        let told = outcome.ok().log("INFO");
        let reads = told.iter().filter(|text| text.contains(&file)).count();
        assert_eq!(reads, 1, "{}", outcome.all());
    });
}

/// LAY-85, LAY-211: the loader uses a renamed negotiation function only from manifest version 1.1.0.
#[test]
fn lay_85_a_renamed_negotiation_of_an_older_version_is_not_read() {
    case(|scene| {
        let rename = r#"{"vkNegotiateLoaderLayerInterfaceVersion": "layer1Negotiate"}"#;
        let renaming = |short: &str, version: &str| {
            let layer = Layer::explicit(short).member("functions", rename).format(version);
            layer.section(1, &format!("name VK_LAYER_{short}1"))
        };
        place(scene, &[renaming("old", "1.0.1"), renaming("new", "1.1.0")]);
        let outcome = scene.run(|vk| {
            let spec = vk.spec().layer("VK_LAYER_old").layer("VK_LAYER_new");
            drop(spec.create().expect("vkCreateInstance"));
        });
        assert_eq!(chain(outcome.ok()), ["VK_LAYER_old", "VK_LAYER_new1"]);
    });
}

/// LAY-103: if a manifest renames a look-up function but not the negotiation function, the log reports this.
#[test]
fn lay_103_renamed_look_ups_without_a_renamed_negotiation_are_told() {
    case(|scene| {
        let functions = r#"{"vkGetInstanceProcAddr": "layer2GetInstanceProcAddr"}"#;
        place(
            scene,
            &[
                Layer::explicit("new").member("functions", functions),
                Layer::explicit("old").member("functions", functions).format("1.0.1"),
            ],
        );
        let outcome = scene.run(|vk| assert_eq!(scan_once(vk), 2));
        let told = outcome.ok().log("INFO");
        let of = |name: &str| {
            let lines = told
                .iter()
                .filter(|text| text.contains(name) && text.contains("vkGetInstanceProcAddr"));
            lines.count()
        };
        assert_eq!((of("VK_LAYER_new"), of("VK_LAYER_old")), (1, 0), "{told:#?}");
    });
}

/// LAY-200: the symbols of a layer's library are not visible to the process.
#[cfg(unix)]
#[test]
fn lay_200_symbols_of_a_layer_are_not_for_the_process() {
    case(|scene| {
        place(scene, &[Layer::explicit("a")]);
        let outcome = scene.run(|vk| {
            let instance = vk.spec().layer("VK_LAYER_a").create().expect("vkCreateInstance");
            // SAFETY: the name is terminated. `dlsym` searches the libraries that are global in the process.
            let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"layer1GetInstanceProcAddr".as_ptr()) };
            assert!(found.is_null());
            drop(instance);
        });
        outcome.ok();
    });
}

#[cfg(not(unix))]
loader_tests::left_out!(lay_200_symbols_of_a_layer_are_not_for_the_process);

/// LAY-204, LAY-202, BI-25: a library for another word size is skipped if the application does not name its layer.
#[test]
fn lay_204_a_library_of_the_other_class_is_left_out_when_no_application_names_it() {
    case(|scene| {
        place(scene, &[Layer::implicit("a"), Layer::implicit("good")]);
        let library = scene.path("libraries/liblayer_a.so");
        scene.on_disk(|| {
            let mut bytes = std::fs::read(&library).expect("the library is there");
            of_32_bits(&mut bytes);
            std::fs::write(library, bytes).expect("scratch files can be written");
        });
        let outcome = scene.run(|vk| drop(vk.instance()));
        assert_eq!(chain(outcome.ok()), ["VK_LAYER_good"]);
        outcome.logged("INFO | LAYER", "Requested layer \"VK_LAYER_a\" was wrong bit-type.");
        assert!(outcome.log("ERROR").is_empty(), "{}", outcome.all());
    });
}

/// LAY-206: if a file has two names and is already open under the other name, the log contains the path that the system
/// opened.
#[test]
fn lay_206_the_path_that_the_system_loaded_is_told_and_shown() {
    case(|scene| {
        let other = Layer::explicit("a")
            .member("library_path", "\"@ROOT@/links/other.so\"")
            .member(
                "functions",
                r#"{"vkNegotiateLoaderLayerInterfaceVersion": "layer1Negotiate"}"#,
            );
        place(scene, &[other, Layer::explicit("b").section(1, "name VK_LAYER_b1")]);
        let (library, link) = (
            scene.path("libraries/liblayer_b.so"),
            scene.folder("links").join("other.so"),
        );
        scene.on_disk(|| std::fs::hard_link(library, link).expect("links can be made"));
        let outcome = scene.run(|vk| {
            let spec = vk.spec().layer("VK_LAYER_a").layer("VK_LAYER_b");
            drop(spec.create().expect("vkCreateInstance"));
        });
        assert_eq!(chain(outcome.ok()), ["VK_LAYER_b1", "VK_LAYER_b"]);
        let (given, loaded) = (
            scene.text_path("links/other.so"),
            scene.text_path("libraries/liblayer_b.so"),
        );
        outcome
            .logged(
                "WARNING | LAYER",
                &format!("Path to given binary {given} was found to differ from OS loaded path {loaded}"),
            )
            .logged(
                "INFO | LAYER",
                &format!("Insert instance layer \"VK_LAYER_a\" ({loaded})"),
            );
    });
}

/// LAY-201: the libraries of layers remain loaded until the instance is destroyed.
#[test]
fn lay_201_libraries_stay_until_the_instance_goes() {
    case(|scene| {
        place(scene, &[Layer::explicit("a")]);
        let outcome = scene.run(|vk| {
            let instance = vk.spec().layer("VK_LAYER_a").create().expect("vkCreateInstance");
            vk.mark("alive");
            instance.destroy();
            vk.mark("gone");
        });
        outcome.ok();
        assert!(outcome.between("alive", "gone").contains(&"VK_LAYER_a unloaded"));
    });
}

/// LAY-201: the loader closes libraries in the order in which it found their layers, and not in the order of the chain.
#[test]
fn lay_201_libraries_leave_in_the_order_of_discovery() {
    case(|scene| {
        place(
            scene,
            &[Layer::explicit("a"), Layer::explicit("b"), Layer::explicit("c")],
        );
        let outcome = scene.run(|vk| {
            let spec = vk.spec().layer("VK_LAYER_b").layer("VK_LAYER_c").layer("VK_LAYER_a");
            spec.create().expect("vkCreateInstance").destroy();
        });
        assert_eq!(unloads(outcome.ok()), ["VK_LAYER_a", "VK_LAYER_b", "VK_LAYER_c"]);
    });
}

/// LAY-201: the libraries of layers are closed if instance creation fails.
#[test]
fn lay_201_libraries_leave_when_creation_fails() {
    case(|scene| {
        place(scene, &[Layer::explicit("a")]);
        let outcome = scene.run(|vk| {
            let spec = vk.spec().layer("VK_LAYER_a").extensions(&["VK_EXT_unknown"]);
            assert_eq!(spec.create().err(), Some(vk::Result::ERROR_EXTENSION_NOT_PRESENT));
            vk.mark("failed");
        });
        assert_eq!(loads(outcome.ok()).len(), unloads(&outcome).len());
        assert_eq!(outcome.journal().last(), Some(&"== end"), "{}", outcome.all());
    });
}

/// LAY-201: with `VK_LOADER_DISABLE_DYNAMIC_LIBRARY_UNLOADING=1`, the libraries of layers remain loaded.
#[test]
fn lay_201_the_unload_switch_keeps_libraries() {
    case(|scene| {
        place(scene, &[Layer::explicit("a")]);
        scene.env("VK_LOADER_DISABLE_DYNAMIC_LIBRARY_UNLOADING", "1");
        let outcome = scene.run(|vk| {
            vk.spec()
                .layer("VK_LAYER_a")
                .create()
                .expect("vkCreateInstance")
                .destroy();
            vk.mark("gone");
        });
        let journal = outcome.ran().journal();
        let (gone, unload) = (
            journal.iter().position(|line| *line == "== gone"),
            journal.iter().position(|line| *line == "VK_LAYER_a unloaded"),
        );
        assert!(unload.is_none() || unload > gone, "{}", outcome.all());
    });
}

/// LAY-201: `VK_LOADER_DISABLE_DYNAMIC_LIBRARY_UNLOADING` has an effect only with the value 1.
#[test]
fn lay_201_the_unload_switch_must_be_exactly_one() {
    case(|scene| {
        place(scene, &[Layer::explicit("a")]);
        scene.env("VK_LOADER_DISABLE_DYNAMIC_LIBRARY_UNLOADING", "true");
        let outcome = scene.run(|vk| {
            vk.spec()
                .layer("VK_LAYER_a")
                .create()
                .expect("vkCreateInstance")
                .destroy();
            assert!(vk.journal().contains(&"VK_LAYER_a unloaded".to_string()));
        });
        outcome.ok();
    });
}
