//! Tests of the precedence of the settings file, the variables and `DRI_PRIME` in choosing devices (DRV-143a, DRV-143b), and of drivers
//! that therefore remain closed.

use super::catalogue::opened;
use super::catalogue_file::{self as file, Entry};
use super::visible::{five_devices, names};
use loader_tests::{Scene, case};
use serde_json::json;

const VARIABLE: &str = "VK_LOADER_VISIBLE_DEVICES";
const FILE: &str = "xdg/config-home/vulkan/loader_settings.d/vk_loader_settings.json";

fn settings(scene: &Scene, members: &str) {
    let text = format!(r#"{{"file_format_version": "1.0.0", "settings": {{{members}}}}}"#);
    scene.file(FILE, text);
}

/// The settings file takes precedence over `VK_LOADER_VISIBLE_DEVICES`, and a message reports this. An element that is not a string matches
/// no device.
#[test]
fn drv_143a_the_settings_file_chooses() {
    case(|scene| {
        five_devices(scene);
        settings(scene, r#""visible_devices": ["type:cpu", 7, "8086:3"]"#);
        assert_eq!(names(scene), "processor,small");
        scene.env(VARIABLE, "type:discrete");
        assert_eq!(names(scene), "processor,small");
        let outcome = scene.run(|vk| drop(vk.instance_with("1.1", &[]).some_devices(16)));
        outcome
            .ok()
            .logged_with(
                "WARNING | DRIVER",
                "VK_LOADER_VISIBLE_DEVICES is ignored: the settings file ",
            )
            .logged_with(
                "WARNING | DRIVER",
                "visible_devices of the settings file: '(not a text)' is no way",
            )
            .logged(
                "INFO",
                "Device \"plain\" is hidden by visible_devices of the settings file",
            );
        for (list, expected) in [
            (r#"["name:plain,name:placed"]"#, ""),
            (r#"["name:plain,type:cpu"]"#, ""),
            (r#"[","]"#, ""),
            (r#"["", "type:cpu"]"#, "processor"),
            (r#"["none"]"#, ""),
        ] {
            settings(scene, &format!(r#""visible_devices": {list}"#));
            assert_eq!(names(scene), expected, "{list}");
        }
        settings(scene, r#""visible_devices": []"#);
        assert_eq!(names(scene), "placed,plain,marked");
    });
}

/// Hostile lists hide all devices that they do not name, and no call fails. A value that is not an array has no effect.
#[test]
fn drv_143a_hostile_lists_of_the_settings_file() {
    case(|scene| {
        five_devices(scene);
        scene.limit(60);
        let many = vec!["\"9:9\""; 20_000].join(",");
        let long = format!("[\"name:{}*\", \"type:cpu\"]", "x".repeat(100_000));
        for (list, expected) in [
            (format!("[{many}]"), ""),
            (long, "processor"),
            (r#"[null, {"a": "type:cpu"}, [["type:cpu"]], 7, true]"#.into(), ""),
            (r#"["type:cpu\u0000", "\u001b[2J"]"#.into(), "processor"),
            (r#"{"0": "type:cpu"}"#.into(), "placed,plain,marked,small,processor"),
            (r#""type:cpu""#.into(), "placed,plain,marked,small,processor"),
        ] {
            settings(scene, &format!(r#""visible_devices": {list}"#));
            assert_eq!(names(scene), expected, "{list:.60}");
        }
    });
}

/// The member `device_configurations` takes precedence over the device selectors in the settings file and in `VK_LOADER_VISIBLE_DEVICES`.
#[test]
fn drv_143a_configured_devices_take_precedence() {
    case(|scene| {
        scene.unset("VK_DRIVER_FILES");
        scene
            .driver("a")
            .folder("xdg/data-home/vulkan/icd.d")
            .device_with("one", |device| device.uuids(1, 10))
            .device_with("two", |device| device.uuids(2, 10));
        let uuid = |number: u8| json!(vec![number; 16]);
        let device = json!({"deviceUUID": uuid(2), "driverUUID": uuid(10), "driverVersion": 1});
        let members = format!(r#""device_configurations": [{device}], "visible_devices": ["name:one"]"#);
        settings(scene, &members);
        scene.env(VARIABLE, "name:one");
        let outcome = scene.run(|vk| {
            assert_eq!(vk.instance_with("1.1", &[]).device_names(), ["two"]);
            assert_eq!(vk.instance_with("1.1", &[]).group_names(), [["two"]]);
        });
        let of_file = "visible_devices of the settings file is ignored: device_configurations in ";
        outcome
            .ok()
            .logged_with("WARNING | DRIVER", "VK_LOADER_VISIBLE_DEVICES is ignored")
            .logged_with("WARNING | DRIVER", of_file);
        scene.unset(VARIABLE);
        let outcome = scene.run(|vk| assert_eq!(vk.instance_with("1.1", &[]).device_names(), ["two"]));
        outcome
            .ok()
            .logged_with("WARNING | DRIVER", of_file)
            .not_logged("VK_LOADER_VISIBLE_DEVICES is ignored");
    });
}

/// The selected device is the first visible device. Without sorting, the words of `VK_LOADER_VISIBLE_DEVICES` determine the order of the
/// devices.
#[test]
fn drv_143a_the_selected_device_is_the_first_of_the_visible_ones() {
    case(|scene| {
        five_devices(scene);
        scene
            .env(VARIABLE, "type:cpu,type:integrated,10de:1")
            .env("VK_LOADER_DEVICE_SELECT", "10de:2,8086:3");
        assert_eq!(names(scene), "small,processor,plain");
        scene.env("VK_LOADER_DISABLE_SELECT", "1");
        assert_eq!(names(scene), "processor,small,plain");
    });
}

/// `DRI_PRIME` chooses the first device of the list, or with `!` the only device. It has no effect if another variable chooses devices, or
/// disables sorting.
#[test]
fn drv_143b_dri_prime() {
    case(|scene| {
        five_devices(scene);
        let all = "placed,plain,marked,small,processor";
        for (value, expected) in [
            ("", all),
            ("0", all),
            ("1", "plain,placed,marked,small,processor"),
            ("3", "small,placed,plain,marked,processor"),
            ("4", all),
            ("3!", "small"),
            ("4!", all),
            ("10de:20", "marked,placed,plain,small,processor"),
            ("10de:20!", "marked"),
            ("pci-0001_65_00_3!", "placed"),
            ("pci-0001_65_00_4!", all),
            ("card0", all),
        ] {
            scene.env("DRI_PRIME", value);
            assert_eq!(names(scene), expected, "{value}");
        }
        scene
            .env("DRI_PRIME", "10de:20!")
            .env("VK_LOADER_DEVICE_SELECT", "8086:3");
        assert_eq!(names(scene), "small,placed,plain,marked,processor");
        scene.unset("VK_LOADER_DEVICE_SELECT").env(VARIABLE, "8086:3,type:cpu");
        assert_eq!(names(scene), "small,processor");
        scene.unset(VARIABLE).env("VK_LOADER_DISABLE_SELECT", "1");
        assert_eq!(names(scene).len(), all.len());
    });
}

/// With `!` in `DRI_PRIME`, only groups of the chosen device are listed. Without `!`, no group is hidden.
#[test]
fn drv_143b_dri_prime_and_groups() {
    case(|scene| {
        five_devices(scene);
        for (value, expected) in [
            ("10de:20", &["marked", "placed", "plain", "small", "processor"][..]),
            ("10de:20!", &["marked"]),
        ] {
            scene.env("DRI_PRIME", value);
            let outcome = scene.run(|vk| {
                let groups = vk.instance_with("1.1", &[]).group_names();
                assert_eq!(groups, expected.iter().map(|name| vec![*name]).collect::<Vec<_>>());
            });
            outcome.ok();
        }
    });
}

/// With `!` in `DRI_PRIME`, a group contains only the chosen device, and the call for the count counts this group.
#[test]
fn drv_143b_dri_prime_and_a_group_of_several() {
    case(|scene| {
        scene
            .driver("a")
            .device_with("one", |device| device.ids(1, 1))
            .device_with("two", |device| device.ids(1, 2))
            .line("group", "one two");
        for (value, expected) in [("1:2!", &["two"][..]), ("1:2", &["two", "one"])] {
            scene.env("DRI_PRIME", value);
            let outcome = scene.run(|vk| {
                let instance = vk.instance_with("1.1", &[]);
                assert_eq!(instance.group_names(), [expected]);
            });
            outcome.ok();
        }
    });
}

/// DRV-143a: a driver is not opened if the catalogue knows its devices and `VK_LOADER_VISIBLE_DEVICES` can match none of them.
#[test]
fn drv_143a_drivers_without_a_visible_device_are_not_opened() {
    case(|scene| {
        scene
            .driver("one")
            .device_with("card", |device| device.ids(1, 2).pci(0, 0x65, 0, 0).uuids(0xAB, 1));
        scene
            .driver("two")
            .device_with("cpu", |device| device.kind(4).ids(3, 4));
        file::prepare(scene);
        let card = json!({"name": "card", "type": "discrete", "vendor": 1, "device": 2, "driver-id": null,
            "pci": "0000:65:00.0", "uuid": "ab".repeat(16)});
        let cpu = json!({"name": "\u{FFFD}", "type": "cpu", "vendor": 3, "device": 4, "driver-id": null, "pci": null, "uuid": null});
        let one = |devices: serde_json::Value| Entry::new("one").with("devices", devices);
        let two = || Entry::new("two").with("devices", json!([cpu]));
        file::write(scene, &[one(json!([card])), two()]);
        for (value, expected, devices) in [
            ("", "one,two", "card,cpu"),
            ("type:cpu", "two", "cpu"),
            ("3:4", "two", "cpu"),
            ("1:2", "one", "card"),
            ("pci:65:0.0", "one", "card"),
            ("driver:MOCK_two", "two", "cpu"),
            // The catalogue lacks the UUID and the whole name of the second device, so the loader opens the driver of this device.
            ("GPU-ab", "one,two", "card"),
            ("GPU-ac,type:discrete", "one,two", "card"),
            // A driver's configuration may rename devices, so the loader opens each driver to compare names.
            ("name:card", "one,two", "card"),
            ("name:cpu", "one,two", "cpu"),
            // The loader opens all drivers, because otherwise no driver would remain.
            ("none", "one,two", ""),
            ("type:virtual", "one,two", ""),
        ] {
            scene.env(VARIABLE, value);
            let outcome = scene.run(|vk| {
                let instance = vk.instance_with("1.1", &[]);
                let (_, devices) = instance.some_devices(4);
                let names: Vec<String> = devices.iter().map(|&device| instance.name_of(device)).collect();
                vk.say("devices", names.join(","));
            });
            assert_eq!(outcome.ok().said("devices"), [devices], "{value}");
            let mut found = opened(&outcome);
            found.sort_unstable();
            assert_eq!(found.join(","), expected, "{value}\n{}", outcome.all());
        }
        // Unknown devices can match, so the loader opens the driver.
        file::write(scene, &[one(serde_json::Value::Null), two()]);
        scene.env(VARIABLE, "type:cpu");
        let outcome = scene.run(|vk| drop(vk.instance_with("1.1", &[]).device_names()));
        assert_eq!(opened(outcome.ok()).len(), 2);
    });
}
