//! Tests of the variable that lists the visible devices of an instance (DRV-143a).

use std::thread;

use loader_tests::ash::vk;
use loader_tests::vk::Shared;
use loader_tests::{Scene, call, case};

const VARIABLE: &str = "VK_LOADER_VISIBLE_DEVICES";

/// Adds devices of three drivers. Their sorted order is `placed, plain, marked, small, processor`.
pub(crate) fn five_devices(scene: &mut Scene) {
    scene
        .driver("first")
        .device_with("plain", |device| device.ids(0x10DE, 1))
        .device_with("placed", |device| device.ids(0x10DE, 2).pci(1, 0x65, 0, 3))
        .device_with("marked", |device| device.ids(0x10DE, 0x20).uuids(0xAB, 1));
    scene
        .driver("second")
        .device_with("small", |device| device.kind(1).ids(0x8086, 3).uuids(0xAC, 1));
    scene
        .driver("third")
        .device_with("processor", |device| device.kind(4).ids(0x10005, 0));
}

const ALL: &str = "placed,plain,marked,small,processor";

/// Returns the visible devices if `VK_LOADER_VISIBLE_DEVICES` has this value.
fn shown(scene: &mut Scene, value: &str) -> String {
    scene.env(VARIABLE, value);
    names(scene)
}

/// Returns the devices of an instance. Checks that the count and the list of an enumeration agree.
pub(crate) fn names(scene: &mut Scene) -> String {
    let outcome = scene.run(|vk| {
        let instance = vk.instance_with("1.1", &[]);
        let (result, devices) = instance.some_devices(16);
        assert_eq!(result, vk::Result::SUCCESS);
        assert_eq!(instance.device_count(), Ok(devices.len() as u32));
        let names: Vec<String> = devices.iter().map(|&device| instance.name_of(device)).collect();
        vk.say("devices", names.join(","));
    });
    outcome.ok().said("devices").join(";")
}

/// Each kind of word in `VK_LOADER_VISIBLE_DEVICES` works, alone and in a list. The devices have the order of the list.
#[test]
fn drv_143a_only_these_in_this_order() {
    case(|scene| {
        five_devices(scene);
        let uuid = "uuid:".to_owned() + &"ab".repeat(16);
        for (value, expected) in [
            ("", ALL),
            (",,", ALL),
            ("pci:1:65:0.3", "placed"),
            (&uuid, "marked"),
            ("GPU-abababab-abab-abab-abab-abababababab", "marked"),
            ("GPU-ac", "small"),
            ("type:discrete", "placed,plain,marked"),
            ("driver:SECOND", "small"),
            ("name:P*", "placed,plain,processor"),
            ("10de:20,10de:1", "marked,plain"),
            ("type:cpu,name:plain,type:discrete", "processor,plain,placed,marked"),
            ("name:small,10de:20,type:integrated,8086:3", "small,marked"),
            ("none", ""),
            ("none,type:cpu", "processor"),
            (" type:cpu, name:plain,\t10de:20", "processor,plain,marked"),
            ("type:cpu, ", "processor"),
            (" , ", ALL),
        ] {
            assert_eq!(shown(scene, value), expected, "{value}");
        }
    });
}

/// A word of `VK_LOADER_VISIBLE_DEVICES` that matches no device causes a warning, which lists words that would match. The other words still
/// have an effect.
#[test]
fn drv_143a_a_word_without_a_device_is_a_warning() {
    case(|scene| {
        five_devices(scene);
        let would = "these words would: ";
        for (value, word, why, expected) in [
            (
                "type:virtual,type:cpu",
                "type:virtual",
                "matches no device",
                "processor",
            ),
            ("0,8086:3", "0", "is a number, and numbers mean other", "small"),
            ("fast,8086:3", "fast", "is no way to choose a device", "small"),
            ("GPU-a,8086:3", "GPU-a", "begins the UUIDs of several devices", "small"),
            ("pci:1:65:0.4", "pci:1:65:0.4", "matches no device", ""),
        ] {
            assert_eq!(shown(scene, value), expected, "{value}");
            let outcome = scene.run(|vk| drop(vk.instance_with("1.1", &[]).some_devices(16)));
            let log = outcome.log("WARNING | DRIVER");
            let begin = format!("{VARIABLE}: '{word}' {why}");
            let told: Vec<&&str> = log.iter().filter(|line| line.starts_with(&begin)).collect();
            assert_eq!(told.len(), 1, "{value}\n{}", outcome.all());
            assert!(told[0].contains(would), "{told:?}");
            let words = ["pci:0001:65:00.3 (placed)", "10de:1 (plain)"];
            assert!(words.iter().all(|word| told[0].contains(word)), "{told:?}");
            assert!(
                told[0].contains("GPU-abababab-abab-abab-abab-abababababab (marked)"),
                "{told:?}"
            );
        }
    });
}

/// The list in `VK_LOADER_VISIBLE_DEVICES` may have ten thousand words. After warnings about single words, one warning counts the other
/// words that choose no device. Words after the first 16,384 are ignored.
#[test]
fn drv_143a_ten_thousand_words() {
    case(|scene| {
        five_devices(scene);
        scene.limit(60);
        for (before, expected, line) in [
            (9_999, "small", "9983 more words choose no device"),
            (16_384, "", "only the first 16384 words count"),
        ] {
            let value = format!("{}name:small", "9:9,".repeat(before));
            assert_eq!(shown(scene, &value), expected);
            let outcome = scene.run(|vk| drop(vk.instance_with("1.1", &[]).some_devices(16)));
            let log = outcome.ok().log("WARNING | DRIVER");
            assert!(log.contains(&format!("{VARIABLE}: {line}").as_str()), "{log:?}");
            assert!(log.len() <= 18, "{} lines", log.len());
        }
    });
}

/// Layers see the same devices as the application. An ID filter also has an effect, although it works between the application and the
/// layers.
#[test]
fn drv_143a_hidden_below_the_filters() {
    case(|scene| {
        five_devices(scene);
        scene.env("VK_LOADER_VENDOR_ID_FILTER", "0x10de");
        assert_eq!(shown(scene, "type:integrated,10de:2,type:cpu"), "placed");
        assert_eq!(shown(scene, "none"), "");
        scene.unset("VK_LOADER_VENDOR_ID_FILTER");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &[]);
            let mut count = 9;
            let result = call!(
                instance,
                PFN_vkEnumeratePhysicalDeviceGroups(instance.raw, &mut count, std::ptr::null_mut())
            );
            assert_eq!((result, count), (vk::Result::SUCCESS, 0));
        });
        outcome.ok();
    });
}

/// A group is reported without its hidden members, and omitted if all members are hidden. Members have the order of the words in
/// `VK_LOADER_VISIBLE_DEVICES`.
#[test]
fn drv_143a_groups_with_a_hidden_member() {
    case(|scene| {
        scene
            .driver("a")
            .device_with("d10", |device| device.ids(1, 10))
            .device_with("d20", |device| device.ids(1, 20))
            .device_with("d30", |device| device.ids(1, 30))
            .line("group", "d10 d20")
            .line("group", "d30");
        for select in ["0", "1"] {
            scene.env("VK_LOADER_DISABLE_SELECT", select);
            for (value, expected) in [
                ("1:a,1:1e", &[&["d10"][..], &["d30"]][..]),
                ("1:1e,1:14", &[&["d30"], &["d20"]]),
                ("1:1e,1:14,1:a", &[&["d30"], &["d20", "d10"]]),
                ("1:14,1:a", &[&["d20", "d10"]]),
                ("1:14", &[&["d20"]]),
                ("1:1e", &[&["d30"]]),
                ("none", &[]),
            ] {
                scene.env(VARIABLE, value);
                let outcome = scene.run(|vk| {
                    let instance = vk.instance_with("1.1", &[]);
                    let mut count = 9;
                    let result = call!(
                        instance,
                        PFN_vkEnumeratePhysicalDeviceGroups(instance.raw, &mut count, std::ptr::null_mut())
                    );
                    assert_eq!((result, count), (vk::Result::SUCCESS, expected.len() as u32));
                    if count > 0 {
                        assert_eq!(instance.group_names(), expected, "{value}");
                    }
                });
                outcome.ok();
            }
        }
    });
}

/// The loader uses the value that `VK_LOADER_VISIBLE_DEVICES` has at the creation of the instance. A later change has no effect.
#[test]
fn drv_143a_a_later_change_of_the_variable_does_not_count() {
    case(|scene| {
        five_devices(scene);
        scene.env(VARIABLE, "type:cpu");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &[]);
            vk.set_env(VARIABLE, Some("type:integrated"));
            assert_eq!(instance.device_names(), ["processor"]);
            assert_eq!(vk.instance_with("1.1", &[]).device_names(), ["small"]);
        });
        outcome.ok();
    });
}

/// An application for Vulkan 1.0 receives the same devices as an application for a newer version.
#[test]
fn drv_143a_an_instance_of_1_0() {
    case(|scene| {
        five_devices(scene);
        scene.env(VARIABLE, "10de:20,type:cpu");
        let outcome = scene.run(|vk| {
            assert_eq!(vk.instance_with("1.0", &[]).device_names(), ["marked", "processor"]);
        });
        outcome.ok();
    });
}

/// The log names each hidden device, with the reason.
#[test]
fn drv_143a_hidden_devices_are_logged() {
    case(|scene| {
        five_devices(scene);
        scene.env(VARIABLE, "type:discrete");
        let outcome = scene.run(|vk| drop(vk.instance_with("1.1", &[]).device_names()));
        outcome
            .ok()
            .logged("INFO", &format!("Device \"small\" is hidden by {VARIABLE}"))
            .logged(
                "INFO | DRIVER",
                &format!("{VARIABLE} chooses the devices: type:discrete"),
            )
            .not_logged("Device \"plain\" is hidden");
    });
}

/// DRV-143a, DRV-168: threads that enumerate at the same time receive the same devices and groups, also if all devices are hidden.
#[test]
fn drv_143a_threads_get_the_same_lists() {
    case(|scene| {
        five_devices(scene);
        scene.env("VK_LOADER_DEBUG", "").limit(60);
        for (value, count) in [("type:cpu,10de:20,type:integrated", 3), ("none", 0)] {
            scene.env(VARIABLE, value);
            let outcome = scene.run(|vk| {
                let instance = vk.instance_with("1.1", &[]);
                let shared = Shared(&instance);
                let work = || {
                    let instance = shared.get();
                    for _ in 0..20 {
                        let (result, devices) = instance.some_devices(16);
                        assert_eq!((result, devices.len()), (vk::Result::SUCCESS, count));
                        let mut groups = 9;
                        let result = call!(
                            instance,
                            PFN_vkEnumeratePhysicalDeviceGroups(instance.raw, &mut groups, std::ptr::null_mut())
                        );
                        assert_eq!((result, groups as usize), (vk::Result::SUCCESS, count));
                    }
                };
                thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(work))));
            });
            outcome.ok();
        }
    });
}
