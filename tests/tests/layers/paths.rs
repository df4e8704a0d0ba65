//! Tests of the variables that contain search paths (LAY-60 to LAY-67).

use loader_tests::case;

use crate::kit::{Layer, chain, place};

/// LAY-60, LAY-64: `VK_LAYER_PATH` replaces only the search for explicit layers.
#[test]
fn lay_60_layer_path_replaces_the_search_of_explicit_layers_only() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::explicit("a").folder("here"),
                Layer::explicit("b"),
                Layer::implicit("c"),
                Layer::explicit("sub").folder("here/vulkan/explicit_layer.d"),
            ],
        );
        let here = scene.path("here");
        scene.env("VK_LAYER_PATH", here);
        scene
            .run(|vk| assert_eq!(vk.layers().expect("layers"), ["VK_LAYER_c", "VK_LAYER_a"]))
            .ok();
    });
}

/// LAY-61, BI-40: with an empty `VK_LAYER_PATH`, no explicit layer is found.
#[test]
fn lay_61_an_empty_layer_path_leaves_no_explicit_layer() {
    case(|scene| {
        place(scene, &[Layer::explicit("a"), Layer::implicit("b")]);
        scene.env("VK_LAYER_PATH", "");
        scene
            .run(|vk| assert_eq!(vk.layers().expect("layers"), ["VK_LAYER_b"]))
            .ok();
    });
}

/// LAY-64: the loader searches the folders of `VK_ADD_LAYER_PATH` first.
#[test]
fn lay_64_add_layer_path_comes_before_the_normal_search() {
    case(|scene| {
        place(scene, &[Layer::explicit("a"), Layer::explicit("b").folder("here")]);
        let here = scene.path("here");
        scene.env("VK_ADD_LAYER_PATH", here);
        scene
            .run(|vk| assert_eq!(vk.layers().expect("layers"), ["VK_LAYER_b", "VK_LAYER_a"]))
            .ok();
    });
}

/// LAY-64: `VK_ADD_LAYER_PATH` is ignored if `VK_LAYER_PATH` is set.
#[test]
fn lay_64_add_layer_path_is_ignored_beside_layer_path() {
    case(|scene| {
        place(
            scene,
            &[Layer::explicit("a").folder("one"), Layer::explicit("b").folder("two")],
        );
        let (one, two) = (scene.path("one"), scene.path("two"));
        scene.env("VK_LAYER_PATH", one).env("VK_ADD_LAYER_PATH", two);
        scene
            .run(|vk| assert_eq!(vk.layers().expect("layers"), ["VK_LAYER_a"]))
            .ok();
    });
}

/// LAY-60: `VK_IMPLICIT_LAYER_PATH` replaces the search for implicit layers.
#[test]
fn lay_60_implicit_layer_path_replaces_the_search_of_implicit_layers() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::implicit("a").folder("here"),
                Layer::implicit("b"),
                Layer::explicit("c"),
            ],
        );
        let here = scene.path("here");
        scene.env("VK_IMPLICIT_LAYER_PATH", here);
        let outcome = scene.run(|vk| {
            assert_eq!(vk.layers().expect("layers"), ["VK_LAYER_a", "VK_LAYER_c"]);
            drop(vk.instance());
        });
        assert_eq!(chain(outcome.ok()), ["VK_LAYER_a"]);
    });
}

/// LAY-60, LAY-61: with an empty `VK_IMPLICIT_LAYER_PATH`, no implicit layer is found.
#[test]
fn lay_61_an_empty_implicit_layer_path_leaves_no_implicit_layer() {
    case(|scene| {
        place(scene, &[Layer::implicit("a")]);
        scene.env("VK_IMPLICIT_LAYER_PATH", "");
        scene.run(|vk| assert!(vk.layers().expect("layers").is_empty())).ok();
    });
}

/// LAY-60: the loader searches the folders of `VK_ADD_IMPLICIT_LAYER_PATH` first.
#[test]
fn lay_60_add_implicit_layer_path_comes_before_the_normal_search() {
    case(|scene| {
        place(scene, &[Layer::implicit("a"), Layer::implicit("b").folder("here")]);
        let here = scene.path("here");
        scene.env("VK_ADD_IMPLICIT_LAYER_PATH", here);
        scene
            .run(|vk| assert_eq!(vk.layers().expect("layers"), ["VK_LAYER_b", "VK_LAYER_a"]))
            .ok();
    });
}

/// LAY-60: `VK_ADD_IMPLICIT_LAYER_PATH` is ignored if `VK_IMPLICIT_LAYER_PATH` is set.
#[test]
fn lay_60_add_implicit_layer_path_is_ignored_beside_implicit_layer_path() {
    case(|scene| {
        place(
            scene,
            &[Layer::implicit("a").folder("one"), Layer::implicit("b").folder("two")],
        );
        let (one, two) = (scene.path("one"), scene.path("two"));
        scene
            .env("VK_IMPLICIT_LAYER_PATH", one)
            .env("VK_ADD_IMPLICIT_LAYER_PATH", two);
        scene
            .run(|vk| assert_eq!(vk.layers().expect("layers"), ["VK_LAYER_a"]))
            .ok();
    });
}

/// BI-40, LAY-14: path variables that consist of separators or name missing folders lead to no layer.
#[test]
fn bi_40_paths_of_separators_alone_and_missing_ones_hold_nothing() {
    case(|scene| {
        place(scene, &[Layer::explicit("a"), Layer::explicit("root").folder(".")]);
        for path in [":", ":::", "/no/such/folder", "no/such/file.json:"] {
            scene.env("VK_LAYER_PATH", path);
            let outcome = scene.run(|vk| assert!(vk.layers().expect("layers").is_empty()));
            outcome.ok();
        }
    });
}

/// BI-40: very long and malformed layer paths cause no error.
#[test]
fn bi_40_layer_paths_of_any_size_and_form_are_survived() {
    case(|scene| {
        place(scene, &[Layer::explicit("a").folder("here")]);
        let long = "/no/such/folder".repeat(5000);
        let segments = "x:".repeat(20_000);
        let here = scene.text_path("here");
        scene.env(
            "VK_LAYER_PATH",
            format!(":::{long}:{segments}{here}:{}", "y".repeat(5000)),
        );
        scene
            .run(|vk| assert_eq!(vk.layers().expect("layers"), ["VK_LAYER_a"]))
            .ok();
    });
}
