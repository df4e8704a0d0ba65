//! Tests of devices that the settings file chooses.

use loader_tests::ash::vk;
use loader_tests::{Scene, call, case};

use crate::settings::write;

const BASE: &str = "xdg/config-home";
const FAILED: vk::Result = vk::Result::ERROR_INITIALIZATION_FAILED;

/// Folder of the drivers. The loader ignores the driver variables while devices are configured (APP-260), so a search must find the
/// drivers.
const FOLDER: &str = "xdg/data-home/vulkan/icd.d";

fn devices(scene: &mut Scene) {
    scene.unset("VK_DRIVER_FILES");
    scene
        .driver("a")
        .folder(FOLDER)
        .device_with("one", |device| device.uuids(1, 10))
        .device_with("two", |device| device.uuids(2, 10));
    scene
        .driver("b")
        .folder(FOLDER)
        .device_with("three", |device| device.uuids(3, 11).line("driver_version", 7))
        .device_with("old", |device| device.uuids(4, 11).api("1.0.0"));
}

/// Returns the configuration of a device. All bytes of its device UUID are `device`, and all bytes of its driver UUID are `driver`.
fn configuration(device: u8, driver: u8, version: u32) -> String {
    let uuid = |number: u8| format!("[{}]", vec![number.to_string(); 16].join(", "));
    format!(
        r#"{{"deviceUUID": {}, "driverUUID": {}, "driverVersion": {version}}}"#,
        uuid(device),
        uuid(driver)
    )
}

fn configure(scene: &Scene, list: &[String]) {
    write(
        scene,
        BASE,
        &format!(r#""device_configurations": [{}]"#, list.join(", ")),
    );
}

/// DRV-123, APP-258, APP-259: exactly the devices that match the settings file are listed, in the file's order, for every API version of
/// the application.
#[test]
fn app_259_the_devices_of_the_list_in_its_order() {
    case(|scene| {
        devices(scene);
        configure(scene, &[configuration(3, 11, 7), configuration(1, 10, 1)]);
        let outcome = scene.run(|vk| {
            for api in ["1.0", "1.3"] {
                let instance = vk.instance_with(api, &[]);
                assert_eq!(instance.device_count(), Ok(2));
                assert_eq!(instance.device_names(), ["three", "one"], "{api}");
                assert_eq!(instance.some_devices(1).0, vk::Result::INCOMPLETE);
            }
        });
        outcome.ok();
    });
}

/// APP-259: the device UUID, the driver UUID and the driver version of a configuration must all match. A device of version 1.0 never
/// matches.
#[test]
fn app_259_what_does_not_match() {
    case(|scene| {
        devices(scene);
        let rows = [
            configuration(1, 11, 1),
            configuration(9, 10, 1),
            configuration(1, 10, 2),
            configuration(4, 11, 1),
        ];
        for row in rows {
            configure(scene, &[row]);
            let outcome = scene.run(|vk| {
                let instance = vk.instance_with("1.1", &[]);
                // A query for the count does not check which devices match.
                assert_eq!(instance.device_count(), Ok(1));
                let mut room = [vk::PhysicalDevice::null(); 4];
                let mut count = 4;
                let result = call!(
                    instance,
                    PFN_vkEnumeratePhysicalDevices(instance.raw, &mut count, room.as_mut_ptr())
                );
                assert_eq!(result, FAILED);
            });
            outcome.ok();
            assert!(!outcome.log("WARNING").is_empty(), "{}", outcome.all());
        }
    });
}

/// APP-259: if a configured device does not exist, the loader logs a warning with the device's UUID.
#[test]
fn app_259_a_missing_device_is_a_warning() {
    case(|scene| {
        devices(scene);
        configure(scene, &[configuration(171, 10, 1), configuration(2, 10, 1)]);
        let outcome = scene.run(|vk| {
            let (_, found) = vk.instance_with("1.1", &[]).some_devices(4);
            assert_eq!(found.len(), 1);
        });
        outcome
            .ok()
            .logged_with("WARNING", "abababab-abab-abab-abab-abababababab");
    });
}

/// APP-258: elements with missing or invalid fields are skipped. An element that is not an object invalidates the whole list.
#[test]
fn app_258_bad_elements() {
    case(|scene| {
        devices(scene);
        let good = configuration(2, 10, 1);
        let short = good.replacen("[2, ", "[", 1);
        let large = good.replacen("[2, ", "[256, ", 1);
        for bad in [
            r#"{"driverVersion": 1}"#,
            &short,
            &large,
            &good.replace("\"driverVersion\": 1", "\"driverVersion\": \"1\""),
        ] {
            configure(scene, &[bad.into(), good.clone()]);
            scene
                .run(|vk| assert_eq!(vk.instance_with("1.1", &[]).device_names(), ["two"], "{bad}"))
                .ok();
        }
        // If an element is not an object, the loader ignores the list of device configurations.
        configure(scene, &[good, "3".into()]);
        scene
            .run(|vk| assert_eq!(vk.instance_with("1.1", &[]).device_names().len(), 4))
            .ok();
    });
}

/// DRV-156, APP-128, APP-260: groups with a hidden member are omitted.
#[test]
fn app_260_groups_with_hidden_members() {
    case(|scene| {
        scene
            .driver("a")
            .folder(FOLDER)
            .device_with("one", |device| device.uuids(1, 10))
            .device_with("two", |device| device.uuids(2, 10))
            .device_with("three", |device| device.uuids(3, 10))
            .line("group", "one two")
            .line("group", "three");
        configure(scene, &[configuration(1, 10, 1), configuration(3, 10, 1)]);
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &[]);
            let mut count = 0;
            let null = std::ptr::null_mut();
            let result = call!(
                instance,
                PFN_vkEnumeratePhysicalDeviceGroups(instance.raw, &mut count, null)
            );
            assert_eq!((result, count), (vk::Result::SUCCESS, 2));
            assert_eq!(instance.group_names(), [["three"]]);
        });
        outcome.ok();
    });
}

/// DRV-45, APP-215, APP-260: the loader ignores driver variables and filters while devices are configured.
#[test]
fn drv_045_driver_variables_are_ignored() {
    case(|scene| {
        scene
            .driver("a")
            .folder(FOLDER)
            .device_with("one", |device| device.uuids(1, 10))
            .folder(FOLDER);
        scene
            .driver("b")
            .device_with("two", |device| device.uuids(1, 10))
            .unlisted();
        let b = scene.manifest("b");
        configure(scene, &[configuration(1, 10, 1)]);
        scene
            .env("VK_DRIVER_FILES", &b)
            .env("VK_LOADER_DRIVERS_DISABLE", "*")
            .env("VK_ADD_DRIVER_FILES", &b);
        scene
            .run(|vk| assert_eq!(vk.instance_with("1.1", &[]).device_names(), ["one"]))
            .ok();
    });
}

/// DRV-91, APP-95: with configured devices, drivers of 1.1 or newer receive at least 1.1 as the application's version.
#[test]
fn drv_091_the_version_is_raised() {
    case(|scene| {
        scene
            .driver("a")
            .device_with("one", |device| device.uuids(1, 10))
            .folder(FOLDER);
        configure(scene, &[configuration(1, 10, 1)]);
        let outcome = scene.run(|vk| assert_eq!(vk.instance().device_names(), ["one"]));
        assert!(
            outcome.ok().calls("a", "vkCreateInstance")[0].contains("api=1.1.0"),
            "{}",
            outcome.all()
        );
    });
}

/// APP-260: ID filters apply to the configured devices too.
#[test]
fn app_260_id_filters_apply_on_top() {
    case(|scene| {
        scene
            .driver("a")
            .folder(FOLDER)
            .device_with("one", |device| device.uuids(1, 10).ids(5, 6))
            .device_with("two", |device| device.uuids(2, 10).ids(5, 7));
        configure(scene, &[configuration(2, 10, 1), configuration(1, 10, 1)]);
        scene.env("VK_LOADER_DEVICE_ID_FILTER", "6");
        scene
            .run(|vk| assert_eq!(vk.instance_with("1.1", &[]).device_names(), ["one"]))
            .ok();
    });
}

/// APP-174, DRV-143a: with a list of visible devices, instance creation returns VK_ERROR_OUT_OF_HOST_MEMORY, whichever of its allocations
/// fails.
#[test]
fn app_174_every_allocation_with_visible_devices() {
    case(|scene| {
        devices(scene);
        scene.limit(60).env("VK_LOADER_DEBUG", "");
        scene.env("VK_LOADER_VISIBLE_DEVICES", "driver:mock_b,GPU-02,nonsense");
        scene.run(|vk| crate::allocation::creation(vk, &[], 3)).ok();
    });
}

/// APP-174: with configured devices, instance creation returns VK_ERROR_OUT_OF_HOST_MEMORY, whichever of its allocations fails.
#[test]
fn app_174_every_allocation_with_configured_devices() {
    case(|scene| {
        devices(scene);
        scene.limit(60).env("VK_LOADER_DEBUG", "");
        configure(scene, &[configuration(3, 11, 7), configuration(2, 10, 1)]);
        scene.run(|vk| crate::allocation::creation(vk, &[], 2)).ok();
    });
}
