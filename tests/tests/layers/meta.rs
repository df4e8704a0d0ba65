//! Tests of meta-layers (LAY-160 to LAY-168).

use loader_tests::ash::vk;
use loader_tests::vk::{Instance, text};
use loader_tests::{call, case};

use crate::kit::{Layer, chain, list, place};

/// Returns the names that the deprecated device query lists: the active layers, including meta-layers.
pub(crate) fn active(instance: &Instance<'_>) -> Vec<String> {
    let device = instance.first();
    let query = |count: &mut u32, out| call!(instance, PFN_vkEnumerateDeviceLayerProperties(device, count, out));
    let list: Vec<vk::LayerProperties> = loader_tests::vk::two_call(query).expect("layers");
    list.iter().map(|layer| text(&layer.layer_name)).collect()
}

/// LAY-160, LAY-165, LAY-168, LAY-325, LAY-3: components are active in their order, and precede their meta-layer.
#[test]
fn lay_160_components_work_in_their_order_and_come_before_their_meta_layer() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::explicit("a"),
                Layer::explicit("b"),
                Layer::explicit("c"),
                Layer::meta("m", &["VK_LAYER_b", "VK_LAYER_a"]),
            ],
        );
        let outcome = scene.run(|vk| {
            let instance = vk
                .spec()
                .layer("VK_LAYER_m")
                .layer("VK_LAYER_c")
                .create()
                .expect("vkCreateInstance");
            assert_eq!(
                active(&instance),
                ["VK_LAYER_b", "VK_LAYER_a", "VK_LAYER_m", "VK_LAYER_c"]
            );
        });
        assert_eq!(chain(outcome.ok()), ["VK_LAYER_b", "VK_LAYER_a", "VK_LAYER_c"]);
        outcome
            .logged(
                "INFO | LAYER",
                "Meta-layer \"VK_LAYER_m\" all 2 component layers appear to be valid.",
            )
            .logged("LAYER", "  [0] VK_LAYER_b")
            .logged("LAYER", "  [1] VK_LAYER_a");
    });
}

/// LAY-168: an implicit meta-layer activates its components unless its disable variable is set.
#[test]
fn lay_168_an_implicit_meta_layer_works_by_itself() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::implicit_meta("m", &["VK_LAYER_a"]),
                Layer::implicit_meta("off", &["VK_LAYER_b"]),
                Layer::explicit("a"),
                Layer::explicit("b"),
            ],
        );
        scene.env("DISABLE_off", "1");
        let outcome = scene.run(|vk| assert_eq!(active(&vk.instance()), ["VK_LAYER_a", "VK_LAYER_m"]));
        assert_eq!(chain(outcome.ok()), ["VK_LAYER_a"]);
    });
}

/// LAY-165, BI-36: a component that is already active is not added again.
#[test]
fn lay_165_an_active_component_is_not_added_again() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::implicit("i"),
                Layer::explicit("a"),
                Layer::explicit("b"),
                Layer::meta("m", &["VK_LAYER_a", "VK_LAYER_i", "VK_LAYER_b", "VK_LAYER_a"]),
            ],
        );
        let outcome = scene.run(|vk| {
            let instance = vk
                .spec()
                .layer("VK_LAYER_b")
                .layer("VK_LAYER_m")
                .create()
                .expect("vkCreateInstance");
            assert_eq!(
                active(&instance),
                ["VK_LAYER_i", "VK_LAYER_b", "VK_LAYER_a", "VK_LAYER_m"]
            );
        });
        assert_eq!(chain(outcome.ok()), ["VK_LAYER_i", "VK_LAYER_b", "VK_LAYER_a"]);
    });
}

/// LAY-162: a meta-layer can contain meta-layers.
#[test]
fn lay_162_nested_meta_layers_are_accepted() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::explicit("a"),
                Layer::explicit("b"),
                Layer::meta("inner", &["VK_LAYER_a"]),
                Layer::meta("outer", &["VK_LAYER_b", "VK_LAYER_inner"]),
            ],
        );
        let outcome = scene.run(|vk| {
            let instance = vk.spec().layer("VK_LAYER_outer").create().expect("vkCreateInstance");
            assert_eq!(
                active(&instance),
                ["VK_LAYER_b", "VK_LAYER_a", "VK_LAYER_inner", "VK_LAYER_outer"]
            );
        });
        assert_eq!(chain(outcome.ok()), ["VK_LAYER_b", "VK_LAYER_a"]);
        outcome.logged(
            "INFO",
            "verify_meta_layer_component_layers: Adding meta-layer VK_LAYER_outer which also contains meta-layer \
             VK_LAYER_inner",
        );
    });
}

/// LAY-163: two components of a meta-layer can contain the same layer.
#[test]
fn lay_163_one_component_may_be_reached_by_two_ways() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::explicit("a"),
                Layer::meta("bottom", &["VK_LAYER_a"]),
                Layer::meta("left", &["VK_LAYER_bottom"]),
                Layer::meta("right", &["VK_LAYER_bottom"]),
                Layer::meta("top", &["VK_LAYER_left", "VK_LAYER_right"]),
            ],
        );
        scene
            .run(|vk| {
                let instance = vk.spec().layer("VK_LAYER_top").create().expect("vkCreateInstance");
                let names = ["a", "bottom", "left", "right", "top"].map(|name| format!("VK_LAYER_{name}"));
                assert_eq!(active(&instance), names);
            })
            .ok();
    });
}

/// LAY-161, LAY-162, BI-34: defines tests with manifests from which the loader removes only the meta-layer.
macro_rules! refused {
    ($($(#[$doc:meta])* $name:ident: [$($layer:expr),*] keeps [$($kept:literal),*] logs $level:literal $text:expr;)*) => {$(
        $(#[$doc])*
        #[test]
        fn $name() {
            case(|scene| {
                place(scene, &[$($layer),*]);
                let outcome = scene.run(|vk| {
                    let expected: &[&str] = &[$($kept),*];
                    assert_eq!(vk.layers().expect("layers"), expected);
                });
                outcome.ok().logged($level, $text);
            });
        }
    )*};
}

refused! {
    /// LAY-161, LAY-162, BI-34: a meta-layer with a missing component is removed.
    lay_161_a_missing_component_removes_the_meta_layer:
        [Layer::explicit("a"), Layer::meta("m", &["VK_LAYER_a", "VK_LAYER_none"])] keeps ["VK_LAYER_a"]
        logs "WARNING" "verify_meta_layer_component_layers: Meta-layer VK_LAYER_m can't find component layer VK_LAYER_none \
                        at index 1.  Skipping this layer.";
    /// LAY-162: the log reports the removal of a meta-layer.
    lay_162_the_removal_is_told:
        [Layer::meta("m", &["VK_LAYER_none"])] keeps []
        logs "DEBUG" "Removing meta-layer VK_LAYER_m from instance layer list since it appears invalid.";
    /// LAY-161, LAY-162, BI-34: a meta-layer with a component of an older API version is removed.
    lay_161_an_older_component_removes_the_meta_layer:
        [Layer::explicit("a").api("1.1.9"), Layer::meta("m", &["VK_LAYER_a"]).api("1.2.0")] keeps ["VK_LAYER_a"]
        logs "WARNING" "verify_meta_layer_component_layers: Meta-layer uses API version 1.2, but component layer 0 has API \
                        version 1.1 that is lower.  Skipping this layer.";
    /// LAY-161: a component of the same or a newer minor version is accepted.
    lay_161_a_component_of_the_same_minor_or_higher_is_good:
        [Layer::explicit("a").api("1.2.0"), Layer::explicit("b").api("1.3.0"),
            Layer::meta("m", &["VK_LAYER_a", "VK_LAYER_b"]).api("1.2.9")]
        keeps ["VK_LAYER_a", "VK_LAYER_b", "VK_LAYER_m"]
        logs "INFO | LAYER" "Meta-layer \"VK_LAYER_m\" all 2 component layers appear to be valid.";
    /// LAY-161, LAY-162, BI-34: a meta-layer that lists itself is removed.
    lay_161_a_meta_layer_of_itself_is_removed:
        [Layer::explicit("a"), Layer::meta("m", &["VK_LAYER_a", "VK_LAYER_m"])] keeps ["VK_LAYER_a"]
        logs "WARNING" "verify_meta_layer_component_layers: Meta-layer VK_LAYER_m lists itself in its component layer list \
                        at index 1.  Skipping this layer.";
    /// LAY-161, BI-34: if the loader removes a nested meta-layer, it also removes the outer meta-layer.
    lay_161_a_failing_nested_meta_layer_removes_the_outer_one:
        [Layer::explicit("a"), Layer::meta("inner", &["VK_LAYER_none"]), Layer::meta("outer", &["VK_LAYER_a", "VK_LAYER_inner"])]
        keeps ["VK_LAYER_a"] logs "DEBUG" "Removing meta-layer VK_LAYER_outer from instance layer list since it appears invalid.";
}

/// LAY-161, LAY-162, BI-34: meta-layers that contain each other are removed.
#[test]
fn lay_161_a_cycle_of_meta_layers_is_removed() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::explicit("a"),
                Layer::meta("x", &["VK_LAYER_y"]),
                Layer::meta("y", &["VK_LAYER_z"]),
                Layer::meta("z", &["VK_LAYER_x"]),
            ],
        );
        scene
            .run(|vk| {
                assert_eq!(vk.layers().expect("layers"), ["VK_LAYER_a"]);
                let refused = vk.spec().layer("VK_LAYER_x").create().err();
                assert_eq!(refused, Some(vk::Result::ERROR_LAYER_NOT_PRESENT));
            })
            .ok()
            .logged_with(
                "WARNING",
                "verify_meta_layer_component_layers: Recursive dependency between Meta-layer VK_LAYER_",
            );
    });
}

/// LAY-33: if several layers have the same name, the validation of meta-layers uses the first of them.
#[test]
fn lay_33_validation_sees_the_first_of_equal_names() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::explicit("first").named("VK_LAYER_same").api("1.0.0"),
                Layer::explicit("second").named("VK_LAYER_same").api("1.3.0"),
                Layer::meta("m", &["VK_LAYER_same"]).api("1.2.0"),
            ],
        );
        scene
            .run(|vk| assert_eq!(vk.layers().expect("layers"), ["VK_LAYER_same"]))
            .ok();
    });
}

/// LAY-164: a meta-layer has the extensions of its components.
#[test]
fn lay_164_a_meta_layer_has_the_extensions_of_its_components() {
    let extensions = |names: &[&str]| {
        let items: Vec<_> = names
            .iter()
            .map(|name| format!(r#"{{"name": "{name}", "spec_version": "3"}}"#))
            .collect();
        format!("[{}]", items.join(", "))
    };
    case(move |scene| {
        place(
            scene,
            &[
                Layer::explicit("a").member("instance_extensions", extensions(&["VK_EXT_a", "VK_EXT_m"])),
                Layer::explicit("b").member("device_extensions", extensions(&["VK_EXT_b"])),
                Layer::meta("m", &["VK_LAYER_a", "VK_LAYER_b"])
                    .member("instance_extensions", extensions(&["VK_EXT_m"])),
            ],
        );
        let outcome = scene.run(|vk| {
            let list = vk.extension_versions(Some(c"VK_LAYER_m")).expect("extensions");
            assert_eq!(list, [("VK_EXT_m".to_string(), 3), ("VK_EXT_a".to_string(), 3)]);
        });
        outcome
            .ok()
            .logged(
                "DEBUG",
                "Meta-layer VK_LAYER_m component layer VK_LAYER_a adding instance extension VK_EXT_a",
            )
            .logged(
                "DEBUG",
                "Meta-layer VK_LAYER_m component layer VK_LAYER_a adding instance extension VK_EXT_m",
            )
            .logged(
                "DEBUG",
                "Meta-layer VK_LAYER_m component layer VK_LAYER_b adding device extension VK_EXT_b",
            );
    });
}

/// LAY-166: a meta-layer with a disabled component is not activated.
#[test]
fn lay_166_a_component_that_disable_removed_keeps_its_meta_layer_out() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::explicit("a"),
                Layer::explicit("b"),
                Layer::meta("m", &["VK_LAYER_a", "VK_LAYER_b"]),
            ],
        );
        scene.env("VK_LOADER_LAYERS_DISABLE", "VK_LAYER_a");
        let outcome = scene.run(|vk| {
            assert_eq!(vk.layers().expect("layers"), ["VK_LAYER_b", "VK_LAYER_m"]);
            let instance = vk.spec().layer("VK_LAYER_m").create().expect("vkCreateInstance");
            assert_eq!(active(&instance), ["VK_LAYER_b"]);
        });
        assert_eq!(chain(outcome.ok()), ["VK_LAYER_b"]);
        outcome.logged(
            "WARNING | LAYER",
            "Failed to find layer name \"VK_LAYER_a\" component layer \"VK_LAYER_a\" to activate (Policy #LLP_LAYER_7)",
        );
    });
}

/// LAY-166, LAY-167: the variables of an implicit component have an effect too.
#[test]
fn lay_167_an_implicit_component_obeys_its_variables() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::implicit("i"),
                Layer::implicit("j").enabled_by("ON_j", "1"),
                Layer::explicit("a"),
                Layer::meta("m", &["VK_LAYER_i", "VK_LAYER_j", "VK_LAYER_a"]),
            ],
        );
        scene.env("DISABLE_i", "1");
        let outcome = scene.run(|vk| {
            let instance = vk.spec().layer("VK_LAYER_m").create().expect("vkCreateInstance");
            assert_eq!(active(&instance), ["VK_LAYER_a", "VK_LAYER_m"]);
        });
        assert_eq!(chain(outcome.ok()), ["VK_LAYER_a"]);
    });
}

/// LAY-205: if a component of a meta-layer cannot be loaded, instance creation still succeeds without it.
#[test]
fn lay_205_a_component_that_fails_to_load_does_not_fail_the_call() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::explicit("a").member("library_path", "\"/no/such/library.so\""),
                Layer::explicit("b"),
                Layer::meta("m", &["VK_LAYER_a", "VK_LAYER_b"]),
            ],
        );
        let outcome = scene.run(|vk| drop(vk.spec().layer("VK_LAYER_m").create().expect("vkCreateInstance")));
        assert_eq!(chain(outcome.ok()), ["VK_LAYER_b"]);
    });
}

/// LAY-99: the application can enable a meta-layer without components.
#[test]
fn lay_99_a_meta_layer_without_components_can_be_enabled() {
    case(|scene| {
        place(scene, &[Layer::meta("m", &[])]);
        let outcome = scene.run(|vk| {
            let instance = vk.spec().layer("VK_LAYER_m").create().expect("vkCreateInstance");
            assert_eq!(active(&instance), ["VK_LAYER_m"]);
        });
        assert!(chain(outcome.ok()).is_empty());
    });
}

/// BI-36: a meta-layer works with a thousand components.
#[test]
fn bi_36_a_thousand_components_work() {
    let names: Vec<String> = (0..1000).map(|index| format!("VK_LAYER_{}", index % 3)).collect();
    let components = list(&names.iter().map(String::as_str).collect::<Vec<_>>());
    case(move |scene| {
        place(
            scene,
            &[
                Layer::explicit("0"),
                Layer::explicit("1"),
                Layer::explicit("2"),
                Layer::meta("m", &[]).member("component_layers", components),
            ],
        );
        let outcome = scene.run(|vk| drop(vk.spec().layer("VK_LAYER_m").create().expect("vkCreateInstance")));
        assert_eq!(chain(outcome.ok()), ["VK_LAYER_0", "VK_LAYER_1", "VK_LAYER_2"]);
    });
}

/// LAY-166, LAY-165: a nested meta-layer without one of its components is not active. The outer meta-layer remains active, and the order in
/// which the loader finds both meta-layers does not matter.
#[test]
fn lay_166_a_nested_meta_layer_without_a_component_keeps_no_other_out() {
    case(|scene| {
        scene.env("VK_LOADER_LAYERS_DISABLE", "VK_LAYER_a");
        let inner = |short: &str| Layer::implicit_meta(short, &["VK_LAYER_a", "VK_LAYER_b"]);
        place(
            scene,
            &[
                inner("first"),
                Layer::implicit_meta("m", &["VK_LAYER_first", "VK_LAYER_last"]),
                inner("last"),
                Layer::implicit_meta("n", &["VK_LAYER_explicit", "VK_LAYER_c"]),
                Layer::implicit_meta("o", &["VK_LAYER_explicit"]),
                Layer::meta("explicit", &["VK_LAYER_a"]),
                Layer::explicit("a"),
                Layer::explicit("b"),
                Layer::explicit("c"),
            ],
        );
        let outcome = scene.run(|vk| {
            let known = vk.layers().expect("layers");
            let gone = "VK_LAYER_a".to_string();
            assert!(known.len() == 8 && !known.contains(&gone), "{known:?}");
            let expected = ["VK_LAYER_b", "VK_LAYER_m", "VK_LAYER_c", "VK_LAYER_n", "VK_LAYER_o"];
            assert_eq!(active(&vk.instance()), expected);
        });
        assert_eq!(chain(outcome.ok()), ["VK_LAYER_b", "VK_LAYER_c"]);
    });
}
