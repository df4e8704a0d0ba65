//! Tests of pre-instance functions (LAY-270 to LAY-277).

use loader_tests::ash::vk;
use loader_tests::{call, case};

use crate::kit::{Layer, list, loads, place, unloads};

/// JSON text that names all three pre-instance functions of the mock layer.
const ALL: &str = r#"{
    "vkEnumerateInstanceVersion": "mockEnumerateInstanceVersion",
    "vkEnumerateInstanceLayerProperties": "mockEnumerateInstanceLayerProperties",
    "vkEnumerateInstanceExtensionProperties": "mockEnumerateInstanceExtensionProperties"
}"#;

/// Returns an implicit layer with all three pre-instance functions.
fn intercepting(short: &str) -> Layer {
    Layer::implicit(short).member("pre_instance_functions", ALL)
}

/// LAY-270, LAY-277: a pre-instance function can change the reported version.
#[test]
fn lay_270_a_layer_changes_the_version() {
    case(|scene| {
        place(
            scene,
            &[intercepting("a").conf("pre-version", vk::make_api_version(0, 7, 8, 9))],
        );
        let outcome = scene.run(|vk| assert_eq!(vk.version(), (7, 8, 9)));
        outcome.ok();
    });
}

/// LAY-270, LAY-272: pre-instance functions can add layers and extensions to the lists.
#[test]
fn lay_270_a_layer_adds_layers_and_extensions() {
    case(|scene| {
        place(
            scene,
            &[intercepting("a")
                .conf("pre-layer", "VK_LAYER_made_up")
                .conf("pre-extension", "VK_EXT_made_up 4")],
        );
        let outcome = scene.run(|vk| {
            assert_eq!(vk.layers().expect("layers"), ["VK_LAYER_a", "VK_LAYER_made_up"]);
            let list = vk.extension_versions(None).expect("extensions");
            assert_eq!(list.last(), Some(&("VK_EXT_made_up".to_string(), 4)));
            let layer = vk.extension_versions(Some(c"VK_LAYER_a")).expect("extensions");
            assert_eq!(
                layer,
                [("VK_EXT_made_up".to_string(), 4)],
                "the layer's name passes through"
            );
        });
        outcome.ok();
    });
}

/// LAY-271: each structure of the pre-instance chain has its type, version and size.
#[test]
fn lay_271_the_nodes_carry_type_version_and_size() {
    case(|scene| {
        place(scene, &[intercepting("a")]);
        let outcome = scene.run(|vk| {
            vk.version();
            vk.layers().expect("layers");
            vk.extensions().expect("extensions");
        });
        let calls = outcome.ok().calls("VK_LAYER_a", "pre");
        for (function, kind) in [("ExtensionProperties", 1), ("LayerProperties", 2), ("Version", 3)] {
            let expected = format!("vkEnumerateInstance{function} type={kind} version=1 size-fits=true");
            assert!(calls.contains(&expected.as_str()), "{calls:?}");
        }
    });
}

/// LAY-271, LAY-273: the structures of a long chain stay in place while the loader adds further ones.
#[test]
fn lay_271_each_of_forty_layers_gets_its_node() {
    case(|scene| {
        let names: Vec<String> = (0..40).map(|number| format!("l{number}")).collect();
        let layers: Vec<Layer> = names.iter().map(|name| intercepting(name)).collect();
        place(scene, &layers);
        let outcome = scene.run(|vk| {
            vk.version();
        });
        let outcome = outcome.ok();
        for name in &names {
            let calls = outcome.calls(&format!("VK_LAYER_{name}"), "pre");
            let expected = "vkEnumerateInstanceVersion type=3 version=1 size-fits=true";
            assert_eq!(calls, [expected], "{name}");
        }
    });
}

/// LAY-273: the loader first calls the pre-instance function of the layer that it found last.
#[test]
fn lay_273_the_last_layer_found_is_called_first() {
    case(|scene| {
        place(scene, &[intercepting("a"), Layer::implicit("none"), intercepting("b")]);
        let outcome = scene.run(|vk| {
            vk.version();
        });
        let calls: Vec<_> = outcome
            .ok()
            .journal()
            .into_iter()
            .filter(|line| line.contains(" pre "))
            .collect();
        assert_eq!(calls.len(), 2);
        assert!(
            calls[0].starts_with("VK_LAYER_b ") && calls[1].starts_with("VK_LAYER_a "),
            "{calls:?}"
        );
    });
}

/// LAY-270, APP-60: the loader calls pre-instance functions only of active implicit layers.
#[test]
fn lay_270_only_active_implicit_layers_with_the_function_count() {
    case(|scene| {
        let only = r#"{"vkEnumerateInstanceVersion": "mockEnumerateInstanceVersion", "vkEnumerateInstanceLayerProperties": 5}"#;
        place(
            scene,
            &[
                intercepting("off"),
                intercepting("needs").enabled_by("ON", "1"),
                intercepting("old").format("1.1.1"),
                Layer::explicit("explicit").member("pre_instance_functions", ALL),
                Layer::implicit("version").member("pre_instance_functions", only),
            ],
        );
        scene
            .env("DISABLE_off", "1")
            .env("VK_INSTANCE_LAYERS", "VK_LAYER_explicit");
        let outcome = scene.run(|vk| {
            vk.version();
            vk.layers().expect("layers");
            vk.extensions().expect("extensions");
        });
        let calls: Vec<_> = outcome
            .ok()
            .journal()
            .into_iter()
            .filter(|line| line.contains(" pre "))
            .collect();
        assert_eq!(calls.len(), 1, "{calls:?}");
        assert!(calls[0].starts_with("VK_LAYER_version pre vkEnumerateInstanceVersion "));
    });
}

/// LAY-270: the override layer does not activate the pre-instance functions of its components.
#[test]
fn lay_270_components_of_an_override_layer_never_qualify() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::overriding(&["VK_LAYER_a", "VK_LAYER_off"]),
                Layer::explicit("a").member("pre_instance_functions", ALL),
                intercepting("off"),
            ],
        );
        scene.env("DISABLE_off", "1");
        let outcome = scene.run(|vk| {
            vk.version();
        });
        assert!(
            !outcome.ok().journal().iter().any(|line| line.contains(" pre ")),
            "{}",
            outcome.all()
        );
    });
}

/// LAY-274: each global query opens the libraries of the layers with pre-instance functions, and closes them again.
#[test]
fn lay_274_libraries_are_opened_for_each_call_and_closed_after_it() {
    case(|scene| {
        place(scene, &[intercepting("a")]);
        let outcome = scene.run(|vk| {
            vk.version();
            vk.mark("first");
            vk.version();
            vk.mark("second");
        });
        outcome.ok();
        let lines = outcome.between("first", "second");
        assert_eq!(
            (lines.first(), lines.last()),
            (Some(&"VK_LAYER_a loaded"), Some(&"VK_LAYER_a unloaded")),
            "{lines:?}"
        );
        assert_eq!(loads(&outcome).len(), unloads(&outcome).len());
    });
}

/// LAY-274, APP-60: each global query reads the environment.
#[test]
fn lay_274_the_environment_is_read_at_each_call() {
    case(|scene| {
        place(
            scene,
            &[intercepting("a").conf("pre-version", vk::make_api_version(0, 7, 8, 9))],
        );
        let outcome = scene.run(|vk| {
            assert_eq!(vk.version(), (7, 8, 9));
            // SAFETY: the process has one thread.
            unsafe { std::env::set_var("DISABLE_a", "1") };
            assert_ne!(vk.version(), (7, 8, 9));
        });
        outcome.ok();
    });
}

/// LAY-275, BI-51: a missing pre-instance function causes a warning, and its layer is skipped.
#[test]
fn bi_51_a_missing_symbol_is_warned_of_and_passed_over() {
    case(|scene| {
        let names = r#"{"vkEnumerateInstanceExtensionProperties": "noSuchSymbol"}"#;
        place(
            scene,
            &[
                Layer::implicit("a").member("pre_instance_functions", names),
                intercepting("b"),
            ],
        );
        for debug in ["all", "layer", "warn"] {
            scene.env("VK_LOADER_DEBUG", debug);
            let outcome = scene.run(|vk| drop(vk.extensions().expect("extensions")));
            let library = scene.path("libraries/liblayer_a.so").display().to_string();
            let text = format!(
                "vkEnumerateInstanceExtensionProperties: Unable to resolve symbol \"noSuchSymbol\" in implicit layer library \
                 \"{library}\""
            );
            outcome.ok().logged("WARNING | LAYER", &text);
            assert_eq!(outcome.calls("VK_LAYER_b", "pre").len(), 2);
        }
    });
}

/// LAY-275, BI-51: for each query, the message about a missing symbol has the category LAYER and the level WARNING.
#[test]
fn bi_51_a_missing_symbol_of_any_query_is_a_warning_about_a_layer() {
    case(|scene| {
        let names = ALL.replace(": \"mock", ": \"noSuch");
        place(scene, &[Layer::implicit("a").member("pre_instance_functions", names)]);
        scene.env("VK_LOADER_DEBUG", "layer");
        let outcome = scene.run(|vk| {
            vk.version();
            vk.layers().expect("layers");
            vk.extensions().expect("extensions");
        });
        for query in ["Version", "LayerProperties", "ExtensionProperties"] {
            let part =
                format!("vkEnumerateInstance{query}: Unable to resolve symbol \"noSuchEnumerateInstance{query}\"");
            outcome.ok().logged_with("WARNING | LAYER", &part);
        }
    });
}

/// LAY-275, BI-51: a layer with a missing library is skipped.
#[test]
fn bi_51_a_missing_library_is_passed_over() {
    case(|scene| {
        place(
            scene,
            &[
                intercepting("a").member("library_path", "\"/no/such/library.so\""),
                intercepting("b"),
            ],
        );
        let outcome = scene.run(|vk| {
            assert_ne!(vk.version().0, 0);
            assert_eq!(vk.layers().expect("layers").len(), 2);
        });
        assert_eq!(outcome.ok().calls("VK_LAYER_b", "pre").len(), 3);
    });
}

/// LAY-277: a NULL pointer for the version returns an error.
#[test]
fn lay_277_a_null_pointer_for_the_version_is_refused() {
    case(|scene| {
        place(scene, &[]);
        let outcome = scene.run(|vk| {
            let result = call!(vk, PFN_vkEnumerateInstanceVersion(std::ptr::null_mut()));
            assert_eq!(result, vk::Result::ERROR_OUT_OF_HOST_MEMORY);
        });
        assert!(
            outcome.ok().stderr.contains("vkEnumerateInstanceVersion: "),
            "{}",
            outcome.all()
        );
    });
}

/// LAY-272: the application receives the error of a pre-instance function.
#[test]
fn lay_272_a_layer_s_error_is_returned() {
    case(|scene| {
        place(scene, &[intercepting("a").conf("pre-fail", -3)]);
        let outcome = scene.run(|vk| {
            assert_eq!(vk.layers().err(), Some(vk::Result::ERROR_INITIALIZATION_FAILED));
            let mut version = 0;
            let result = call!(vk, PFN_vkEnumerateInstanceVersion(&mut version));
            assert_eq!(result, vk::Result::ERROR_INITIALIZATION_FAILED);
        });
        outcome.ok();
    });
}

/// BI-52: a layer can return another count at the second call.
#[test]
fn bi_52_counts_that_change_between_calls_are_returned_as_they_are() {
    case(|scene| {
        place(scene, &[intercepting("a").conf("pre-grow", "")]);
        let outcome = scene.run(|vk| {
            let mut count = 0;
            let null = std::ptr::null();
            let result = call!(
                vk,
                PFN_vkEnumerateInstanceExtensionProperties(null, &mut count, std::ptr::null_mut())
            );
            assert_eq!(result, vk::Result::SUCCESS);
            let room = count;
            let mut list = vec![vk::ExtensionProperties::default(); room as usize];
            let fill = call!(
                vk,
                PFN_vkEnumerateInstanceExtensionProperties(null, &mut count, list.as_mut_ptr())
            );
            assert!(count <= room);
            assert!([vk::Result::SUCCESS, vk::Result::INCOMPLETE].contains(&fill));
        });
        outcome.ok();
    });
}

/// LAY-270: the loader calls the pre-instance functions of implicit components of an active meta-layer if these
/// components are active themselves.
#[test]
fn lay_270_components_of_an_active_implicit_meta_layer_qualify_by_themselves() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::implicit("m")
                    .without("library_path")
                    .member("component_layers", list(&["VK_LAYER_a"])),
                intercepting("a"),
            ],
        );
        let outcome = scene.run(|vk| {
            vk.version();
        });
        assert_eq!(outcome.ok().calls("VK_LAYER_a", "pre").len(), 1, "{}", outcome.all());
    });
}
