//! Tests of drivers with very many devices (DRV-118, DRV-120).

use loader_tests::ash::vk;
use loader_tests::vk::Instance;
use loader_tests::{Vk, case, processor_time};

/// Returns the processor time, in seconds, of two enumerations of devices and groups: the first enumeration in an
/// instance, and a later enumeration.
fn time(vk: &Vk, devices: u32) -> f64 {
    vk.configure("a", |text| {
        let others = text.lines().filter(|line| !line.starts_with("many_devices"));
        let others: String = others.map(|line| format!("{line}\n")).collect();
        format!("{others}many_devices {devices}\n")
    });
    let instance = vk.instance_with("1.1", &[]);
    processor_time(|| {
        for _ in 0..2 {
            assert_eq!(instance.devices().expect("devices").len(), devices as usize);
            assert_eq!(groups(&instance), devices as usize);
        }
    })
}

fn groups(instance: &Instance<'_>) -> usize {
    instance.groups().expect("groups").len()
}

/// DRV-118, DRV-128: 32 times as many devices cause about 32 times as much work, so the growth is not quadratic.
#[test]
fn drv_118_work_grows_with_the_number_of_devices_and_not_faster() {
    case(|scene| {
        scene.driver("a");
        // Without sorting and without the log, the test is fast enough with so many devices.
        scene
            .env("VK_LOADER_DISABLE_SELECT", "1")
            .env("VK_LOADER_DEBUG", "")
            .limit(60);
        let outcome = scene.run(|vk| {
            time(vk, 1000);
            let (few, many) = (time(vk, 1000), time(vk, 32_000));
            assert!(many < few * 200.0, "{few} s for 1,000 devices, {many} s for 32,000");
        });
        outcome.ran();
    });
}

/// DRV-120: devices of a driver after the first 65,536 are ignored.
#[test]
fn drv_120_devices_beyond_the_most_are_ignored() {
    case(|scene| {
        scene.driver("a").line("many_devices", 65_537);
        scene.driver("b").device("one");
        scene
            .env("VK_LOADER_DISABLE_SELECT", "1")
            .env("VK_LOADER_DEBUG", "")
            .limit(60);
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            let devices = instance.devices().expect("devices");
            assert_eq!(devices.len(), 65_537);
            assert_eq!(instance.name_of(devices[0]), "one");
            assert_eq!(instance.name_of(devices[65_536]), "many-65535");
            assert_eq!(instance.some_devices(3).0, vk::Result::INCOMPLETE);
        });
        outcome.ran();
    });
}
