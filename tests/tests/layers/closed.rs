//! Tests of layers above a driver that stays closed until a program uses it (DRV-282, DRV-283).

use loader_tests::ash::vk;
use loader_tests::{Vk, call, case};

use crate::kit::{Layer, place};

/// Returns `true` if a driver was opened.
fn is_open(vk: &Vk) -> bool {
    vk.journal().iter().any(|line| line.split(' ').nth(1) == Some("load"))
}

/// DRV-283, LAY-252: a layer that wraps physical devices keeps its own map from wrappers to handles. These handles remain valid when the
/// driver is opened, because the loader's stand-ins for devices of a closed driver never change.
#[test]
fn lay_252_a_layer_may_wrap_devices_of_a_closed_driver() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::explicit("a"),
                Layer::explicit("w").conf("wrap", ""),
                Layer::explicit("b"),
            ],
        );
        scene.lazily();
        let outcome = scene.run(|vk| {
            let spec = vk.spec().layer("VK_LAYER_a").layer("VK_LAYER_w").layer("VK_LAYER_b");
            let instance = spec.api("1.3").create().expect("vkCreateInstance");
            let (devices, device) = (instance.devices().expect("devices"), instance.first());
            let name = instance.name_of(device);
            let mut asked = vk::PhysicalDeviceProperties2::default();
            call!(instance, PFN_vkGetPhysicalDeviceProperties2(device, &mut asked));
            assert!(!is_open(vk), "all answers are recorded");
            for _ in 0..2 {
                let made = instance.device(device, &[]);
                let (queue, pool) = (made.queue(0, 0), made.pool());
                assert_ne!(queue, vk::Queue::null());
                made.destroy_pool(pool);
            }
            assert!(is_open(vk));
            assert_eq!(instance.devices(), Ok(devices), "the handles are the same");
            assert_eq!(instance.name_of(device), name);
        });
        assert_eq!(outcome.ok().calls("driver", "vkCreateDevice").len(), 2);
        outcome.not_logged("the record, which is wrong");
    });
}

/// DRV-283, LAY-253: a layer can reorder and omit devices of a closed driver.
#[test]
fn lay_253_a_layer_may_reorder_devices_of_a_closed_driver() {
    case(|scene| {
        let reversing = Layer::explicit("w").conf("wrap", "").conf("devices", "reverse");
        place(scene, &[reversing]);
        let driver = scene.driver("two");
        driver
            .device_with("first", |device| device.uuids(1, 9))
            .device_with("second", |device| device.uuids(2, 9));
        scene.lazily();
        let outcome = scene.run(|vk| {
            let instance = vk.spec().layer("VK_LAYER_w").api("1.3").create().expect("an instance");
            let names = instance.device_names();
            assert!(!is_open(vk));
            for name in &names {
                drop(instance.device(instance.named(name), &[]));
            }
            assert_eq!(instance.device_names(), names);
        });
        outcome.ok().not_logged("the record, which is wrong");
    });
}
