//! Tests of a driver whose answers depend on more than the device. No record contains these answers, so the loader opens the driver for
//! them (DRV-281, DRV-282).

use super::lazy::{FAILED, OOM, WRONG, calls};
use loader_tests::ash::vk;
use loader_tests::vk::Instance;
use loader_tests::{Device, Scene, Vk, call, case};
use std::ptr;

/// Queries whose answers can vary. The names are the same as in the configuration of the mock driver.
const QUERIES: [&str; 6] = ["features", "memory", "families", "format", "driver", "groups"];

/// Versions and extensions of the instances to create.
const INSTANCES: [(&str, &[&str]); 3] = [("1.1", &[]), ("1.2", &[]), ("1.3", &["VK_KHR_surface"])];

/// Returns the number that answers contain if they vary with `cause`, or `None` if the number changes in each call.
fn expected(cause: &str, (version, extensions): (&str, &[&str])) -> Option<u32> {
    match cause {
        "version" => version.strip_prefix("1.")?.parse().ok(),
        "extensions" => u32::try_from(extensions.len()).ok(),
        _ => None,
    }
}

/// Calls a command that fills one structure, and returns the structure.
macro_rules! filled {
    ($instance:ident, $function:ident($($argument:expr),*), $type:ident) => {{
        let mut asked = vk::$type::default();
        call!($instance, $function($($argument,)* &mut asked));
        asked
    }};
}

/// Queries a device, and returns the number in the answer.
fn ask(instance: &Instance<'_>, device: vk::PhysicalDevice, query: &str) -> u32 {
    match query {
        "properties" => instance.properties(device).limits.max_image_dimension1_d,
        "features" => {
            filled!(
                instance,
                PFN_vkGetPhysicalDeviceFeatures(device),
                PhysicalDeviceFeatures
            )
            .alpha_to_one
        }
        "memory" => {
            let memory = filled!(
                instance,
                PFN_vkGetPhysicalDeviceMemoryProperties(device),
                PhysicalDeviceMemoryProperties
            );
            (memory.memory_heaps[0].size - (1 << 30)) as u32
        }
        "families" => {
            let (mut count, mut all) = (2, [vk::QueueFamilyProperties::default(); 2]);
            call!(
                instance,
                PFN_vkGetPhysicalDeviceQueueFamilyProperties(device, &mut count, all.as_mut_ptr())
            );
            all[1].timestamp_valid_bits
        }
        "format" => {
            let format = vk::Format::R8G8B8A8_UNORM;
            let found = filled!(
                instance,
                PFN_vkGetPhysicalDeviceFormatProperties(device, format),
                FormatProperties
            );
            found.linear_tiling_features.as_raw()
        }
        "extensions" => {
            let (mut count, mut all) = (1, [vk::ExtensionProperties::default()]);
            let result = call!(
                instance,
                PFN_vkEnumerateDeviceExtensionProperties(device, ptr::null(), &mut count, all.as_mut_ptr())
            );
            assert_eq!(result, vk::Result::SUCCESS);
            all[0].spec_version - 1
        }
        "driver" => {
            let mut driver = vk::PhysicalDeviceDriverProperties::default();
            let mut asked = vk::PhysicalDeviceProperties2::default().push_next(&mut driver);
            call!(instance, PFN_vkGetPhysicalDeviceProperties2(device, &mut asked));
            driver.conformance_version.subminor.into()
        }
        _ => {
            let (mut count, mut all) = (99, [vk::PhysicalDeviceGroupProperties::default(); 99]);
            let result = call!(
                instance,
                PFN_vkEnumeratePhysicalDeviceGroups(instance.raw, &mut count, all.as_mut_ptr())
            );
            assert_eq!(result, vk::Result::SUCCESS);
            let of_device = all.iter().find(|group| group.physical_devices[0] == device);
            1 - of_device.expect("a group of the device").subset_allocation
        }
    }
}

/// Returns the number as the answer to this query contains it, for example reduced to one bit.
fn shown(query: &str, number: u32) -> u32 {
    match query {
        "features" | "groups" => number % 2,
        _ => number,
    }
}

/// Adds a driver with a device for each query. The device's answer to this query varies with `cause`.
fn varying(scene: &mut Scene, cause: &str) {
    let driver = scene.driver("a").extension("VK_KHR_surface");
    for (number, query) in (1..).zip(QUERIES) {
        driver.device_with(query, |device| {
            device.uuids(number, 9).line("varies", format_args!("{query} {cause}"))
        });
    }
    scene.lazily();
}

/// Calls all other queries of a device, and then the query whose answer varies.
fn ask_last(vk: &Vk, (version, extensions): (&str, &[&str]), query: &str) -> [u32; 2] {
    let (instance, before) = (vk.instance_with(version, extensions), calls(vk, "load"));
    let device = instance.named(query);
    for other in QUERIES.iter().filter(|other| ![query, "groups"].contains(other)) {
        ask(&instance, device, other);
    }
    assert_eq!(calls(vk, "load"), before, "{query}: the driver is closed");
    let found = ask(&instance, device, query);
    assert_eq!(calls(vk, "load"), before + 1, "{query} opens the driver");
    [found, ask(&instance, device, query)]
}

/// Checks that varying answers come from the driver, and that all other answers come from the driver's record.
fn varies_with(scene: &mut Scene, cause: &str) {
    varying(scene, cause);
    let outcome = scene.run(|vk| {
        for query in QUERIES {
            for made in INSTANCES {
                let found = ask_last(vk, made, query);
                match expected(cause, made) {
                    Some(number) => assert_eq!(found, [shown(query, number); 2], "{query} {made:?}"),
                    None => assert_ne!(found[0], found[1], "{query} {made:?}"),
                }
            }
        }
    });
    outcome.ok().not_logged(WRONG);
}

/// DRV-281, DRV-282: answers that depend on the instance's version come from the driver.
#[test]
fn drv_281_answers_that_depend_on_the_version_of_the_instance() {
    case(|scene| varies_with(scene, "version"));
}

/// DRV-281, DRV-282: answers that depend on the instance's extensions come from the driver.
#[test]
fn drv_281_answers_that_depend_on_the_extensions_of_the_instance() {
    case(|scene| varies_with(scene, "extensions"));
}

/// DRV-281, DRV-282: answers that change in each call come from the driver.
#[test]
fn drv_281_answers_that_change_in_each_call() {
    case(|scene| varies_with(scene, "calls"));
}

/// Sets UUIDs and an extension of a device.
fn with_extension(device: Device<'_>, number: u8) -> Device<'_> {
    device.uuids(number, 9).extension("VK_KHR_swapchain")
}

/// Checks drivers whose properties or extensions vary. The loader queries properties and extensions when it lists devices, so it opens the
/// driver. The loader cannot find a varying device without UUIDs again, so its driver has no record.
fn asked_at_once(scene: &mut Scene, cause: &str) {
    let line = |query: &str| format!("{query} {cause}");
    scene
        .driver("a")
        .extension("VK_KHR_surface")
        .device_with("properties", |device| {
            with_extension(device, 1).line("varies", line("properties"))
        })
        .device_with("extensions", |device| {
            with_extension(device, 2).line("varies", line("extensions"))
        });
    scene
        .driver("b")
        .extension("VK_KHR_surface")
        .device_with("unknown", |device| device.line("varies", line("properties")));
    scene.lazily();
    let outcome = scene.run(|vk| {
        for made in INSTANCES {
            let instance = vk.instance_with(made.0, made.1);
            for (name, query) in [
                ("properties", "properties"),
                ("extensions", "extensions"),
                ("unknown", "properties"),
            ] {
                let device = instance.named(name);
                let found = ask(&instance, device, query);
                match expected(cause, made) {
                    Some(number) => assert_eq!(found, number, "{name} {made:?}"),
                    None => assert_ne!(found, ask(&instance, device, query), "{name} {made:?}"),
                }
                assert_eq!(
                    instance.device_spec(device).create().map(drop),
                    Ok(()),
                    "{name} {made:?}"
                );
            }
        }
    });
    outcome.ok().not_logged(WRONG);
    let is_closed = |name: &str| {
        let line = format!("libmock_{name}.so yet: its devices are listed from the record");
        outcome.all().contains(&line)
    };
    assert_eq!((is_closed("a"), is_closed("b")), (true, false), "{}", outcome.all());
}

/// DRV-281: the loader finds the recorded devices of a driver that it opens late, although their properties depend on the instance's
/// version.
#[test]
fn drv_281_devices_are_found_again_if_properties_depend_on_the_version() {
    case(|scene| asked_at_once(scene, "version"));
}

/// DRV-281: the loader finds the recorded devices of a driver that it opens late, although their properties depend on the instance's
/// extensions.
#[test]
fn drv_281_devices_are_found_again_if_properties_depend_on_extensions() {
    case(|scene| asked_at_once(scene, "extensions"));
}

/// DRV-281: the loader finds the recorded devices of a driver that it opens late, although their properties change in each call.
#[test]
fn drv_281_devices_are_found_again_if_properties_change() {
    case(|scene| asked_at_once(scene, "calls"));
}

/// DRV-283: if a driver that is opened late cannot list its devices, the loader destroys the driver's instance. After a lack of memory, the
/// next call opens the driver again.
#[test]
fn drv_283_devices_that_are_refused_late() {
    case(|scene| {
        scene.driver("a").device_with("one", |device| device.uuids(1, 9));
        scene.lazily();
        for (code, first, again) in [(OOM, OOM, Ok(())), (vk::Result::ERROR_DEVICE_LOST, FAILED, Err(FAILED))] {
            let outcome = scene.run(|vk| {
                let instance = vk.instance_with("1.1", &[]);
                let device = instance.first();
                vk.add_lines("a", &format!("fail vkEnumeratePhysicalDevices {} 1 1\n", code.as_raw()));
                let create = || instance.device_spec(device).create().map(drop);
                assert_eq!(create(), Err(first));
                let made = || (calls(vk, "vkCreateInstance"), calls(vk, "vkDestroyInstance"));
                assert_eq!(made(), (1, 1));
                vk.remove_lines("a", &["fail"]);
                assert_eq!(create(), again);
                instance.destroy();
                assert_eq!(made(), if again.is_ok() { (2, 2) } else { (1, 1) });
            });
            outcome.ok();
        }
    });
}
