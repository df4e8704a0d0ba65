//! Tests of the three filter variables, and of the conditions under which an implicit layer is active (LAY-120 to LAY-134).

use loader_tests::ash::vk;
use loader_tests::{Outcome, Scene, case};

use crate::kit::{Layer, chain, loads, place};

/// Adds two implicit and two explicit layers. The application requests none of them.
fn four(scene: &mut Scene) {
    place(
        scene,
        &[
            Layer::implicit("one_implicit"),
            Layer::implicit("two_implicit"),
            Layer::explicit("one_explicit"),
            Layer::explicit("two_explicit"),
        ],
    );
}

/// Creates an instance. The application requests no layers. The layers record their calls.
fn plain(scene: &mut Scene) -> Outcome {
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

/// Defines tests with the layers of `four`. A row contains the variables, and the short names of the expected active layers.
macro_rules! filters {
    ($($(#[$doc:meta])* $name:ident: $($variable:ident = $value:expr),+ => [$($short:literal),*];)*) => {$(
        $(#[$doc])*
        #[test]
        fn $name() {
            case(|scene| {
                four(scene);
                $(scene.env(stringify!($variable), $value);)+
                let outcome = plain(scene);
                let expected: &[&str] = &[$(concat!("VK_LAYER_", $short)),*];
                assert_eq!(chain(&outcome), expected, "{}", outcome.all());
            });
        }
    )*};
}

filters! {
    /// LAY-120, LAY-140, LAY-143: the enable filter activates explicit layers.
    lay_120_enable_adds_explicit_layers: VK_LOADER_LAYERS_ENABLE = "VK_LAYER_two_explicit"
        => ["one_implicit", "two_implicit", "two_explicit"];
    /// LAY-120, APP-226: commas separate the items, and empty items are skipped.
    lay_120_items_are_separated_by_commas: VK_LOADER_LAYERS_ENABLE = ",VK_LAYER_two_explicit,,VK_LAYER_one_explicit,"
        => ["one_implicit", "two_implicit", "one_explicit", "two_explicit"];
    /// LAY-120: blanks in a filter belong to its patterns.
    lay_120_blanks_are_not_trimmed: VK_LOADER_LAYERS_DISABLE = " VK_LAYER_one_implicit,VK_LAYER_two_implicit "
        => ["one_implicit", "two_implicit"];
    /// LAY-120, BI-41: the loader uses at most 16 patterns.
    lay_120_the_seventeenth_pattern_is_ignored:
        VK_LOADER_LAYERS_DISABLE = format!("{}VK_LAYER_one_implicit,VK_LAYER_two_implicit", "x,".repeat(15))
        => ["two_implicit"];
    /// LAY-121: a star at the end makes the pattern match a prefix.
    lay_121_a_star_at_the_end_matches_a_beginning: VK_LOADER_LAYERS_DISABLE = "VK_LAYER_one*" => ["two_implicit"];
    /// LAY-121: a star at the start makes the pattern match a suffix.
    lay_121_a_star_in_front_matches_an_end: VK_LOADER_LAYERS_ENABLE = "*o_explicit"
        => ["one_implicit", "two_implicit", "two_explicit"];
    /// LAY-121: stars at both ends make the pattern match every part of a name.
    lay_121_stars_around_match_a_part: VK_LOADER_LAYERS_DISABLE = "*wo_imp*" => ["one_implicit"];
    /// LAY-121: a star in the middle is not a wildcard.
    lay_121_a_star_inside_is_no_wildcard: VK_LOADER_LAYERS_DISABLE = "VK_LAYER_*_implicit"
        => ["one_implicit", "two_implicit"];
    /// LAY-121: whole names match in any case.
    lay_121_names_match_in_any_case: VK_LOADER_LAYERS_DISABLE = "vk_layer_ONE_IMPLICIT" => ["two_implicit"];
    /// LAY-121: prefixes match in any case.
    lay_121_beginnings_match_in_any_case: VK_LOADER_LAYERS_DISABLE = "vk_Layer_ONE*" => ["two_implicit"];
    /// LAY-121: suffixes match in any case.
    lay_121_ends_match_in_any_case: VK_LOADER_LAYERS_ENABLE = "*Layer_two_Explicit"
        => ["one_implicit", "two_implicit", "two_explicit"];
    /// LAY-121: parts of a name match in any case.
    lay_121_parts_match_in_any_case: VK_LOADER_LAYERS_DISABLE = "*Layer_ONE*" => ["two_implicit"];
    /// LAY-121: a part that all names contain disables every layer.
    lay_121_a_part_of_all_names_matches_in_any_case: VK_LOADER_LAYERS_DISABLE = "*layer*" => [];
    /// LAY-121: a pattern without stars must be the whole name.
    lay_121_a_part_without_stars_is_no_match: VK_LOADER_LAYERS_DISABLE = "VK_LAYER_one" => ["one_implicit", "two_implicit"];
    /// LAY-122: `*` matches every layer.
    lay_122_a_star_disables_everything: VK_LOADER_LAYERS_DISABLE = "*" => [];
    /// LAY-122: `**` matches every layer.
    lay_122_two_stars_disable_everything: VK_LOADER_LAYERS_DISABLE = "**" => [];
    /// LAY-122: `~all~` matches every layer in the disable filter.
    lay_122_all_disables_everything: VK_LOADER_LAYERS_DISABLE = "~all~" => [];
    /// LAY-122: `~all~` matches every layer in the enable filter.
    lay_122_all_enables_everything: VK_LOADER_LAYERS_ENABLE = "~all~"
        => ["one_implicit", "two_implicit", "one_explicit", "two_explicit"];
    /// LAY-122, APP-222: `~implicit~` disables the implicit layers.
    lay_122_implicit_disables_implicit_layers:
        VK_LOADER_LAYERS_DISABLE = "~implicit~", VK_INSTANCE_LAYERS = "VK_LAYER_one_explicit" => ["one_explicit"];
    /// LAY-122, APP-222: `~explicit~` disables the explicit layers.
    lay_122_explicit_disables_explicit_layers:
        VK_LOADER_LAYERS_DISABLE = "~explicit~", VK_INSTANCE_LAYERS = "VK_LAYER_one_explicit"
        => ["one_implicit", "two_implicit"];
    /// LAY-122, APP-222: `~implicit~` and `~explicit~` match nothing in the enable filter.
    lay_122_implicit_means_nothing_to_enable: VK_LOADER_LAYERS_ENABLE = "~implicit~,~explicit~"
        => ["one_implicit", "two_implicit"];
    /// LAY-122, BI-41: an unknown word between tildes is ignored.
    lay_122_an_unknown_word_is_ignored: VK_LOADER_LAYERS_DISABLE = "~x~,***,,," => ["one_implicit", "two_implicit"];
    /// LAY-120: special words of the disable filter are not among the 16 permitted patterns.
    lay_120_special_words_do_not_count: VK_LOADER_LAYERS_DISABLE =
        format!("~explicit~,{}VK_LAYER_one_implicit,VK_LAYER_two_implicit", "x,".repeat(14)) => [];
    /// LAY-122: `~all~` matches every layer in the allow filter.
    lay_122_all_words_allow_everything: VK_LOADER_LAYERS_DISABLE = "~implicit~", VK_LOADER_LAYERS_ALLOW = "~all~"
        => ["one_implicit", "two_implicit"];
    /// LAY-122, APP-222: `~implicit~` matches nothing in the allow filter.
    lay_122_implicit_means_nothing_to_allow: VK_LOADER_LAYERS_DISABLE = "*", VK_LOADER_LAYERS_ALLOW = "~implicit~" => [];
    /// LAY-123, LAY-124, APP-223: the allow filter exempts a layer from the disable filter.
    lay_124_allow_shields_from_disable: VK_LOADER_LAYERS_DISABLE = "*", VK_LOADER_LAYERS_ALLOW = "*two_implicit"
        => ["two_implicit"];
    /// LAY-124, APP-223: the allow filter activates no layer.
    lay_124_allow_enables_nothing: VK_LOADER_LAYERS_ALLOW = "*" => ["one_implicit", "two_implicit"];
    /// LAY-124, APP-223: the enable filter takes precedence over the disable filter.
    lay_124_enable_beats_disable:
        VK_LOADER_LAYERS_DISABLE = "*", VK_LOADER_LAYERS_ENABLE = "VK_LAYER_one_explicit,VK_LAYER_two_implicit"
        => ["two_implicit", "one_explicit"];
    /// LAY-126, LAY-142: the disable filter takes precedence over `VK_INSTANCE_LAYERS`.
    lay_126_disable_beats_instance_layers:
        VK_LOADER_LAYERS_DISABLE = "*one*", VK_INSTANCE_LAYERS = "VK_LAYER_one_explicit:VK_LAYER_two_explicit"
        => ["two_implicit", "two_explicit"];
    /// LAY-130, APP-224: the disable variable of an implicit layer disables the layer.
    lay_130_a_disable_variable_turns_a_layer_off: DISABLE_one_implicit = "1" => ["two_implicit"];
    /// LAY-130: an empty disable variable disables the layer too.
    lay_130_an_empty_disable_variable_counts: DISABLE_one_implicit = "" => ["two_implicit"];
    /// LAY-130, APP-224: the disable variable takes precedence over the enable filter.
    lay_130_a_disable_variable_beats_the_enable_filter:
        DISABLE_one_implicit = "1", VK_LOADER_LAYERS_ENABLE = "VK_LAYER_one_implicit" => ["two_implicit"];
    /// LAY-140, LAY-141: the layers of `VK_INSTANCE_LAYERS` come after implicit layers in the chain.
    lay_140_instance_layers_come_below_implicit_ones:
        VK_INSTANCE_LAYERS = "VK_LAYER_two_explicit:VK_LAYER_one_explicit"
        => ["one_implicit", "two_implicit", "two_explicit", "one_explicit"];
    /// LAY-140, LAY-141: an implicit layer in `VK_INSTANCE_LAYERS` has its place in the order of this variable.
    lay_141_an_implicit_layer_moves_to_its_place_in_instance_layers:
        VK_INSTANCE_LAYERS = "VK_LAYER_one_explicit:VK_LAYER_one_implicit" => ["two_implicit", "one_explicit", "one_implicit"];
    /// LAY-141: `VK_INSTANCE_LAYERS` activates an implicit layer, also if the variables of the layer disable it.
    lay_141_instance_layers_enable_an_implicit_layer_whatever_its_variables_say:
        VK_INSTANCE_LAYERS = "VK_LAYER_one_implicit", DISABLE_one_implicit = "1" => ["two_implicit", "one_implicit"];
    /// LAY-141, APP-228: a layer whose name is only a part of a name in `VK_INSTANCE_LAYERS` is not activated.
    lay_141_a_part_of_a_listed_name_is_not_listed: VK_INSTANCE_LAYERS = "VK_LAYER_one_implicit_and_more"
        => ["one_implicit", "two_implicit"];
    /// LAY-142, BI-42: repeated and empty names in `VK_INSTANCE_LAYERS` are ignored.
    bi_42_repeated_and_empty_names_are_ignored:
        VK_INSTANCE_LAYERS = "::VK_LAYER_one_explicit::VK_LAYER_one_explicit:" => ["one_implicit", "two_implicit", "one_explicit"];
    /// LAY-140, APP-226: layers of the enable filter come after the layers of `VK_INSTANCE_LAYERS` in the chain.
    lay_140_the_enable_filter_comes_below_instance_layers:
        VK_INSTANCE_LAYERS = "VK_LAYER_two_explicit", VK_LOADER_LAYERS_ENABLE = "*explicit"
        => ["one_implicit", "two_implicit", "two_explicit", "one_explicit"];
}

/// LAY-120, LAY-121, BI-41: a very long filter causes no error.
#[test]
fn bi_41_a_filter_of_a_megabyte_is_survived() {
    case(|scene| {
        four(scene);
        // On Linux, a variable has at most 128 KiB.
        scene.env(
            "VK_LOADER_LAYERS_DISABLE",
            format!("{},VK_LAYER_one_implicit", "x".repeat(100_000)),
        );
        scene.env("VK_LOADER_LAYERS_ENABLE", ",".repeat(100_000));
        assert_eq!(chain(&plain(scene)), ["VK_LAYER_two_implicit"]);
    });
}

/// APP-221: if a filter variable has more than sixteen patterns, a warning names the variable. Special words of the disable filter, such as
/// `~implicit~`, do not count as patterns.
#[test]
fn app_221_patterns_beyond_the_sixteenth_are_told() {
    case(|scene| {
        four(scene);
        let names = |count: usize| {
            (0..count)
                .map(|number| format!("n{number}"))
                .collect::<Vec<_>>()
                .join(",")
        };
        for variable in [
            "VK_LOADER_LAYERS_ENABLE",
            "VK_LOADER_LAYERS_DISABLE",
            "VK_LOADER_LAYERS_ALLOW",
        ] {
            let line = format!("{variable} has more than 16 entries; those behind the first 16 are ignored");
            scene.env(variable, names(16));
            scene
                .run(|vk| drop(vk.layers()))
                .ok()
                .not_logged("more than 16 entries");
            scene.env(variable, names(17));
            scene.run(|vk| drop(vk.layers())).ok().logged("WARNING", &line);
            scene.unset(variable);
        }
        scene.env(
            "VK_LOADER_LAYERS_DISABLE",
            format!("~implicit~,~explicit~,{}", names(16)),
        );
        scene
            .run(|vk| drop(vk.layers()))
            .ok()
            .not_logged("more than 16 entries");
    });
}

/// LAY-125, LAY-127, LAY-320, APP-224, APP-225, APP-87: a disabled layer is missing from every list.
#[test]
fn lay_125_a_disabled_layer_is_gone_from_every_list() {
    case(|scene| {
        four(scene);
        scene.env("VK_LOADER_LAYERS_DISABLE", "*one*");
        let outcome = scene.run(|vk| {
            assert_eq!(
                vk.layers().expect("layers"),
                ["VK_LAYER_two_implicit", "VK_LAYER_two_explicit"]
            );
            let refused = vk.spec().layer("VK_LAYER_one_explicit").create().err();
            assert_eq!(refused, Some(vk::Result::ERROR_LAYER_NOT_PRESENT));
            assert_eq!(
                vk.extension_versions(Some(c"VK_LAYER_one_explicit")).err(),
                Some(vk::Result::ERROR_LAYER_NOT_PRESENT)
            );
        });
        let text = "forced disabled because name matches filter of env var 'VK_LOADER_LAYERS_DISABLE'.";
        outcome
            .ok()
            .logged("WARNING | LAYER", &format!("Layer \"VK_LAYER_one_explicit\" {text}"))
            .logged("WARNING | LAYER", &format!("Layer \"VK_LAYER_one_implicit\" {text}"));
    });
}

/// LAY-126, LAY-142: the log reports a disabled layer of `VK_INSTANCE_LAYERS` as missing.
#[test]
fn lay_126_a_disabled_layer_of_instance_layers_is_reported_missing() {
    case(|scene| {
        four(scene);
        scene
            .env("VK_LOADER_LAYERS_DISABLE", "*one_explicit")
            .env("VK_INSTANCE_LAYERS", "VK_LAYER_one_explicit");
        plain(scene)
            .logged(
                "WARNING | LAYER",
                "env var 'VK_INSTANCE_LAYERS' defined and adding layers \"VK_LAYER_one_explicit\"",
            )
            .logged(
                "ERROR | LAYER",
                "Layer \"VK_LAYER_one_explicit\" was not found but was requested by env var VK_INSTANCE_LAYERS!",
            );
    });
}

/// LAY-130, LAY-108, APP-224: an enable variable has an effect only if the variable's value is exactly the text in the manifest.
#[test]
fn lay_130_the_enable_variable_must_have_exactly_the_manifest_s_text() {
    case(|scene| {
        let layers =
            ["equal", "longer", "unset"].map(|short| Layer::implicit(short).enabled_by(&format!("ON_{short}"), "yes"));
        place(scene, &layers);
        scene.env("ON_equal", "yes").env("ON_longer", "yes!");
        assert_eq!(chain(&plain(scene)), ["VK_LAYER_equal"]);
    });
}

/// LAY-130: the disable variable takes precedence over the enable variable.
#[test]
fn lay_130_the_disable_variable_beats_the_enable_variable() {
    case(|scene| {
        place(scene, &[Layer::implicit("a").enabled_by("ON", "1")]);
        scene.env("ON", "1").env("DISABLE_a", "0");
        assert!(chain(&plain(scene)).is_empty());
    });
}

/// LAY-130, LAY-127, APP-223, APP-224: the enable filter replaces a layer's enable variable.
#[test]
fn lay_130_the_enable_filter_takes_the_place_of_the_enable_variable() {
    case(|scene| {
        place(
            scene,
            &[Layer::implicit("a").enabled_by("ON", "1"), Layer::implicit("b")],
        );
        scene.env("VK_LOADER_LAYERS_ENABLE", "VK_LAYER_a,VK_LAYER_b");
        let outcome = plain(scene);
        assert_eq!(chain(&outcome), ["VK_LAYER_a", "VK_LAYER_b"]);
        outcome.logged(
            "WARNING | LAYER",
            "Implicit layer \"VK_LAYER_a\" forced enabled due to env var 'VK_LOADER_LAYERS_ENABLE'.",
        );
        assert!(
            !outcome.stderr.contains("\"VK_LAYER_b\" forced enabled"),
            "it was on before"
        );
    });
}

/// LAY-142, LAY-143, LAY-127: after the search for drivers, instance creation warns about layers that variables add: once for the list of
/// extensions and once for the chain. A call that fails earlier logs only the first warning, or none.
#[test]
fn lay_142_what_variables_add_is_told_for_the_extensions_and_for_the_chain() {
    const ADDED: [&str; 3] = [
        "Implicit layer \"VK_LAYER_i\" forced enabled due to env var 'VK_LOADER_LAYERS_ENABLE'.",
        "env var 'VK_INSTANCE_LAYERS' defined and adding layers \"VK_LAYER_one\"",
        "Layer \"VK_LAYER_two\" forced enabled due to env var 'VK_LOADER_LAYERS_ENABLE'",
    ];
    case(|scene| {
        let layers = [
            Layer::implicit("i").enabled_by("ON", "1"),
            Layer::explicit("one"),
            Layer::explicit("two"),
        ];
        place(scene, &layers);
        scene
            .env("VK_INSTANCE_LAYERS", "VK_LAYER_one")
            .env("VK_LOADER_LAYERS_ENABLE", "VK_LAYER_i,VK_LAYER_two");
        let told = |outcome: &Outcome| -> Vec<String> {
            let lines = outcome
                .stderr
                .lines()
                .map(|line| line.split_once(": ").map_or("", |(_, text)| text.trim_start()));
            let wanted = lines.filter(|line| line.starts_with("Found ICD manifest file") || ADDED.contains(line));
            wanted
                .map(|line| {
                    line.split(if cfg!(windows) { " C:" } else { " /" })
                        .next()
                        .unwrap_or(line)
                        .to_owned()
                })
                .collect()
        };
        let found = &["Found ICD manifest file"][..];
        let outcome = scene.run(|vk| drop(vk.instance()));
        assert_eq!(
            told(outcome.ok()),
            [found, &ADDED, &ADDED].concat(),
            "{}",
            outcome.all()
        );
        let outcome = scene.run(|vk| {
            let made = vk.spec().extensions(&["VK_NEW_thing"]).create();
            assert_eq!(made.err(), Some(vk::Result::ERROR_EXTENSION_NOT_PRESENT));
        });
        assert_eq!(told(outcome.ok()), [found, &ADDED].concat(), "{}", outcome.all());
        let text = "loader_validate_instance_extensions: Extension VK_NEW_thing not found in list of known instance extensions.";
        outcome.logged("ERROR", text);
        scene.env("VK_LOADER_DRIVERS_DISABLE", "*");
        let outcome = scene.run(|vk| {
            let made = vk.spec().create();
            assert_eq!(made.err(), Some(vk::Result::ERROR_INCOMPATIBLE_DRIVER));
        });
        assert_eq!(told(outcome.ok()), found, "{}", outcome.all());
    });
}

/// LAY-143, APP-225: the log names each explicit layer that the enable filter activates.
#[test]
fn lay_143_an_explicit_layer_of_the_enable_filter_is_told() {
    case(|scene| {
        four(scene);
        scene.env("VK_LOADER_LAYERS_ENABLE", "*one_explicit");
        plain(scene).logged(
            "WARNING | LAYER",
            "Layer \"VK_LAYER_one_explicit\" forced enabled due to env var 'VK_LOADER_LAYERS_ENABLE'",
        );
    });
}

/// LAY-125, LAY-33: the loader applies filters before it removes duplicate names. A disabled layer that was found first therefore does not
/// hide another layer of the same name.
#[test]
fn lay_33_a_disabled_layer_displaces_no_other_of_its_name() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::implicit("first").named("VK_LAYER_same"),
                Layer::explicit("second").named("VK_LAYER_same"),
            ],
        );
        scene.env("VK_LOADER_LAYERS_DISABLE", "~implicit~");
        let outcome = scene.run(|vk| {
            assert_eq!(vk.layers().expect("layers"), ["VK_LAYER_same"]);
            drop(vk.spec().layer("VK_LAYER_same").create().expect("vkCreateInstance"));
        });
        assert_eq!(chain(outcome.ok()), ["VK_LAYER_same"]);
        assert_eq!(loads(&outcome).len(), 1, "{}", outcome.all());
    });
}

/// LAY-127, LAY-130: instance creation logs each implicit layer that the enable filter activates.
#[test]
fn lay_127_an_instance_tells_of_forced_implicit_layers() {
    case(|scene| {
        place(scene, &[Layer::implicit("a").enabled_by("ON", "1")]);
        scene.env("VK_LOADER_LAYERS_ENABLE", "*_a");
        let outcome = scene.run(|vk| drop(vk.instance()));
        assert_eq!(chain(outcome.ok()), ["VK_LAYER_a"]);
        outcome.logged(
            "WARNING | LAYER",
            "Implicit layer \"VK_LAYER_a\" forced enabled due to env var 'VK_LOADER_LAYERS_ENABLE'.",
        );
    });
}

/// LAY-127, LAY-130: if a layer's own variable disables the layer, no message names a filter as the reason.
#[test]
fn lay_127_a_layer_that_is_off_anyway_is_not_told_to_be_forced() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::overriding(&["VK_LAYER_a"]).enabled_by("ON", "1"),
                Layer::explicit("a"),
            ],
        );
        scene.env("VK_LOADER_LAYERS_DISABLE", "*override");
        plain(scene).not_logged("Implicit layer \"VK_LAYER_LUNARG_override\" forced disabled");
        scene.env("ON", "1");
        plain(scene).logged_with(
            "WARNING | LAYER",
            "Implicit layer \"VK_LAYER_LUNARG_override\" forced disabled",
        );
    });
}
