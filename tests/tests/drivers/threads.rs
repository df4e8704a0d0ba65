//! Tests of many threads with many drivers (DRV-168, DRV-243).

use std::thread;

use loader_tests::vk::{Instance, Shared};
use loader_tests::{Vk, case};

const EXTENSIONS: [&str; 3] = ["VK_KHR_surface", "VK_EXT_headless_surface", "VK_EXT_debug_utils"];
const THREADS: usize = 6;

/// Work of a thread that shares an instance with other threads. The thread calls all queries of the instance at the same time as the other
/// threads.
fn guest(instance: &Instance<'_>, number: usize) {
    let devices = instance.devices().expect("devices");
    assert_eq!(devices.len(), 2);
    instance
        .vk
        .get(instance.raw, ["vkOddA", "vkOddC", "vkOddDevice"][number % 3]);
    let device = instance.device(devices[number % 2], &[]);
    instance
        .vk
        .get(instance.raw, ["vkOddB", "vkOddD", "vkNobody"][number % 3]);
    let surface = instance.headless_surface();
    for physical in &devices {
        assert_eq!(instance.surface_support(*physical, surface), Ok(true));
    }
    instance.destroy_surface(surface);
    device.destroy();
    assert_eq!(instance.groups().expect("groups").len(), 2);
}

/// Work of a thread that creates an instance. Guest threads share this instance.
fn host(vk: &Vk, number: usize) {
    for round in 0..10 {
        if number.is_multiple_of(3) {
            vk.extensions().expect("the query succeeds");
        }
        let instance = vk.instance_with("1.1", &EXTENSIONS);
        let shared = Shared(&instance);
        thread::scope(|scope| {
            for guests in 0..3 {
                let work = move || guest(shared.get(), guests + round);
                scope.spawn(work);
            }
        });
    }
}

/// DRV-131, DRV-168, DRV-224, APP-270: several instances, each used by several threads, work while drivers without devices are released.
#[test]
fn drv_168_many_threads_on_many_drivers() {
    case(|scene| {
        scene
            .usual_driver("a")
            .unknown_physical("vkOddA")
            .unknown_device("vkOddDevice");
        scene
            .usual_driver("b")
            .unknown_physical("vkOddB")
            .unknown_device("vkOddC")
            .unknown_device("vkOddD");
        // The driver `empty` has no devices, and some of its enumerations fail. The driver `refusing` creates no instance.
        scene
            .driver("empty")
            .fail_calls("vkEnumeratePhysicalDevices", -3, 40, 60);
        scene.driver("refusing").fail("vkCreateInstance", -3);
        scene.env("VK_LOADER_DEBUG", "").limit(120);
        let outcome = scene.run(|vk| {
            thread::scope(|scope| {
                for number in 0..THREADS {
                    scope.spawn(move || host(vk, number));
                }
            });
        });
        outcome.ok();
    });
}
