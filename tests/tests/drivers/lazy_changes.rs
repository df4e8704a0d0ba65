//! Tests of drivers that vanish or change before they are opened, and of several instances at the same time (DRV-283).

use super::lazy::{FAILED, Question, WRONG, calls, two_devices};
use loader_tests::ash::vk;
use loader_tests::vk::Instance;
use loader_tests::{Scene, case};
use std::sync::Barrier;
use std::{fs, thread};

/// Creates a device, and destroys it.
fn use_device(instance: &Instance<'_>, name: &str) -> Result<(), vk::Result> {
    instance.device_spec(instance.named(name)).create().map(drop)
}

/// DRV-283: if a driver's library has disappeared, only the devices of this driver fail. The other driver and the recorded answers remain.
#[test]
fn drv_283_a_driver_that_vanished() {
    case(|scene| {
        scene.driver("a").device_with("one", |device| device.uuids(1, 9));
        scene.driver("b").device_with("two", |device| device.uuids(2, 9));
        scene.lazily();
        let (library, elsewhere) = (scene.library("a"), scene.path("elsewhere.so"));
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &[]);
            let mut names = instance.device_names();
            names.sort();
            assert_eq!(names, ["one", "two"]);
            fs::rename(&library, &elsewhere).expect("a rename");
            assert_eq!(use_device(&instance, "one"), Err(FAILED));
            assert_eq!(use_device(&instance, "two"), Ok(()));
            fs::rename(&elsewhere, &library).expect("a rename");
            assert_eq!(
                use_device(&instance, "one"),
                Err(FAILED),
                "this instance has no driver for it"
            );
            let other = vk.instance_with("1.1", &[]);
            assert_eq!(use_device(&other, "one"), Ok(()));
        });
        assert_eq!(
            outcome.ok().all().matches("cannot be opened now").count(),
            1,
            "{}",
            outcome.all()
        );
    });
}

/// DRV-283: if a driver describes itself differently than in the record, the loader does not use this driver.
#[test]
fn drv_283_another_driver_than_the_recorded_one() {
    case(|scene| {
        scene
            .driver("a")
            .hide("vk_icdGetPhysicalDeviceProcAddr")
            .interface(7)
            .api("1.3")
            .device("one");
        scene.lazily();
        for (from, to) in [
            ("interface 7", "interface 6"),
            ("\napi_version 1.3", "\napi_version 1.2"),
            ("interface 7", "interface 7\nmissing vk_icdGetPhysicalDeviceProcAddr"),
            ("name a", "name a"),
        ] {
            let outcome = scene.run(|vk| {
                let instance = vk.instance_with("1.1", &[]);
                assert_eq!(instance.device_names(), ["one"]);
                assert_eq!(calls(vk, "load"), 0);
                vk.configure("a", |text| {
                    assert!(text.contains(from), "{text}");
                    text.replace(from, to)
                });
                let is_same = from == to;
                assert_eq!(
                    use_device(&instance, "one"),
                    if is_same { Ok(()) } else { Err(FAILED) },
                    "{to}"
                );
                assert_eq!(calls(vk, "vkCreateInstance"), usize::from(is_same));
                let again = vk.instance_with("1.1", &[]);
                assert_eq!(
                    calls(vk, "load"),
                    2 - usize::from(is_same),
                    "it is opened at once after a failure"
                );
                assert_eq!(use_device(&again, "one"), Ok(()), "{to}");
                drop(again);
                vk.configure("a", |text| text.replace(to, from));
            });
            let is_reported = outcome.ok().all().contains("is another one than its record describes");
            assert_eq!(is_reported, from != to, "{to}: {}", outcome.all());
        }
    });
}

/// DRV-283: two instances open the driver independently, even at the same time and while a third instance is destroyed.
#[test]
fn drv_283_instances_open_a_driver_side_by_side() {
    case(|scene| {
        two_devices(scene);
        let outcome = scene.run(|vk| {
            for round in 1..=20 {
                let instances = [(); 2].map(|()| vk.instance_with("1.1", &[]));
                let third = vk.instance_with("1.1", &[]);
                let questions = instances.each_ref().map(|instance| Question::of(vk, instance));
                let all = &Barrier::new(3);
                thread::scope(|scope| {
                    for one in &questions {
                        scope.spawn(move || {
                            all.wait();
                            one.ask();
                        });
                    }
                    all.wait();
                    third.destroy();
                });
                assert_eq!(calls(vk, "vkCreateInstance"), 2 * round);
                instances.into_iter().for_each(Instance::destroy);
                assert_eq!(calls(vk, "vkDestroyInstance"), 2 * round);
            }
        });
        outcome.ok().not_logged(WRONG);
    });
}

/// DRV-285: an instance without a command for UUIDs finds its devices by vendor ID, device ID and name.
#[test]
fn drv_285_devices_are_found_without_a_command_for_uuids() {
    case(|scene| {
        two_devices(scene);
        for (change, expected) in [("", Ok(())), ("device.vendor 7\n", Err(FAILED))] {
            let outcome = scene.run(|vk| {
                let instance = vk.instance_with("1.1", &[]);
                let [one, two] = ["one", "two"].map(|name| instance.device_spec(instance.named(name)));
                vk.configure("a", |text| {
                    let (begin, group) = text.split_once("group").expect("a group");
                    let missing = "missing vkGetPhysicalDeviceProperties2\nmissing vkGetPhysicalDeviceProperties2KHR\n";
                    format!("{missing}{begin}{change}group{group}")
                });
                assert_eq!(one.create().map(drop), Ok(()));
                assert_eq!(two.create().map(drop), expected, "{change}");
            });
            outcome.ok();
        }
    });
}

/// DRV-282: drivers stay closed only with the policy. The policy comes from the settings file if the variable is not set.
#[test]
fn drv_282_the_settings_file_keeps_drivers_closed() {
    case(|scene| {
        two_devices(scene);
        let opens = |scene: &mut Scene| {
            let outcome = scene.run(|vk| assert_eq!(vk.instance_with("1.1", &[]).device_names(), ["one", "two"]));
            outcome.ok().calls("a", "load").len()
        };
        scene.unset("VK_LOADER_DRIVER_POLICY");
        assert_eq!(opens(scene), 1, "there is no policy");
        scene.file(
            "xdg/data-home/vulkan/loader_settings.d/vk_loader_settings.json",
            r#"{"file_format_version": "1.0.0", "settings": {"driver_policy": ["lazy"]}}"#,
        );
        assert_eq!(opens(scene), 0);
        scene.env("VK_LOADER_DRIVER_POLICY", "");
        assert_eq!(opens(scene), 1, "the variable takes precedence");
    });
}
