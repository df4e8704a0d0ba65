//! Tests of messages about refused meta-layers, and of extensions that meta-layers have from their components (LAY-160 to LAY-168).

use loader_tests::case;

use crate::enumeration::{extensions, of_device};
use crate::kit::{Layer, place};

/// LAY-161, LAY-162: if a nested meta-layer is invalid, the loader reports each meta-layer around it as removed. No message reports the
/// nested meta-layer as a missing component.
#[test]
fn lay_162_a_failing_nested_meta_layer_is_no_missing_one() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::meta("outermost", &["VK_LAYER_outer"]),
                Layer::meta("outer", &["VK_LAYER_inner"]),
                Layer::meta("inner", &["VK_LAYER_none"]),
            ],
        );
        let outcome = scene.run(|vk| assert!(vk.layers().expect("layers").is_empty()));
        outcome.ok();
        for short in ["inner", "outer", "outermost"] {
            outcome.logged(
                "DEBUG",
                &format!("Removing meta-layer VK_LAYER_{short} from instance layer list since it appears invalid."),
            );
        }
        outcome
            .logged_with("WARNING", "can't find component layer VK_LAYER_none")
            .not_logged("can't find component layer VK_LAYER_inner")
            .not_logged("can't find component layer VK_LAYER_outer");
    });
}

/// LAY-161, LAY-164: the extensions of a component come from the first remaining layer of its name, and not from a removed layer.
#[test]
fn lay_164_a_removed_component_adds_no_extensions() {
    case(|scene| {
        let with = |layer: Layer, name: &str| layer.member("instance_extensions", extensions(&[name]));
        place(
            scene,
            &[
                with(
                    Layer::meta("first", &["VK_LAYER_none"]).named("VK_LAYER_same"),
                    "VK_EXT_removed",
                ),
                with(Layer::explicit("second").named("VK_LAYER_same"), "VK_EXT_left"),
                Layer::meta("m", &["VK_LAYER_same"]),
            ],
        );
        let outcome = scene.run(|vk| {
            let list = vk.extension_versions(Some(c"VK_LAYER_m")).expect("extensions");
            let names: Vec<_> = list.into_iter().map(|(name, _)| name).collect();
            assert_eq!(names, ["VK_EXT_left"]);
        });
        outcome.ok();
    });
}

/// LAY-161, LAY-162: a meta-layer that lists its own name contains itself, even if the loader found another layer of this name first.
#[test]
fn lay_161_a_component_of_the_same_name_is_the_meta_layer_itself() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::explicit("first").named("VK_LAYER_m"),
                Layer::meta("m", &["VK_LAYER_m"]),
            ],
        );
        let outcome = scene.run(|vk| assert_eq!(vk.layers().expect("layers"), ["VK_LAYER_m"]));
        outcome.ok().logged(
            "WARNING",
            "verify_meta_layer_component_layers: Meta-layer VK_LAYER_m lists itself in its component layer list at index 0.  \
             Skipping this layer.",
        );
    });
}

/// LAY-164, LAY-324: the device extensions of a meta-layer are the extensions of its components, without duplicates.
#[test]
fn lay_164_device_extensions_are_listed_once() {
    case(|scene| {
        let with = |layer: Layer, names: &[&str]| layer.member("device_extensions", extensions(names));
        place(
            scene,
            &[
                with(Layer::explicit("a"), &["VK_EXT_m", "VK_EXT_a"]),
                with(Layer::explicit("b"), &["VK_EXT_a", "VK_EXT_b"]),
                with(Layer::meta("m", &["VK_LAYER_a", "VK_LAYER_b"]), &["VK_EXT_m"]),
            ],
        );
        let outcome = scene.run(|vk| {
            let instance = vk.spec().layer("VK_LAYER_m").create().expect("vkCreateInstance");
            let listed = of_device(&instance, Some(c"VK_LAYER_m")).expect("extensions");
            assert_eq!(listed, ["VK_EXT_m", "VK_EXT_a", "VK_EXT_b"]);
        });
        outcome.ok();
    });
}
