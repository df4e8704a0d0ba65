//! Tests with tables of manifests. Each row has the layers that are read, the skipped layers, and the messages.

use super::*;
use crate::journal::testing::Lines;
use crate::journal::{Journal, LogBits, Source};
use crate::text::scratch::Scratch;
use crate::version::ApiVersion;

const WARN: LogBits = LogBits::WARN;
const WARN_LAYER: LogBits = LogBits::WARN.with(LogBits::LAYER);
const INFO_LAYER: LogBits = LogBits::INFO.with(LogBits::LAYER);

struct Outcome {
    layers: Vec<LayerManifest>,
    lines: Lines,
    path: Text,
}

impl Outcome {
    fn names(&self) -> Vec<String> {
        self.layers.iter().map(|layer| layer.name.to_string()).collect()
    }

    fn said(&self) -> Vec<(LogBits, String)> {
        let lines = self.lines.take();
        let found = |line: &str| line.starts_with("Found manifest file");
        lines.into_iter().filter(|(_, line)| !found(line)).collect()
    }
}

fn read_bytes(content: &[u8], implicit: bool) -> Outcome {
    let scratch = Scratch::create();
    let path = scratch.file("x.json", content);
    let lines = Lines::default();
    let (mut layers, mut journal) = (Vec::new(), Journal::new(&lines));
    read_layer_manifest(&path, Source::BuildTime, implicit, &mut layers, &mut journal).unwrap();
    Outcome { layers, lines, path }
}

fn read(content: &str) -> Outcome {
    read_bytes(content.as_bytes(), false)
}

const REQUIRED: &str =
    r#""name":"VK_LAYER_a","type":"INSTANCE","api_version":"1.2.3","implementation_version":"4","description":"d""#;
const LIBRARY: &str = r#","library_path":"./liba.so""#;
const DISABLE: &str = r#","disable_environment":{"OFF":"1"}"#;

fn with(version: &str, members: &str) -> String {
    format!(r#"{{"file_format_version":"{version}","layer":{{{members}}}}}"#)
}

/// Returns a complete layer; `more` adds members.
fn layer(version: &str, more: &str) -> String {
    with(version, &format!("{REQUIRED}{LIBRARY}{DISABLE}{more}"))
}

#[test]
fn a_complete_layer() {
    let more = r#","functions":{"vkNegotiateLoaderLayerInterfaceVersion":"neg"},
        "instance_extensions":[{"name":"VK_EXT_i","spec_version":"7"},3,{"name":"VK_EXT_i","spec_version":"8"}],
        "device_extensions":[{"name":"VK_EXT_d","spec_version":9,"entrypoints":["vkA","vkB",1,"vkC"]},{}],
        "enable_environment":{"ON":"yes"},"pre_instance_functions":{"vkEnumerateInstanceVersion":"v"},
        "features":{"presets":[]},"introduction":"","library_arch":"64""#;
    let outcome = read_bytes(layer("1.2.1", more).as_bytes(), true);
    let found = &outcome.layers[0];
    assert_eq!(found.name, "VK_LAYER_a");
    assert_eq!(
        (found.api_version, found.implementation_version),
        (ApiVersion(1 << 22 | 2 << 12 | 3), 4)
    );
    assert!(found.library_path().unwrap().ends_with(b"/./liba.so"));
    assert_eq!(found.functions.negotiate.as_deref(), Some(&b"neg"[..]));
    let instance: Vec<(String, u32)> = found
        .instance_extensions
        .iter()
        .map(|known| (known.name.to_string(), known.spec_version))
        .collect();
    assert_eq!(instance, [("VK_EXT_i".to_owned(), 7)], "BI-29");
    let device = &found.device_extensions[0];
    assert_eq!(
        (device.spec_version, device.entrypoints.len()),
        (0, 2),
        "BI-30, LAY-105"
    );
    assert_eq!(found.device_extensions.len(), 1);
    let pair = |pair: &Option<EnvironmentPair>| {
        pair.as_ref()
            .map(|pair| (pair.name.to_string(), pair.value.to_string()))
    };
    assert_eq!(pair(&found.disable_environment), Some(("OFF".into(), "1".into())));
    assert_eq!(pair(&found.enable_environment), Some(("ON".into(), "yes".into())));
    assert!(
        found
            .pre_instance_function(PreInstanceFunction::EnumerateInstanceVersion)
            .is_some()
    );
    let line = format!("Found manifest file {} (file version 1.2.1)", outcome.path);
    assert_eq!(outcome.lines.take(), [(LogBits::INFO, line)]);
}

#[test]
fn lay_62_implicit_fields_mean_nothing_in_explicit_layers() {
    let more = r#","enable_environment":{"ON":"yes"},"pre_instance_functions":{"vkEnumerateInstanceVersion":"v"}"#;
    let outcome = read(&layer("1.1.2", more));
    let found = &outcome.layers[0];
    assert!(found.disable_environment.is_none() && found.enable_environment.is_none());
    assert_eq!(found.pre_instance_functions, PreInstanceFunctions::default());
    assert_eq!(
        outcome.said().iter().filter(|(bits, _)| *bits == WARN).count(),
        1,
        "LAY-109"
    );
}

/// The text of a file, and the line that the loader must log about the file.
type Case<'a> = (&'a [u8], Option<(LogBits, &'a str)>);

#[test]
fn lay_75_to_lay_84_files_that_contribute_nothing() {
    let repeated = format!(r#"{{"file_format_version":"1.0.1","layer":{{{REQUIRED}{LIBRARY}}},"Layer":{{}}}}"#);
    #[rustfmt::skip]
    let cases: Vec<Case<'_>> = vec![
        (b"", Some((LogBits::ERROR, "loader_get_json: Invalid JSON file"))),
        (b"[]", None),
        (b"\"x\"", None),
        (b"{}", Some((WARN_LAYER, "file_format_version"))),
        (br#"{"file_format_version":1.0,"layers":[]}"#, Some((WARN_LAYER, "file_format_version"))),
        (br#"{"file_format_version":"1.0.0"}"#, Some((WARN_LAYER, "'layer' object"))),
        (br#"{"file_format_version":"1.0.0","ICD":{}}"#, None),
        (repeated.as_bytes(), Some((LogBits::ERROR | LogBits::LAYER, "Multiple 'layer' nodes"))),
        (br#"{"file_format_version":"1.0.1","layers":7}"#, None),
        (br#"{"file_format_version":"1.0.1","layers":[]}"#, None),
    ];
    for (text, expected) in cases {
        let outcome = read_bytes(text, false);
        assert!(outcome.layers.is_empty(), "{}", text.escape_ascii());
        let said = outcome.said();
        // For invalid JSON, there is a second line with the position.
        let lines = usize::from(expected.is_some()) + usize::from(text.is_empty());
        assert_eq!(said.len(), lines, "{said:?}");
        if let Some((bits, part)) = expected {
            assert!(said[0].0 == bits && said[0].1.contains(part), "{said:?}");
        }
    }
}

#[test]
fn lay_80_bi_12_unknown_versions_are_still_read() {
    let unknown = ["", "1.1.3", "9.9.9", "a.b.c", "1.2.2", "0.9.0"];
    for version in [
        "1.0.0", "1.0.1", "1.1.0", "1.1.1", "1.1.2", "1.2.0", "1.2.1", "1", "1.1",
    ]
    .iter()
    .chain(&unknown)
    {
        let outcome = read(&layer(version, ""));
        assert_eq!(outcome.layers.len(), 1, "{version}");
        let expected = unknown.contains(version);
        assert_eq!(
            outcome.lines.has(INFO_LAYER, "has unknown layer manifest file version"),
            expected,
            "{version}"
        );
    }
    let outcome = read(&layer("9.9", ""));
    let line = format!(
        "loader_add_layer_properties: {} has unknown layer manifest file version 9.9.0.  May cause errors.",
        outcome.path
    );
    assert_eq!(outcome.said(), [(INFO_LAYER, line)]);
}

#[test]
fn lay_82_lay_83_several_layers_in_a_file() {
    let one = |name: &str| REQUIRED.replace("VK_LAYER_a", name) + LIBRARY;
    let (a, b) = (one("VK_LAYER_a"), one("VK_LAYER_b"));
    let outcome = read(&format!(
        r#"{{"file_format_version":"1.0.1","layers":[{{{a}}},{{}},{{{b}}},1,{{{b}}}]}}"#
    ));
    assert_eq!(outcome.names(), ["VK_LAYER_a", "VK_LAYER_b"], "BI-14");
    assert!(outcome.lines.has(WARN_LAYER, "Array element in \"layers\" field"));
    let outcome = read(&format!(
        r#"{{"layer":{{{a}}},"LAYER":{{{b}}},"file_format_version":"1.0.0"}}"#
    ));
    assert_eq!(outcome.names(), ["VK_LAYER_a", "VK_LAYER_b"]);
    let outcome = read(&format!(r#"{{"layer":{{{a}}},"file_format_version":"1.2.0","x":1}}"#));
    assert_eq!(
        outcome.names(),
        ["VK_LAYER_a"],
        "another member after `layer` does not repeat `layer`"
    );
    let both = format!(r#"{{"file_format_version":"1.0.0","layer":{{{a}}},"layers":{{"x":{{{b}}}}}}}"#);
    let outcome = read(&both);
    assert_eq!(outcome.names(), ["VK_LAYER_b"], "BI-13");
    assert!(
        outcome
            .lines
            .has(WARN_LAYER, "'layers' tag not supported until file version 1.0.1")
    );
}

#[test]
fn lay_91_bi_17_required_fields() {
    for field in ["name", "type", "api_version", "implementation_version", "description"] {
        let key = format!("\"{field}\":");
        for wrong in ["\"x\":\"y\",\"z\":", ""] {
            let members = match wrong {
                "" => REQUIRED.replace(&key, &format!("{key}null,\"rest\":")),
                _ => REQUIRED.replace(&key, wrong),
            };
            let outcome = read(&with("1.0.0", &(members + LIBRARY)));
            assert!(outcome.layers.is_empty(), "{field}");
            assert!(outcome.lines.has(WARN, field), "{field}");
            assert!(outcome.lines.has(WARN, &outcome.path.to_string()), "{field}");
        }
    }
    let numeric = REQUIRED.replace("\"1.2.3\"", "1.2");
    assert!(read(&with("1.0.0", &(numeric + LIBRARY))).layers.is_empty());
}

#[test]
fn lay_92_bi_18_bi_19_lengths() {
    for (length, accepted) in [(0, true), (254, true), (255, false), (256, false), (100_000, false)] {
        let long = "x".repeat(length);
        let named = REQUIRED.replace("VK_LAYER_a", &long);
        assert_eq!(
            read(&with("1.0.0", &(named + LIBRARY))).layers.len(),
            usize::from(accepted),
            "{length}"
        );
        let described = REQUIRED.replace("\"d\"", &format!("\"{long}\""));
        assert_eq!(
            read(&with("1.0.0", &(described + LIBRARY))).layers.len(),
            usize::from(accepted),
            "{length}"
        );
    }
}

#[test]
fn lay_93_to_lay_101_skipped_layers_and_their_messages() {
    let skip = |from: &str, to: &str| format!("{REQUIRED}{LIBRARY}").replace(from, to);
    #[rustfmt::skip]
    let cases: Vec<(String, LogBits, &str)> = vec![
        (skip("INSTANCE", "DEVICE"), WARN_LAYER, "Device layers are deprecated. Skipping layer VK_LAYER_a"),
        (skip("1.2.3", "1.1.2.3"), INFO_LAYER, "Layer \"VK_LAYER_a\" has an 'api_version' field which contains a non-zero variant value of 1.  Skipping Layer."),
        (REQUIRED.into(), WARN, "Layer \"VK_LAYER_a\" is missing both library_path and component_layers fields."),
        (format!(r#"{REQUIRED},"library_path":1"#), WARN, "is missing both library_path and component_layers"),
        (format!(r#"{REQUIRED},"component_layers":["a",1]"#), WARN, "is missing both library_path and component_layers"),
        (format!(r#"{REQUIRED},"component_layers":{{"a":1}}"#), WARN, "is missing both library_path and component_layers"),
        (format!(r#"{REQUIRED}{LIBRARY},"component_layers":[]"#), WARN, "Both are not compatible"),
        (format!(r#"{REQUIRED}{LIBRARY},"component_layers":5"#), WARN, "Both are not compatible"),
        (format!(r#"{REQUIRED}{LIBRARY},"library_arch":"32-bit""#), LogBits::INFO, "doesn't match the current running architecture, skipping this layer"),
    ];
    for (members, bits, part) in cases {
        let outcome = read(&with("1.1.1", &members));
        assert!(outcome.layers.is_empty(), "{members}");
        assert!(outcome.lines.has(bits, part), "{members}: {:?}", outcome.said());
    }
    let unknown = read(&with("1.0.0", &skip("INSTANCE", "instance")));
    assert!(unknown.layers.is_empty() && unknown.said().is_empty(), "LAY-94");
    let odd = read(&with("1.0.0", &skip("VK_LAYER_a", "odd")));
    assert_eq!(odd.names(), ["odd"]);
    let line = "Layer name odd does not conform to naming standard (Policy #LLP_LAYER_3)";
    assert!(odd.lines.has(WARN, line));
}

#[test]
fn lay_96_lay_100_accepted_oddities() {
    for (from, to) in [
        ("1.2.3", "0.1.0"),
        ("1.2.3", "9.9.9"),
        ("./liba.so", ""),
        ("INSTANCE", "GLOBAL"),
    ] {
        let members = format!("{REQUIRED}{LIBRARY}").replace(from, to);
        assert_eq!(read(&with("1.0.0", &members)).layers.len(), 1, "{to}");
    }
    for (text, expected) in [("12x", 12), ("x", 0), ("", 0), ("4294967297", 1)] {
        let members = REQUIRED.replace("\"4\"", &format!("\"{text}\""));
        let outcome = read(&with("1.0.0", &(members + LIBRARY)));
        assert_eq!(outcome.layers[0].implementation_version, expected, "BI-21");
    }
}

#[test]
fn lay_99_meta_layers() {
    let outcome = read(&with(
        "1.1.1",
        &format!(r#"{REQUIRED},"component_layers":["b","b",""]"#),
    ));
    assert_eq!(outcome.layers[0].components().map(<[Text]>::len), Some(3));
    assert_eq!(
        outcome.said(),
        [(INFO_LAYER, "Encountered meta-layer \"VK_LAYER_a\"".to_owned())]
    );
    let outcome = read(&with("1.0.1", &format!(r#"{REQUIRED},"component_layers":[]"#)));
    assert_eq!(outcome.layers[0].components(), Some(&[][..]));
    assert!(
        outcome
            .lines
            .has(WARN, "component_layers, but using older JSON file version"),
        "LAY-85"
    );
}

#[test]
fn lay_102_lay_103_function_names() {
    let all = r#","functions":{"vkNegotiateLoaderLayerInterfaceVersion":"n","vkGetInstanceProcAddr":"i",
        "vkGetDeviceProcAddr":"d"}"#;
    let old = read(&layer("1.0.1", all));
    assert!(old.layers[0].functions.negotiate.is_none());
    assert!(old.layers[0].functions.get_device_proc_addr.is_some());
    let new = read(&layer("1.1.0", all));
    assert!(new.layers[0].functions.negotiate.is_some() && new.said().is_empty());
    let empty = read(&layer(
        "1.1.2",
        &all.replace(r#""n""#, r#""""#).replace(r#""i""#, r#""""#),
    ));
    assert_eq!(empty.layers[0].functions.negotiate, None);
    assert_eq!(empty.layers[0].functions.get_instance_proc_addr, None);
    let deprecated = read(&layer("1.1.0", r#","functions":{"vkGetInstanceProcAddr":"i"}"#));
    assert!(deprecated.layers[0].functions.get_instance_proc_addr.is_some());
    assert!(
        deprecated
            .lines
            .has(LogBits::INFO, "deprecated 'vkGetInstanceProcAddr'")
    );
}

#[test]
fn lay_104_the_first_of_two_equal_extensions_counts() {
    let one = |version: u32| format!(r#"{{"name":"VK_EXT_e","spec_version":"{version}"}}"#);
    for kind in ["instance_extensions", "device_extensions"] {
        let outcome = read(&layer("1.0.0", &format!(r#","{kind}":[{},{}]"#, one(7), one(8))));
        let found = &outcome.layers[0];
        let instance = found.instance_extensions.iter().map(|extension| extension.spec_version);
        let device = found.device_extensions.iter().map(|extension| extension.spec_version);
        assert!(instance.chain(device).eq([7]), "{kind}");
    }
}

#[test]
fn lay_104_bi_31_windowing_extensions() {
    let more = r#","instance_extensions":[{"name":"VK_EXT_directfb_surface"},{"name":"VK_KHR_xcb_surface"},{"name":1},
        {"name":"VK_QNX_screen_surface","spec_version":"1"}],"device_extensions":{"name":"x"}"#;
    let outcome = read(&layer("1.0.0", more));
    let names: Vec<String> = outcome.layers[0]
        .instance_extensions
        .iter()
        .map(|known| known.name.to_string())
        .collect();
    assert_eq!(names, ["VK_KHR_xcb_surface"]);
    assert!(outcome.layers[0].device_extensions.is_empty());
}

#[test]
fn lay_107_lay_108_bi_32_bi_33_environment_pairs() {
    let implicit = |disable: &str, more: &str| {
        read_bytes(
            with("1.1.2", &format!("{REQUIRED}{LIBRARY}{disable}{more}")).as_bytes(),
            true,
        )
    };
    assert!(
        implicit("", "")
            .lines
            .has(WARN, "doesn't contain required layer object disable_environment")
    );
    for wrong in ["{}", "[]", "\"OFF\"", "{\"OFF\":1,\"B\":\"1\"}", "null"] {
        let outcome = implicit(&format!(",\"disable_environment\":{wrong}"), "");
        assert!(outcome.layers.is_empty(), "{wrong}");
        assert!(outcome.lines.has(WARN, "(Policy #LLP_LAYER_9)"), "{wrong}");
    }
    for wrong in ["{}", "[]", "\"ON\"", "{\"ON\":1,\"B\":\"1\"}"] {
        let outcome = implicit(DISABLE, &format!(",\"enable_environment\":{wrong}"));
        assert!(outcome.layers[0].enable_environment.is_none(), "{wrong}");
    }
}

#[test]
fn lay_109_lay_110_sections_in_the_wrong_place() {
    let text = layer(
        "1.1.1",
        r#","pre_instance_functions":{"vkEnumerateInstanceVersion":"v"},"app_keys":["/a"]"#,
    );
    let outcome = read_bytes(text.as_bytes(), true);
    assert_eq!(
        outcome.layers[0].pre_instance_functions,
        PreInstanceFunctions::default()
    );
    assert!(outcome.lines.has(LogBits::ERROR, "pre_instance_functions"));
    assert!(outcome.lines.has(WARN_LAYER, "app_keys"));
    assert_eq!(outcome.layers[0].overrides, OverrideFields::default());
    let quiet = read(&layer(
        "1.0.0",
        r#","override_paths":["/a"],"blacklisted_layers":["b"]"#,
    ));
    assert!(quiet.said().is_empty());
}

#[test]
fn lay_85_bi_39_override_fields() {
    let members = REQUIRED.replace("VK_LAYER_a", OVERRIDE_LAYER);
    let members = format!(
        r#"{members}{DISABLE},"component_layers":[],"override_paths":["/p",1,"/q"],"blacklisted_layers":["b"],
        "app_keys":["/x","/y"]"#
    );
    let outcome = read_bytes(with("1.0.1", &members).as_bytes(), true);
    let found = &outcome.layers[0];
    assert!(found.is_override());
    let overrides = &found.overrides;
    let lengths = [&overrides.paths, &overrides.blacklisted_layers, &overrides.app_keys].map(Vec::len);
    assert_eq!(lengths, [1, 1, 2]);
    let line = format!(
        "Layer \"{OVERRIDE_LAYER}\" contains meta-layer-specific override paths, but using older JSON file version."
    );
    assert!(outcome.said().contains(&(WARN, line)));
    assert!(
        !read(&with("1.1.1", &members)).layers[0].is_override(),
        "LAY-170: an explicit layer is not the override layer"
    );
}

#[test]
fn bi_7_names_that_are_no_utf_8() {
    let text = layer("1.0.0", "").replace("VK_LAYER_a", "VK_LAYER_?");
    let bytes: Vec<u8> = text
        .bytes()
        .map(|byte| if byte == b'?' { 0xFF } else { byte })
        .collect();
    assert_eq!(read_bytes(&bytes, true).layers[0].name.as_bytes(), b"VK_LAYER_\xFF");
}
