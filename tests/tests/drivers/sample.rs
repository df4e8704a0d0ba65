//! Tests of the sample driver of [the guide for authors](../../../docs/authors.md).

use std::fs;

use loader_tests::ash::vk;
use loader_tests::{built, call, case};

/// The sample driver negotiates, lists its device, and creates a logical device with a queue.
#[test]
fn sample_driver_has_a_device() {
    case(|scene| {
        scene.file(
            "sample/libsample_driver.so",
            fs::read(built("sample_driver")).expect("cargo built it"),
        );
        let manifest = include_str!("../../sample_driver/sample_driver.json");
        let path = scene.file(
            "sample/sample_driver.json",
            manifest.replace("64", &usize::BITS.to_string()),
        );
        scene.env("VK_DRIVER_FILES", path);
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            assert_eq!(instance.device_names(), ["Sample device"]);
            let device = instance.device(instance.first(), &[]);
            let queue = device.queue(0, 0);
            assert_ne!(queue, vk::Queue::null());
            call!(device, PFN_vkQueueWaitIdle(queue))
                .result()
                .expect("vkQueueWaitIdle");
        });
        outcome.ok();
    });
}
