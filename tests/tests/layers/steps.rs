//! Tests of layers that fail at one step of a call. The call must return the error, no memory may remain allocated, and the next call must
//! work.

use std::ptr;

use loader_tests::ash::vk;
use loader_tests::vk::Allocator;
use loader_tests::{call, case};

use crate::kit::{Layer, place};

/// Returns a layer in which `command` fails with VK_ERROR_DEVICE_LOST, a code that the loader itself never returns.
fn failing(command: &str) -> Layer {
    Layer::explicit("a").conf("fail", format!("{command} {}", vk::Result::ERROR_DEVICE_LOST.as_raw()))
}

/// LAY-242: the application receives each error of instance creation unchanged.
#[test]
fn lay_242_every_error_of_a_creation_comes_up_unchanged() {
    case(|scene| {
        let layer = |short: &str, code: i32| Layer::explicit(short).conf("fail", format!("vkCreateInstance {code}"));
        place(
            scene,
            &[
                layer("memory", -1),
                layer("layer", -6),
                layer("strange", -4711),
                Layer::explicit("good"),
            ],
        );
        let outcome = scene.run(|vk| {
            for (name, code) in [
                ("VK_LAYER_memory", -1),
                ("VK_LAYER_layer", -6),
                ("VK_LAYER_strange", -4711),
            ] {
                let result = vk.spec().layer("VK_LAYER_good").layer(name).create().err();
                assert_eq!(result, Some(vk::Result::from_raw(code)), "{name}");
            }
            drop(vk.spec().layer("VK_LAYER_good").create().expect("vkCreateInstance"));
        });
        outcome.ok();
    });
}

/// LAY-253: the application receives a layer's error during device enumeration.
#[test]
fn lay_253_an_error_while_devices_are_listed_comes_up() {
    case(|scene| {
        place(scene, &[failing("vkEnumeratePhysicalDevices")]);
        let outcome = scene.run(|vk| {
            let instance = vk.spec().layer("VK_LAYER_a").create().expect("vkCreateInstance");
            assert_eq!(instance.devices().err(), Some(vk::Result::ERROR_DEVICE_LOST));
            assert_eq!(instance.some_devices(4).0, vk::Result::ERROR_DEVICE_LOST);
        });
        outcome.ok();
    });
}

/// LAY-253: the application receives a layer's error during group enumeration.
#[test]
fn lay_253_an_error_while_groups_are_listed_comes_up() {
    case(|scene| {
        place(scene, &[failing("vkEnumeratePhysicalDeviceGroups")]);
        let outcome = scene.run(|vk| {
            let instance = vk
                .spec()
                .api("1.1")
                .layer("VK_LAYER_a")
                .create()
                .expect("vkCreateInstance");
            assert_eq!(instance.groups().err(), Some(vk::Result::ERROR_DEVICE_LOST));
        });
        outcome.ok();
    });
}

/// LAY-289: device creation fails if a layer cannot list the device extensions.
#[test]
fn lay_289_an_error_while_device_extensions_are_listed_fails_the_device() {
    case(|scene| {
        place(scene, &[failing("vkEnumerateDeviceExtensionProperties")]);
        let outcome = scene.run(|vk| {
            let instance = vk.spec().layer("VK_LAYER_a").create().expect("vkCreateInstance");
            let device = instance.first();
            assert_eq!(
                instance.device_extensions(device).err(),
                Some(vk::Result::ERROR_DEVICE_LOST)
            );
            let spec = instance.device_spec(device).extensions(&["VK_KHR_swapchain"]);
            assert!(spec.create().is_err());
        });
        outcome.ok();
    });
}

/// LAY-294: a layer that fails after the next function succeeded must destroy the device itself. The loader returns the layer's error.
#[test]
fn lay_294_an_error_after_the_driver_s_device_was_made_comes_up() {
    case(|scene| {
        place(scene, &[Layer::explicit("a").conf("fail-after", "vkCreateDevice -4")]);
        let outcome = scene.run(|vk| {
            let instance = vk.spec().layer("VK_LAYER_a").create().expect("vkCreateInstance");
            let mut device = vk::Device::null();
            let info = vk::DeviceCreateInfo::default();
            let result = call!(
                instance,
                PFN_vkCreateDevice(instance.first(), &info, ptr::null(), &mut device)
            );
            assert_eq!(result, vk::Result::ERROR_DEVICE_LOST);
            drop(vk.instance());
        });
        outcome.ran();
    });
}

/// LAY-254: the application receives a layer's error during the allocation of command buffers.
#[test]
fn lay_254_an_error_while_command_buffers_are_allocated_comes_up() {
    case(|scene| {
        place(
            scene,
            &[
                failing("vkAllocateCommandBuffers"),
                Layer::explicit("w").conf("wrap", ""),
            ],
        );
        let outcome = scene.run(|vk| {
            let spec = vk.spec().layer("VK_LAYER_w").layer("VK_LAYER_a");
            let instance = spec.create().expect("vkCreateInstance");
            let device = instance.device(instance.first(), &[]);
            let pool = device.pool();
            assert_eq!(
                device.command_buffers(pool, 3).err(),
                Some(vk::Result::ERROR_DEVICE_LOST)
            );
            device.destroy_pool(pool);
        });
        outcome.ok();
    });
}

/// LAY-242, LAY-201: the application can repeat a failed instance creation.
#[test]
fn lay_242_a_failed_creation_can_be_tried_again_and_again() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::explicit("a").conf("fail", "vkCreateInstance -3"),
                Layer::implicit("i"),
            ],
        );
        let outcome = scene.run(|vk| {
            for _ in 0..20 {
                assert!(vk.spec().layer("VK_LAYER_a").create().is_err());
            }
            drop(vk.instance());
        });
        outcome.ok();
        assert_eq!(crate::kit::loads(&outcome).len(), crate::kit::unloads(&outcome).len());
    });
}

/// DRV-237, APP-179b: the loader frees forgotten devices even if a layer does not call the next destroy function.
#[test]
fn drv_237_forgotten_devices_above_a_layer_that_does_not_call_down() {
    case(|scene| {
        place(scene, &[Layer::explicit("a").conf("fail", "vkDestroyInstance 0")]);
        let outcome = scene.run(|vk| {
            let (of_instance, of_device) = (Allocator::default(), Allocator::default());
            let spec = vk.spec().layer("VK_LAYER_a").allocator(&of_instance);
            let instance = spec.create().expect("vkCreateInstance");
            let spec = instance.device_spec(instance.first()).allocator(&of_device);
            std::mem::forget(spec.create().expect("vkCreateDevice"));
            instance.destroy();
            assert_eq!((of_instance.live(), of_device.live()), (0, 0));
        });
        let outcome = outcome.ran();
        assert!(
            outcome.calls("driver", "vkDestroyInstance").is_empty(),
            "{}",
            outcome.all()
        );
    });
}
