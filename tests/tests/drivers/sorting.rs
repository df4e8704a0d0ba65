//! Tests of the order of physical devices on Linux (DRV-137 to DRV-143).

use loader_tests::{Scene, case};

const PROPERTIES2: &str = "VK_KHR_get_physical_device_properties2";

/// Checks the device names of an instance of this version. Returns the outcome.
fn order(scene: &mut Scene, api: &str, extensions: &[&str], expected: &[&str]) -> loader_tests::Outcome {
    let outcome = scene.run(|vk| assert_eq!(vk.instance_with(api, extensions).device_names(), expected));
    outcome.ok();
    outcome
}

/// Adds devices of every type, in an order that is not the result of sorting.
fn types(scene: &mut Scene) {
    let names = [
        ("cpu", 4),
        ("other", 0),
        ("virtual", 3),
        ("strange", 77),
        ("integrated", 1),
        ("discrete", 2),
    ];
    let driver = scene.driver("a").extension(PROPERTIES2);
    for (name, kind) in names {
        driver.device_with(name, |device| device.kind(kind));
    }
}

const SORTED: &[&str] = &["discrete", "integrated", "virtual", "other", "cpu", "strange"];
const UNSORTED: &[&str] = &["cpu", "other", "virtual", "strange", "integrated", "discrete"];

/// DRV-139 (criterion 2), APP-119: devices are sorted by their types.
#[test]
fn drv_139_types() {
    case(|scene| {
        types(scene);
        order(scene, "1.1", &[], SORTED);
    });
}

/// DRV-137, DRV-117, APP-119: devices are sorted only if a driver can answer the queries that sorting needs.
#[test]
fn drv_137_when_devices_are_sorted() {
    case(|scene| {
        types(scene);
        order(scene, "1.0", &[PROPERTIES2], SORTED);
        // For an application of 1.0, the loader enables `PROPERTIES2` in the drivers, which is enough for sorting.
        order(scene, "1.0", &[], SORTED);
        for (value, sorted) in [("1", false), ("7", false), ("0", true), ("", true), ("no", true)] {
            scene.env("VK_LOADER_DISABLE_SELECT", value);
            order(scene, "1.1", &[], if sorted { SORTED } else { UNSORTED });
        }
    });
}

/// DRV-137, DRV-143, APP-119: if no driver has `VK_KHR_get_physical_device_properties2`, the loader does not sort the devices for an
/// application of 1.0.
#[test]
fn drv_137_without_properties2_devices_are_not_sorted() {
    case(|scene| {
        scene
            .driver("a")
            .device_with("cpu", |device| device.kind(4))
            .device("discrete");
        scene.driver("b").device("other driver");
        order(scene, "1.0", &[], &["other driver", "cpu", "discrete"]);
    });
}

/// DRV-139 (criteria 3 and 4), APP-119: devices with an address on the PCI bus come first, in the order of domain, bus, device and
/// function.
#[test]
fn drv_139_places_on_the_bus() {
    case(|scene| {
        let places = [
            ("none", None),
            ("1:0:0.0", Some([1, 0, 0, 0])),
            ("0:2:0.0", Some([0, 2, 0, 0])),
            ("0:1:3.0", Some([0, 1, 3, 0])),
            ("0:1:2.1", Some([0, 1, 2, 1])),
            ("0:1:2.0", Some([0, 1, 2, 0])),
        ];
        let driver = scene.driver("a");
        for (name, place) in places {
            driver.device_with(name, |device| match place {
                Some([domain, bus, number, function]) => device.pci(domain, bus, number, function),
                None => device,
            });
        }
        order(
            scene,
            "1.1",
            &[],
            &["0:1:2.0", "0:1:2.1", "0:1:3.0", "0:2:0.0", "1:0:0.0", "none"],
        );
    });
}

/// DRV-138: the loader queries the PCI address through the KHR function if the application or the device has version 1.0.
#[test]
fn drv_138_places_through_the_extension() {
    case(|scene| {
        scene
            .driver("a")
            .extension(PROPERTIES2)
            .device_with("far", |device| device.pci(0, 9, 0, 0))
            .device_with("near", |device| device.pci(0, 1, 0, 0));
        let outcome = order(scene, "1.0", &[], &["near", "far"]);
        assert!(
            outcome.calls("a", "vkGetPhysicalDeviceProperties2").is_empty(),
            "{}",
            outcome.all()
        );
        assert!(
            !outcome.calls("a", "vkGetPhysicalDeviceProperties2KHR").is_empty(),
            "{}",
            outcome.all()
        );
        let outcome = order(scene, "1.1", &[], &["near", "far"]);
        assert!(
            !outcome.calls("a", "vkGetPhysicalDeviceProperties2").is_empty(),
            "{}",
            outcome.all()
        );
    });
}

/// DRV-138: if the driver lacks the query that returns the PCI address, its devices are treated as devices without an address.
#[test]
fn drv_138_without_the_function_there_is_no_place() {
    case(|scene| {
        scene
            .driver("a")
            .missing("vkGetPhysicalDeviceProperties2")
            .device_with("far", |device| device.pci(0, 9, 0, 0))
            .device_with("near", |device| device.pci(0, 1, 0, 0));
        order(scene, "1.1", &[], &["far", "near"]);
    });
}

/// DRV-139 (criteria 5 and 6), APP-119: devices are sorted by their vendor and device IDs, and the order of equal devices does not change.
#[test]
fn drv_139_numbers_and_a_stable_rest() {
    case(|scene| {
        scene
            .driver("a")
            .device_with("seven", |device| device.ids(6, 1))
            .device_with("three", |device| device.ids(1, 2))
            .device_with("first equal", |device| device.ids(5, 5))
            .device_with("huge", |device| device.ids(0x8000_0000, 0))
            .device_with("second equal", |device| device.ids(9, 9));
        order(
            scene,
            "1.1",
            &[],
            &["first equal", "second equal", "three", "seven", "huge"],
        );
    });
}

/// DRV-139: devices of several drivers are sorted together. Devices that compare as equal remain in the order that they have without
/// sorting.
#[test]
fn drv_139_several_drivers() {
    case(|scene| {
        scene
            .driver("a")
            .device_with("a cpu", |device| device.kind(4))
            .device("a gpu");
        scene
            .driver("b")
            .device("b gpu")
            .device_with("b cpu", |device| device.kind(4));
        order(scene, "1.1", &[], &["b gpu", "a gpu", "b cpu", "a cpu"]);
    });
}

/// DRV-140, DRV-139 (criterion 1), APP-119: the device that `VK_LOADER_DEVICE_SELECT` chooses comes first.
#[test]
fn drv_140_a_device_may_be_chosen() {
    case(|scene| {
        scene
            .driver("a")
            .device_with("gpu", |device| device.ids(0x10de, 0x1f91))
            .device_with("cpu", |device| device.kind(4).ids(0x10005, 0))
            .device_with("second cpu", |device| device.kind(4).ids(0x10005, 0));
        let usual = &["gpu", "cpu", "second cpu"];
        let rows: &[(&str, &[&str])] = &[
            ("10005:0", &["cpu", "gpu", "second cpu"]),
            ("0x10005:0x0", &["cpu", "gpu", "second cpu"]),
            ("0x10005:0", &["cpu", "gpu", "second cpu"]),
            ("0X10005:0X0", &["cpu", "gpu", "second cpu"]),
            ("10005:0X0", &["cpu", "gpu", "second cpu"]),
            ("0x10DE:0x1F91", usual),
            ("10005", usual),
            ("10005:1", usual),
            (":", usual),
            ("nonsense", usual),
            ("", usual),
        ];
        for (value, expected) in rows {
            scene.env("VK_LOADER_DEVICE_SELECT", value);
            order(scene, "1.1", &[], expected);
        }
    });
}

/// DRV-141, APP-236: the log lists the devices before and after sorting.
#[test]
fn drv_141_the_order_is_logged() {
    case(|scene| {
        scene
            .driver("a")
            .device_with("slow", |device| device.kind(4).ids(1, 2))
            .device("fast");
        scene.env("VK_LOADER_DEVICE_SELECT", "1:2");
        let outcome = order(scene, "1.1", &[], &["slow", "fast"]);
        let log = outcome.log("INFO | DRIVER");
        let start = log
            .iter()
            .position(|line| line.starts_with("linux_read_sorted_physical_devices:"))
            .expect("logged");
        let lines: Vec<&str> = log[start + 1..]
            .iter()
            .filter(|line| line.starts_with(' '))
            .take(6)
            .map(|line| line.trim_end())
            .collect();
        let expected = [
            "     Original order:",
            "           [0] slow",
            "           [1] fast",
            "     Sorted order:",
            "           [0] slow  [default]",
            "           [1] fast",
        ];
        assert_eq!(lines, expected, "{}", outcome.all());
        let function = "linux_env_var_default_device:";
        outcome
            .logged(
                "DEBUG | DRIVER",
                &format!("{function}  Found 'VK_LOADER_DEVICE_SELECT' set to 1:2"),
            )
            .logged("INFO | DRIVER", &format!("{function}  Found default at index 0 'slow'"));
    });
}

/// DRV-140: the loader uses only the first sixteen items of `VK_LOADER_DEVICE_SELECT`.
#[test]
fn drv_140_later_items_do_not_choose() {
    case(|scene| {
        scene
            .driver("a")
            .device_with("slow", |device| device.kind(4).ids(1, 2))
            .device("fast");
        for (before, first) in [(15, ["slow", "fast"]), (16, ["fast", "slow"])] {
            scene.env("VK_LOADER_DEVICE_SELECT", format!("{}1:2", "9999:1,".repeat(before)));
            let outcome = order(scene, "1.1", &[], &first);
            let warning = "VK_LOADER_DEVICE_SELECT: only the first 16 items count";
            assert_eq!(outcome.log("WARNING | DRIVER").contains(&warning), before == 16);
        }
    });
}

/// DRV-137: if sorting is disabled, `VK_LOADER_DEVICE_SELECT`, which chooses a device, has no effect.
#[test]
fn drv_137_disabling_the_order_disables_the_choice() {
    case(|scene| {
        scene
            .driver("a")
            .device_with("slow", |device| device.kind(4).ids(1, 2))
            .device("fast");
        scene
            .env("VK_LOADER_DEVICE_SELECT", "10000:1")
            .env("VK_LOADER_DISABLE_SELECT", "1");
        order(scene, "1.1", &[], &["slow", "fast"]);
    });
}
