//! Tests the library file itself (APP-1 to APP-10).

use std::collections::BTreeSet;

use loader_tests::ash::vk;
use loader_tests::vk::Commands;
use loader_tests::{call, case, is_loaded};

use crate::names::all;

/// APP-4, APP-5: each system exports the common functions, and the commands of its own window systems.
#[test]
fn app_005_window_systems_of_each_system() {
    let exports = |list: &str| -> BTreeSet<String> {
        let words = list.split_whitespace().map(|word| word.trim_start_matches('_'));
        words.filter(|word| word.starts_with("vk")).map(Into::into).collect()
    };
    let lists = [
        include_str!("../../../generated/exports/linux.txt"),
        include_str!("../../../generated/exports/windows.def"),
        include_str!("../../../generated/exports/macos.txt"),
    ]
    .map(exports);
    let common: BTreeSet<_> = lists[0].intersection(&lists[1]).cloned().collect();
    let own: [&[&str]; 3] = [
        &[
            "vkCreateWaylandSurfaceKHR",
            "vkCreateXcbSurfaceKHR",
            "vkCreateXlibSurfaceKHR",
            "vkGetPhysicalDeviceWaylandPresentationSupportKHR",
            "vkGetPhysicalDeviceXcbPresentationSupportKHR",
            "vkGetPhysicalDeviceXlibPresentationSupportKHR",
        ],
        &[
            "vkCreateWin32SurfaceKHR",
            "vkGetPhysicalDeviceWin32PresentationSupportKHR",
        ],
        &["vkCreateMacOSSurfaceMVK", "vkCreateMetalSurfaceEXT"],
    ];
    for (list, own) in lists.iter().zip(own) {
        assert_eq!(list.difference(&common).collect::<Vec<_>>(), own);
    }
}

/// APP-6: the library exports neither the extension commands that the test lists, nor functions of the interfaces to drivers and layers.
/// Programs get the commands only from the look-up.
#[test]
fn app_006_what_is_not_exported() {
    case(|scene| {
        let outcome = scene.run(|vk| {
            for name in [
                "vkCreateDebugUtilsMessengerEXT",
                "vkCreateDebugReportCallbackEXT",
                "vkDebugMarkerSetObjectNameEXT",
                "vkGetPhysicalDeviceFeatures2KHR",
                "vkEnumeratePhysicalDeviceGroupsKHR",
                "vkReleaseDisplayEXT",
                "vkAcquireXlibDisplayEXT",
                "vkGetRandROutputDisplayEXT",
                "vkGetDrmDisplayEXT",
                "vkGetPhysicalDeviceSurfaceCapabilities2EXT",
                "vkGetPhysicalDeviceToolPropertiesEXT",
                "vkCmdDrawMeshTasksEXT",
                "vk_icdGetInstanceProcAddr",
                "vk_icdNegotiateLoaderICDInterfaceVersion",
                "vk_layerGetPhysicalDeviceProcAddr",
            ] {
                assert_eq!(Commands::address(vk, name), 0, "{name}");
            }
        });
        outcome.ok();
    });
}

/// APP-3, APP-4: the library exports exactly the core commands and the commands of the window systems. On Linux, there
/// are 269 exports.
#[test]
fn app_003_what_is_exported() {
    case(|scene| {
        let outcome = scene.run(|vk| {
            let commands = all();
            let exported = commands
                .iter()
                .filter(|command| Commands::address(vk, command.name) != 0)
                .count();
            assert_eq!(exported, if cfg!(windows) { 265 } else { 269 });
            assert!(
                commands
                    .iter()
                    .filter(|command| command.core.is_some())
                    .all(|command| Commands::address(vk, command.name) != 0)
            );
        });
        outcome.ok();
    });
}

/// APP-9, APP-230a: a process can load, use and unload the library, and load it again.
#[test]
fn app_009_the_library_can_be_unloaded() {
    case(|scene| {
        scene.driver("a").device("one");
        let outcome = scene.run_unloaded(|scratch| {
            let loaded = || is_loaded("libvulkan.so", "vulkan-1.dll");
            assert!(!loaded());
            for _ in 0..3 {
                let vk = scratch.load();
                assert!(loaded());
                vk.extensions().expect("the query succeeds");
                let instance = vk.instance();
                drop(instance.device(instance.first(), &[]));
                drop(instance);
                vk.extensions().expect("the query succeeds");
                drop(vk);
                assert!(!loaded(), "the library stayed in the process");
            }
        });
        let outcome = outcome.ok();
        // APP-9: when the library is unloaded, it also unloads drivers that a query left open.
        let end = outcome
            .journal()
            .iter()
            .position(|line| *line == "== end")
            .expect("the mark");
        let unloads = outcome.journal()[..end]
            .iter()
            .filter(|line| line.starts_with("a unload"))
            .count();
        assert_eq!(unloads, outcome.calls("a", "load").len(), "{}", outcome.all());
    });
}

/// APP-230a: each load of the library reads the environment again.
#[test]
fn app_230a_each_load_reads_the_environment() {
    case(|scene| {
        scene.unset("VK_LOADER_DEBUG");
        let outcome = scene.run_unloaded(|scratch| {
            let vk = scratch.load();
            vk.version();
            drop(vk);
            // SAFETY: the process has one thread.
            unsafe { std::env::set_var("VK_LOADER_DEBUG", "info") };
            scratch.load().version();
        });
        assert_eq!(
            outcome.ok().stderr.matches("Vulkan Loader Version").count(),
            1,
            "{}",
            outcome.all()
        );
    });
}

/// APP-26: a program can do all its work with exported functions.
#[test]
fn app_026_exported_functions_do_the_work() {
    case(|scene| {
        scene.usual_driver("a");
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            let mut count = 1;
            let mut physical = vk::PhysicalDevice::null();
            let result = call!(
                vk,
                PFN_vkEnumeratePhysicalDevices(instance.raw, &mut count, &mut physical)
            );
            assert_eq!((result, count), (vk::Result::SUCCESS, 1));
            let priorities = [1.0];
            let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&priorities)];
            let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues);
            let mut device = vk::Device::null();
            let result = call!(vk, PFN_vkCreateDevice(physical, &info, std::ptr::null(), &mut device));
            assert_eq!(result, vk::Result::SUCCESS);
            let mut queue = vk::Queue::null();
            call!(vk, PFN_vkGetDeviceQueue(device, 0, 0, &mut queue));
            let mut fence = vk::Fence::null();
            let result = call!(
                vk,
                PFN_vkCreateFence(device, &vk::FenceCreateInfo::default(), std::ptr::null(), &mut fence)
            );
            assert_eq!(result, vk::Result::SUCCESS);
            assert_eq!(
                call!(vk, PFN_vkQueueSubmit(queue, 0, std::ptr::null(), fence)),
                vk::Result::SUCCESS
            );
            assert_eq!(
                call!(vk, PFN_vkWaitForFences(device, 1, &fence, vk::TRUE, u64::MAX)),
                vk::Result::SUCCESS
            );
            call!(vk, PFN_vkDestroyFence(device, fence, std::ptr::null()));
            call!(vk, PFN_vkDestroyDevice(device, std::ptr::null()));
        });
        outcome.ok();
    });
}
