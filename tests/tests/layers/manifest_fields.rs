//! Tests of the fields of a layer in a manifest (LAY-90 to LAY-110).

use loader_tests::vk::text;
use loader_tests::{ash::vk, call};
use loader_tests::{case, json_path};

use crate::kit::{EXPLICIT, IMPLICIT, Layer, chain, manifests, place, put_manifest, scan_once};

/// Values of `library_arch` for this process and for the other word size.
const OWN_ARCH: &str = if cfg!(target_pointer_width = "64") {
    "\"64\""
} else {
    "\"32\""
};
const OTHER_ARCH: &str = if cfg!(target_pointer_width = "64") {
    "\"32\""
} else {
    "\"64\""
};

/// Returns the usual explicit layer with a changed member.
fn with(key: &str, json: &str) -> String {
    Layer::explicit("m").member(key, json).text()
}

/// Returns the usual explicit layer with a missing member.
fn without(key: &str) -> String {
    Layer::explicit("m").without(key).text()
}

/// Returns the usual implicit layer with a changed member.
fn implicit_with(key: &str, json: &str) -> String {
    Layer::implicit("m").member(key, json).text()
}

manifests! {
    /// LAY-91, BI-17: a layer without a name is skipped.
    lay_91_a_layer_without_a_name_is_skipped: explicit without("name") => [], "WARNING" "@FILE@";
    /// LAY-91, BI-17: a layer whose name is `null` is skipped.
    lay_91_a_name_that_is_null_skips_the_layer: explicit with("name", "null") => [], "WARNING" "name";
    /// LAY-91, BI-17: a layer without a type is skipped.
    lay_91_a_layer_without_a_type_is_skipped: explicit without("type") => [], "WARNING" "type";
    /// LAY-91, BI-17: a layer without an API version is skipped.
    lay_91_a_layer_without_an_api_version_is_skipped: explicit without("api_version") => [], "WARNING" "api_version";
    /// LAY-91, BI-17: a layer without an implementation version is skipped.
    lay_91_a_layer_without_an_implementation_version_is_skipped: explicit without("implementation_version") => [],
        "WARNING" "implementation_version";
    /// LAY-91, BI-17: a layer without a description is skipped.
    lay_91_a_layer_without_a_description_is_skipped: explicit without("description") => [], "WARNING" "description";
    /// LAY-91: an API version must be a string.
    lay_91_a_number_is_no_api_version: explicit with("api_version", "1.3") => [], "WARNING" "api_version";
    /// LAY-91: an implementation version must be a string.
    lay_91_a_number_is_no_implementation_version: explicit with("implementation_version", "1") => [],
        "WARNING" "implementation_version";
    /// LAY-91: a description must be a string.
    lay_91_an_object_is_no_description: explicit with("description", "{}") => [], "WARNING" "description";
    /// LAY-92, BI-19: a name may have 254 bytes.
    lay_92_a_name_of_254_bytes_is_accepted: explicit with("name", &format!("\"VK_LAYER_{}\"", "x".repeat(245)))
        => [format!("VK_LAYER_{}", "x".repeat(245)).as_str()];
    /// LAY-92, BI-19: a layer with a name of 255 bytes is skipped.
    lay_92_a_name_of_255_bytes_skips_the_layer: explicit with("name", &format!("\"VK_LAYER_{}\"", "x".repeat(246))) => [],
        "WARNING" "didn't find required layer value \"name\"";
    /// LAY-92, BI-19: a layer with a name of 256 bytes is skipped.
    lay_92_a_name_of_256_bytes_skips_the_layer: explicit with("name", &format!("\"VK_LAYER_{}\"", "x".repeat(247))) => [];
    /// LAY-92, BI-19: a layer with a very long name is skipped.
    lay_92_a_name_of_a_hundred_thousand_bytes_skips_the_layer:
        explicit with("name", &format!("\"VK_LAYER_{}\"", "x".repeat(100_000))) => [];
    /// LAY-92, BI-19: a description may have 254 bytes.
    lay_92_a_description_of_254_bytes_is_accepted: explicit with("description", &format!("\"{}\"", "d".repeat(254)))
        => ["VK_LAYER_m"];
    /// LAY-92, BI-19: a layer with a description of 255 bytes is skipped.
    lay_92_a_description_of_255_bytes_skips_the_layer: explicit with("description", &format!("\"{}\"", "d".repeat(255)))
        => [], "WARNING" "didn't find required layer value \"description\"";
    /// LAY-92, BI-19: a layer with a description of 256 bytes is skipped.
    lay_92_a_description_of_256_bytes_skips_the_layer: explicit with("description", &format!("\"{}\"", "d".repeat(256)))
        => [];
    /// LAY-93: a name without the standard prefix causes a warning.
    lay_93_a_name_off_the_standard_is_warned_of: explicit with("name", "\"my_layer\"") => ["my_layer"],
        "WARNING" "Layer name my_layer does not conform to naming standard (Policy #LLP_LAYER_3)";
    /// LAY-93, BI-18: an empty name is accepted, with a warning.
    bi_18_an_empty_name_is_accepted: explicit with("name", "\"\"") => [""], "WARNING" "(Policy #LLP_LAYER_3)";
    /// LAY-94: device layers are skipped, with a warning.
    lay_94_device_layers_are_refused: explicit with("type", "\"DEVICE\"") => [],
        "WARNING | LAYER" "Device layers are deprecated. Skipping layer VK_LAYER_m";
    /// LAY-94: the type `INSTANCE` has the same meaning as `GLOBAL`.
    lay_94_instance_is_the_same_as_global: explicit with("type", "\"INSTANCE\"") => ["VK_LAYER_m"];
    /// LAY-94: the loader skips a layer with an unknown type, and logs no warning.
    lay_94_an_unknown_type_is_skipped_silently: explicit with("type", "\"global\"") => [], not "WARNING";
    /// LAY-96, BI-20: a layer whose API version has a variant is skipped.
    lay_96_a_variant_skips_the_layer: explicit with("api_version", "\"1.1.3.0\"") => [],
        "INFO | LAYER"
        "Layer \"VK_LAYER_m\" has an 'api_version' field which contains a non-zero variant value of 1.  Skipping Layer.";
    /// LAY-98, BI-22: a layer with both a library and components is skipped.
    lay_98_a_library_beside_components_skips_the_layer: explicit with("component_layers", "[\"VK_LAYER_z\"]") => [],
        "WARNING" "VK_LAYER_m";
    /// LAY-98, BI-22: a layer with a library is skipped if its components are a number.
    lay_98_a_library_beside_a_number_for_components_skips_the_layer: explicit with("component_layers", "5") => [],
        "WARNING" "Layer \"VK_LAYER_m\" contains meta-layer-specific component_layers, but also defining layer library path.";
    /// LAY-98, BI-22: a layer with a library is skipped if its components are `null`.
    lay_98_a_library_beside_null_for_components_skips_the_layer: explicit with("component_layers", "null") => [],
        "WARNING" "VK_LAYER_m";
    /// LAY-98, BI-22: a layer with a library is skipped if its components are an empty object.
    lay_98_a_library_beside_an_empty_object_for_components_skips_the_layer: explicit with("component_layers", "{}") => [],
        "WARNING" "VK_LAYER_m";
    /// LAY-98, BI-22: a layer with a library is skipped if its components are not strings.
    lay_98_a_library_beside_components_that_are_no_strings_skips_the_layer: explicit with("component_layers", "[\"VK_LAYER_z\", 5]")
        => [], "WARNING" "VK_LAYER_m";
    /// LAY-99: a meta-layer whose member `component_layers` is not a list has no components.
    lay_99_components_that_are_no_list_make_a_meta_layer_that_does_nothing:
        explicit Layer::meta("m", &[]).member("component_layers", "true").text() => ["VK_LAYER_m"];
    /// LAY-99: the loader treats the values of an object as components.
    lay_99_components_in_an_object_count:
        explicit Layer::meta("m", &[]).member("component_layers", "{\"x\": \"VK_LAYER_none\"}").text() => [],
        "WARNING" "can't find component layer VK_LAYER_none at index 0";
    /// LAY-99, BI-22: a layer without a library and without components is skipped.
    lay_99_neither_library_nor_components_skips_the_layer: explicit without("library_path") => [],
        "WARNING" "Layer \"VK_LAYER_m\" is missing both library_path and component_layers fields.";
    /// LAY-98: the loader treats a library path that is not a string as missing.
    lay_98_a_library_path_that_is_no_string_counts_as_absent: explicit with("library_path", "5") => [],
        "WARNING" "is missing both library_path and component_layers fields.";
    /// LAY-99: with an empty list of components, a meta-layer has no components.
    lay_99_no_components_make_a_meta_layer_that_does_nothing: explicit Layer::meta("m", &[]).text() => ["VK_LAYER_m"];
    /// LAY-99: the loader treats a list with an element that is not a string as missing.
    lay_99_components_that_are_no_strings_count_as_missing:
        explicit Layer::meta("m", &[]).member("component_layers", "[\"VK_LAYER_z\", 5]").text() => [], "WARNING" "VK_LAYER_m";
    /// LAY-101: a layer of another architecture is skipped.
    lay_101_another_architecture_is_not_found: explicit with("library_arch", OTHER_ARCH) => [],
        "INFO" "The library architecture in layer @FILE@ doesn't match the current running architecture, skipping this layer";
    /// LAY-101: a layer of this architecture is found.
    lay_101_the_own_architecture_is_found: explicit with("library_arch", OWN_ARCH) => ["VK_LAYER_m"];
    /// LAY-101: an unknown architecture has no effect.
    lay_101_an_unknown_architecture_is_ignored: explicit with("library_arch", "\"pdp11\"") => ["VK_LAYER_m"];
    /// LAY-107: an implicit layer without a disable variable is skipped.
    lay_107_an_implicit_layer_needs_a_disable_variable: implicit without("none") => [], "WARNING" "VK_LAYER_m";
    /// LAY-107, BI-32: an implicit layer is skipped if its disable variable is an empty object.
    lay_107_an_empty_disable_object_skips_the_layer: implicit implicit_with("disable_environment", "{}") => [],
        "WARNING" "(Policy #LLP_LAYER_9)";
    /// LAY-107, BI-32: an implicit layer is skipped if its disable variable is an array.
    bi_32_a_disable_array_skips_the_layer: implicit implicit_with("disable_environment", "[]") => [], "WARNING" "VK_LAYER_m";
    /// LAY-107, BI-32: an implicit layer is skipped if its disable variable is a string.
    bi_32_a_disable_string_skips_the_layer: implicit implicit_with("disable_environment", "\"X\"") => [],
        "WARNING" "VK_LAYER_m";
    /// LAY-107, BI-32: an implicit layer is skipped if the value of its disable variable is a number.
    bi_32_a_disable_number_skips_the_layer: implicit implicit_with("disable_environment", "{\"X\": 1}") => [],
        "WARNING" "(Policy #LLP_LAYER_9)";
    /// LAY-107: the value of the disable variable in the manifest has no meaning.
    lay_107_the_content_of_the_disable_member_is_not_used: implicit implicit_with("disable_environment", "{\"X\": \"\"}")
        => ["VK_LAYER_m"];
    /// LAY-109: the loader uses pre-instance functions only from manifest version 1.1.2.
    lay_109_pre_instance_functions_of_an_older_version_are_ignored:
        implicit Layer::implicit("m").format("1.1.1").member("pre_instance_functions", "{}").text() => ["VK_LAYER_m"],
        "ERROR" "pre_instance_functions";
    /// LAY-109: pre-instance functions of an explicit layer are ignored.
    lay_109_pre_instance_functions_of_an_explicit_layer_are_ignored:
        explicit with("pre_instance_functions", "{}") => ["VK_LAYER_m"], "WARNING" "pre_instance_functions";
    /// LAY-110: application keys of a layer that is not the override layer cause a warning.
    lay_110_app_keys_elsewhere_are_warned_of: explicit with("app_keys", "[\"/x\"]") => ["VK_LAYER_m"],
        "WARNING | LAYER" "app_keys";
    /// LAY-110: `override_paths` and `blacklisted_layers` have no effect in layers other than the override layer.
    lay_110_other_override_fields_elsewhere_have_no_effect:
        implicit Layer::implicit("m").member("override_paths", "[\"/x\"]").member("blacklisted_layers", "[\"VK_LAYER_z\"]").text()
        => ["VK_LAYER_m"];
}

/// LAY-95, LAY-320, BI-20, BI-21: the loader parses each part of a version separately.
#[test]
fn lay_95_versions_are_read_part_by_part() {
    let rows = [
        ("1.2.3", 1, 2, 3, "7", 7),
        ("1", 1, 0, 0, "12abc", 12),
        ("0.1.0", 0, 1, 0, "abc", 0),
        ("0.1.2.3", 1, 2, 3, "0", 0),
        ("1.3.x5", 1, 3, 0, "", 0),
        ("1..4", 1, 4, 0, "4294967295", u32::MAX),
        ("+1. 2.4097", 1, 3, 1, "+2", 2),
        ("0.1.2.3.4", 1, 2, 3, " 3", 3),
        ("9.9.9", 9, 9, 9, "-0", 0),
        ("1.-1.3", 63, 1023, 3, "-5", u32::MAX - 4),
        ("1.2\\n3", 1, 2, 3, "4294967303", 7),
        ("65537.4294967298.3", 1, 2, 3, "99999999999999999999", u32::MAX),
    ];
    case(move |scene| {
        let layers = rows
            .iter()
            .enumerate()
            .map(|(index, (version, _, _, _, implementation, _))| {
                let implementation = format!("\"{implementation}\"");
                Layer::explicit(&index.to_string())
                    .api(version)
                    .member("implementation_version", implementation)
            });
        place(scene, &layers.collect::<Vec<_>>());
        scene
            .run(|vk| {
                let query = |count: &mut u32, out| call!(vk, PFN_vkEnumerateInstanceLayerProperties(count, out));
                let layers: Vec<vk::LayerProperties> = loader_tests::vk::two_call(query).expect("layers");
                assert_eq!(layers.len(), rows.len());
                for (layer, (version, major, minor, patch, _, implementation)) in layers.iter().zip(rows) {
                    let packed = vk::make_api_version(0, major, minor, patch);
                    assert_eq!(layer.spec_version, packed, "{version}");
                    assert_eq!(layer.implementation_version, implementation, "{version}");
                }
                assert_eq!(text(&layers[1].description), "layer 1");
            })
            .ok();
    });
}

manifests! {
    /// LAY-95, LAY-96, BI-20: the loader treats a negative version as a version with a variant.
    lay_96_a_negative_version_has_a_variant: explicit with("api_version", "\"-1\"") => [], "INFO | LAYER"
        "Layer \"VK_LAYER_m\" has an 'api_version' field which contains a non-zero variant value of 7.  Skipping Layer.";
    /// LAY-95, LAY-96, BI-20: the loader treats a large major version as a version with a variant.
    lay_96_a_large_major_version_has_a_variant: explicit with("api_version", "\"200.1.1\"") => [], "INFO | LAYER"
        "Layer \"VK_LAYER_m\" has an 'api_version' field which contains a non-zero variant value of 1.  Skipping Layer.";
    /// LAY-95, LAY-96, BI-20: the loader reads the major version modulo 65536. The result can have a variant.
    lay_96_a_version_beyond_all_bits_has_a_variant: explicit with("api_version", "\"18446744073709551617.1.1\"") => [],
        "INFO | LAYER"
        "Layer \"VK_LAYER_m\" has an 'api_version' field which contains a non-zero variant value of 7.  Skipping Layer.";
}

/// LAY-97: a relative library path with a separator starts at the manifest's folder.
#[test]
fn lay_97_a_path_with_a_separator_is_relative_to_the_manifest() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::explicit("a").member(
                    "library_path",
                    format_args!("\"{}\"", json_path("./../../../../libraries/liblayer_a.so")),
                ),
                Layer::explicit("b").member(
                    "library_path",
                    format_args!("\"{}\"", json_path("../../../../libraries/liblayer_b.so")),
                ),
            ],
        );
        let outcome = scene.run(|vk| {
            drop(
                vk.spec()
                    .layer("VK_LAYER_a")
                    .layer("VK_LAYER_b")
                    .create()
                    .expect("vkCreateInstance"),
            );
        });
        assert_eq!(chain(outcome.ok()), ["VK_LAYER_a", "VK_LAYER_b"]);
    });
}

/// LAY-97: if a library path has no separator, the system searches for the library.
#[test]
fn lay_97_a_bare_name_goes_to_the_library_search() {
    case(|scene| {
        place(
            scene,
            &[Layer::explicit("a").member("library_path", "\"liblayer_a.so\"")],
        );
        let libraries = scene.path("libraries");
        scene.env("LD_LIBRARY_PATH", libraries);
        let outcome = scene.run(|vk| drop(vk.spec().layer("VK_LAYER_a").create().expect("vkCreateInstance")));
        assert_eq!(chain(outcome.ok()), ["VK_LAYER_a"]);
    });
}

/// LAY-97: relative library paths in a linked manifest start at the folder of the link.
#[test]
fn lay_97_the_folder_of_a_linked_manifest_is_the_link_s() {
    case(|scene| {
        place(scene, &[]);
        Layer::explicit("a")
            .member("library_path", format_args!("\"{}\"", json_path("./liblayer_a.so")))
            .put_as(scene, "elsewhere/a.json");
        let (target, link) = (
            scene.path("elsewhere/a.json"),
            scene.path(&format!("{EXPLICIT}/a.json")),
        );
        let (library, beside) = (
            scene.path("libraries/liblayer_a.so"),
            scene.path(&format!("{EXPLICIT}/liblayer_a.so")),
        );
        scene.folder(EXPLICIT);
        scene.on_disk(|| {
            loader_tests::symlink(target, link).expect("links can be made");
            std::fs::copy(library, beside).expect("files can be copied");
        });
        scene
            .run(|vk| drop(vk.spec().layer("VK_LAYER_a").create().expect("vkCreateInstance")))
            .ok();
    });
}

/// LAY-104, LAY-321, BI-29, BI-30, BI-31: the loader reads the extensions of a layer separately, and skips invalid extensions.
#[test]
fn lay_104_extensions_of_a_layer_are_read_one_by_one() {
    let list = format!(
        r#"[{{"name": "VK_EXT_one", "spec_version": "2"}}, {{"spec_version": "1"}}, 5, {{"name": "VK_EXT_two"}},
            {{"name": "VK_EXT_one", "spec_version": "9"}}, {{"name": "VK_EXT_three", "spec_version": 4}},
            {{"name": "VK_EXT_directfb_surface", "spec_version": "1"}}, {{"name": "VK_EXT_{}", "spec_version": "1"}},
            {{"name": "{1}x", "spec_version": "1"}}, {{"name": "{1}", "spec_version": "1"}}]"#,
        "x".repeat(300),
        "y".repeat(254)
    );
    case(move |scene| {
        place(
            scene,
            &[
                Layer::explicit("a").member("instance_extensions", list),
                Layer::explicit("b").member("instance_extensions", "{}"),
            ],
        );
        scene
            .run(|vk| {
                let list = vk.extension_versions(Some(c"VK_LAYER_a")).expect("extensions");
                let longest = "y".repeat(254);
                let expected = [("VK_EXT_one", 2), ("VK_EXT_two", 0), ("VK_EXT_three", 0), (&longest, 1)];
                assert_eq!(list, expected.map(|(name, version)| (name.to_string(), version)));
                assert!(
                    vk.extension_versions(Some(c"VK_LAYER_b"))
                        .expect("extensions")
                        .is_empty()
                );
            })
            .ok();
    });
}

/// LAY-108, BI-33: an enable variable whose value is not a string is ignored.
#[test]
fn lay_108_an_enable_variable_that_is_no_string_is_ignored() {
    case(|scene| {
        let rows = [("a", "{\"X\": 1}"), ("b", "[]"), ("c", "{}"), ("d", "\"X\"")];
        place(
            scene,
            &rows.map(|(short, json)| Layer::implicit(short).member("enable_environment", json)),
        );
        let outcome = scene.run(|vk| drop(vk.instance()));
        assert_eq!(
            chain(outcome.ok()),
            ["VK_LAYER_a", "VK_LAYER_b", "VK_LAYER_c", "VK_LAYER_d"]
        );
    });
}

/// LAY-107, LAY-108: the loader uses only the first member of an environment object.
#[test]
fn lay_107_only_the_first_member_of_an_environment_object_counts() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::implicit("a").member("disable_environment", r#"{"OFF_1": "1", "OFF_2": "1"}"#),
                Layer::implicit("b").member("enable_environment", r#"{"ON_1": "1", "ON_2": "1"}"#),
            ],
        );
        scene.env("OFF_2", "1").env("ON_2", "1");
        let outcome = scene.run(|vk| drop(vk.instance()));
        assert_eq!(chain(outcome.ok()), ["VK_LAYER_a"]);
    });
}

/// BI-7: bytes that are not UTF-8 remain part of a name.
#[test]
fn bi_7_bytes_that_are_no_utf_8_are_kept() {
    case(|scene| {
        place(scene, &[Layer::explicit("a")]);
        let text = Layer::explicit("m")
            .named("VK_LAYER_@")
            .text()
            .replace("@ROOT@", scene.text_path("").trim_end_matches('/'));
        let mut bytes = text.into_bytes();
        if let Some(place) = bytes.iter().position(|byte| *byte == b'@') {
            bytes[place] = 0xff;
        }
        scene.file(&format!("{EXPLICIT}/m.json"), bytes);
        scene
            .run(|vk| {
                let query = |count: &mut u32, out| call!(vk, PFN_vkEnumerateInstanceLayerProperties(count, out));
                let layers: Vec<vk::LayerProperties> = loader_tests::vk::two_call(query).expect("layers");
                let names = layers.iter().map(|layer| layer.layer_name.map(|byte| byte as u8));
                assert!(names.into_iter().any(|name| name.starts_with(b"VK_LAYER_\xff\0")));
            })
            .ok();
    });
}

/// LAY-91, BI-17: the loader skips a layer if a required field is missing or has a wrong type. The next layers are not affected.
#[test]
fn bi_17_required_fields_of_every_wrong_type_skip_their_layer_alone() {
    const FIELDS: [&str; 6] = [
        "name",
        "type",
        "api_version",
        "implementation_version",
        "description",
        "library_path",
    ];
    case(|scene| {
        place(scene, &[]);
        let good = |short: &str| Layer::explicit(short).object();
        let mut objects = vec![good("first")];
        for field in FIELDS {
            objects.push(Layer::explicit("bad").without(field).object());
            for wrong in ["null", "true", "5", "[\"x\"]", "{\"x\": \"y\"}"] {
                objects.push(Layer::explicit("bad").member(field, wrong).object());
            }
        }
        objects.push(good("last"));
        let objects: Vec<&str> = objects.iter().map(String::as_str).collect();
        put_manifest(scene, &format!("{EXPLICIT}/m.json"), "1.2.0", &objects);
        let outcome = scene.run(|vk| assert_eq!(scan_once(vk), 2));
        let skipped = outcome.ok().log("WARNING").len() + outcome.log("WARNING | LAYER").len();
        assert_eq!(skipped, FIELDS.len() * 6, "one line each\n{}", outcome.all());
    });
}

/// LAY-90: if a layer has several faults, the loader logs only the first fault.
#[test]
fn lay_90_fields_are_checked_in_their_order() {
    const ORDER: [&str; 5] = ["name", "type", "api_version", "implementation_version", "description"];
    case(|scene| {
        place(scene, &[]);
        for (index, field) in ORDER.iter().enumerate() {
            let layer = ORDER[index..]
                .iter()
                .fold(Layer::implicit("m"), |layer, field| layer.member(field, 5));
            let layer = layer.without("library_path").without("disable_environment");
            let file = format!("{IMPLICIT}/{index}-{field}.json");
            put_manifest(scene, &file, "1.2.0", &[&layer.object()]);
        }
        let rest = Layer::implicit("m")
            .without("library_path")
            .without("disable_environment");
        put_manifest(scene, &format!("{IMPLICIT}/5-library.json"), "1.2.0", &[&rest.object()]);
        let outcome = scene.run(|vk| assert_eq!(scan_once(vk), 0));
        outcome.ok();
        let told = [outcome.log("WARNING"), outcome.log("WARNING | LAYER")].concat();
        assert_eq!(told.len(), ORDER.len() + 1, "{told:#?}");
        for (index, field) in ORDER.iter().enumerate() {
            let file = format!("{index}-{field}.json");
            let line = told.iter().find(|line| line.contains(&file));
            let line = line.unwrap_or_else(|| panic!("nothing about {file} in {told:#?}"));
            let quoted = line.replace(&file, "");
            assert!(quoted.contains(field), "{line}");
            for later in &ORDER[index + 1..] {
                assert!(!quoted.contains(&format!("\"{later}\"")), "{line}");
            }
        }
        assert!(
            told.iter()
                .any(|line| line.contains("missing both library_path and component_layers"))
        );
    });
}

/// LAY-106: device extensions of other platforms remain in the list.
#[test]
fn lay_106_device_extensions_of_other_platforms_stay() {
    case(|scene| {
        let extensions = r#"[{"name": "VK_KHR_external_memory_win32"}, {"name": "VK_NN_of_nobody"}]"#;
        place(scene, &[Layer::explicit("a").member("device_extensions", extensions)]);
        let outcome = scene.run(|vk| {
            let instance = vk.spec().layer("VK_LAYER_a").create().expect("vkCreateInstance");
            let device = instance.device(instance.first(), &["VK_KHR_external_memory_win32", "VK_NN_of_nobody"]);
            drop(device);
        });
        let call = outcome.ok().calls("VK_LAYER_a", "vkCreateDevice")[0];
        assert!(
            call.contains("[VK_KHR_external_memory_win32,VK_NN_of_nobody]"),
            "{call}"
        );
    });
}
