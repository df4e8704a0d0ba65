//! Tests of override layers that are chosen and then removed, of additional override layers, and of explicit layers with the same name
//! (LAY-170 to LAY-182).

use loader_tests::{case, json_path};

use crate::kit::{Layer, chain, list, place};
use crate::overriding::{OVERRIDE, program};

/// LAY-176, LAY-177: the blacklist of an override layer has no effect if a missing component removes the override layer.
#[test]
fn lay_176_a_removed_override_layer_blacklists_nothing() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::overriding(&["VK_LAYER_none"]).member("blacklisted_layers", list(&["VK_LAYER_i", "VK_LAYER_a"])),
                Layer::implicit("i"),
                Layer::explicit("a"),
            ],
        );
        let outcome = scene.run(|vk| {
            assert_eq!(vk.layers().expect("layers"), ["VK_LAYER_i", "VK_LAYER_a"]);
            drop(vk.spec().layer("VK_LAYER_a").create().expect("vkCreateInstance"));
        });
        assert_eq!(chain(outcome.ok()), ["VK_LAYER_i", "VK_LAYER_a"]);
    });
}

/// LAY-130, LAY-176: the components of a removed override layer are activated like all implicit layers.
#[test]
fn lay_176_a_removed_override_layer_turns_nothing_on() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::overriding(&["VK_LAYER_off", "VK_LAYER_none"]),
                Layer::implicit("off"),
                Layer::implicit("on"),
            ],
        );
        scene.env("DISABLE_off", "1");
        let outcome = scene.run(|vk| drop(vk.instance()));
        assert_eq!(chain(outcome.ok()), ["VK_LAYER_on"]);
    });
}

/// LAY-172, LAY-176: the loader chooses one of several override layers before it checks their components. The loader discards all other
/// override layers, even if it later removes the chosen override layer.
#[test]
fn lay_172_behind_a_removed_override_layer_no_other_is_used() {
    case(|scene| {
        let key = list(&[&json_path(&program())]);
        for keys in [&key, "[]"] {
            let overriding = |short: &str, component: &str, blacklisted: &str| {
                Layer::implicit_meta(short, &[component])
                    .named(OVERRIDE)
                    .member("app_keys", keys)
                    .member("blacklisted_layers", list(&[blacklisted]))
            };
            place(
                scene,
                &[
                    overriding("first", "VK_LAYER_none", "VK_LAYER_i"),
                    overriding("second", "VK_LAYER_a", "VK_LAYER_j"),
                    Layer::implicit("i"),
                    Layer::implicit("j"),
                    Layer::explicit("a"),
                ],
            );
            let outcome = scene.run(|vk| {
                let expected = ["VK_LAYER_i", "VK_LAYER_j", "VK_LAYER_a"];
                assert_eq!(vk.layers().expect("layers"), expected, "{keys}");
                drop(vk.instance());
            });
            assert_eq!(chain(outcome.ok()), ["VK_LAYER_i", "VK_LAYER_j"], "{keys}");
        }
    });
}

/// LAY-170, LAY-172: the loader never chooses a refused manifest as the override layer.
#[test]
fn lay_172_behind_a_refused_manifest_the_next_override_layer_is_used() {
    case(|scene| {
        let key = list(&[&json_path(&program())]);
        let overriding = |short: &str, component: &str| {
            Layer::implicit_meta(short, &[component])
                .named(OVERRIDE)
                .member("app_keys", &key)
        };
        place(
            scene,
            &[
                overriding("first", "VK_LAYER_a").without("disable_environment"),
                overriding("second", "VK_LAYER_b"),
                Layer::explicit("a"),
                Layer::explicit("b"),
            ],
        );
        let outcome = scene.run(|vk| drop(vk.instance()));
        assert_eq!(chain(outcome.ok()), ["VK_LAYER_b"]);
    });
}

/// LAY-130, LAY-179: a disabled override layer remains in the list, and the components depend only on their own variables.
#[test]
fn lay_179_an_override_layer_that_is_off_turns_nothing_on() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::overriding(&["VK_LAYER_off", "VK_LAYER_on"]),
                Layer::implicit("off"),
                Layer::implicit("on"),
            ],
        );
        scene.env("DISABLE_override", "1").env("DISABLE_off", "1");
        let outcome = scene.run(|vk| {
            assert!(vk.layers().expect("layers").contains(&OVERRIDE.into()));
            drop(vk.instance());
        });
        assert_eq!(chain(outcome.ok()), ["VK_LAYER_on"]);
    });
}

/// LAY-172: override layers whose `app_keys` name only other programs have no effect.
#[test]
fn lay_172_override_layers_of_other_programs_do_nothing() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::overriding(&["VK_LAYER_a"])
                    .member("app_keys", "[\"/no/such/program\"]")
                    .member("blacklisted_layers", list(&["VK_LAYER_i"])),
                Layer::implicit("i"),
                Layer::explicit("a"),
            ],
        );
        let outcome = scene.run(|vk| {
            assert_eq!(vk.layers().expect("layers"), ["VK_LAYER_i", "VK_LAYER_a"]);
            drop(vk.instance());
        });
        assert_eq!(chain(outcome.ok()), ["VK_LAYER_i"]);
        outcome
            .not_logged("Using the global override layer")
            .not_logged("Using the override layer");
    });
}

/// LAY-170, LAY-177: an explicit manifest with the override layer's name excludes no layer, in any folder.
#[test]
fn lay_170_an_explicit_manifest_of_that_name_excludes_nothing() {
    case(|scene| {
        let overriding = Layer::meta("override", &[])
            .named(OVERRIDE)
            .member("blacklisted_layers", list(&["VK_LAYER_i", "VK_LAYER_a"]));
        place(
            scene,
            &[
                Layer::implicit("i"),
                Layer::explicit("a"),
                overriding.clone().folder("here"),
            ],
        );
        for variable in ["VK_ADD_LAYER_PATH", "VK_LAYER_PATH"] {
            let paths = ["here", "layers/a/vulkan/explicit_layer.d"].map(|path| scene.text_path(path));
            scene.env(variable, paths.join(":"));
            let outcome = scene.run(|vk| {
                assert_eq!(vk.layers().expect("layers"), ["VK_LAYER_i", OVERRIDE, "VK_LAYER_a"]);
                drop(vk.spec().layer("VK_LAYER_a").create().expect("vkCreateInstance"));
            });
            assert_eq!(chain(outcome.ok()), ["VK_LAYER_i", "VK_LAYER_a"]);
        }
    });
}
