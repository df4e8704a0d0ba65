//! Tests of the override layer (LAY-170 to LAY-182).

use std::path::PathBuf;

use loader_tests::{Scene, case, json_path};

use crate::kit::{Layer, chain, list, place, put_manifest};
use crate::meta::active;

/// Name of the override layer.
pub(crate) const OVERRIDE: &str = "VK_LAYER_LUNARG_override";

/// Returns the path of the running program. An application key must be equal to this path.
pub(crate) fn program() -> String {
    let path: PathBuf = std::env::current_exe().expect("a process knows its program");
    path.canonicalize()
        .expect("a running program has a path")
        .display()
        .to_string()
        .trim_start_matches(r"\\?\")
        .replace('\\', "/")
}

/// Returns an override layer that replaces the search for explicit layers by `folder`.
fn with_path(scene: &Scene, components: &[&str], folder: &str) -> Layer {
    Layer::overriding(components).member("override_paths", list(&[&scene.text_path(folder)]))
}

/// LAY-4, LAY-173, LAY-178, LAY-146: the components of the override layer are at the place of the override layer in the list.
#[test]
fn lay_146_the_override_layer_stands_where_it_was_found() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::implicit("before"),
                Layer::overriding(&["VK_LAYER_b", "VK_LAYER_a"]),
                Layer::implicit("behind"),
                Layer::explicit("a"),
                Layer::explicit("b"),
            ],
        );
        let outcome = scene.run(|vk| {
            let names = vk.layers().expect("layers");
            assert!(names.contains(&OVERRIDE.into()), "{names:?}");
            let expected = [
                "VK_LAYER_before",
                "VK_LAYER_b",
                "VK_LAYER_a",
                OVERRIDE,
                "VK_LAYER_behind",
            ];
            assert_eq!(active(&vk.instance()), expected);
        });
        assert_eq!(
            chain(outcome.ok()),
            ["VK_LAYER_before", "VK_LAYER_b", "VK_LAYER_a", "VK_LAYER_behind"]
        );
        outcome.logged("INFO | LAYER", "Using the global override layer");
    });
}

/// LAY-130, LAY-167, APP-224: an active override layer activates its implicit components.
#[test]
fn lay_130_the_override_layer_turns_its_implicit_components_on() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::implicit("off"),
                Layer::implicit("needs").enabled_by("ON", "1"),
                Layer::overriding(&["VK_LAYER_needs", "VK_LAYER_off"]),
            ],
        );
        scene.env("DISABLE_off", "1");
        let outcome = scene.run(|vk| drop(vk.instance()));
        let mut names = chain(outcome.ok());
        names.sort_unstable();
        assert_eq!(names, ["VK_LAYER_needs", "VK_LAYER_off"]);
    });
}

/// LAY-170: an override layer without a disable variable has no effect.
#[test]
fn lay_170_without_a_disable_variable_nothing_is_overridden() {
    case(|scene| {
        let layer = with_path(scene, &["VK_LAYER_a"], "override").without("disable_environment");
        place(scene, &[layer, Layer::explicit("a")]);
        scene
            .run(|vk| assert_eq!(vk.layers().expect("layers"), ["VK_LAYER_a"]))
            .ok();
    });
}

/// LAY-170: an explicit layer with the name of the override layer has no effect.
#[test]
fn lay_170_an_explicit_manifest_of_that_name_overrides_nothing() {
    case(|scene| {
        let paths = list(&[&scene.text_path("override")]);
        place(
            scene,
            &[
                Layer::meta("override", &["VK_LAYER_a"])
                    .named(OVERRIDE)
                    .member("override_paths", paths),
                Layer::explicit("a"),
            ],
        );
        let outcome = scene.run(|vk| {
            assert_eq!(vk.layers().expect("layers"), [OVERRIDE, "VK_LAYER_a"]);
            drop(vk.instance());
        });
        assert!(chain(outcome.ok()).is_empty());
    });
}

/// LAY-171, LAY-172, LAY-173: an override layer with a matching application key takes precedence over the global override layer.
#[test]
fn lay_172_a_matching_application_key_wins_over_the_global_one() {
    case(|scene| {
        let key = program();
        let keyed = |short: &str, component: &str| Layer::implicit_meta(short, &[component]).named(OVERRIDE);
        place(
            scene,
            &[
                keyed("global", "VK_LAYER_a"),
                keyed("other", "VK_LAYER_b").member("app_keys", "[\"/no/such/program\"]"),
                keyed("ours", "VK_LAYER_c").member("app_keys", list(&["/x", &json_path(&key)])),
                Layer::explicit("a"),
                Layer::explicit("b"),
                Layer::explicit("c"),
            ],
        );
        let outcome = scene.run(|vk| drop(vk.instance()));
        assert_eq!(chain(outcome.ok()), ["VK_LAYER_c"]);
        outcome.logged("INFO | LAYER", &format!("Using the override layer for app key {key}"));
    });
}

/// LAY-172: if no application key matches, the loader uses the global override layer.
#[test]
fn lay_172_keys_of_other_programs_leave_the_global_one() {
    case(|scene| {
        let key = program();
        place(
            scene,
            &[
                Layer::implicit_meta("other", &["VK_LAYER_b"])
                    .named(OVERRIDE)
                    .member("app_keys", "[\"/no/such/program\"]"),
                Layer::implicit_meta("global", &["VK_LAYER_a"])
                    .named(OVERRIDE)
                    .member("app_keys", "[]"),
                Layer::explicit("a"),
                Layer::explicit("b"),
            ],
        );
        let outcome = scene.run(|vk| drop(vk.instance()));
        assert_eq!(chain(outcome.ok()), ["VK_LAYER_a"]);
        outcome.logged(
            "INFO | LAYER",
            &format!("--Override layer found but not used because app '{key}' is not in 'app_keys' list!"),
        );
    });
}

/// LAY-172, BI-37: if there are several global override layers, the loader uses the first of them.
#[test]
fn bi_37_the_first_global_override_layer_is_used() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::implicit_meta("first", &["VK_LAYER_a"]).named(OVERRIDE),
                Layer::implicit_meta("second", &["VK_LAYER_b"]).named(OVERRIDE),
                Layer::explicit("a"),
                Layer::explicit("b"),
            ],
        );
        let outcome = scene.run(|vk| {
            assert_eq!(
                vk.layers()
                    .expect("layers")
                    .iter()
                    .filter(|name| *name == OVERRIDE)
                    .count(),
                1
            );
            drop(vk.instance());
        });
        assert_eq!(chain(outcome.ok()), ["VK_LAYER_a"]);
        assert!(!outcome.log("WARNING | LAYER").is_empty(), "{}", outcome.all());
    });
}

/// LAY-175, LAY-64: override paths replace the search for explicit layers.
#[test]
fn lay_175_override_paths_replace_the_explicit_search() {
    case(|scene| {
        let layer = with_path(scene, &["VK_LAYER_a"], "override");
        place(
            scene,
            &[
                layer,
                Layer::implicit("i"),
                Layer::explicit("usual"),
                Layer::explicit("by_variable").folder("variable"),
                Layer::explicit("a").folder("override"),
                Layer::explicit("b").folder("override"),
            ],
        );
        let variable = scene.text_path("variable");
        scene.env("VK_LAYER_PATH", &variable);
        let path = scene.text_path("override");
        let outcome = scene.run(|vk| {
            let mut names = vk.layers().expect("layers");
            names.sort_unstable();
            assert_eq!(names, [OVERRIDE, "VK_LAYER_a", "VK_LAYER_b", "VK_LAYER_i"]);
            drop(vk.instance());
        });
        assert_eq!(chain(outcome.ok()), ["VK_LAYER_a", "VK_LAYER_i"]);
        outcome.logged("WARNING | LAYER", &format!("Override layer has override path {path}")).logged(
            "INFO | LAYER",
            &format!(
                "Ignoring VK_LAYER_PATH. The Override layer is active and has override paths set, which takes priority. \
                 VK_LAYER_PATH is set to {variable}"
            ),
        );
        let told = [outcome.log("INFO | LAYER"), outcome.log("INFO")].concat();
        assert!(
            told.iter().any(|text| text.trim() == path),
            "no line of its own for {path}\n{}",
            outcome.all()
        );
    });
}

/// LAY-175: an override path can name a manifest.
#[test]
fn lay_175_an_override_path_may_be_a_manifest() {
    case(|scene| {
        let layer = with_path(scene, &["VK_LAYER_a"], "override/a.json");
        place(
            scene,
            &[
                layer,
                Layer::explicit("a").folder("override"),
                Layer::explicit("b").folder("override"),
            ],
        );
        scene
            .run(|vk| assert_eq!(vk.layers().expect("layers"), [OVERRIDE, "VK_LAYER_a"]))
            .ok();
    });
}

/// LAY-176, BI-38: a missing component removes the override layer, and no other layer.
#[test]
fn lay_176_a_missing_component_removes_the_override_layer_only() {
    case(|scene| {
        let layer = with_path(scene, &["VK_LAYER_usual"], "override");
        place(
            scene,
            &[layer, Layer::explicit("usual"), Layer::explicit("a").folder("override")],
        );
        let outcome = scene.run(|vk| {
            assert_eq!(vk.layers().expect("layers"), ["VK_LAYER_a"]);
            drop(vk.instance());
        });
        assert!(chain(outcome.ok()).is_empty());
    });
}

/// LAY-175, BI-38: missing and empty override paths are skipped.
#[test]
fn bi_38_missing_and_empty_override_paths_are_skipped() {
    case(|scene| {
        let path = scene.text_path("override");
        place(
            scene,
            &[
                Layer::overriding(&["VK_LAYER_a"]).member("override_paths", list(&["", "/no/such/folder", &path])),
                Layer::explicit("a").folder("override"),
            ],
        );
        scene
            .run(|vk| assert_eq!(vk.layers().expect("layers"), [OVERRIDE, "VK_LAYER_a"]))
            .ok();
    });
}

/// LAY-177: no variable can enable a layer of the blacklist.
#[test]
fn lay_177_blacklisted_layers_cannot_be_brought_back() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::overriding(&["VK_LAYER_a"])
                    .member("blacklisted_layers", list(&["VK_LAYER_i", "VK_LAYER_b", OVERRIDE])),
                Layer::implicit("i"),
                Layer::implicit("j"),
                Layer::explicit("a"),
                Layer::explicit("b"),
            ],
        );
        scene
            .env("VK_INSTANCE_LAYERS", "VK_LAYER_i:VK_LAYER_b")
            .env("VK_LOADER_LAYERS_ENABLE", "~all~");
        let outcome = scene.run(|vk| {
            assert_eq!(vk.layers().expect("layers"), [OVERRIDE, "VK_LAYER_j", "VK_LAYER_a"]);
            drop(vk.instance());
        });
        assert_eq!(chain(outcome.ok()), ["VK_LAYER_a", "VK_LAYER_j"]);
        outcome.logged(
            "DEBUG",
            "loader_remove_layers_in_blacklist: Override layer is active and layer VK_LAYER_i is in the blacklist inside of \
             it. Removing that layer from current layer list.",
        );
    });
}

/// LAY-179: an inactive override layer has no effect.
#[test]
fn lay_179_an_override_layer_that_is_off_has_no_effect() {
    case(|scene| {
        let layer = with_path(scene, &["VK_LAYER_a"], "override").member("blacklisted_layers", list(&["VK_LAYER_a"]));
        place(scene, &[layer, Layer::explicit("a")]);
        scene.env("DISABLE_override", "1");
        let outcome = scene.run(|vk| {
            assert!(vk.layers().expect("layers").contains(&"VK_LAYER_a".into()));
            drop(vk.instance());
        });
        assert!(chain(outcome.ok()).is_empty());
    });
}

/// LAY-179, LAY-130, LAY-127, APP-224: an override layer that the filter disables has no effect.
#[test]
fn lay_179_an_override_layer_that_the_filter_disables_has_no_effect() {
    case(|scene| {
        let layer = with_path(scene, &["VK_LAYER_a"], "override").member("blacklisted_layers", list(&["VK_LAYER_a"]));
        place(scene, &[layer, Layer::explicit("a")]);
        scene.env("VK_LOADER_LAYERS_DISABLE", "*override");
        scene
            .run(|vk| assert_eq!(vk.layers().expect("layers"), ["VK_LAYER_a"]))
            .ok()
            .logged(
                "WARNING | LAYER",
                &format!(
                    "Implicit layer \"{OVERRIDE}\" forced disabled because name matches filter of env var \
                     'VK_LOADER_LAYERS_DISABLE'."
                ),
            );
    });
}

/// LAY-180: the expiry date of an override layer is ignored.
#[test]
fn lay_180_an_expiry_date_is_ignored() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::overriding(&["VK_LAYER_a"]).member("expiration_date", "\"2001-01-01-00-00\""),
                Layer::explicit("a"),
            ],
        );
        let outcome = scene.run(|vk| drop(vk.instance()));
        assert_eq!(chain(outcome.ok()), ["VK_LAYER_a"]);
    });
}

/// LAY-182: an override layer can have a blacklist and an empty list of components.
#[test]
fn lay_182_a_blacklist_alone_is_valid_with_an_empty_list_of_components() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::overriding(&[]).member("blacklisted_layers", list(&["VK_LAYER_i"])),
                Layer::implicit("i"),
                Layer::implicit("j"),
            ],
        );
        let outcome = scene.run(|vk| drop(vk.instance()));
        assert_eq!(chain(outcome.ok()), ["VK_LAYER_j"]);
    });
}

/// BI-39: a blacklist ends at the first element that is not a string.
#[test]
fn bi_39_lists_are_read_up_to_the_first_element_that_is_no_string() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::overriding(&[]).member("blacklisted_layers", "[\"VK_LAYER_i\", 5, \"VK_LAYER_j\"]"),
                Layer::implicit("i"),
                Layer::implicit("j"),
            ],
        );
        let outcome = scene.run(|vk| drop(vk.instance()));
        assert_eq!(chain(outcome.ok()), ["VK_LAYER_j"]);
    });
}

/// LAY-175: override paths do not change the search for implicit layers.
#[test]
fn lay_175_the_implicit_search_stays() {
    case(|scene| {
        let layer = with_path(scene, &["VK_LAYER_a"], "override");
        place(scene, &[layer, Layer::implicit("i")]);
        // A layer in an override path is explicit, even if it has a disable variable.
        let object = Layer::implicit("a").object();
        Layer::implicit("a").put_library(scene);
        put_manifest(scene, "override/a.json", "1.2.0", &[&object]);
        scene.env("DISABLE_a", "1");
        let outcome = scene.run(|vk| drop(vk.instance()));
        assert_eq!(chain(outcome.ok()), ["VK_LAYER_a", "VK_LAYER_i"]);
    });
}

/// LAY-85: override paths in a manifest of an older version cause a warning, and the loader uses them.
#[test]
fn lay_85_override_paths_of_an_older_version_are_warned_of_and_used() {
    case(|scene| {
        let layer = with_path(scene, &["VK_LAYER_a"], "override").format("1.0.1");
        place(scene, &[layer, Layer::explicit("a").folder("override")]);
        let outcome = scene.run(|vk| assert_eq!(vk.layers().expect("layers"), [OVERRIDE, "VK_LAYER_a"]));
        outcome.ok().logged(
            "WARNING",
            &format!(
                "Layer \"{OVERRIDE}\" contains meta-layer-specific override paths, but using older JSON file version."
            ),
        );
    });
}

/// LAY-174: the enable and disable variables of the override layer have an effect. A component that is too old removes the override layer.
#[test]
fn lay_174_the_override_layer_obeys_its_variables_and_its_components() {
    case(|scene| {
        let overriding = with_path(scene, &["VK_LAYER_a"], "override").enabled_by("OVERRIDE_ON", "1");
        place(
            scene,
            &[
                overriding,
                Layer::explicit("a").folder("override"),
                Layer::explicit("usual"),
            ],
        );
        for (value, filter, expected) in [
            ("0", "", &["VK_LAYER_usual"][..]),
            ("1", "", &["VK_LAYER_a"]),
            ("0", "*override", &["VK_LAYER_a"]),
        ] {
            scene.env("OVERRIDE_ON", value).env("VK_LOADER_LAYERS_ENABLE", filter);
            let outcome = scene.run(|vk| {
                let layers = vk.layers().expect("layers");
                assert_eq!(
                    layers.iter().filter(|name| *name != OVERRIDE).collect::<Vec<_>>(),
                    expected
                );
            });
            outcome.ok();
        }
        scene.env("OVERRIDE_ON", "1");
        Layer::explicit("a").folder("override").api("1.2.0").put(scene);
        let outcome = scene.run(|vk| {
            assert_eq!(vk.layers().expect("layers"), ["VK_LAYER_a"]);
            drop(vk.instance());
        });
        assert!(chain(outcome.ok()).is_empty());
    });
}
