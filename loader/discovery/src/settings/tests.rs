//! Tests with tables of settings files.

use super::*;
use crate::env::{Environment, Fixed};
use crate::journal::testing::Lines;
use crate::journal::{Journal, LogBits};
use crate::search::Search;
use crate::text::Text;
use crate::text::scratch::Scratch;

const FILE: &str = "vulkan//loader_settings.d/vk_loader_settings.json";
const EXECUTABLE: &str = "/bin/app";

struct Outcome {
    settings: Option<Settings>,
    lines: Lines,
    path: Text,
}

fn read(text: &str) -> Outcome {
    let scratch = Scratch::create();
    let path = scratch.file(FILE, text.as_bytes());
    read_in(&scratch.root().to_string_lossy(), path)
}

fn read_in(folders: &str, path: Text) -> Outcome {
    let source = Fixed::new(&[
        ("XDG_CONFIG_HOME", folders),
        ("XDG_CONFIG_DIRS", "/nowhere"),
        ("XDG_DATA_DIRS", "/nowhere"),
    ]);
    let lines = Lines::default();
    let executable = Some(Text::from(EXECUTABLE)).into();
    let settings = load_for(
        &Search::new(&Environment::new(&source)),
        &executable,
        &mut Journal::new(&lines),
    );
    Outcome {
        settings: settings.unwrap(),
        lines,
        path,
    }
}

/// Reads a settings file that contains one object with the members in `members`.
fn one(members: &str) -> Outcome {
    read(&format!(
        r#"{{"file_format_version":"1.0.0","settings":{{{members}}}}}"#
    ))
}

#[test]
fn app_243_no_file() {
    let scratch = Scratch::create();
    let outcome = read_in(&scratch.root().to_string_lossy(), Text::default());
    assert_eq!(outcome.settings, None);
    let line = "No valid vk_loader_settings.json file found, no loader settings will be active";
    assert_eq!(outcome.lines.take(), [(LogBits::INFO, line.to_owned())]);
}

#[test]
fn app_240_app_241_the_first_existing_file_wins() {
    let scratch = Scratch::create();
    let folder = |name: &str| scratch.path(name).to_string();
    let text = r#"{"file_format_version":"1.0.0","settings":{"layers":[]}}"#;
    let second = scratch.file(&format!("b/{FILE}"), text.as_bytes());
    scratch.file(&format!("c/{FILE}"), b"");
    let list = [folder("a"), folder("b"), folder("c")].join(":");
    assert_eq!(read_in(&list, second.clone()).settings.unwrap().path, second);
    let list = [folder("c"), folder("b")].join(":");
    let outcome = read_in(&list, second);
    assert_eq!(outcome.settings, None, "an unusable file still decides");
    assert!(outcome.lines.has(LogBits::ERROR, "loader_get_json: Invalid JSON file"));
}

#[test]
fn app_248_unusable_files() {
    #[rustfmt::skip]
    let cases = [
        ("", LogBits::ERROR, "Invalid JSON file"),
        ("[]", LogBits::ERROR, "Invalid JSON file"),
        (r#"{"settings":{"layers":[]}}"#, LogBits::WARN, "file_format_version"),
        (r#"{"file_format_version":1,"settings":{"layers":[]}}"#, LogBits::WARN, "file_format_version"),
        (r#"{"file_format_version":""}"#, LogBits::WARN, "missing required settings objects"),
        (r#"{"file_format_version":"","settings":[]}"#, LogBits::WARN, "missing required settings objects"),
        (r#"{"file_format_version":"","settings_array":[]}"#, LogBits::DEBUG, "matched the current application"),
    ];
    for (text, bits, part) in cases {
        let outcome = read(text);
        assert_eq!(outcome.settings, None, "{text}");
        assert!(outcome.lines.has(bits, part), "{text}: {:?}", outcome.lines.texts());
    }
}

#[test]
fn app_246_which_object() {
    let object =
        |keys: &str, name: &str| format!(r#"{{{keys}"layers":[{{"control":"on","name":"{name}","path":""}}]}}"#);
    let ours = object(r#""app_keys":["/x","/bin/app"],"#, "ours");
    let other = object(r#""app_keys":["/bin/app2"],"#, "other");
    let never = object(r#""app_keys":[],"#, "never");
    let odd = object(r#""app_keys":"/bin/app","#, "odd");
    let all = object("", "all");
    let chosen = |objects: &[&String]| {
        let objects: Vec<&str> = objects.iter().map(|object| object.as_str()).collect();
        let text = format!(
            r#"{{"file_format_version":"x","settings":{},"settings_array":[{}]}}"#,
            object("", "single"),
            objects.join(",")
        );
        read(&text)
            .settings
            .map(|settings| settings.layers.unwrap()[0].name.to_string())
    };
    let stop = "1".to_owned();
    let cases: &[(&[&String], Option<&str>)] = &[
        (&[], None),
        (&[&all, &ours], Some("ours")),
        (&[&other, &never, &odd, &all, &ours, &ours], Some("ours")),
        (&[&other, &all, &object("", "late")], Some("all")),
        (&[&other, &never, &odd], None),
        (&[&all, &stop, &ours], Some("all")),
        (&[&stop, &ours], None),
    ];
    for (objects, expected) in cases {
        assert_eq!(chosen(objects).as_deref(), *expected, "{objects:?}");
    }
    assert!(one(r#""app_keys":["/other"],"layers":[]"#).settings.is_none());
    assert!(one(r#""app_keys":["/bin/app"],"layers":[]"#).settings.is_some());
}

#[test]
fn app_247_settings_that_change_nothing() {
    let cases = [
        "",
        r#""stderr_log":[]"#,
        r#""stderr_log":["","ERROR","err",1]"#,
        r#""stderr_log":"all""#,
        r#""log_locations":[{"destinations":["a"],"filters":["all"]}]"#,
        r#""layers":{}"#,
        r#""layers":[1]"#,
        r#""additional_drivers":[]"#,
        r#""additional_drivers":[{"path":"a.json"},{}]"#,
        r#""additional_drivers_use_exclusively":true"#,
        r#""device_configurations":[1]"#,
    ];
    for members in cases {
        let outcome = one(members);
        assert_eq!(outcome.settings, None, "{members}");
        let line = format!(
            "vk_loader_settings.json file found at \"{}\" but did not contain any valid settings.",
            outcome.path
        );
        assert!(outcome.lines.has(LogBits::INFO, &line), "{members}");
    }
}

#[test]
fn app_245_log_words() {
    let mask = |words: &str| {
        one(&format!(r#""stderr_log":[{words}]"#))
            .settings
            .map(|settings| settings.log_mask)
    };
    assert_eq!(mask(r#""error","warn","x""#), Some(LogBits::ERROR | LogBits::WARN));
    assert_eq!(mask(r#""validation""#), Some(LogBits::VALIDATION));
    let all = mask(r#""all""#).unwrap();
    assert!(all.contains(LogBits::DRIVER | LogBits::PERF | LogBits::VALIDATION));
    let many = r#""error",1,"#.repeat(100_000) + "1";
    assert_eq!(mask(&many), Some(LogBits::ERROR), "APP-249");
}

#[test]
fn app_250_lay_150_lay_151_layers() {
    let text = r#""layers":[{"control":"on","name":"a","path":"/a.json"},
        {"control":"off","name":"b","path":"b","treat_as_implicit_manifest":1},{"control":"unordered_layer_location"},
        {"Control":"odd","name":"","path":"","treat_as_implicit_manifest":true}]"#;
    let layers = one(text).settings.unwrap().layers.unwrap();
    let controls: Vec<Control> = layers.iter().map(|layer| layer.control).collect();
    assert_eq!(controls, [Control::On, Control::Off, Control::Unordered, Control::Auto]);
    let implicit: Vec<bool> = layers.iter().map(|layer| layer.implicit).collect();
    assert_eq!(implicit, [false, false, false, true]);
    assert_eq!((&layers[0].name, &layers[0].path), (&"a".into(), &"/a.json".into()));
    let void = [
        r#"{"name":"a","path":"b"}"#,
        r#"{"control":1,"name":"a","path":"b"}"#,
        r#"{"control":"on","path":"b"}"#,
        r#"{"control":"off","name":"a"}"#,
        r#"{"control":"auto","name":"a","path":null}"#,
        "[]",
    ];
    for entry in void {
        let members = format!(r#""stderr_log":["all"],"layers":[{{"control":"on","name":"a","path":"b"}},{entry}]"#);
        assert_eq!(one(&members).settings.unwrap().layers, None, "{entry}");
    }
}

fn uuid(first: u8) -> String {
    let bytes: Vec<String> = (0..16).map(|index| (first + index).to_string()).collect();
    format!("[{}]", bytes.join(","))
}

#[test]
fn app_258_device_configurations() {
    let device = |more: &str| format!(r#"{{"deviceUUID":{},"driverUUID":{},{more}}}"#, uuid(0), uuid(240));
    let read = |elements: &[&str]| {
        let members = format!(r#""device_configurations":[{}]"#, elements.join(","));
        one(&members)
            .settings
            .map(|settings| settings.device_configurations.unwrap())
    };
    assert_eq!(
        read(&[]).map(|found| found.len()),
        Some(0),
        "an empty list of devices is a setting too"
    );
    let long = format!(
        r#""driverVersion":4294967295,"deviceName":"{}","driverName":"d""#,
        "x".repeat(256)
    );
    let found = read(&[&device(&long)]).unwrap().remove(0);
    assert_eq!(
        (found.device_uuid[15], found.driver_uuid[15], found.driver_version),
        (15, 255, u32::MAX)
    );
    assert_eq!(
        (found.device_name.as_bytes(), found.driver_name.as_bytes()),
        (&b""[..], &b"d"[..])
    );
    let good = device(r#""driverVersion":1"#);
    let wrong = [
        device(r#""driverVersion":"1""#),
        device(r#""x":1"#),
        good.replace("[0,", "["),
        good.replace("[0,", "[0,0,"),
        good.replace("[0,", "[256,"),
        good.replace("[0,", "[-1,"),
        good.replace("[0,", "[0.5,"),
        good.replace("[0,", "[\"0\","),
        "{}".to_owned(),
    ];
    for element in &wrong {
        assert_eq!(read(&[element, &good]).map(|found| found.len()), Some(1), "{element}");
    }
    assert!(read(&[&good, "1"]).is_none());
}

#[test]
fn app_261_additional_drivers() {
    let text = r#""additional_drivers":[{"path":"/a.json"},{"path":"b"}],"additional_drivers_use_exclusively":true"#;
    let settings = one(text).settings.unwrap();
    assert_eq!(settings.additional_drivers, [Text::from("/a.json"), Text::from("b")]);
    assert!(settings.additional_drivers_exclusive);
    let void = r#""layers":[],"additional_drivers":[{"path":"/a.json"},1],"additional_drivers_use_exclusively":true"#;
    let settings = one(void).settings.unwrap();
    assert!(settings.additional_drivers.is_empty() && settings.additional_drivers_exclusive);
}

#[test]
fn drv_143a_visible_devices_are_one_list() {
    let read = |list: &str| one(&format!(r#""visible_devices":{list}"#)).settings;
    let list = |elements: &str| read(elements).map(|settings| settings.visible_devices.as_bytes().to_vec());
    assert_eq!(list(r#"["type:cpu","1:2"]"#), Some(b"type:cpu\x001:2\0".into()));
    assert_eq!(list(r#"[7,"1:2"]"#), Some(b"(not a text)\x001:2\0".into()));
    assert_eq!(list(r#"["",","]"#), Some(b"\0,\0".into()));
    for nothing in ["[]", "7", r#""type:cpu""#] {
        assert_eq!(read(nothing), None, "{nothing}");
    }
}

#[test]
fn policies_are_told_apart() {
    let none = DriverPolicies::default();
    assert!(none.is_empty() && none.names().next().is_none() && none.with(b"x").is_empty());
    for (policy, name) in DriverPolicies::NAMES {
        let one = none.with(name.as_bytes());
        assert_eq!(one, policy);
        assert!(!one.is_empty() && one.names().eq([name]), "{name}");
    }
    let words = DriverPolicies::NAMES.map(|(_, name)| name);
    let all = words.iter().fold(none, |all, name| all.with(name.as_bytes()));
    assert!(all.names().eq(words));
}

#[test]
fn app_262_description() {
    let text = format!(
        r#""stderr_log":["layer","error","warn","validation"],
        "layers":[{{"control":"on","name":"a","path":"/a.json","treat_as_implicit_manifest":true}},
        {{"control":"unordered_layer_location"}},{{"control":"off","name":"b","path":"/b.json"}}],
        "additional_drivers":[{{"path":"/d.json"}}],"driver_policy":["keep-open","software-last","none"],"visible_devices":["type:cpu"],
        "device_configurations":[{{"deviceUUID":{},"driverUUID":{},"driverVersion":7,"driverName":"n"}}]"#,
        uuid(0),
        uuid(16)
    );
    let settings = one(&text).settings.unwrap();
    let lines = Lines::default();
    settings.describe(&Journal::new(&lines));
    let lines = lines.take();
    assert!(lines[0].0 == LogBits::INFO && lines[1..].iter().all(|(bits, _)| *bits == LogBits::DEBUG));
    let lines: Vec<String> = lines.into_iter().map(|(_, line)| line).collect();
    let first = format!(
        "Using layer configurations found in loader settings from {}",
        settings.path
    );
    let expected = [
        first.as_str(),
        "Loader Settings Filters for Logging to Standard Error: ERROR | WARNING | LAYER",
        "Layer Configurations count = 3",
        "---- Layer Configuration [0] ----",
        "Name: a",
        "Path: /a.json",
        "Layer Type: Implicit",
        "Control: on",
        "---- Layer Configuration [1] ----",
        "Control: unordered_layer_location",
        "---- Layer Configuration [2] ----",
        "Name: b",
        "Path: /b.json",
        "Layer Type: Explicit",
        "Control: off",
        "----",
        "Use Additional Drivers Exclusively = false",
        "Additional Driver Configurations count = 1",
        "---- Driver Configuration [0] ----",
        "Path: /d.json",
        "Driver Policy: software-last",
        "Driver Policy: keep-open",
        "Visible Devices: type:cpu",
        "----",
        "Device Configurations count = 1",
        "---- Device Configuration [0] ----",
        "deviceUUID: 00010203-0405-0607-0809-0a0b0c0d0e0f",
        "driverUUID: 10111213-1415-1617-1819-1a1b1c1d1e1f",
        "driverVersion: 7",
        "driverName: n",
        "---------------------------------",
    ];
    assert_eq!(lines, expected);
    assert_eq!(lines[lines.len() - 1].len(), 33);
}
