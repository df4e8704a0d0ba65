//! Tests of members of the settings file that have no effect, or that only change messages.

use loader_tests::case;

use crate::settings::write;

const BASE: &str = "xdg/config-home";

/// APP-245: log locations with any value are accepted, and have no effect.
#[test]
fn app_245_log_locations_are_accepted_without_effect() {
    case(|scene| {
        scene.driver("a").device("one");
        scene.env("VK_LOADER_DEBUG", "");
        let nowhere = scene.text_path("nowhere.log");
        for value in [
            format!(r#"[{{"destinations": ["{nowhere}", "stdout"], "filters": ["all"]}}]"#),
            "[]".into(),
            "3".into(),
        ] {
            write(
                scene,
                BASE,
                &format!(r#""log_locations": {value}, "stderr_log": ["info"]"#),
            );
            let outcome = scene.run(|vk| {
                assert_eq!(vk.instance().device_names(), ["one"]);
                assert!(!vk.path("nowhere.log").exists());
            });
            // The loader uses the other members as if `log_locations` were absent.
            outcome.ok().logged_with("INFO", "Using layer configurations found");
        }
        // A file with only the member `log_locations` has no settings.
        write(
            scene,
            BASE,
            r#""log_locations": [{"destinations": ["x"], "filters": ["all"]}]"#,
        );
        scene.env("VK_LOADER_DEBUG", "info");
        scene
            .run(|vk| drop(vk.instance()))
            .ok()
            .logged_with("INFO", "but did not contain any valid settings.");
    });
}

/// APP-258, APP-259, APP-262: the names of a device and of its driver appear in messages, and do not affect the selection. Names that are
/// too long or are not strings are treated as empty.
#[test]
fn app_258_names_of_devices_are_for_messages_only() {
    case(|scene| {
        scene.unset("VK_DRIVER_FILES");
        scene
            .driver("a")
            .folder("xdg/data-home/vulkan/icd.d")
            .device_with("one", |device| device.uuids(1, 10));
        let numbers = |byte: u8| format!("[{}]", vec![byte.to_string(); 16].join(","));
        let configuration = |device: u8, names: &str| {
            let (device, driver) = (numbers(device), numbers(10));
            format!(r#"{{"deviceUUID": {device}, "driverUUID": {driver}, "driverVersion": 1{names}}}"#)
        };
        let long = "x".repeat(256);
        let list = [
            configuration(1, r#", "deviceName": "another", "driverName": "other driver""#),
            configuration(2, r#", "deviceName": "absent", "driverName": 3"#),
            configuration(3, &format!(r#", "deviceName": "{long}""#)),
        ];
        write(
            scene,
            BASE,
            &format!(r#""device_configurations": [{}]"#, list.join(",")),
        );
        let outcome = scene.run(|vk| {
            let (_, found) = vk.instance_with("1.1", &[]).some_devices(4);
            assert_eq!(found.len(), 1);
        });
        outcome
            .ok()
            .logged("DEBUG", "deviceName: another")
            .logged("DEBUG", "driverName: other driver")
            .logged("DEBUG", "deviceName: absent")
            .logged_with("WARNING", "absent")
            .not_logged("driverName: 3")
            .not_logged(&long);
    });
}

/// Returns the complete settings file that `docs/settings.md` shows, with its folders moved into the scene. The file is the last example of
/// the page.
fn example(scene: &loader_tests::Scene) -> String {
    let text = include_str!("../../../docs/settings.md");
    let example = text
        .rsplit("```json\n")
        .next()
        .and_then(|rest| rest.split("```").next());
    let example = example.expect("the page has an example");
    example.replace("/opt/", &scene.text_path("opt/"))
}

/// Writes a layer manifest with only the required members.
fn layer(scene: &loader_tests::Scene, short: &str) {
    let text = format!(
        r#"{{"file_format_version": "1.2.0", "layer": {{"name": "VK_LAYER_{short}", "type": "GLOBAL",
            "library_path": "/nowhere.so", "api_version": "1.3.0", "implementation_version": "1", "description": "",
            "disable_environment": {{"DISABLE_{short}": "1"}}}}}}"#
    );
    scene.file(&format!("opt/layers/{short}.json"), text);
}

/// APP-245, APP-250 to APP-252, APP-258, APP-261: each key of the documentation's example has the documented effect.
#[test]
fn app_245_the_example_of_the_documentation() {
    case(|scene| {
        scene.env("VK_LOADER_DEBUG", "");
        scene
            .driver("found")
            .folder("xdg/data-home/vulkan/icd.d")
            .device("found");
        scene
            .driver("new")
            .unlisted()
            .device_with("hidden", |device| device.uuids(9, 2))
            .device_with("shown", |device| device.uuids(1, 2));
        scene.unset("VK_DRIVER_FILES");
        for short in ["first", "last", "unwanted", "other"] {
            layer(scene, short);
        }
        let folder = scene.text_path("opt/layers");
        scene.env("VK_LAYER_PATH", &folder);
        scene.file(&format!("{BASE}/{}", crate::settings::FILE), example(scene));
        // The driver's manifest is at the path that the example names.
        let library = scene.library("new").display().to_string();
        scene.file(
            "opt/drivers/new.json",
            format!(
                r#"{{"file_format_version": "1.0.1", "ICD": {{"library_path": "{library}", "api_version": "1.3.0"}}}}"#
            ),
        );
        let outcome = scene.run(|vk| {
            let expected = ["VK_LAYER_first", "VK_LAYER_other", "VK_LAYER_last"];
            assert_eq!(vk.layers().expect("layers"), expected);
            let instance = vk.instance_with("1.1", &[]);
            let (_, devices) = instance.some_devices(4);
            assert_eq!(devices.len(), 1);
            assert_eq!(instance.name_of(devices[0]), "shown");
        });
        outcome
            .ok()
            .logged("DEBUG", "deviceName: new device")
            .logged("DEBUG", "driverName: new driver")
            .logged("DEBUG", "Use Additional Drivers Exclusively = true");
        assert!(outcome.calls("found", "load").is_empty(), "{}", outcome.all());
    });
}
