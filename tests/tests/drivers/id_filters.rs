//! Tests of the three ID filters (DRV-132 to DRV-134).

use loader_tests::ash::vk;
use loader_tests::{Scene, call, case};

fn four_devices(scene: &mut Scene) {
    scene
        .driver("a")
        .device_with("d10", |device| device.ids(0x10de, 10).line("driver_id", 4));
    scene
        .driver("b")
        .device_with("d20", |device| device.ids(0x8086, 20).line("driver_id", 5))
        .device_with("d30", |device| device.ids(0x1002, 30).line("driver_id", 2));
    scene
        .driver("old")
        .api("1.0.0")
        .device_with("d40", |device| device.ids(5, 40).api("1.0.0"));
    scene.env("VK_LOADER_DISABLE_SELECT", "1");
}

/// Runs the scene once for each row. Sets the variable to the value of the row, and expects the devices of the row.
fn rows(scene: &mut Scene, variable: &str, api: &str, rows: &[(&str, &[&str])]) {
    for (value, expected) in rows {
        scene.env(variable, value);
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with(api, &[]);
            assert_eq!(instance.device_count(), Ok(expected.len() as u32), "{variable}={value}");
            let names = if expected.is_empty() {
                Vec::new()
            } else {
                instance.device_names()
            };
            assert_eq!(names, *expected, "{variable}={value}");
        });
        outcome.ok();
    }
    scene.unset(variable);
}

const ALL: &[&str] = &["d40", "d20", "d30", "d10"];

/// DRV-132, DRV-133: an ID filter accepts numbers and ranges.
#[test]
fn drv_132_numbers_and_ranges() {
    case(|scene| {
        four_devices(scene);
        rows(
            scene,
            "VK_LOADER_DEVICE_ID_FILTER",
            "1.0",
            &[
                ("10", &["d10"]),
                ("0xa", &["d10"]),
                ("0XA", &["d10"]),
                ("012", &["d10"]),
                ("10,30", &["d30", "d10"]),
                ("15:35", &["d20", "d30"]),
                ("15-35", &["d20", "d30"]),
                ("0x14:036", &["d20", "d30"]),
                ("10,15:25", &["d20", "d10"]),
                (",,20,,", &["d20"]),
                ("99", &[]),
                ("", ALL),
                (",,,", ALL),
            ],
        );
    });
}

/// DRV-132, DRV-133: the vendor filter selects devices by vendor ID.
#[test]
fn drv_133_vendor_numbers() {
    case(|scene| {
        four_devices(scene);
        rows(
            scene,
            "VK_LOADER_VENDOR_ID_FILTER",
            "1.1",
            &[
                ("0x10de", &["d10"]),
                ("0x1000:0x1100", &["d30", "d10"]),
                ("0x8086,5", &["d40", "d20"]),
            ],
        );
    });
}

/// DRV-133: a device without driver information does not pass a driver ID filter.
#[test]
fn drv_133_driver_numbers() {
    case(|scene| {
        four_devices(scene);
        rows(
            scene,
            "VK_LOADER_DRIVER_ID_FILTER",
            "1.2",
            &[
                ("4", &["d10"]),
                ("2:5", &["d20", "d30", "d10"]),
                ("0:100", &["d20", "d30", "d10"]),
            ],
        );
        // The loader does not query the driver ID for an instance of Vulkan 1.0, so no device passes a driver ID filter.
        rows(
            scene,
            "VK_LOADER_DRIVER_ID_FILTER",
            "1.0",
            &[("4", &[]), ("0:100", &[])],
        );
    });
}

/// DRV-133: if `VK_KHR_get_physical_device_properties2` is enabled, the loader queries the driver ID also for an instance of 1.0.
#[test]
fn drv_133_driver_numbers_through_the_extension() {
    case(|scene| {
        scene
            .driver("a")
            .extension("VK_KHR_get_physical_device_properties2")
            .device_with("d10", |device| device.ids(1, 10).line("driver_id", 4));
        scene.env("VK_LOADER_DRIVER_ID_FILTER", "4");
        let outcome = scene.run(|vk| {
            let with = vk.instance_with("1.0", &["VK_KHR_get_physical_device_properties2"]);
            assert_eq!(with.device_count(), Ok(1));
            assert_eq!(vk.instance_with("1.0", &[]).device_count(), Ok(0));
        });
        outcome.ok();
    });
}

/// DRV-133: the number 0 passes no driver filter, because 0 is the value for devices without a driver number.
#[test]
fn drv_133_a_device_without_a_driver_number_passes_no_driver_filter() {
    case(|scene| {
        scene
            .driver("a")
            .device_with("d10", |device| device.ids(1, 10).line("driver_id", 4))
            .device_with("d20", |device| device.ids(1, 20).line("driver_id", 0));
        rows(
            scene,
            "VK_LOADER_DRIVER_ID_FILTER",
            "1.1",
            &[("0", &[]), ("0:100", &["d10"]), ("4", &["d10"])],
        );
    });
}

/// DRV-133: a device must pass every filter that is set.
#[test]
fn drv_133_filters_add_up() {
    case(|scene| {
        four_devices(scene);
        scene.env("VK_LOADER_VENDOR_ID_FILTER", "0x10de,0x8086");
        rows(
            scene,
            "VK_LOADER_DEVICE_ID_FILTER",
            "1.1",
            &[("20:40", &["d20"]), ("30:40", &[])],
        );
    });
}

/// DRV-132: an ID filter uses at most 16 values.
#[test]
fn drv_132_at_most_sixteen_values_count() {
    case(|scene| {
        four_devices(scene);
        let fifteen = "99,".repeat(15);
        scene.env("VK_LOADER_DEVICE_ID_FILTER", format!("{fifteen}10,20"));
        let outcome = scene.run(|vk| assert_eq!(vk.instance().device_names(), ["d10"]));
        outcome.ok();
        assert!(!outcome.log("WARNING").is_empty(), "{}", outcome.all());
    });
}

/// DRV-134, APP-120: counts include only devices that pass. An empty result is not an error.
#[test]
fn drv_134_counts_refer_to_the_filtered_list() {
    case(|scene| {
        four_devices(scene);
        scene.env("VK_LOADER_DEVICE_ID_FILTER", "20:40");
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            assert_eq!(instance.device_count(), Ok(3));
            let all = instance.devices().expect("vkEnumeratePhysicalDevices");
            assert_eq!(instance.some_devices(2), (vk::Result::INCOMPLETE, all[..2].to_vec()));
            assert_eq!(instance.some_devices(3), (vk::Result::SUCCESS, all));
            vk.set_env("VK_LOADER_DEVICE_ID_FILTER", Some("77"));
            assert_eq!(instance.device_count(), Ok(0));
            assert_eq!(instance.some_devices(4), (vk::Result::SUCCESS, Vec::new()));
            vk.set_env("VK_LOADER_DEVICE_ID_FILTER", None);
            assert_eq!(instance.device_count(), Ok(4));
        });
        outcome.ok();
    });
}

/// DRV-134, APP-128: a group is omitted if a filter rejects one of its devices.
#[test]
fn drv_134_groups_are_filtered_whole() {
    case(|scene| {
        scene
            .driver("a")
            .device_with("d10", |device| device.ids(1, 10))
            .device_with("d20", |device| device.ids(1, 20))
            .device_with("d30", |device| device.ids(1, 30))
            .line("group", "d10 d20")
            .line("group", "d30");
        scene.env("VK_LOADER_DEVICE_ID_FILTER", "20,30");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &[]);
            assert_eq!(instance.group_names(), [["d30"]]);
            vk.set_env("VK_LOADER_DEVICE_ID_FILTER", Some("20"));
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
