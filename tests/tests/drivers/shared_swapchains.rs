//! Tests of swapchains that share displays (DRV-179, DRV-184).

use std::ptr;

use loader_tests::ash::vk;
use loader_tests::vk::Device;
use loader_tests::{Scene, call, case};

const WSI: [&str; 2] = ["VK_KHR_surface", "VK_EXT_headless_surface"];
const SHARED: &str = "VK_KHR_display_swapchain";
const BOTH: [&str; 2] = ["VK_KHR_swapchain", SHARED];

/// Handles before a call that must not write any handle.
const BEFORE: [vk::SwapchainKHR; 2] = [vk::SwapchainKHR::null(); 2];

fn create(device: &Device<'_>, surfaces: &[vk::SurfaceKHR]) -> (vk::Result, [vk::SwapchainKHR; 2]) {
    let infos: Vec<_> = surfaces
        .iter()
        .map(|surface| vk::SwapchainCreateInfoKHR::default().surface(*surface))
        .collect();
    let mut swapchains = BEFORE;
    let (count, out) = (infos.len() as u32, swapchains.as_mut_ptr());
    let result = call!(
        device,
        PFN_vkCreateSharedSwapchainsKHR(device.raw, count, infos.as_ptr(), ptr::null(), out)
    );
    let left: Vec<_> = infos.iter().map(|info| info.surface).collect();
    assert_eq!(left, surfaces, "the caller's structures are left alone");
    (result, swapchains)
}

fn driver(scene: &mut Scene, name: &str) {
    scene.usual_driver(name).line("device.extension", SHARED);
}

/// DRV-184: a single call of the driver creates all swapchains, with the driver's own surfaces.
#[test]
fn drv_184_shared_swapchains() {
    case(|scene| {
        driver(scene, "a");
        driver(scene, "b");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &WSI);
            let surfaces = [instance.headless_surface(), instance.headless_surface()];
            for physical in instance.devices().expect("devices") {
                let device = instance.device(physical, &BOTH);
                let (result, swapchains) = create(&device, &surfaces);
                assert_eq!(result, vk::Result::SUCCESS);
                for swapchain in swapchains {
                    call!(device, PFN_vkDestroySwapchainKHR(device.raw, swapchain, ptr::null()));
                }
            }
            surfaces.iter().for_each(|surface| instance.destroy_surface(*surface));
        });
        let outcome = outcome.ok();
        for name in ["a", "b"] {
            let calls = outcome.calls(name, "vkCreateSharedSwapchainsKHR");
            let whole: Vec<_> = calls.iter().filter(|line| line.starts_with("count=")).collect();
            assert_eq!(whole, [&"count=2 alloc=null"], "{}", outcome.all());
            // The two surfaces belong to this driver. If they belong to another driver, the mock ends the process.
            let made = outcome.calls(name, "vkCreateHeadlessSurfaceEXT");
            assert_eq!(made.iter().filter(|line| line.starts_with("made")).count(), 2);
        }
    });
}

/// DRV-184: a call for zero swapchains reaches the driver.
#[test]
fn drv_184_no_shared_swapchain_at_all() {
    case(|scene| {
        driver(scene, "a");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &WSI);
            let device = instance.device(instance.first(), &BOTH);
            assert_eq!(create(&device, &[]), (vk::Result::SUCCESS, BEFORE));
        });
        let calls = outcome.ok().calls("a", "vkCreateSharedSwapchainsKHR");
        assert_eq!(calls, ["count=0 alloc=null"], "{}", outcome.all());
    });
}

/// DRV-177, DRV-184: `vkCreateSharedSwapchainsKHR` returns the driver's error if the driver creates no surface or no swapchain. If the
/// driver lacks the command, the loader returns VK_SUCCESS, logs an error line, and writes no swapchain.
#[test]
fn drv_184_shared_swapchains_on_wrong_drivers() {
    case(|scene| {
        driver(scene, "lacks");
        driver(scene, "fails");
        driver(scene, "refuses");
        let outcome = scene.run(|vk| {
            vk.add_lines("lacks", "missing vkCreateSharedSwapchainsKHR");
            vk.add_lines("fails", "fail vkCreateSharedSwapchainsKHR -1000001004");
            // The driver refuses to create the second of the two surfaces.
            vk.add_lines("refuses", "fail vkCreateHeadlessSurfaceEXT -1000000001 2 2");
            let instance = vk.instance_with("1.1", &WSI);
            let surfaces = [instance.headless_surface(), instance.headless_surface()];
            for (name, expected) in [
                ("gpu-lacks", vk::Result::SUCCESS),
                ("gpu-fails", vk::Result::ERROR_OUT_OF_DATE_KHR),
                ("gpu-refuses", vk::Result::ERROR_NATIVE_WINDOW_IN_USE_KHR),
            ] {
                let device = instance.device(instance.named(name), &BOTH);
                assert_eq!(create(&device, &surfaces), (expected, BEFORE), "{name}");
            }
            surfaces.iter().for_each(|surface| instance.destroy_surface(*surface));
        });
        outcome.ok().logged_with("ERROR", "vkCreateSharedSwapchainsKHR");
        let reached = outcome.calls("refuses", "vkCreateSharedSwapchainsKHR");
        assert!(reached.is_empty(), "{}", outcome.all());
    });
}

/// DRV-179, APP-50, LAY-290: vkCreateSharedSwapchainsKHR with a NULL surface, or without its extension, never reaches the driver.
#[test]
fn drv_179_shared_swapchains_that_end_the_process() {
    case(|scene| {
        driver(scene, "a");
        scene.env("VK_LOADER_DEBUG", "");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &WSI);
            let surfaces = [instance.headless_surface(), vk::SurfaceKHR::null()];
            let device = instance.device(instance.first(), &BOTH);
            let _ = create(&device, &surfaces);
        });
        outcome
            .aborted("vkCreateSharedSwapchainsKHR: Invalid surface [VUID-VkSwapchainCreateInfoKHR-surface-parameter]");
        let reached = outcome.calls("a", "vkCreateSharedSwapchainsKHR");
        assert!(reached.is_empty(), "{}", outcome.all());
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &WSI);
            let device = instance.device(instance.first(), &BOTH[..1]);
            let (infos, mut out) = (ptr::null(), BEFORE);
            let null = ptr::null();
            let _ = call!(
                vk,
                PFN_vkCreateSharedSwapchainsKHR(device.raw, 0, infos, null, out.as_mut_ptr())
            );
        });
        outcome.aborted("vkCreateSharedSwapchainsKHR");
    });
}
