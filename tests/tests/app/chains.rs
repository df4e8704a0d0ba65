//! Tests of chains of structures that belong to the application.

use std::ffi::c_void;
use std::thread;

use loader_tests::ash::vk;
use loader_tests::case;
use loader_tests::vk::Commands;

/// APP-144, APP-270: during `vkCreateDevice`, the loader changes `pNext` of the structure that precedes the group structure in the chain.
/// If threads share a chain, one thread waits for the other. Afterwards, the structure is unchanged.
#[test]
fn app_144_threads_may_share_a_chain_with_a_device_group() {
    case(|scene| {
        scene.usual_driver("a");
        let outcome = scene.run(|vk| {
            let instance = vk.spec().api("1.1").create().expect("vkCreateInstance");
            let physical = instance.named("gpu-a");
            let devices = [physical];
            let group = vk::DeviceGroupDeviceCreateInfo::default().physical_devices(&devices);
            let features = vk::PhysicalDeviceFeatures2 {
                p_next: (&raw const group).cast_mut().cast::<c_void>(),
                ..Default::default()
            };
            let queue = [vk::DeviceQueueCreateInfo::default().queue_priorities(&[1.0])];
            let info = vk::DeviceCreateInfo {
                p_next: (&raw const features).cast(),
                ..vk::DeviceCreateInfo::default().queue_create_infos(&queue)
            };
            let shared = (&raw const info).addr();
            // SAFETY: the functions have the types of their names.
            let (create, destroy) = unsafe {
                (
                    std::mem::transmute::<usize, vk::PFN_vkCreateDevice>(instance.address("vkCreateDevice")),
                    std::mem::transmute::<usize, vk::PFN_vkDestroyDevice>(instance.address("vkDestroyDevice")),
                )
            };
            let rounds = move || {
                for _ in 0..100 {
                    let mut device = vk::Device::null();
                    // SAFETY: the create info and its chain outlive the threads.
                    unsafe {
                        let info = shared as *const vk::DeviceCreateInfo<'_>;
                        assert_eq!(
                            create(physical, info, std::ptr::null(), &mut device),
                            vk::Result::SUCCESS
                        );
                        destroy(device, std::ptr::null());
                    }
                }
            };
            thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(rounds);
                }
            });
            assert_eq!(features.p_next.cast_const(), (&raw const group).cast());
            assert_eq!(group.p_physical_devices, devices.as_ptr());
        });
        outcome.ok();
    });
}
