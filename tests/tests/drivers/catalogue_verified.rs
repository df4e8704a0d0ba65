//! A driver catalogue beside drivers that behave otherwise than it says: what takes the place of a driver that fails, and what
//! `VK_LOADER_CATALOGUE=verify` tells (docs/catalogue.md).

use super::catalogue_file::{self as file, Entry};
use loader_tests::{Scene, case};
use serde_json::json;

/// Only of drivers that are open it is not known whether they make an instance. Where none does, those are opened that were left out.
#[test]
fn drivers_that_were_left_out_take_the_place_of_those_that_fail() {
    case(|scene| {
        scene.driver("none").extension("VK_KHR_surface");
        scene.driver("bad").line("fail", "vkCreateInstance -9");
        scene.driver("software").device_with("cpu", |device| device.kind(4));
        file::prepare(scene);
        let entries = |scene: &Scene, bad: Entry| {
            let none = Entry::new("none").offers(&["VK_KHR_surface"]).hardware("absent");
            let software = Entry::new("software").hardware("software").devices(1);
            file::write(scene, &[none, bad, software]);
        };
        entries(scene, Entry::new("bad").devices(1));
        scene.env("VK_LOADER_DRIVER_POLICY", "software-last");
        let outcome = scene.run(|vk| {
            let instance = vk.spec().extensions(&["VK_KHR_surface"]).create();
            assert_eq!(instance.expect("software makes one").device_names(), ["cpu"]);
        });
        let order: Vec<_> = outcome
            .ok()
            .journal()
            .into_iter()
            .filter(|line| line.ends_with(" load"))
            .collect();
        assert_eq!(order.len(), 3, "{order:?}");
        // What has no device makes an instance as well, which lists none.
        scene.env("VK_LOADER_DRIVERS_DISABLE", "software.json");
        scene.run(|vk| drop(vk.instance())).ok();
        // One that does is enough, and the others stay closed.
        scene.driver("bad").device("gpu");
        let outcome = scene.run(|vk| drop(vk.instance()));
        assert!(!outcome.ok().journal().contains(&"none load"));
    });
}

/// The superuser's catalogue may know a device that a user may not use. A policy leaves that user the device of another driver (DRV-273).
#[test]
fn a_policy_leaves_no_program_without_a_device() {
    case(|scene| {
        scene.driver("software").device_with("cpu", |device| device.kind(4));
        scene.driver("one");
        file::prepare(scene);
        let software = Entry::new("software").hardware("software").devices(1);
        file::write(scene, &[software, Entry::new("one").devices(1)]);
        scene.env("VK_LOADER_DRIVER_POLICY", "software-last");
        let outcome = scene.run(|vk| {
            vk.extensions().expect("the query succeeds");
            assert_eq!(vk.instance().device_names(), ["cpu"]);
        });
        outcome.ok();
    });
}

/// `verify` reports these words about each driver.
#[test]
fn all_that_differs_is_told() {
    case(|scene| {
        scene.driver("one").extension("VK_KHR_surface").device("gpu");
        file::prepare(scene);
        scene.env("VK_LOADER_CATALOGUE", "verify");
        let gpu = json!([{"name": "gpu", "vendor": 0x10000, "device": 1}]);
        let entry = || {
            Entry::new("one")
                .offers(&["VK_KHR_surface"])
                .with("interface", 7.into())
                .with("api-version", "1.3.280".into())
                .with("devices", gpu.clone())
        };
        let told = |scene: &mut Scene, entry: Entry| -> Vec<String> {
            file::write(scene, &[entry]);
            let outcome = scene.run(|vk| {
                vk.extensions().expect("the query succeeds");
                assert_eq!(vk.instance().device_names(), ["gpu"]);
            });
            let lines = outcome.ok().stderr.lines().filter_map(|line| {
                let (_, rest) = line.split_once("libmock_one.so has ")?;
                Some(rest.split_once(" than the driver catalogue says")?.0.to_owned())
            });
            let mut lines: Vec<_> = lines.collect();
            lines.sort_unstable();
            lines.dedup();
            lines
        };
        assert_eq!(told(scene, entry()), [""; 0]);
        let nothing = Entry::new("one").without_devices().with("extensions", ().into());
        assert_eq!(told(scene, nothing), [""; 0], "what it does not say is no difference");
        let other = |name: &str, vendor: u32, device: u32| json!([{"name": name, "vendor": vendor, "device": device}]);
        for (words, entry) in [
            ("another interface version", entry().with("interface", 6.into())),
            ("another API version", entry().with("api-version", "1.3.281".into())),
            ("another result of vkCreateInstance", entry().failed(-9)),
            (
                "another result of vkCreateInstance",
                entry().with("outcome", "crashed".into()).with("signal", 6.into()),
            ),
            ("other devices", entry().with("devices", json!([]))),
            ("other devices", entry().devices(2)),
            ("other devices", entry().with("devices", other("GPU", 0x10000, 1))),
            ("other devices", entry().with("devices", other("gpu", 0x10001, 1))),
            ("other devices", entry().with("devices", other("gpu", 0x10000, 2))),
            ("other instance extensions", entry().offers(&["VK_KHR_display"])),
        ] {
            assert_eq!(told(scene, entry), [words]);
        }
        let all = entry().offers(&[]).with("interface", 1.into()).devices(0);
        assert_eq!(
            told(scene, all),
            [
                "another interface version",
                "other devices",
                "other instance extensions"
            ]
        );
    });
}
