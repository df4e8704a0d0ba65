//! Tests of declarations of the order of layers (LAY-330 to LAY-339).

use loader_tests::{Outcome, Scene, case};
use serde_json::Value;

use crate::kit::{Layer, chain, device_chain, place, put_text};
use crate::meta::active;
use crate::settings::{MARKER, entry, listed};

/// Returns implicit layers with the short names in `names`.
fn implicit(names: &[&str]) -> Vec<Layer> {
    names.iter().map(|name| Layer::implicit(name)).collect()
}

/// Returns the names of the layers in the chain without their common prefix.
fn short(outcome: &Outcome) -> String {
    let names = chain(outcome).into_iter();
    names.map(|name| name.trim_start_matches("VK_LAYER_")).collect()
}

/// Creates an instance. The application requests no layers.
fn run(scene: &mut Scene) -> Outcome {
    let outcome = scene.run(|vk| drop(vk.instance()));
    outcome.ok();
    outcome
}

/// Writes a settings file that contains `members`.
fn settings(scene: &Scene, members: &str) {
    put_text(
        scene,
        "xdg/data-home/vulkan/loader_settings.d/vk_loader_settings.json",
        &format!(r#"{{"file_format_version": "1.0.0", "settings": {{{members}}}}}"#),
    );
}

/// LAY-330, LAY-331, LAY-337: `VK_LOADER_LAYERS_ORDER` changes the order of active layers, and activates no layer.
#[test]
fn lay_330_the_variable_orders_layers_and_enables_none() {
    case(|scene| {
        let mut layers = implicit(&["a", "b", "c", "d", "e", "f"]);
        layers.push(Layer::explicit("off"));
        place(scene, &layers);
        for (order, expected) in [
            ("", "abcdef"),
            (
                "VK_LAYER_f > VK_LAYER_e>VK_LAYER_d>VK_LAYER_c>VK_LAYER_b>VK_LAYER_a",
                "fedcba",
            ),
            ("VK_LAYER_d>VK_LAYER_b", "acdbef"),
            ("vk_layer_off>*_e>VK_LAYER_a", "bcdeaf"),
            ("VK_LAYER_f>*,VK_LAYER_c>VK_LAYER_b", "facbde"),
        ] {
            scene.env("VK_LOADER_LAYERS_ORDER", order);
            let outcome = scene.run(|vk| {
                let instance = vk.instance();
                drop(instance.device(instance.first(), &[]));
            });
            outcome.ok();
            assert_eq!(short(&outcome), expected, "{order}");
            assert_eq!(device_chain(&outcome), chain(&outcome), "{order}");
        }
        scene.env("VK_LOADER_LAYERS_ORDER", "VK_LAYER_d>VK_LAYER_b");
        let outcome = run(scene);
        outcome.logged_with(
            "INFO | LAYER",
            "Layer order: \"VK_LAYER_b\" goes below \"VK_LAYER_d\": VK_LOADER_LAYERS_ORDER (VK_LAYER_d>VK_LAYER_b)",
        );
    });
}

/// LAY-331: a declaration of order can name all implicit or all explicit layers.
#[test]
fn lay_331_kinds_of_layers() {
    case(|scene| {
        place(
            scene,
            &[Layer::implicit("i"), Layer::explicit("e"), Layer::implicit("j")],
        );
        scene
            .env("VK_LOADER_LAYERS_ENABLE", "VK_LAYER_e")
            .env("VK_LOADER_LAYERS_ORDER", "explicit>VK_LAYER_j>implicit");
        assert_eq!(short(&run(scene)), "eji");
    });
}

/// LAY-332, LAY-334: the settings file can declare the order of layers.
#[test]
fn lay_332_the_settings_file_orders_layers() {
    case(|scene| {
        place(scene, &implicit(&["a", "b", "c"]));
        settings(
            scene,
            r#""layer_order": ["VK_LAYER_c>VK_LAYER_a", 7, {}, ["VK_LAYER_c>VK_LAYER_b"]]"#,
        );
        let outcome = run(scene);
        assert_eq!(short(&outcome), "bca");
        let says = "goes below \"VK_LAYER_c\": layer_order in ";
        outcome.logged_with("INFO | LAYER", &format!("Layer order: \"VK_LAYER_a\" {says}"));
        scene.env("VK_LOADER_LAYERS_ORDER", "VK_LAYER_a>VK_LAYER_b>VK_LAYER_c");
        let outcome = run(scene);
        assert_eq!(short(&outcome), "abc", "the variable is stronger");
        outcome.logged_with(
            "WARNING | LAYER",
            "Layer order: ignoring \"VK_LAYER_c\" above \"VK_LAYER_a\": layer_order in ",
        );
    });
}

/// LAY-332, LAY-334: layers in the settings file have the file's order, unless the user declares another order.
#[test]
fn lay_334_the_list_of_a_settings_file_is_stronger_than_manifests() {
    case(|scene| {
        let below = r#"{"below": ["VK_LAYER_b", "VK_LAYER_u"]}"#;
        place(
            scene,
            &[listed("a").member("order", below), listed("b"), Layer::implicit("u")],
        );
        let layers = [entry("a", "on"), entry("b", "on"), MARKER.into()].join(", ");
        settings(scene, &format!(r#""layers": [{layers}]"#));
        assert_eq!(short(&run(scene)), "uab");
        settings(
            scene,
            &format!(r#""layers": [{layers}], "layer_order": ["VK_LAYER_b>VK_LAYER_a"]"#),
        );
        assert_eq!(short(&run(scene)), "bua");
    });
}

/// LAY-333, LAY-334: manifests can declare the order of layers, and the user's declarations take precedence.
#[test]
fn lay_333_manifests_order_layers_and_users_have_the_last_word() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::implicit("a").member("order", r#"{"below": ["VK_LAYER_c"], "unknown": 1}"#),
                Layer::implicit("b"),
                Layer::implicit("c"),
                Layer::implicit("d").member("order", r#"{"above": ["VK_LAYER_b", 5, "VK_LAYER_c"]}"#),
                Layer::implicit("e").member("order", r#"["VK_LAYER_a"]"#),
            ],
        );
        let outcome = run(scene);
        assert_eq!(short(&outcome), "cadbe");
        outcome.logged_with(
            "INFO | LAYER",
            "Layer order: \"VK_LAYER_a\" goes below \"VK_LAYER_c\": the order in ",
        );
        scene.env("VK_LOADER_LAYERS_ORDER", "VK_LAYER_a>VK_LAYER_c");
        assert_eq!(short(&run(scene)), "acdbe");
        scene
            .unset("VK_LOADER_LAYERS_ORDER")
            .env("VK_INSTANCE_LAYERS", "VK_LAYER_a:VK_LAYER_c");
        assert_eq!(
            short(&run(scene)),
            "dbeac",
            "a list of the user is stronger than a manifest"
        );
    });
}

/// LAY-334: the order of the layers that the application enables does not change.
#[test]
fn lay_334_layers_of_the_application_keep_their_order() {
    case(|scene| {
        place(
            scene,
            &[Layer::implicit("i"), Layer::explicit("a"), Layer::explicit("b")],
        );
        scene.env("VK_LOADER_LAYERS_ORDER", "VK_LAYER_b>VK_LAYER_a>VK_LAYER_i");
        let outcome = scene.run(|vk| {
            let spec = vk.spec().layer("VK_LAYER_a").layer("VK_LAYER_b");
            drop(spec.create().expect("vkCreateInstance"));
        });
        assert_eq!(short(outcome.ok()), "abi");
        outcome.logged_with(
            "WARNING | LAYER",
            "Layer order: ignoring \"VK_LAYER_b\" above \"VK_LAYER_a\": VK_LOADER_LAYERS_ORDER \
             (VK_LAYER_b>VK_LAYER_a>VK_LAYER_i). It contradicts:",
        );
        outcome.logged_with(
            "WARNING | LAYER",
            "   \"VK_LAYER_a\" above \"VK_LAYER_b\": the application's list of layers",
        );
    });
}

/// LAY-335: the log reports contradicting declarations, and the loader ignores the weakest declaration.
#[test]
fn lay_335_a_cycle_is_reported_and_the_last_declaration_ignored() {
    case(|scene| {
        let above = |name: &str, other: &str| {
            Layer::implicit(name).member("order", format!(r#"{{"above": ["VK_LAYER_{other}"]}}"#))
        };
        place(scene, &[above("a", "b"), above("b", "c"), above("c", "a")]);
        let outcome = run(scene);
        assert_eq!(short(&outcome), "abc");
        outcome.logged_with(
            "WARNING | LAYER",
            "Layer order: ignoring \"VK_LAYER_c\" above \"VK_LAYER_a\": the order in ",
        );
        for line in [
            "   \"VK_LAYER_a\" above \"VK_LAYER_b\"",
            "   \"VK_LAYER_b\" above \"VK_LAYER_c\"",
        ] {
            outcome.logged_with("WARNING | LAYER", line);
        }
    });
}

/// LAY-336: the log reports declarations of order that have no effect.
#[test]
fn lay_336_words_without_effect_are_reported() {
    case(|scene| {
        place(scene, &implicit(&["a", "b"]));
        scene.env(
            "VK_LOADER_LAYERS_ORDER",
            "VK_LAYER_a,,VK_LAYER_x>VK_LAYER_b>VK_LAYER_a>VK_LAYER_y",
        );
        let outcome = run(scene);
        assert_eq!(short(&outcome), "ba");
        outcome.logged_with(
            "WARNING | LAYER",
            "Layer order: it puts nothing above or below: VK_LOADER_LAYERS_ORDER (VK_LAYER_a)",
        );
        outcome.logged_with(
            "WARNING | LAYER",
            "Layer order: no layer with a library has this name: VK_LOADER_LAYERS_ORDER (VK_LAYER_x), and 1 more",
        );
    });
}

/// LAY-337: if a declaration moves a layer, the trace contains both layers, and the manifest with the declaration.
#[test]
fn lay_337_moves_are_in_the_trace() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::implicit("a"),
                Layer::implicit("b").member("order", r#"{"above": ["VK_LAYER_a"]}"#),
            ],
        );
        let trace = scene.path("trace");
        scene.env("VK_LOADER_TRACE", &trace);
        run(scene);
        let text = std::fs::read_to_string(&trace).expect("a trace");
        let records = text
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        let moves: Vec<Value> = records.filter(|record| record["event"] == "order").collect();
        assert_eq!(moves.len(), 1, "{moves:?}");
        for (member, value) in [
            ("layer", "VK_LAYER_a".into()),
            ("below", "VK_LAYER_b".into()),
            ("by", "manifest".into()),
            ("path", scene.text_path("layers/b/vulkan/implicit_layer.d/b.json")),
            ("declared", "VK_LAYER_a".into()),
        ] {
            assert_eq!(moves[0][member], value, "{member}");
        }
    });
}

/// LAY-338: the declared order also applies to pre-instance functions.
#[test]
fn lay_338_functions_before_instances_are_called_in_the_same_order() {
    case(|scene| {
        let functions = r#"{"vkEnumerateInstanceVersion": "mockEnumerateInstanceVersion"}"#;
        let layers = implicit(&["a", "b", "c"]).into_iter();
        place(
            scene,
            &layers
                .map(|layer| layer.member("pre_instance_functions", functions))
                .collect::<Vec<_>>(),
        );
        for (order, expected) in [("", "cba"), ("VK_LAYER_a>VK_LAYER_b", "cab"), ("VK_LAYER_a>*", "acb")] {
            scene.env("VK_LOADER_LAYERS_ORDER", order);
            let outcome = scene.run(|vk| {
                vk.version();
            });
            let journal = outcome.ok().journal();
            let calls = journal.into_iter().filter_map(|line| line.split_once(" pre "));
            let called: String = calls.map(|(layer, _)| layer.trim_start_matches("VK_LAYER_")).collect();
            assert_eq!(called, expected, "{order}");
        }
    });
}

/// LAY-338: declared orders apply to the components of a meta-layer. The place of the meta-layer in the list of active layers does not
/// change.
#[test]
fn lay_338_components_follow_and_meta_layers_keep_their_places_in_the_list() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::overriding(&["VK_LAYER_a", "VK_LAYER_b"]),
                Layer::implicit("i"),
                Layer::explicit("a").member("order", r#"{"below": ["VK_LAYER_b", "VK_LAYER_i"]}"#),
                Layer::explicit("b"),
            ],
        );
        let names = |scene: &mut Scene| {
            let outcome = scene.run(|vk| active(&vk.instance()).iter().for_each(|name| vk.say("active", name)));
            let text = short(outcome.ok());
            (
                text,
                outcome
                    .said("active")
                    .iter()
                    .map(|name| name.to_string())
                    .collect::<Vec<_>>(),
            )
        };
        let (text, list) = names(scene);
        assert_eq!(text, "iab", "a stays above b, which is the order of the override layer");
        assert_eq!(
            list,
            ["VK_LAYER_i", "VK_LAYER_a", "VK_LAYER_LUNARG_override", "VK_LAYER_b"]
        );
        scene.env("VK_LOADER_LAYERS_ORDER", "VK_LAYER_b>VK_LAYER_i>VK_LAYER_a");
        assert_eq!(names(scene).0, "bia");
    });
}
