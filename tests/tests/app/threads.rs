//! Tests threads and re-entrant calls (APP-270 to APP-275).

use std::thread;

use loader_tests::ash::vk;
use loader_tests::vk::{Commands, Messages, Shared};
use loader_tests::{Scene, Vk, call, case};

fn drivers(scene: &mut Scene) {
    scene
        .usual_driver("a")
        .unknown_device("vkOddDevice")
        .unknown_physical("vkOddPhysical");
    scene.usual_driver("b");
    scene.env("VK_LOADER_DEBUG", "").limit(60);
}

/// Runs `body` on several threads at the same time. Each thread has a different number.
fn on_threads(vk: &Vk, body: impl Fn(&Vk, usize) + Sync) {
    thread::scope(|scope| {
        for number in 0..6 {
            let body = &body;
            scope.spawn(move || body(vk, number));
        }
    });
}

/// APP-270: many threads can create and destroy instances and devices at the same time.
#[test]
fn app_270_instances_and_devices_on_many_threads() {
    case(|scene| {
        drivers(scene);
        let outcome = scene.run(|vk| {
            on_threads(vk, |vk, _| {
                for _ in 0..8 {
                    let instance = vk.instance_with("1.1", &[]);
                    for physical in instance.devices().expect("devices") {
                        let device = instance.device(physical, &["VK_KHR_swapchain"]);
                        assert_ne!(device.address("vkCmdDraw"), 0);
                        device.queue(0, 0);
                    }
                    assert_eq!(instance.groups().expect("groups").len(), 2);
                }
            });
        });
        outcome.ok();
    });
}

/// APP-270, APP-274: many threads can call global commands while other threads use instances.
#[test]
fn app_270_global_commands_on_many_threads() {
    case(|scene| {
        drivers(scene);
        let outcome = scene.run(|vk| {
            on_threads(vk, |vk, number| {
                for _ in 0..15 {
                    if number % 2 == 0 {
                        assert!(vk.extensions().expect("the query succeeds").len() > 5);
                        vk.layers().expect("the query succeeds");
                    } else {
                        drop(vk.instance());
                    }
                    vk.version();
                }
            });
        });
        outcome.ok();
    });
}

/// APP-273: many threads can look up unknown and known names on one instance, while devices are created and destroyed.
#[test]
fn app_273_lookups_on_one_instance_from_many_threads() {
    case(|scene| {
        drivers(scene);
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &[]);
            let raw = Shared(instance.raw);
            let expected = (instance.address("vkCmdDraw"), instance.address("vkOddDevice"));
            on_threads(vk, |vk, number| {
                for round in 0..100 {
                    assert_eq!(vk.get(*raw.get(), "vkCmdDraw"), expected.0);
                    assert_eq!(vk.get(*raw.get(), "vkOddDevice"), expected.1);
                    assert_ne!(vk.get(*raw.get(), "vkOddPhysical"), 0);
                    assert_eq!(vk.get(*raw.get(), &format!("vkNobody{number}x{round}")), 0);
                }
            });
        });
        outcome.ok();
    });
}

/// APP-270: all threads that enumerate the devices of one instance receive the same handles.
#[test]
fn app_270_enumeration_from_many_threads() {
    case(|scene| {
        drivers(scene);
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &[]);
            let (raw, expected) = (Shared(instance.raw), Shared(instance.devices().expect("devices")));
            on_threads(vk, |vk, _| {
                for _ in 0..30 {
                    let devices: Vec<vk::PhysicalDevice> = loader_tests::vk::two_call(|count, out| {
                        call!(vk, PFN_vkEnumeratePhysicalDevices(*raw.get(), count, out))
                    })
                    .expect("devices");
                    assert_eq!(devices, *expected.get());
                }
            });
        });
        outcome.ok();
    });
}

/// APP-200, APP-270: threads can use messengers, surfaces and names while other threads create devices.
#[test]
fn app_200_naming_beside_device_creation() {
    case(|scene| {
        drivers(scene);
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with(
                "1.1",
                &["VK_EXT_debug_utils", "VK_KHR_surface", "VK_EXT_headless_surface"],
            );
            let instance = Shared(&instance);
            let physical = Shared(instance.get().devices().expect("devices"));
            // A message that another thread is delivering can still arrive after its messenger was destroyed.
            let messages = Shared(Messages::default());
            on_threads(vk, |_, number| {
                let (instance, physical) = (*instance.get(), physical.get()[number % 2]);
                for _ in 0..15 {
                    if number < 2 {
                        drop(instance.device(physical, &[]));
                    } else if number < 4 {
                        let device = instance.device(physical, &[]);
                        let info = vk::DebugUtilsObjectNameInfoEXT {
                            object_type: vk::ObjectType::PHYSICAL_DEVICE,
                            object_handle: vk::Handle::as_raw(physical),
                            ..Default::default()
                        };
                        let result = call!(device, PFN_vkSetDebugUtilsObjectNameEXT(device.raw, &info));
                        assert_eq!(result, vk::Result::SUCCESS);
                    } else {
                        let messenger = instance.messenger(messages.get());
                        let surface = instance.headless_surface();
                        assert_eq!(instance.surface_support(physical, surface), Ok(true));
                        instance.destroy_surface(surface);
                        instance.destroy_messenger(messenger);
                    }
                }
            });
        });
        outcome.ok();
    });
}

/// APP-271, APP-270: an instance can be created in a message callback of another instance.
#[test]
fn app_271_an_instance_inside_a_message() {
    case(|scene| {
        scene.usual_driver("a");
        let outcome = scene.run(|vk| {
            let inner = vk.again();
            let busy = std::cell::Cell::new(false);
            let messages = Messages::with_hook(move |_| {
                if !busy.replace(true) {
                    drop(inner.instance());
                    busy.set(false);
                }
            });
            let info = messages.create_info();
            drop(vk.spec().next(&info).create().expect("vkCreateInstance"));
        });
        outcome.ok();
    });
}

/// APP-270: the loader works in a program that has used up every key for thread-specific data.
#[cfg(unix)]
#[test]
fn app_270_no_key_for_words_of_threads_is_left() {
    case(|scene| {
        drivers(scene);
        let outcome = scene.run(|vk| {
            let mut taken = 0;
            // SAFETY: the pointer is valid for a key, and a missing destructor is allowed.
            while unsafe { libc::pthread_key_create(&mut 0, None) } == 0 {
                taken += 1;
                assert!(taken < 100_000, "there is no end of keys");
            }
            assert!(vk.extensions().expect("the query succeeds").len() > 5);
            vk.layers().expect("the query succeeds");
            vk.version();
            let instance = vk.instance_with("1.1", &[]);
            drop(instance.device(instance.first(), &[]));
        });
        outcome.ok();
    });
}

#[cfg(not(unix))]
loader_tests::left_out!(app_270_no_key_for_words_of_threads_is_left);
