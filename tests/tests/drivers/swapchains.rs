//! Tests of swapchains (DRV-170 to DRV-189, DRV-204 to DRV-207).

use std::ptr;

use loader_tests::ash::vk::{self, Handle};
use loader_tests::vk::{Device, two_call};
use loader_tests::{call, case};

const WSI: [&str; 2] = ["VK_KHR_surface", "VK_EXT_headless_surface"];
const SWAPCHAIN: &str = "VK_KHR_swapchain";

fn create(device: &Device<'_>, surface: vk::SurfaceKHR, old: u64) -> (vk::Result, vk::SwapchainKHR) {
    let info = vk::SwapchainCreateInfoKHR::default()
        .surface(surface)
        .old_swapchain(vk::SwapchainKHR::from_raw(old));
    let mut swapchain = vk::SwapchainKHR::null();
    let result = call!(
        device,
        PFN_vkCreateSwapchainKHR(device.raw, &info, ptr::null(), &mut swapchain)
    );
    assert_eq!(info.surface, surface, "the caller's structure is left alone");
    (result, swapchain)
}

fn destroy(device: &Device<'_>, swapchain: vk::SwapchainKHR) {
    call!(device, PFN_vkDestroySwapchainKHR(device.raw, swapchain, ptr::null()));
}

/// DRV-181, DRV-183, DRV-189: swapchains are created, used and destroyed on two drivers with one surface.
#[test]
fn drv_183_a_swapchain_on_each_driver() {
    case(|scene| {
        scene.usual_driver("a");
        scene.usual_driver("b");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &WSI);
            let surface = instance.headless_surface();
            for physical in instance.devices().expect("devices") {
                let device = instance.device(physical, &[SWAPCHAIN]);
                let (result, swapchain) = create(&device, surface, 0);
                assert_eq!(result, vk::Result::SUCCESS);
                let images: Vec<vk::Image> = two_call(|count, out| {
                    call!(device, PFN_vkGetSwapchainImagesKHR(device.raw, swapchain, count, out))
                })
                .expect("images");
                assert_eq!(images.len(), 2);
                let (mut index, semaphore, fence) = (0, vk::Semaphore::null(), vk::Fence::null());
                let result = call!(
                    device,
                    PFN_vkAcquireNextImageKHR(device.raw, swapchain, 0, semaphore, fence, &mut index)
                );
                assert_eq!((result, index), (vk::Result::SUCCESS, 1));
                let (swapchains, indices) = ([swapchain], [index]);
                let info = vk::PresentInfoKHR::default()
                    .swapchains(&swapchains)
                    .image_indices(&indices);
                let result = call!(device, PFN_vkQueuePresentKHR(device.queue(0, 0), &info));
                assert_eq!(result, vk::Result::SUCCESS);
                // The loader passes the old swapchain on unchanged.
                let (result, next) = create(&device, surface, swapchain.as_raw());
                assert_eq!(result, vk::Result::SUCCESS);
                destroy(&device, swapchain);
                destroy(&device, next);
            }
            instance.destroy_surface(surface);
        });
        let outcome = outcome.ok();
        for driver in ["a", "b"] {
            assert_eq!(
                outcome.calls(driver, "vkCreateHeadlessSurfaceEXT").len(),
                2,
                "{}",
                outcome.all()
            );
        }
    });
}

/// DRV-183: the exported vkCreateSwapchainKHR has the same effect as the pointer from vkGetDeviceProcAddr.
#[test]
fn drv_183_the_trampoline_works_too() {
    case(|scene| {
        scene.usual_driver("a");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &WSI);
            let surface = instance.headless_surface();
            let device = instance.device(instance.first(), &[SWAPCHAIN]);
            let info = vk::SwapchainCreateInfoKHR::default().surface(surface);
            let mut swapchain = vk::SwapchainKHR::null();
            let result = call!(
                vk,
                PFN_vkCreateSwapchainKHR(device.raw, &info, ptr::null(), &mut swapchain)
            );
            assert_eq!(result, vk::Result::SUCCESS);
            call!(vk, PFN_vkDestroySwapchainKHR(device.raw, swapchain, ptr::null()));
            drop(device);
            instance.destroy_surface(surface);
        });
        outcome.ok();
    });
}

/// DRV-183, APP-50: creating a swapchain on a device that did not enable VK_KHR_swapchain aborts the process.
#[test]
fn drv_183_a_swapchain_without_the_extension_aborts() {
    case(|scene| {
        scene.usual_driver("a");
        scene.env("VK_LOADER_DEBUG", "");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &WSI);
            let surface = instance.headless_surface();
            let device = instance.device(instance.first(), &[]);
            let info = vk::SwapchainCreateInfoKHR::default().surface(surface);
            let mut swapchain = vk::SwapchainKHR::null();
            let _ = call!(
                vk,
                PFN_vkCreateSwapchainKHR(device.raw, &info, ptr::null(), &mut swapchain)
            );
        });
        outcome.aborted("vkCreateSwapchainKHR: Driver's function pointer was NULL, returning VK_SUCCESS. Was the VK_KHR_swapchain extension enabled?");
    });
}

/// DRV-183: if a driver lists VK_KHR_swapchain but lacks vkCreateSwapchainKHR, swapchain creation succeeds with a message.
#[test]
fn drv_183_a_driver_without_the_function() {
    case(|scene| {
        scene.usual_driver("a").missing("vkCreateSwapchainKHR");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &WSI);
            let surface = instance.headless_surface();
            let device = instance.device(instance.first(), &[SWAPCHAIN]);
            assert_eq!(create(&device, surface, 0).0, vk::Result::SUCCESS);
            drop(device);
            instance.destroy_surface(surface);
        });
        let text = "vkCreateSwapchainKHR: Driver's function pointer was NULL, returning VK_SUCCESS. Was the VK_KHR_swapchain extension enabled?";
        assert!(outcome.ok().stderr.contains(text), "{}", outcome.all());
    });
}

/// DRV-179: a NULL surface never reaches the driver.
#[test]
fn drv_179_a_swapchain_without_a_surface_ends_the_process() {
    case(|scene| {
        scene.usual_driver("a");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &WSI);
            let device = instance.device(instance.first(), &[SWAPCHAIN]);
            let _ = create(&device, vk::SurfaceKHR::null(), 0);
        });
        outcome.crashed();
        assert!(
            outcome.calls("a", "vkCreateSwapchainKHR").is_empty(),
            "{}",
            outcome.all()
        );
    });
}

/// APP-50: creating a swapchain with a NULL create info aborts the process.
#[test]
fn app_050_a_swapchain_without_a_create_info_aborts() {
    case(|scene| {
        scene.usual_driver("a");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &WSI);
            let device = instance.device(instance.first(), &[SWAPCHAIN]);
            let mut swapchain = vk::SwapchainKHR::null();
            let _ = call!(
                device,
                PFN_vkCreateSwapchainKHR(device.raw, ptr::null(), ptr::null(), &mut swapchain)
            );
        });
        outcome.aborted("VUID-vkCreateSwapchainKHR-pCreateInfo-parameter");
    });
}

/// DRV-183, DRV-268: if a driver fails to create a swapchain or its surface, the application receives the driver's error.
#[test]
fn drv_183_a_failing_creation_is_returned() {
    case(|scene| {
        scene.usual_driver("a").fail("vkCreateSwapchainKHR", -1_000_000_001);
        scene.usual_driver("b").fail("vkCreateHeadlessSurfaceEXT", -3);
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &WSI);
            let surface = instance.headless_surface();
            for (name, expected) in [
                ("gpu-a", vk::Result::ERROR_NATIVE_WINDOW_IN_USE_KHR),
                ("gpu-b", vk::Result::ERROR_INITIALIZATION_FAILED),
            ] {
                let device = instance.device(instance.named(name), &[SWAPCHAIN]);
                assert_eq!(create(&device, surface, 0).0, expected);
            }
            instance.destroy_surface(surface);
        });
        outcome.ok();
    });
}

/// DRV-185: the query for the present modes of a group reaches the driver. If the driver lacks the command, the loader returns success with
/// an error line.
#[test]
fn drv_185_group_present_modes() {
    case(|scene| {
        scene.usual_driver("a");
        scene
            .usual_driver("b")
            .missing("vkGetDeviceGroupSurfacePresentModesKHR");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &WSI);
            let surface = instance.headless_surface();
            let query = |device: &Device<'_>| {
                let mut modes = vk::DeviceGroupPresentModeFlagsKHR::empty();
                let result = call!(
                    device,
                    PFN_vkGetDeviceGroupSurfacePresentModesKHR(device.raw, surface, &mut modes)
                );
                (result, modes.as_raw())
            };
            let device = instance.device(instance.named("gpu-a"), &[SWAPCHAIN]);
            assert_eq!(query(&device), (vk::Result::SUCCESS, 1));
            let device = instance.device(instance.named("gpu-b"), &[SWAPCHAIN]);
            assert_eq!(query(&device), (vk::Result::SUCCESS, 0));
            instance.destroy_surface(surface);
        });
        outcome
            .ok()
            .logged_with("ERROR", "vkGetDeviceGroupSurfacePresentModesKHR");
    });
}

/// APP-45, DRV-204, DRV-197: the look-up below the layers returns a terminator only if its extension is enabled.
#[test]
fn drv_204_terminators_depend_on_the_extension() {
    case(|scene| {
        scene
            .usual_driver("a")
            .line("device.extension", "VK_KHR_display_swapchain")
            .line("device.extension", "VK_KHR_device_group");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &WSI);
            let rows: [(&[&str], [bool; 3]); 4] = [
                (&[], [false, false, false]),
                (&[SWAPCHAIN], [true, true, false]),
                (&["VK_KHR_device_group"], [false, true, false]),
                (&[SWAPCHAIN, "VK_KHR_display_swapchain"], [true, true, true]),
            ];
            for (extensions, expected) in rows {
                let device = instance.device(instance.first(), extensions);
                let there = |name: &str| loader_tests::vk::Commands::address(&device, name) != 0;
                let found = [
                    there("vkCreateSwapchainKHR"),
                    there("vkGetDeviceGroupSurfacePresentModesKHR"),
                    there("vkCreateSharedSwapchainsKHR"),
                ];
                assert_eq!(found, expected, "{extensions:?}");
                // DRV-186: the instance-level look-up always returns the exported functions.
                assert_ne!(device.trampoline("vkCreateSwapchainKHR"), 0);
            }
        });
        outcome.ok();
    });
}
