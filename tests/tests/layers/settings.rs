//! Tests of the part of the loader settings file that concerns layers (LAY-140 to LAY-157).

use loader_tests::ash::vk;
use loader_tests::{Outcome, Scene, case};

use crate::kit::{Layer, chain, list, place, put_text};
use crate::meta::active;

/// Entry of the settings file that marks the place of all layers that the normal search finds.
pub(crate) const MARKER: &str = r#"{"control": "unordered_layer_location"}"#;

/// Returns the settings-file entry for the layer that [`listed`] returns for the same name.
pub(crate) fn entry(short: &str, control: &str) -> String {
    format!(r#"{{"name": "VK_LAYER_{short}", "path": "@ROOT@/listed/{short}.json", "control": "{control}"}}"#)
}

/// Returns an entry whose manifest is read as the manifest of an implicit layer.
pub(crate) fn implicit_entry(short: &str, control: &str) -> String {
    entry(short, control).replace('}', ", \"treat_as_implicit_manifest\": true}")
}

/// Returns a layer that the normal search does not find, because only the settings file names its manifest.
pub(crate) fn listed(short: &str) -> Layer {
    Layer::explicit(short).folder("listed")
}

/// Returns an implicit layer whose manifest only the settings file names.
pub(crate) fn listed_implicit(short: &str) -> Layer {
    Layer::implicit(short).folder("listed")
}

/// Writes the settings file with the given entries.
pub(crate) fn settings(scene: &Scene, entries: &[String]) {
    let text = format!(
        r#"{{"file_format_version": "1.0.0", "settings": {{"layers": [{}]}}}}"#,
        entries.join(", ")
    );
    put_text(
        scene,
        "xdg/data-home/vulkan/loader_settings.d/vk_loader_settings.json",
        &text,
    );
}

/// Creates an instance, and reports the enumerated and the active layers. The application requests no layers.
pub(crate) fn plain(scene: &mut Scene) -> Outcome {
    let outcome = scene.run(|vk| {
        vk.layers()
            .expect("layers")
            .iter()
            .for_each(|name| vk.say("layer", name));
        drop(vk.instance());
    });
    outcome.ok();
    outcome
}

/// LAY-150, LAY-154, LAY-262, APP-256: a layer that is `on` is active.
#[test]
fn lay_150_a_layer_that_is_on_works() {
    case(|scene| {
        place(
            scene,
            &[listed("a"), listed("b"), listed("c"), Layer::implicit("unlisted")],
        );
        settings(scene, &[entry("c", "on"), entry("b", "auto"), entry("a", "on")]);
        let outcome = plain(scene);
        assert_eq!(chain(&outcome), ["VK_LAYER_c", "VK_LAYER_a"]);
        assert_eq!(outcome.said("layer"), ["VK_LAYER_c", "VK_LAYER_b", "VK_LAYER_a"]);
        assert!(
            outcome
                .stderr
                .contains("Enabled By: Loader Settings File (Vulkan Configurator)"),
            "{}",
            outcome.all()
        );
    });
}

/// LAY-150: with an empty list of layers in the settings file, there are no layers.
#[test]
fn lay_150_an_empty_list_means_no_layers() {
    case(|scene| {
        place(scene, &[Layer::implicit("i"), Layer::explicit("e")]);
        settings(scene, &[]);
        let outcome = plain(scene);
        assert!(
            chain(&outcome).is_empty() && outcome.said("layer").is_empty(),
            "{}",
            outcome.all()
        );
    });
}

/// LAY-150: the loader treats an unknown `control` as `auto`.
#[test]
fn lay_150_an_unknown_control_is_auto() {
    case(|scene| {
        place(scene, &[listed("a")]);
        settings(scene, &[entry("a", "perhaps")]);
        let outcome = scene.run(|vk| drop(vk.spec().layer("VK_LAYER_a").create().expect("vkCreateInstance")));
        assert_eq!(chain(outcome.ok()), ["VK_LAYER_a"]);
    });
}

/// LAY-150, APP-253: an entry is skipped if its path does not end in `.json`.
#[test]
fn lay_150_a_path_that_does_not_end_in_json_contributes_nothing() {
    case(|scene| {
        place(scene, &[listed("a")]);
        settings(scene, &[entry("a", "on").replace(".json", ".txt"), entry("none", "on")]);
        let outcome = plain(scene);
        assert!(outcome.said("layer").is_empty());
        outcome
            .not_logged("a.txt is")
            .logged_with("ERROR", "loader_get_json: Failed to open JSON file");
    });
}

/// LAY-150: the loader does not open the manifest of a layer that is `off`.
#[test]
fn lay_150_the_manifest_of_a_layer_that_is_off_is_not_opened() {
    case(|scene| {
        place(scene, &[listed("a")]);
        settings(scene, &[entry("none", "off"), entry("a", "on")]);
        let outcome = plain(scene);
        assert_eq!(chain(&outcome), ["VK_LAYER_a"]);
        outcome.not_logged("Failed to open JSON file");
    });
}

/// LAY-151: the loader ignores the settings file's list of layers if an entry has no name.
#[test]
fn lay_151_an_entry_without_a_name_voids_the_list() {
    case(|scene| {
        place(scene, &[listed("a"), Layer::implicit("i")]);
        settings(
            scene,
            &[entry("a", "on"), r#"{"path": "/x.json", "control": "on"}"#.into()],
        );
        assert_eq!(plain(scene).said("layer"), ["VK_LAYER_i"]);
    });
}

/// LAY-151: the loader ignores the settings file's list of layers if an entry is not an object.
#[test]
fn lay_151_an_entry_that_is_no_object_voids_the_list() {
    case(|scene| {
        place(scene, &[listed("a"), Layer::implicit("i")]);
        settings(scene, &[entry("a", "on"), "5".into()]);
        assert_eq!(plain(scene).said("layer"), ["VK_LAYER_i"]);
    });
}

/// LAY-151: the loader ignores the settings file's list of layers if an entry lacks one of the required members.
#[test]
fn lay_151_each_part_of_an_entry_is_needed() {
    case(|scene| {
        place(scene, &[listed("a"), Layer::implicit("i")]);
        for wrong in [
            r#"{"name": "x", "path": "/x.json"}"#,
            r#"{"name": "x", "path": "/x.json", "control": true}"#,
            r#"{"name": "x", "control": "off"}"#,
            r#"{"name": 5, "path": "/x.json", "control": "on"}"#,
            "[]",
        ] {
            settings(scene, &[entry("a", "on"), wrong.into()]);
            assert_eq!(plain(scene).said("layer"), ["VK_LAYER_i"], "{wrong}");
        }
    });
}

/// LAY-152, LAY-161: a meta-layer that the search finds needs components that the search finds too. Components from the settings file are
/// not enough.
#[test]
fn lay_152_meta_layers_that_are_found_see_no_listed_components() {
    case(|scene| {
        let metas = [
            Layer::meta("good", &["VK_LAYER_e"]),
            Layer::meta("bad", &["VK_LAYER_a"]),
        ];
        place(scene, &[&[listed("a"), Layer::explicit("e")][..], &metas].concat());
        settings(scene, &[entry("a", "on"), MARKER.into()]);
        let names = ["VK_LAYER_a", "VK_LAYER_e", "VK_LAYER_good"];
        assert_eq!(plain(scene).said("layer"), names);
    });
}

/// LAY-152: if the settings file lacks the entry `MARKER`, only the layers that the file lists exist.
#[test]
fn lay_152_without_the_marker_only_listed_layers_exist() {
    case(|scene| {
        place(
            scene,
            &[
                listed("a"),
                Layer::implicit("i"),
                Layer::overriding(&["VK_LAYER_e"]),
                Layer::explicit("e").folder("here"),
            ],
        );
        let here = scene.path("here");
        scene.env("VK_LAYER_PATH", here).env("VK_INSTANCE_LAYERS", "VK_LAYER_e");
        settings(scene, &[entry("a", "on")]);
        let outcome = plain(scene);
        assert_eq!(outcome.said("layer"), ["VK_LAYER_a"]);
        assert_eq!(chain(&outcome), ["VK_LAYER_a"]);
    });
}

/// LAY-152, LAY-154: the marker for unlisted layers determines the place of these layers in the list.
#[test]
fn lay_152_the_marker_is_the_place_of_the_layers_found() {
    case(|scene| {
        place(
            scene,
            &[
                listed("first"),
                listed("last"),
                Layer::implicit("i"),
                Layer::explicit("e"),
                Layer::explicit("hidden"),
                Layer::explicit("last").folder("xdg/data-home/vulkan/explicit_layer.d"),
            ],
        );
        settings(
            scene,
            &[
                entry("first", "on"),
                MARKER.into(),
                entry("last", "on"),
                entry("hidden", "off"),
            ],
        );
        let outcome = scene.run(|vk| {
            vk.layers()
                .expect("layers")
                .iter()
                .for_each(|name| vk.say("layer", name));
            drop(vk.spec().layer("VK_LAYER_e").create().expect("vkCreateInstance"));
        });
        outcome.ok();
        let order = ["VK_LAYER_first", "VK_LAYER_i", "VK_LAYER_e", "VK_LAYER_last"];
        assert_eq!(outcome.said("layer"), order);
        assert_eq!(
            chain(&outcome),
            order,
            "list order, and not the order of the four steps"
        );
    });
}

/// LAY-153, APP-253: an entry of the settings file is skipped if its manifest has no layer with the entry's name.
#[test]
fn lay_153_a_manifest_of_another_name_is_dropped() {
    case(|scene| {
        place(scene, &[listed("a").named("VK_LAYER_other"), listed("b")]);
        settings(scene, &[entry("a", "on"), entry("b", "on"), entry("b", "on")]);
        let outcome = plain(scene);
        assert_eq!(outcome.said("layer"), ["VK_LAYER_b"]);
        assert_eq!(chain(&outcome), ["VK_LAYER_b"]);
    });
}

/// LAY-153, LAY-157, APP-253: if two layers have the same name, the loader uses the layer that is closer to the driver.
#[test]
fn lay_157_the_one_nearest_the_driver_of_two_equal_names_is_used() {
    case(|scene| {
        let twin = |short: &str| listed(short).member("name", "\"VK_LAYER_same\"");
        place(scene, &[twin("one"), twin("two")]);
        let named = |short: &str| entry(short, "on").replace(&format!("VK_LAYER_{short}"), "VK_LAYER_same");
        settings(scene, &[named("one"), named("two")]);
        let outcome = plain(scene);
        assert_eq!(outcome.said("layer"), ["VK_LAYER_same", "VK_LAYER_same"]);
        // The journal contains the names from the mock layers' configurations. These names are different, although both manifests have the
        // name `VK_LAYER_same`.
        assert_eq!(chain(&outcome), ["VK_LAYER_two"]);
    });
}

/// Defines tests with four listed layers: `on`, `auto`, `off`, and the implicit layer `implicit`. A row contains the variables, and the
/// short names of the expected active layers.
macro_rules! controls {
    ($($(#[$doc:meta])* $name:ident: $($variable:ident = $value:expr),* => [$($short:literal),*];)*) => {$(
        $(#[$doc])*
        #[test]
        fn $name() {
            case(|scene| {
                place(scene, &[listed("on"), listed("auto"), listed("off"), listed_implicit("implicit")]);
                settings(scene, &[
                    implicit_entry("implicit", "auto"), entry("auto", "auto"), entry("off", "off"), entry("on", "on"),
                ]);
                $(scene.env(stringify!($variable), $value);)*
                let outcome = plain(scene);
                let expected: &[&str] = &[$(concat!("VK_LAYER_", $short)),*];
                assert_eq!(chain(&outcome), expected, "{}", outcome.all());
            });
        }
    )*};
}

controls! {
    /// LAY-154, APP-254: an `auto` entry that the settings file marks as implicit is active.
    lay_154_an_implicit_entry_works_by_itself: => ["implicit", "on"];
    /// LAY-154, APP-254: the disable variable of an `auto` implicit entry has an effect.
    lay_154_its_disable_variable_counts: DISABLE_implicit = "1" => ["on"];
    /// LAY-154, LAY-155: `on` takes precedence over the disable filter.
    lay_155_on_beats_the_disable_filter: VK_LOADER_LAYERS_DISABLE = "*" => ["on"];
    /// LAY-154: the allow filter exempts an `auto` layer from the disable filter.
    lay_154_allow_shields_an_auto_layer: VK_LOADER_LAYERS_DISABLE = "*", VK_LOADER_LAYERS_ALLOW = "*implicit"
        => ["implicit", "on"];
    /// LAY-154: the enable filter activates an `auto` layer.
    lay_154_enable_turns_an_auto_layer_on: VK_LOADER_LAYERS_ENABLE = "*auto" => ["implicit", "auto", "on"];
    /// LAY-154: the disable filter takes precedence over the enable filter for `auto` layers.
    lay_154_disable_beats_enable_here: VK_LOADER_LAYERS_ENABLE = "*", VK_LOADER_LAYERS_DISABLE = "*auto"
        => ["implicit", "on"];
    /// LAY-154, LAY-154a: `VK_INSTANCE_LAYERS` activates an `auto` layer.
    lay_154_instance_layers_turn_an_auto_layer_on: VK_INSTANCE_LAYERS = "VK_LAYER_none:VK_LAYER_off:VK_LAYER_auto"
        => ["implicit", "auto", "on"];
    /// LAY-155: `~explicit~` matches no layer of the settings file.
    lay_155_the_explicit_word_hits_nothing_here:
        VK_LOADER_LAYERS_DISABLE = "~explicit~", VK_INSTANCE_LAYERS = "VK_LAYER_auto" => ["implicit", "auto", "on"];
    /// LAY-155: `~implicit~` matches `auto` layers of both kinds.
    lay_155_the_implicit_word_hits_both_kinds:
        VK_LOADER_LAYERS_DISABLE = "~implicit~", VK_INSTANCE_LAYERS = "VK_LAYER_auto" => ["on"];
}

/// LAY-154a: the message about `VK_INSTANCE_LAYERS` has one text with a settings file, and a different text without one.
#[test]
fn lay_154a_instance_layers_are_told_in_their_own_words() {
    case(|scene| {
        place(scene, &[listed("auto")]);
        settings(scene, &[entry("auto", "auto")]);
        scene.env("VK_INSTANCE_LAYERS", "VK_LAYER_none:VK_LAYER_auto");
        let outcome = plain(scene);
        outcome
            .logged(
                "WARNING | LAYER",
                if cfg!(windows) {
                    "env var 'VK_INSTANCE_LAYERS' defined and adding layers: VK_LAYER_none;VK_LAYER_auto"
                } else {
                    "env var 'VK_INSTANCE_LAYERS' defined and adding layers: VK_LAYER_none:VK_LAYER_auto"
                },
            )
            .not_logged("was not found but was requested");
    });
}

/// LAY-154: the log names the filter that enables or disables a layer.
#[test]
fn lay_154_the_filters_are_told() {
    case(|scene| {
        place(scene, &[listed("one"), listed("two")]);
        settings(scene, &[entry("one", "auto"), entry("two", "auto")]);
        scene
            .env("VK_LOADER_LAYERS_DISABLE", "*one")
            .env("VK_LOADER_LAYERS_ENABLE", "*two");
        plain(scene)
            .logged(
                "WARNING | LAYER",
                "Layer \"VK_LAYER_one\" forced disabled because name matches filter of env var 'VK_LOADER_LAYERS_DISABLE'.",
            )
            .logged("WARNING | LAYER", "Layer \"VK_LAYER_two\" forced enabled due to env var 'VK_LOADER_LAYERS_ENABLE'.");
    });
}

/// LAY-155: instance creation fails if the application names a layer that is `off`.
#[test]
fn lay_155_an_application_that_names_a_layer_that_is_off_fails() {
    case(|scene| {
        place(scene, &[listed("a"), listed("b")]);
        settings(scene, &[entry("a", "off"), entry("b", "auto")]);
        scene.env("VK_LOADER_LAYERS_DISABLE", "*b");
        let outcome = scene.run(|vk| {
            let refused = vk.spec().layer("VK_LAYER_a").create().err();
            assert_eq!(refused, Some(vk::Result::ERROR_LAYER_NOT_PRESENT));
            assert_eq!(vk.layers().expect("layers"), ["VK_LAYER_b"]);
            // A filter affects only the activation, so the application creates an instance without the layer.
            drop(vk.spec().layer("VK_LAYER_b").create().expect("vkCreateInstance"));
        });
        assert!(chain(outcome.ok()).is_empty());
    });
}

/// LAY-156, BI-35, APP-255: expansion stops if meta-layers of the settings file contain each other.
#[test]
fn bi_35_meta_layers_that_contain_each_other_are_cut() {
    case(|scene| {
        place(
            scene,
            &[
                listed("a"),
                Layer::meta("x", &["VK_LAYER_y", "VK_LAYER_a"]).folder("listed"),
                Layer::meta("y", &["VK_LAYER_x"]).folder("listed"),
            ],
        );
        settings(scene, &[entry("x", "on"), entry("y", "auto"), entry("a", "auto")]);
        let outcome = plain(scene);
        assert_eq!(chain(&outcome), ["VK_LAYER_a"]);
        outcome.logged(
            "WARNING | LAYER",
            "loader_add_meta_layer: Meta-layer VK_LAYER_x recursively references itself through its component layers. \
             Skipping the recursive reference.",
        );
    });
}

/// LAY-166, APP-255: a meta-layer of the settings file remains active although a filter disables its component.
#[test]
fn lay_166_a_component_hit_by_the_filter_leaves_its_meta_layer_in() {
    case(|scene| {
        place(
            scene,
            &[
                listed("a"),
                listed("b"),
                Layer::meta("m", &["VK_LAYER_a", "VK_LAYER_b"]).folder("listed"),
            ],
        );
        settings(scene, &[entry("m", "on"), entry("a", "auto"), entry("b", "auto")]);
        scene.env("VK_LOADER_LAYERS_DISABLE", "*_a");
        let outcome = scene.run(|vk| assert_eq!(active(&vk.instance()), ["VK_LAYER_b", "VK_LAYER_m"]));
        outcome.ok().logged(
            "WARNING | LAYER",
            "Meta Layer \"VK_LAYER_m\" component layer \"VK_LAYER_a\" disabled.",
        );
    });
}

/// LAY-276, APP-256: the settings file does not activate a layer's pre-instance functions. The layer's variables and the filters determine
/// if these functions are active.
#[test]
fn lay_276_pre_instance_functions_of_listed_layers_follow_their_own_rules() {
    case(|scene| {
        let functions = r#"{"vkEnumerateInstanceVersion": "mockEnumerateInstanceVersion"}"#;
        let pre = |layer: Layer| layer.member("pre_instance_functions", functions);
        place(
            scene,
            &[
                pre(listed_implicit("auto")),
                pre(listed_implicit("forced")).enabled_by("NEVER", "1"),
                pre(listed_implicit("off")),
                pre(listed("explicit")),
                pre(Layer::implicit("unlisted")),
            ],
        );
        settings(
            scene,
            &[
                implicit_entry("auto", "auto"),
                implicit_entry("forced", "on"),
                implicit_entry("off", "off"),
                entry("explicit", "on"),
            ],
        );
        let outcome = scene.run(|vk| {
            vk.version();
        });
        let calls: Vec<_> = outcome
            .ok()
            .journal()
            .into_iter()
            .filter(|line| line.contains(" pre "))
            .collect();
        assert_eq!(calls.len(), 1, "{calls:?}");
        assert!(calls[0].starts_with("VK_LAYER_auto "), "{calls:?}");
    });
}

/// LAY-150, LAY-171: settings for another program do not change the search.
#[test]
fn lay_150_settings_of_another_program_leave_the_normal_search() {
    case(|scene| {
        place(scene, &[listed("a"), Layer::implicit("i")]);
        let text = format!(
            r#"{{"file_format_version": "1.0.0", "settings": {{"app_keys": {}, "layers": [{}]}}}}"#,
            list(&["/no/such/program"]),
            entry("a", "on")
        );
        put_text(
            scene,
            "xdg/data-home/vulkan/loader_settings.d/vk_loader_settings.json",
            &text,
        );
        assert_eq!(chain(&plain(scene)), ["VK_LAYER_i"]);
    });
}
