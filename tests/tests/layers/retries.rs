//! Tests of layers that call the next layer twice during the creation of an instance or device.

use loader_tests::ash::vk;
use loader_tests::vk::Commands;
use loader_tests::{Outcome, case};

use crate::kit::{Layer, place};

fn retrying(command: &str) -> Layer {
    Layer::explicit("a").conf("retry", command)
}

fn assert_retried(outcome: &Outcome, line: &str) {
    let journal = outcome.journal();
    assert!(journal.iter().any(|entry| entry.contains(line)), "{journal:#?}");
}

/// DRV-113, DRV-114: a layer can repeat a failed instance creation. No object of the first attempt remains, and the second attempt reaches
/// the drivers. An extension that only the first attempt requested is not enabled (APP-28).
#[test]
fn drv_114_a_layer_may_try_again_after_a_failure() {
    case(|scene| {
        let surface = "VK_KHR_surface";
        scene
            .driver("one")
            .extension(surface)
            .device("first")
            .fail_calls("vkCreateInstance", -3, 1, 1);
        scene
            .driver("two")
            .extension(surface)
            .device("second")
            .fail_calls("vkCreateInstance", -1, 1, 1);
        place(
            scene,
            &[retrying("vkCreateInstance").conf("add-instance-extension", surface)],
        );
        let outcome = scene.run(|vk| {
            let instance = vk.spec().layer("VK_LAYER_a").create().expect("vkCreateInstance");
            let mut names = instance.device_names();
            names.sort();
            assert_eq!(names, ["first", "gpu-driver", "second"]);
            assert_eq!(vk.get(instance.raw, "vkDestroySurfaceKHR"), 0);
        });
        outcome.ok();
        assert_retried(&outcome, "retried after -1");
        assert_eq!(outcome.calls("one", "load").len(), 1);
    });
}

/// LAY-239: a layer can destroy the instance of the next layer and create it again. The terminator works both times.
#[test]
fn lay_239_a_layer_may_destroy_what_came_up_and_try_again() {
    case(|scene| {
        place(scene, &[retrying("vkCreateInstance")]);
        let outcome = scene.run(|vk| {
            for _ in 0..3 {
                let instance = vk.spec().layer("VK_LAYER_a").create().expect("vkCreateInstance");
                assert_eq!(instance.device_names(), ["gpu-driver"]);
                drop(instance.device(instance.named("gpu-driver"), &[]));
            }
        });
        outcome.ok();
        assert_retried(&outcome, "retried after 0");
        assert_eq!(outcome.calls("driver", "vkCreateInstance").len(), 6);
        assert_eq!(outcome.calls("driver", "vkDestroyInstance").len(), 6);
    });
}

/// DRV-114, DRV-235, LAY-239: a driver remains loaded while a layer repeats the creation of an instance many times, after failures and
/// after successes.
#[test]
fn drv_114_a_layer_may_try_many_times() {
    for failures in [0, 4] {
        case(|scene| {
            scene.driver("one").device("first");
            scene
                .driver("two")
                .device("second")
                .fail_calls("vkCreateInstance", -1, 1, failures);
            place(scene, &[retrying("vkCreateInstance").conf("retries", "4")]);
            let outcome = scene.run(|vk| {
                let instance = vk.spec().layer("VK_LAYER_a").create().expect("vkCreateInstance");
                let mut names = instance.device_names();
                names.sort();
                assert_eq!(names, ["first", "gpu-driver", "second"]);
            });
            outcome.ok();
            for driver in ["driver", "one", "two"] {
                assert_eq!(outcome.calls(driver, "load").len(), 1, "{driver}");
            }
        });
    }
}

/// LAY-286, DRV-203: if a layer creates two devices, the loader uses the second device, and the list of devices remains correct.
#[test]
fn lay_286_a_layer_may_make_a_device_twice() {
    case(|scene| {
        place(scene, &[retrying("vkCreateDevice")]);
        let outcome = scene.run(|vk| {
            let instance = vk.spec().layer("VK_LAYER_a").create().expect("vkCreateInstance");
            let physical = instance.named("gpu-driver");
            let devices: Vec<_> = (0..3).map(|_| instance.device(physical, &[])).collect();
            for device in &devices {
                assert_ne!(device.address("vkQueueSubmit"), 0);
            }
        });
        outcome.ok();
        assert_retried(&outcome, "vkCreateDevice retried after 0");
        assert_eq!(outcome.calls("driver", "vkCreateDevice").len(), 6);
        assert_eq!(outcome.calls("driver", "vkDestroyDevice").len(), 6);
    });
}

/// APP-96: if the driver fails in both attempts of a layer, the application receives an error, and its next creation works.
#[test]
fn app_096_a_layer_that_tries_in_vain_gets_the_error_twice() {
    case(|scene| {
        place(scene, &[retrying("vkCreateInstance")]);
        let outcome = scene.run(|vk| {
            vk.add_lines("driver", "fail vkCreateInstance -3");
            let create = || vk.spec().layer("VK_LAYER_a").create();
            assert_eq!(create().err(), Some(vk::Result::ERROR_INCOMPATIBLE_DRIVER));
            vk.remove_lines("driver", &["fail"]);
            assert_eq!(create().expect("vkCreateInstance").device_names(), ["gpu-driver"]);
        });
        outcome.ok();
    });
}
