//! Tests of device functions that the loader does not know (DRV-222 to DRV-227).

use loader_tests::ash::vk::{self, Handle};
use loader_tests::case;
use loader_tests::vk::{Commands, opaque_address};

use crate::unknown_physical::call_ten;

/// DRV-222, DRV-224, DRV-225, APP-34: an unknown function works if it was looked up before or after the device was created, on devices,
/// queues and command buffers.
#[test]
fn drv_224_devices_made_before_and_after_the_query() {
    case(|scene| {
        scene.usual_driver("a").unknown_device("vkOddOne");
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            let physical = instance.first();
            let before = instance.device(physical, &[]);
            let address = instance.address("vkOddOne");
            assert_eq!(instance.address("vkOddOne"), address);
            let after = instance.device(physical, &[]);
            for device in [&before, &after] {
                assert!(call_ten(address, device.raw.as_raw()) >= 1000);
                assert!(call_ten(address, device.queue(0, 0).as_raw()) >= 1000);
                let pool = device.pool();
                let buffers = device.command_buffers(pool, 1).expect("vkAllocateCommandBuffers");
                assert!(call_ten(address, buffers[0].as_raw()) >= 1000);
                device.free_command_buffers(pool, &buffers);
                device.destroy_pool(pool);
            }
        });
        let outcome = outcome.ok();
        let arguments = "[1, 2, 3, 4, 5, 6, 7, 18446744073709551615, 9]";
        let expected = ["device", "queue", "command_buffer"].map(|kind| format!("vkOddOne {kind}(gpu-a) {arguments}"));
        assert_eq!(
            outcome.calls("a", "unknown"),
            [&expected[..], &expected[..]].concat(),
            "{}",
            outcome.all()
        );
    });
}

/// DRV-224, APP-33: calling an unknown function on a device returns an error if the device's driver lacks the function.
#[test]
fn drv_224_a_device_without_the_function() {
    case(|scene| {
        scene.usual_driver("a").unknown_device("vkOddOne");
        scene.usual_driver("b");
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            let address = instance.address("vkOddOne");
            let device = instance.device(instance.named("gpu-b"), &[]);
            let result = vk::Result::from_raw(call_ten(address, device.raw.as_raw()) as i32);
            assert_eq!(result, vk::Result::ERROR_EXTENSION_NOT_PRESENT);
        });
        outcome.ok().logged(
            "ERROR",
            "Bad destination in loader trampoline dispatch,Are layers and extensions that you are calling enabled?",
        );
    });
}

/// DRV-223, DRV-6, GEN-68: an instance has space for 250 unknown device commands.
#[test]
fn drv_223_two_hundred_and_fifty_names_fit() {
    case(|scene| {
        let driver = scene.usual_driver("a");
        for number in 0..252 {
            driver.unknown_device(&format!("vkOdd{number}"));
        }
        scene.limit(30);
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            let device = instance.device(instance.first(), &[]);
            let found: Vec<usize> = (0..250)
                .map(|number| instance.address(&format!("vkOdd{number}")))
                .collect();
            assert!(found.iter().all(|address| *address != 0));
            assert_eq!(instance.address("vkOdd250"), 0);
            assert_eq!(instance.address("vkOdd251"), 0);
            call_ten(found[249], device.raw.as_raw());
            call_ten(found[0], device.raw.as_raw());
        });
        let outcome = outcome.ok();
        outcome.logged(
            "ERROR",
            "loader_dev_ext_gpa: Exhausted the unknown device function array!",
        );
        let names: Vec<&str> = outcome
            .calls("a", "unknown")
            .iter()
            .filter_map(|line| line.split(' ').next())
            .collect();
        assert_eq!(names, ["vkOdd249", "vkOdd0"]);
    });
}

/// DRV-226, APP-47: vkGetDeviceProcAddr returns the driver's own pointer, and uses no slot.
#[test]
fn drv_226_device_lookup_of_unknown_names() {
    case(|scene| {
        scene
            .usual_driver("a")
            .line("gdpa", "vkOddOne")
            .line("opaque", "vkOddTwo");
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            let device = instance.device(instance.first(), &[]);
            assert!(call_ten(device.address("vkOddOne"), device.raw.as_raw()) >= 1000);
            assert_eq!(device.address("vkOddTwo"), opaque_address("vkOddTwo"));
            assert_eq!(device.address("vkNobody"), 0);
            assert_eq!(instance.address("vkOddOne"), 0);
        });
        outcome.ok();
    });
}

/// APP-32: unknown physical-device functions and unknown device functions have separate lists, and a name remains in its list.
#[test]
fn app_032_the_two_kinds_do_not_share_slots() {
    case(|scene| {
        scene
            .usual_driver("a")
            .unknown_device("vkOddDevice")
            .unknown_physical("vkOddPhysical");
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            let (of_device, of_physical) = (instance.address("vkOddDevice"), instance.address("vkOddPhysical"));
            let device = instance.device(instance.first(), &[]);
            call_ten(of_device, device.raw.as_raw());
            call_ten(of_physical, instance.first().as_raw());
        });
        let outcome = outcome.ok();
        let seen: Vec<String> = outcome
            .calls("a", "unknown")
            .iter()
            .map(|line| line.split(' ').take(2).collect::<Vec<_>>().join(" "))
            .collect();
        assert_eq!(
            seen,
            ["vkOddDevice device(gpu-a)", "vkOddPhysical physical_device(gpu-a)"]
        );
    });
}

/// APP-32: each instance has a separate list of unknown functions.
#[test]
fn app_032_instances_do_not_share_slots() {
    case(|scene| {
        scene
            .usual_driver("a")
            .unknown_device("vkOddOne")
            .unknown_device("vkOddTwo");
        let outcome = scene.run(|vk| {
            let (first, second) = (vk.instance(), vk.instance());
            let (one, two) = (first.address("vkOddOne"), second.address("vkOddTwo"));
            let device = first.device(first.first(), &[]);
            call_ten(one, device.raw.as_raw());
            let device = second.device(second.first(), &[]);
            call_ten(two, device.raw.as_raw());
        });
        let outcome = outcome.ok();
        let names: Vec<&str> = outcome
            .calls("a", "unknown")
            .iter()
            .filter_map(|line| line.split(' ').next())
            .collect();
        assert_eq!(names, ["vkOddOne", "vkOddTwo"]);
    });
}
