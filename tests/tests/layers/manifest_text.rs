//! Tests of manifests as JSON files, and of their versions (LAY-70 to LAY-75, LAY-80 to LAY-86).

use loader_tests::case;

use crate::kit::{Layer, manifests, place};

/// Returns a layer object with this name.
fn named(name: &str) -> String {
    Layer::explicit("m").named(name).object()
}

/// Returns a manifest of the usual layer with a text before the closing brace.
fn followed_by(text: &str) -> String {
    let whole = Layer::explicit("m").text();
    format!("{},{text}}}", whole.strip_suffix('}').unwrap_or(&whole))
}

/// Returns the text of a manifest whose layer object has the JSON text as the value of an additional member.
fn with(text: &str) -> String {
    Layer::explicit("m").member("extra", text).text()
}

manifests! {
    /// LAY-70: a manifest can begin with a byte order mark.
    lay_70_a_byte_order_mark_is_skipped: explicit format!("\u{feff}{}", Layer::explicit("m").text()) => ["VK_LAYER_m"];
    /// LAY-71: the loader treats each control byte as white space.
    lay_71_any_control_byte_is_white_space:
        explicit Layer::explicit("m").text().replace(": ", ":\x01\x0b\x0c\r\n\t ") => ["VK_LAYER_m"];
    /// LAY-71: strings can contain control bytes.
    lay_71_control_bytes_inside_strings_are_accepted:
        explicit Layer::explicit("m").member("description", "\"one\ntwo\x01\"").text() => ["VK_LAYER_m"];
    /// LAY-71: the parser decodes escape sequences.
    lay_71_escapes_are_decoded:
        explicit Layer::explicit("m").named(r#"VK_LAYER_\u0061\u00e4\ud83d\ude00\/\\\""#).text()
        => ["VK_LAYER_a\u{e4}\u{1f600}/\\\""];
    /// LAY-71, BI-6: a surrogate without its other half is invalid.
    lay_71_a_lone_surrogate_is_invalid: explicit with(r#""\ud83d""#) => [],
        "ERROR" "loader_get_json: Invalid JSON file @FILE@.";
    /// LAY-71, BI-6: a surrogate pair with a wrong second half is invalid.
    lay_71_a_wrong_second_surrogate_is_invalid: explicit with(r#""\ud83d\u0041""#) => [],
        "ERROR" "loader_get_json: Invalid JSON file @FILE@.";
    /// LAY-71, BI-6: an unknown escape sequence is invalid.
    lay_71_an_unknown_escape_is_invalid: explicit with(r#""\x""#) => [],
        "ERROR" "loader_get_json: Invalid JSON file @FILE@.";
    /// LAY-71, BI-6: a truncated escape sequence is invalid.
    lay_71_a_truncated_escape_is_invalid: explicit with(r#""\u00""#) => [],
        "ERROR" "loader_get_json: Invalid JSON file @FILE@.";
    /// BI-6: a backslash at the end of the file is invalid.
    bi_6_a_backslash_at_the_end_of_the_file_is_invalid: explicit r#"{"file_format_version": "\"# => [],
        "ERROR" "loader_get_json: Invalid JSON file @FILE@.";
    /// LAY-71, BI-2: comments are invalid.
    lay_71_comments_are_invalid: explicit format!("// text\n{}", Layer::explicit("m").text()) => [],
        "ERROR" "loader_get_json: Invalid JSON file @FILE@.";
    /// LAY-71: numbers can have leading zeros.
    lay_71_numbers_may_have_leading_zeros: explicit with("[012, 00, -007.5]") => ["VK_LAYER_m"];
    /// LAY-71: numbers can lack the digits on one side of the point.
    lay_71_numbers_may_lack_digits_beside_the_point: explicit with("[1., -.5, 0.e1]") => ["VK_LAYER_m"];
    /// LAY-71, BI-2: a number cannot begin with a point.
    lay_71_a_number_does_not_begin_with_a_point: explicit with(".5") => [],
        "ERROR" "loader_get_json: Invalid JSON file @FILE@.";
    /// LAY-71, BI-2: a number cannot begin with a plus sign.
    lay_71_a_number_does_not_begin_with_a_plus: explicit with("+5") => [],
        "ERROR" "loader_get_json: Invalid JSON file @FILE@.";
    /// LAY-71, BI-2: a trailing comma is invalid.
    lay_71_a_trailing_comma_is_invalid: explicit followed_by("") => [],
        "ERROR" "loader_get_json: Invalid JSON file @FILE@.";
    /// LAY-71, LAY-75, BI-2: the log contains the line and column of a missing comma.
    lay_75_the_place_of_a_missing_comma_is_told: explicit "{\n\"file_format_version\": \"1.2.0\"\n  \"layers\": []\n}" => [],
        "ERROR" "loader_get_json: Invalid JSON file @FILE@.",
        "ERROR" "loader_get_json: @FILE@ is valid JSON up to line 3, column 3";
    /// BI-2: truncated text is invalid.
    bi_2_truncated_text_is_invalid: explicit &Layer::explicit("m").text()[..60] => [],
        "ERROR" "loader_get_json: Invalid JSON file @FILE@.";
    /// BI-2: a key without quotes is invalid.
    bi_2_an_unquoted_key_is_invalid: explicit Layer::explicit("m").text().replace("\"layer\"", "layer") => [],
        "ERROR" "loader_get_json: Invalid JSON file @FILE@.";
    /// BI-1: an empty file is invalid.
    bi_1_an_empty_file_is_invalid: explicit "" => [], "ERROR" "@FILE@";
    /// BI-1: a file that consists of NULs is invalid.
    bi_1_zero_bytes_are_invalid: explicit "\0\0\0\0" => [], "ERROR" "loader_get_json: Invalid JSON file @FILE@.";
    /// BI-1: a file of white space is invalid.
    bi_1_white_space_alone_is_invalid: explicit " \n\t " => [], "ERROR" "loader_get_json: Invalid JSON file @FILE@.";
    /// BI-1: a file of binary data is invalid.
    bi_1_binary_noise_is_invalid: explicit "\x7fELF\u{1}\u{2}\u{3}\u{0}\u{fffd}" => [],
        "ERROR" "loader_get_json: Invalid JSON file @FILE@.";
    /// LAY-72, BI-3: text after the root value is ignored.
    lay_72_text_after_the_root_is_ignored: explicit format!("{},[] and more", Layer::explicit("m").text())
        => ["VK_LAYER_m"];
    /// LAY-72, BI-5: nesting up to 1000 levels is valid.
    lay_72_nesting_of_a_thousand_levels_is_accepted: explicit with(&format!("{}{}", "[".repeat(990), "]".repeat(990)))
        => ["VK_LAYER_m"];
    /// LAY-72, BI-5: nesting deeper than 1000 levels is invalid.
    lay_72_nesting_beyond_a_thousand_levels_is_invalid: explicit with(&"[".repeat(200_000)) => [],
        "ERROR" "loader_get_json: Invalid JSON file @FILE@.";
    /// LAY-72, BI-5: huge arrays and strings are valid.
    bi_5_huge_arrays_and_strings_are_accepted:
        explicit with(&format!("[\"{}\"{}]", "x".repeat(4 << 20), ",1".repeat(200_000))) => ["VK_LAYER_m"];
    /// LAY-72: a file of 16 MiB is accepted.
    lay_72_a_file_of_sixteen_megabytes_is_accepted: explicit with(&format!("\"{}\"", "x".repeat((16 << 20) - 1000)))
        => ["VK_LAYER_m"];
    /// LAY-73: the parser ignores the case of member names.
    lay_73_member_names_match_in_any_case:
        explicit Layer::explicit("m").text().replace("\"layer\"", "\"LAYER\"").replace("\"name\"", "\"Name\"")
        => ["VK_LAYER_m"];
    /// LAY-73: if several members have the same name, the parser uses the first of them.
    lay_73_the_first_of_equal_members_counts:
        explicit Layer::explicit("m").text().replace("\"type\"", "\"NAME\": \"VK_LAYER_late\", \"type\"")
        => ["VK_LAYER_m"];
    /// LAY-74: a string ends at an encoded zero.
    lay_74_a_string_is_cut_at_an_encoded_zero: explicit Layer::explicit("m").named(r"VK_LAYER_m\u0000rest").text()
        => ["VK_LAYER_m"];
    /// LAY-80, BI-12: an unknown manifest version is logged and accepted.
    lay_80_an_unknown_version_is_told_and_accepted: explicit Layer::explicit("m").format("9.9.9").text()
        => ["VK_LAYER_m"],
        "INFO | LAYER"
        "loader_add_layer_properties: @FILE@ has unknown layer manifest file version 9.9.9.  May cause errors.";
    /// LAY-80: version 1.0.2 is unknown.
    lay_80_version_1_0_2_is_unknown: explicit Layer::explicit("m").format("1.0.2").text() => ["VK_LAYER_m"],
        "INFO | LAYER" "has unknown layer manifest file version 1.0.2.";
    /// BI-12: the loader treats an empty version as 0.0.0.
    bi_12_an_empty_version_is_taken_as_zeros: explicit Layer::explicit("m").format("").text() => ["VK_LAYER_m"],
        "INFO | LAYER" "has unknown layer manifest file version 0.0.0.";
    /// BI-12: the loader treats missing parts of a version as zero.
    bi_12_missing_parts_of_a_version_are_zero: explicit Layer::explicit("m").format("1.1").text() => ["VK_LAYER_m"],
        "INFO" "Found manifest file @FILE@ (file version 1.1)";
    /// BI-12: letters in a version cause no error.
    bi_12_letters_in_a_version_are_survived: explicit Layer::explicit("m").format("a.b.c").text() => ["VK_LAYER_m"];
    /// LAY-81: the log names each accepted manifest.
    lay_81_an_accepted_file_is_told: explicit Layer::explicit("m").format("1.1.2").text() => ["VK_LAYER_m"],
        "INFO" "Found manifest file @FILE@ (file version 1.1.2)";
    /// LAY-81, BI-11: a manifest without a version is skipped.
    lay_81_a_file_without_a_version_is_skipped: explicit format!("{{\"layer\": {}}}", named("VK_LAYER_m")) => [],
        "WARNING | LAYER" "@FILE@";
    /// LAY-81, BI-11: a manifest whose version is a number is skipped.
    lay_81_a_version_that_is_a_number_skips_the_file:
        explicit format!("{{\"file_format_version\": 1.0, \"layer\": {}}}", named("VK_LAYER_m")) => [],
        "WARNING | LAYER" "@FILE@";
    /// LAY-81, BI-4: a manifest whose root is an array is skipped.
    bi_4_a_root_array_is_skipped: explicit format!("[{}]", Layer::explicit("m").text()) => [];
    /// LAY-81, BI-4: a manifest whose root is a string is skipped.
    bi_4_a_root_string_is_skipped: explicit "\"layer\"" => [];
    /// LAY-81, BI-4: a manifest whose root is a number is skipped.
    bi_4_a_root_number_is_skipped: explicit "1.5e3" => [];
    /// LAY-82: if the manifest has `layers`, the member `layer` is ignored.
    lay_82_layers_beats_layer:
        explicit format!("{{\"file_format_version\": \"1.0.1\", \"layer\": {}, \"layers\": [{}, {}]}}",
            named("VK_LAYER_c"), named("VK_LAYER_b"), named("VK_LAYER_a")) => ["VK_LAYER_b", "VK_LAYER_a"];
    /// LAY-82: `layers` in version 1.0.0 causes a warning, and the loader reads the member.
    lay_82_layers_in_version_1_0_0_is_warned_of_and_read:
        explicit format!("{{\"file_format_version\": \"1.0.0\", \"layers\": [{}]}}", named("VK_LAYER_b")) => ["VK_LAYER_b"],
        "WARNING | LAYER" "@FILE@";
    /// LAY-82: an invalid layer does not affect the other layers of the manifest.
    lay_82_one_bad_layer_does_not_stop_the_others:
        explicit format!("{{\"file_format_version\": \"1.0.1\", \"layers\": [{}, {{}}, {}]}}",
            named("VK_LAYER_b"), named("VK_LAYER_a")) => ["VK_LAYER_b", "VK_LAYER_a"];
    /// LAY-82, BI-14: the loader ignores all layers from the first element that is not an object.
    lay_82_an_element_that_is_no_object_ends_the_file:
        explicit format!("{{\"file_format_version\": \"1.0.1\", \"layers\": [{}, 5, {}]}}",
            named("VK_LAYER_b"), named("VK_LAYER_a")) => ["VK_LAYER_b"], "WARNING | LAYER" "@FILE@";
    /// BI-13: if `layers` is an object, the values of its members are read as layers.
    bi_13_layers_that_is_an_object_is_read_member_by_member:
        explicit format!("{{\"file_format_version\": \"1.0.1\", \"layers\": {{\"x\": {}, \"y\": {}}}}}",
            named("VK_LAYER_b"), named("VK_LAYER_a")) => ["VK_LAYER_b", "VK_LAYER_a"];
    /// BI-13: if `layers` is a number, the manifest has no layer.
    bi_13_layers_that_is_a_number_holds_nothing:
        explicit format!("{{\"file_format_version\": \"1.0.1\", \"layers\": 7, \"layer\": {}}}", named("VK_LAYER_b"))
        => [];
    /// LAY-83: a manifest of version 1.0.0 can repeat `layer`.
    lay_83_version_1_0_0_may_repeat_layer:
        explicit format!("{{\"file_format_version\": \"1.0.0\", \"layer\": {}, \"layer\": {}}}",
            named("VK_LAYER_b"), named("VK_LAYER_a")) => ["VK_LAYER_b", "VK_LAYER_a"];
    /// LAY-83, BI-15: a manifest of a later version with a repeated `layer` is skipped.
    lay_83_later_versions_may_not_repeat_layer:
        explicit format!("{{\"file_format_version\": \"1.0.1\", \"layer\": {}, \"layer\": {}}}",
            named("VK_LAYER_b"), named("VK_LAYER_a")) => [], "ERROR | LAYER" "@FILE@";
    /// LAY-83: other members may follow `layer`.
    lay_83_other_members_may_follow_layer: explicit followed_by("\"more\": 1") => ["VK_LAYER_m"];
    /// LAY-83: the version may follow `layer`.
    lay_83_the_version_may_follow_layer:
        explicit format!("{{\"layer\": {}, \"file_format_version\": \"1.2.0\"}}", named("VK_LAYER_m")) => ["VK_LAYER_m"];
    /// LAY-81, BI-16: the manifest of a driver is skipped without a warning.
    bi_16_a_driver_manifest_is_skipped_without_a_warning:
        explicit r#"{"file_format_version": "1.0.0", "ICD": {"library_path": "x.so", "api_version": "1.0.0"}}"# => [],
        not "WARNING";
    /// LAY-84: a manifest without layers causes a warning.
    lay_84_a_file_without_layers_is_warned_of: explicit r#"{"file_format_version": "1.2.0", "layerz": {}}"# => [],
        "WARNING | LAYER" "@FILE@";
    /// LAY-85, LAY-99: components in a manifest of an older version cause a warning, and are read.
    lay_85_a_meta_layer_of_an_older_version_is_warned_of_and_read:
        explicit Layer::meta("m", &[]).format("1.0.1").text() => ["VK_LAYER_m"], "WARNING" "component_layers";
    /// LAY-86: descriptive and unknown members are ignored without a message.
    lay_86_descriptive_and_unknown_members_are_ignored_silently:
        explicit Layer::explicit("m")
            .member("introduction", "\"text\"").member("url", "5").member("platforms", "[\"WINDOWS\"]")
            .member("status", "\"DEPRECATED\"").member("anything", "null")
            .member("features", r#"{"presets": [5], "settings": [{"key": "k", "env": "DISABLE", "type": "BOOL"}]}"#)
            .text() => ["VK_LAYER_m"], not "WARNING";
}

/// LAY-80: known manifest versions cause no message.
#[test]
fn lay_80_the_known_versions_are_taken_without_a_word() {
    case(|scene| {
        let versions = ["1.0.0", "1.0.1", "1.1.0", "1.1.1", "1.1.2", "1.2.0", "1.2.1"];
        let layers = versions.iter().enumerate();
        let layers = layers.map(|(index, version)| Layer::explicit(&format!("n{index}")).format(version));
        place(scene, &layers.collect::<Vec<_>>());
        let outcome = scene.run(move |vk| assert_eq!(vk.layers().expect("layers").len(), versions.len()));
        outcome.ok().not_logged("unknown layer manifest file version");
        assert!(outcome.log("WARNING | LAYER").is_empty(), "{}", outcome.all());
    });
}
