//! Tests of device creation (DRV-190 to DRV-203).

use std::ptr;

use loader_tests::ash::vk::{self, Handle};
use loader_tests::vk::{Allocator, Instance};
use loader_tests::{call, case};

/// DRV-190, DRV-192, APP-141: device creation refuses an extension that the device does not list.
#[test]
fn drv_190_extensions_must_be_listed() {
    case(|scene| {
        scene.usual_driver("a");
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            let physical = instance.first();
            drop(instance.device(physical, &["VK_KHR_swapchain"]));
            let result = instance
                .device_spec(physical)
                .extensions(&["VK_KHR_swapchain", "VK_NEW_thing"])
                .create()
                .err();
            assert_eq!(result, Some(vk::Result::ERROR_EXTENSION_NOT_PRESENT));
            // NULL names are skipped.
            let names = [ptr::null(), c"VK_KHR_swapchain".as_ptr(), ptr::null()];
            let info = vk::DeviceCreateInfo::default().enabled_extension_names(&names);
            let mut raw = vk::Device::null();
            let result = call!(instance, PFN_vkCreateDevice(physical, &info, ptr::null(), &mut raw));
            assert_eq!(result, vk::Result::SUCCESS);
            call!(instance, PFN_vkDestroyDevice(raw, ptr::null()));
        });
        let outcome = outcome.ok();
        let refused = "loader_validate_device_extensions: Device extension VK_NEW_thing not supported by selected physical \
                       device or enabled layers.";
        let errors = outcome.log("ERROR");
        let place = errors.iter().position(|line| *line == refused).expect("an error");
        assert_eq!(
            errors[place + 1],
            "vkCreateDevice: Failed to validate extensions in list"
        );
        let calls = outcome.calls("a", "vkCreateDevice");
        assert!(
            calls.len() == 2 && calls.iter().all(|line| line.contains("ext=[VK_KHR_swapchain]")),
            "{}",
            outcome.all()
        );
    });
}

/// DRV-191, APP-142: layer names in the create info of a device have no effect.
#[test]
fn drv_191_device_layers_are_ignored() {
    case(|scene| {
        scene.usual_driver("a");
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            let spec = instance.device_spec(instance.first()).layer("VK_LAYER_nobody");
            drop(spec.create().expect("layers are no reason to fail"));
        });
        let outcome = outcome.ok();
        outcome.logged(
            "WARNING",
            "loader_create_device_chain: Using deprecated and ignored 'ppEnabledLayerNames' member of 'VkDeviceCreateInfo' when creating a Vulkan device.",
        );
        assert!(
            outcome.calls("a", "vkCreateDevice")[0].contains(" layers=0 "),
            "{}",
            outcome.all()
        );
    });
}

/// DRV-195, APP-145, DRV-167: if the driver lacks the features2 functions, the loader sets `pEnabledFeatures` to the features in the
/// chain's `VkPhysicalDeviceFeatures2`. The loader does this only if the instance enables the extension for these functions.
#[test]
fn drv_195_features2_on_a_driver_without_them() {
    const PROPERTIES2: &str = "VK_KHR_get_physical_device_properties2";
    case(|scene| {
        scene.driver("a").api("1.0.0").device("one");
        scene.driver("other").api("1.0.0").extension(PROPERTIES2);
        let outcome = scene.run(|vk| {
            for extensions in [&[PROPERTIES2][..], &[]] {
                let instance = vk.instance_with("1.1", extensions);
                let features = vk::PhysicalDeviceFeatures2::default();
                drop(
                    instance
                        .device_spec(instance.first())
                        .next(&features)
                        .create()
                        .expect("vkCreateDevice"),
                );
            }
        });
        let outcome = outcome.ok();
        let calls = outcome.calls("a", "vkCreateDevice");
        let structure = vk::StructureType::PHYSICAL_DEVICE_FEATURES_2.as_raw().to_string();
        assert!(calls.iter().all(|line| line.contains(&structure)), "{}", outcome.all());
        assert!(
            calls[0].contains("features=given") && calls[1].contains("features=null"),
            "{}",
            outcome.all()
        );
    });
}

/// DRV-195: if the chain contains a features structure, all other structures of the chain reach the driver, known or unknown.
#[test]
fn drv_195_unknown_structures_pass() {
    case(|scene| {
        scene.usual_driver("a");
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            let strange = vk::BaseInStructure {
                s_type: vk::StructureType::from_raw(777_000),
                ..Default::default()
            };
            let features = vk::PhysicalDeviceFeatures::default();
            let spec = instance
                .device_spec(instance.first())
                .next(&strange)
                .features(&features);
            drop(spec.create().expect("vkCreateDevice"));
        });
        let call = outcome.ok().calls("a", "vkCreateDevice")[0].to_owned();
        assert!(
            call.contains("777000]") && call.contains("features=given"),
            "{}",
            outcome.all()
        );
    });
}

/// DRV-196, APP-149: the log names the device's driver, also if device creation fails.
#[test]
fn drv_196_the_device_is_logged_and_failures_name_the_driver() {
    case(|scene| {
        scene.usual_driver("a");
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            let physical = instance.first();
            drop(instance.device(physical, &[]));
            vk.add_lines("a", "fail vkCreateDevice -4");
            assert_eq!(
                instance.device_spec(physical).create().err(),
                Some(vk::Result::ERROR_DEVICE_LOST)
            );
            vk.remove_lines("a", &["fail"]);
            drop(instance.device(physical, &[]));
        });
        let library = scene.library("a").display().to_string();
        outcome
            .ok()
            .logged_with("DRIVER", &format!("       Using \"gpu-a\" with driver: \"{library}\""));
        outcome.logged_with("ERROR | DRIVER", &library);
    });
}

/// DRV-196, DRV-264: the loader treats a driver that succeeds with a NULL device as failed.
#[test]
fn drv_196_a_null_device_counts_as_failure() {
    case(|scene| {
        scene.usual_driver("a").line("null_result", "vkCreateDevice");
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            let result = instance.device_spec(instance.first()).create().err();
            assert_eq!(result, Some(vk::Result::ERROR_INITIALIZATION_FAILED));
        });
        outcome.ok();
    });
}

/// DRV-196: if the driver returns a positive code, the loader returns an error. The loader frees the data of the failed device, and the
/// next creation works.
#[test]
fn drv_196_only_success_makes_a_device() {
    case(|scene| {
        scene.usual_driver("a");
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            let physical = instance.first();
            let incomplete = vk::Result::INCOMPLETE;
            for code in [vk::Result::NOT_READY, incomplete, vk::Result::SUBOPTIMAL_KHR] {
                let allocator = Allocator::default();
                let create = || instance.device_spec(physical).allocator(&allocator).create();
                vk.add_lines("a", &format!("fail vkCreateDevice {}", code.as_raw()));
                assert_eq!(create().err(), Some(vk::Result::ERROR_UNKNOWN));
                assert_eq!(allocator.live(), 0, "{code:?}");
                vk.remove_lines("a", &["fail"]);
                drop(create().expect("vkCreateDevice"));
                assert_eq!(allocator.live(), 0, "{code:?}");
            }
        });
        outcome.ok();
    });
}

/// DRV-199, DRV-200, DRV-209, APP-147, DRV-208: the loader writes the first word of the device, and replaces every value that the driver
/// wrote there.
#[test]
fn drv_199_the_device_leads_to_its_table() {
    case(|scene| {
        scene.usual_driver("a");
        scene.usual_driver("b").flag("no_magic");
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            for physical in instance.devices().expect("devices") {
                let device = instance.device(physical, &[]);
                let table = Instance::words(device.raw.as_raw(), 1)[0];
                assert_eq!(Instance::mark(table, 0), 0x10AD_ED04_0410_ADED);
                // DRV-201: queues and command buffers have the dispatch word of the device, also on the second fetch.
                let queue = device.queue(0, 0);
                assert_eq!(queue, device.queue(0, 0));
                assert_eq!(Instance::words(queue.as_raw(), 1)[0], table);
                let pool = device.pool();
                let buffers = device.command_buffers(pool, 3).expect("vkAllocateCommandBuffers");
                assert!(
                    buffers
                        .iter()
                        .all(|buffer| Instance::words(buffer.as_raw(), 1)[0] == table)
                );
                device.free_command_buffers(pool, &buffers);
                device.destroy_pool(pool);
            }
        });
        outcome.ok();
    });
}

/// DRV-201, APP-156, DRV-265: the loader does not change a NULL queue.
#[test]
fn drv_201_a_null_queue_is_left_alone() {
    case(|scene| {
        scene
            .usual_driver("a")
            .line("null_result", "vkGetDeviceQueue")
            .line("null_result", "vkGetDeviceQueue2");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &[]);
            let device = instance.device(instance.first(), &[]);
            assert_eq!(device.queue(0, 0), vk::Queue::null());
            let mut queue = vk::Queue::null();
            let info = vk::DeviceQueueInfo2::default();
            call!(device, PFN_vkGetDeviceQueue2(device.raw, &info, &mut queue));
            assert_eq!(queue, vk::Queue::null());
        });
        outcome.ok();
    });
}

/// APP-156: a queue from `vkGetDeviceQueue2` has the first word of its device.
#[test]
fn app_156_get_device_queue_2() {
    case(|scene| {
        scene.usual_driver("a");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &[]);
            let device = instance.device(instance.first(), &[]);
            let mut queue = vk::Queue::null();
            let info = vk::DeviceQueueInfo2::default().queue_family_index(1);
            call!(device, PFN_vkGetDeviceQueue2(device.raw, &info, &mut queue));
            assert_eq!(
                Instance::words(queue.as_raw(), 1),
                Instance::words(device.raw.as_raw(), 1)
            );
        });
        let outcome = outcome.ok();
        assert_eq!(outcome.calls("a", "vkGetDeviceQueue2"), ["family=1 index=0"]);
    });
}

/// APP-157: if vkAllocateCommandBuffers fails, the loader does not write to the objects to which the handles point.
#[test]
fn app_157_failed_command_buffers_are_left_alone() {
    case(|scene| {
        scene.usual_driver("a").fail("vkAllocateCommandBuffers", -1);
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            let device = instance.device(instance.first(), &[]);
            let pool = device.pool();
            let info = vk::CommandBufferAllocateInfo::default()
                .command_pool(pool)
                .command_buffer_count(2);
            // These numbers are not valid addresses. Neither the loader nor the driver may write to them.
            let mut buffers = [vk::CommandBuffer::from_raw(0x10), vk::CommandBuffer::from_raw(0x20)];
            let result = call!(
                device,
                PFN_vkAllocateCommandBuffers(device.raw, &info, buffers.as_mut_ptr())
            );
            assert_eq!(result, vk::Result::ERROR_OUT_OF_HOST_MEMORY);
            device.destroy_pool(pool);
        });
        outcome.ok();
    });
}

/// DRV-202, APP-155: the allocator of each call reaches the driver.
#[test]
fn drv_202_allocators_of_devices() {
    case(|scene| {
        scene.usual_driver("a");
        let outcome = scene.run(|vk| {
            let (create, destroy) = (Allocator::default(), Allocator::default());
            vk.say("create", create.mark());
            vk.say("destroy", destroy.mark());
            let instance = vk.instance();
            let spec = instance.device_spec(instance.first()).allocator(&create);
            spec.create().expect("vkCreateDevice").destroy();
            assert_eq!(create.live(), 0);
            let device = instance.device(instance.first(), &[]);
            call!(device, PFN_vkDestroyDevice(device.raw, destroy.callbacks()));
            assert_eq!(destroy.live(), 0);
            std::mem::forget(device);
            let null = ptr::null();
            call!(instance, PFN_vkDestroyDevice(vk::Device::null(), null));
        });
        let outcome = outcome.ok();
        let calls = outcome.calls("a", "vkCreateDevice");
        assert!(
            calls[0].ends_with(outcome.said("create")[0]) && calls[1].ends_with("alloc=null"),
            "{}",
            outcome.all()
        );
        let calls = outcome.calls("a", "vkDestroyDevice");
        assert!(
            calls[0].ends_with(outcome.said("create")[0]) && calls[1].ends_with(outcome.said("destroy")[0]),
            "{}",
            outcome.all()
        );
    });
}

/// DRV-237, APP-179b: the loader frees forgotten devices with their own callbacks, and does not call the driver.
#[test]
fn drv_237_forgotten_devices() {
    case(|scene| {
        scene.usual_driver("a");
        let outcome = scene.run(|vk| {
            let (of_instance, of_device) = (Allocator::default(), Allocator::default());
            let instance = vk.spec().allocator(&of_instance).create().expect("vkCreateInstance");
            let spec = instance.device_spec(instance.first()).allocator(&of_device);
            std::mem::forget(spec.create().expect("vkCreateDevice"));
            instance.destroy();
            assert_eq!((of_instance.live(), of_device.live()), (0, 0));
        });
        let outcome = outcome.ran();
        assert!(outcome.calls("a", "vkDestroyDevice").is_empty(), "{}", outcome.all());
    });
}

/// DRV-192: device creation fails if the driver's extension list cannot be queried.
#[test]
fn drv_192_an_unreadable_extension_list_is_returned() {
    case(|scene| {
        scene.usual_driver("a");
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            let physical = instance.first();
            vk.add_lines("a", "fail vkEnumerateDeviceExtensionProperties -4");
            let result = instance
                .device_spec(physical)
                .extensions(&["VK_KHR_swapchain"])
                .create()
                .err();
            assert_eq!(result, Some(vk::Result::ERROR_DEVICE_LOST));
        });
        outcome.ok();
    });
}

/// APP-146: the callbacks of the device's creation provide the memory of the device record.
#[test]
fn app_146_the_device_record_uses_the_devices_callbacks() {
    case(|scene| {
        scene.usual_driver("a");
        let outcome = scene.run(|vk| {
            let allocator = Allocator::default();
            let instance = vk.instance();
            let device = instance
                .device_spec(instance.first())
                .allocator(&allocator)
                .create()
                .expect("vkCreateDevice");
            assert!(allocator.live() > 0);
            assert!(allocator.scopes().contains(&vk::SystemAllocationScope::DEVICE));
            device.destroy();
            assert_eq!(allocator.live(), 0);
        });
        outcome.ok();
    });
}

/// DRV-136, DRV-192: if a driver returns a positive code from a call that it did not complete, the loader returns an error.
#[test]
fn drv_136_a_positive_code_of_a_driver_that_failed_becomes_an_error() {
    const COUNT: &str = "vkEnumerateDeviceExtensionProperties";
    case(|scene| {
        scene.usual_driver("a");
        let outcome = scene.run(|vk| {
            let unknown = Some(vk::Result::ERROR_UNKNOWN);
            let instance = vk.instance_with(
                "1.1",
                &["VK_KHR_surface", "VK_EXT_headless_surface", "VK_EXT_debug_utils"],
            );
            let physical = instance.first();
            let surface = instance.headless_surface();
            let fail = |command: &str| vk.add_lines("a", &format!("fail {command} 5"));
            let created = |extensions: &[&str]| instance.device_spec(physical).extensions(extensions).create().err();

            fail(COUNT);
            assert_eq!(instance.device_extensions(physical).err(), unknown);
            assert_eq!(created(&["VK_KHR_swapchain"]), unknown);
            vk.remove_lines("a", &["fail"]);
            fail("vkCreateDevice");
            assert_eq!(created(&[]), unknown);
            fail("vkCreateHeadlessSurfaceEXT");
            let mut capabilities = vk::SurfaceCapabilitiesKHR::default();
            let result = call!(
                instance,
                PFN_vkGetPhysicalDeviceSurfaceCapabilitiesKHR(physical, surface, &mut capabilities)
            );
            assert_eq!(Some(result), unknown);
            fail("vkCreateDebugUtilsMessengerEXT");
            let info = vk::DebugUtilsMessengerCreateInfoEXT::default();
            let mut messenger = vk::DebugUtilsMessengerEXT::null();
            let result = call!(
                instance,
                PFN_vkCreateDebugUtilsMessengerEXT(instance.raw, &info, ptr::null(), &mut messenger)
            );
            assert_eq!(Some(result), unknown);
            instance.destroy_surface(surface);
        });
        outcome.ok();
    });
}
