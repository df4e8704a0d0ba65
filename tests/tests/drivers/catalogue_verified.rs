//! Tests of a driver catalogue that differs from the drivers' answers: the drivers that replace a failing driver, and the messages of
//! `VK_LOADER_CATALOGUE=verify` (docs/catalogue.md).

use super::catalogue_file::{self as file, Entry};
use loader_tests::{Scene, case};
use serde_json::json;

/// A driver can fail to create an instance, although the catalogue lists devices. If all open drivers fail, the loader opens the drivers
/// that it omitted before.
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
        // Without `software`, the driver without a device suffices to create an instance.
        scene.env("VK_LOADER_DRIVERS_DISABLE", "software.json");
        scene.run(|vk| drop(vk.instance())).ok();
        // The driver `bad` now has a device, so the loader does not open the drivers that it left out.
        scene.driver("bad").device("gpu");
        let outcome = scene.run(|vk| drop(vk.instance()));
        assert!(!outcome.ok().journal().contains(&"none load"));
    });
}

/// The superuser's catalogue can list a device that a user cannot use. This user still receives the device of a driver that the policy
/// would omit (DRV-273).
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

/// With `verify`, the loader logs each difference between a driver's answers and its entry in the catalogue.
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

/// DRV-273: if the user chooses devices, a policy omits no driver, because each driver could have the only chosen device.
#[test]
fn drv_273_a_policy_does_not_count_where_devices_are_chosen() {
    case(|scene| {
        scene
            .driver("software")
            .device_with("cpu", |device| device.kind(4).ids(0x10005, 0).uuids(0xAB, 1));
        scene
            .driver("one")
            .device_with("gpu", |device| device.ids(0x10DE, 1).uuids(0xAC, 1));
        file::prepare(scene);
        let software = Entry::new("software").hardware("software").devices(1);
        file::write(scene, &[software, Entry::new("one").devices(1)]);
        scene.env("VK_LOADER_DRIVER_POLICY", "software-last,keep-open");
        let names = |scene: &mut Scene| {
            let outcome = scene.run(|vk| {
                let devices = vk.instance_with("1.1", &[]);
                let (_, found) = devices.some_devices(16);
                let names: Vec<String> = found.iter().map(|&device| devices.name_of(device)).collect();
                vk.say("devices", names.join(","));
            });
            (outcome.ok().said("devices").join(";"), outcome)
        };
        assert_eq!(names(scene).0, "gpu");
        for (name, value, expected) in [
            ("VK_LOADER_VENDOR_ID_FILTER", "0x10005", "cpu"),
            ("VK_LOADER_DEVICE_ID_FILTER", "0", "cpu"),
            ("VK_LOADER_DRIVER_ID_FILTER", "99", ""),
            ("VK_LOADER_VISIBLE_DEVICES", "GPU-a,type:cpu", "cpu"),
            ("VK_LOADER_DEVICE_SELECT", "type:cpu", "cpu,gpu"),
        ] {
            scene.env(name, value);
            let (devices, outcome) = names(scene);
            assert_eq!(devices, expected, "{name}");
            let line = format!("Driver policy software-last does not count: {name} chooses devices");
            outcome.logged("INFO | DRIVER", &line);
            outcome.logged("INFO | DRIVER", "Driver policy keep-open is on");
            scene.unset(name);
        }
        let uuid = |number: u8| json!(vec![number; 16]);
        let device = json!({"deviceUUID": uuid(0xAB), "driverUUID": uuid(1), "driverVersion": 1});
        let text = format!(
            r#"{{"file_format_version": "1.0.0", "settings": {{"device_configurations": [{device}],
            "additional_drivers": [{{"path": {:?}}}, {{"path": {:?}}}], "additional_drivers_use_exclusively": true}}}}"#,
            scene.manifest("software"),
            scene.manifest("one")
        );
        scene.file("xdg/config-home/vulkan/loader_settings.d/vk_loader_settings.json", text);
        assert_eq!(names(scene).0, "cpu");
    });
}
