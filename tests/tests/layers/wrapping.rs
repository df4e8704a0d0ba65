//! Tests of layers that wrap dispatchable objects, correctly or with mistakes, or change the list of physical devices (LAY-250 to LAY-254,
//! APP-186).

use std::ptr;

use loader_tests::ash::vk::{self, Handle};
use loader_tests::vk::{Commands, Device, Instance, isolated};
use loader_tests::{Scene, call, case};

use crate::kit::{EXPLICIT, Layer, place};

/// Uses every dispatchable object of a device: queue, command buffers, a submission.
fn use_device(device: &Device<'_>) {
    let queue = device.queue(0, 0);
    let pool = device.pool();
    let buffers = device.command_buffers(pool, 2).expect("vkAllocateCommandBuffers");
    for buffer in &buffers {
        let info = vk::CommandBufferBeginInfo::default();
        assert_eq!(
            call!(device, PFN_vkBeginCommandBuffer(*buffer, &info)),
            vk::Result::SUCCESS
        );
        call!(device, PFN_vkCmdDraw(*buffer, 3, 2, 1, 0));
        assert_eq!(call!(device, PFN_vkEndCommandBuffer(*buffer)), vk::Result::SUCCESS);
    }
    let submit = vk::SubmitInfo::default().command_buffers(&buffers);
    assert_eq!(
        call!(device, PFN_vkQueueSubmit(queue, 1, &submit, vk::Fence::null())),
        vk::Result::SUCCESS
    );
    let infos = [vk::CommandBufferSubmitInfo::default().command_buffer(buffers[1])];
    let again = vk::SubmitInfo2::default().command_buffer_infos(&infos);
    let result = call!(device, PFN_vkQueueSubmit2(queue, 1, &again, vk::Fence::null()));
    assert_eq!(result, vk::Result::SUCCESS);
    assert_eq!(call!(device, PFN_vkQueueWaitIdle(queue)), vk::Result::SUCCESS);
    device.free_command_buffers(pool, &buffers);
    device.destroy_pool(pool);
}

/// LAY-252, LAY-254, LAY-251, DRV-126: a layer can wrap every dispatchable object.
#[test]
fn lay_252_a_layer_may_wrap_every_dispatchable_object() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::explicit("a").conf("intercept", "vkCmdDraw"),
                Layer::explicit("w").conf("wrap", "").conf("intercept", "vkCmdDraw"),
                Layer::explicit("b")
                    .conf("intercept", "vkCmdDraw")
                    .conf("intercept", "vkQueueWaitIdle"),
            ],
        );
        let outcome = scene.run(|vk| {
            let spec = vk.spec().layer("VK_LAYER_a").layer("VK_LAYER_w").layer("VK_LAYER_b");
            let instance = spec.create().expect("vkCreateInstance");
            use_device(&instance.device(instance.first(), &[]));
        });
        outcome.ok();
        assert_eq!(
            outcome.calls("VK_LAYER_w", "wrap"),
            ["instance result=Some(0) same=true", "device result=Some(0) same=true"]
        );
        for name in ["VK_LAYER_a", "VK_LAYER_w", "VK_LAYER_b"] {
            assert_eq!(outcome.calls(name, "vkCmdDraw").len(), 2, "{}", outcome.all());
        }
        assert_eq!(outcome.calls("VK_LAYER_b", "vkQueueWaitIdle").len(), 1);
    });
}

/// APP-148: the application receives the wrapper of the topmost wrapping layer, or the driver's own handle if no layer wraps the device.
#[test]
fn app_148_the_device_is_what_the_topmost_layer_returned() {
    case(|scene| {
        let wrapping = Layer::explicit("w").conf("wrap", "");
        place(scene, &[wrapping, Layer::explicit("b")]);
        let outcome = scene.run(|vk| {
            for (name, wrapped) in [("VK_LAYER_w", true), ("VK_LAYER_b", false)] {
                let instance = vk.spec().layer(name).create().expect("vkCreateInstance");
                let device = instance.device(instance.first(), &[]);
                // A wrapper consists of its dispatch word and the wrapped handle. In the driver's object, the parent follows the dispatch
                // word. The first word of the parent is different.
                let words = Instance::words(device.raw.as_raw(), 2);
                assert_eq!(Instance::words(words[1], 1)[0] == words[0], wrapped, "{name}");
                // The driver accepts only its own objects.
                assert_eq!(call!(device, PFN_vkDeviceWaitIdle(device.raw)), vk::Result::SUCCESS);
            }
        });
        assert_eq!(outcome.ok().calls("driver", "vkDeviceWaitIdle").len(), 2);
    });
}

/// LAY-252: two layers can wrap the same objects.
#[test]
fn lay_252_two_layers_may_wrap_the_same_objects() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::explicit("a").conf("wrap", ""),
                Layer::explicit("b").conf("wrap", ""),
            ],
        );
        let outcome = scene.run(|vk| {
            let instance = vk
                .spec()
                .layer("VK_LAYER_a")
                .layer("VK_LAYER_b")
                .create()
                .expect("vkCreateInstance");
            assert_eq!(instance.device_names(), ["gpu-driver"]);
            let (one, two) = (
                instance.device(instance.first(), &[]),
                instance.device(instance.first(), &[]),
            );
            use_device(&one);
            use_device(&two);
        });
        outcome.ok();
    });
}

/// LAY-252: surfaces and swapchains work with a wrapping layer.
#[test]
fn lay_252_surfaces_and_swapchains_work_below_a_wrapping_layer() {
    case(|scene| {
        place(scene, &[Layer::explicit("w").conf("wrap", "")]);
        let outcome = scene.run(|vk| {
            let spec = vk
                .spec()
                .layer("VK_LAYER_w")
                .extensions(&["VK_KHR_surface", "VK_EXT_headless_surface"]);
            let instance = spec.create().expect("vkCreateInstance");
            let surface = instance.headless_surface();
            let device = instance.device(instance.first(), &["VK_KHR_swapchain"]);
            let mut swapchain = vk::SwapchainKHR::null();
            let info = vk::SwapchainCreateInfoKHR::default().surface(surface);
            let result = call!(
                device,
                PFN_vkCreateSwapchainKHR(device.raw, &info, ptr::null(), &mut swapchain)
            );
            assert_eq!(result, vk::Result::SUCCESS);
            call!(device, PFN_vkDestroySwapchainKHR(device.raw, swapchain, ptr::null()));
            drop(device);
            instance.destroy_surface(surface);
        });
        outcome.ok();
    });
}

/// LAY-252: messengers and object names work with a wrapping layer.
#[test]
fn lay_252_messengers_and_object_names_work_below_a_wrapping_layer() {
    case(|scene| {
        place(scene, &[Layer::explicit("w").conf("wrap", "")]);
        let outcome = scene.run(|vk| {
            let spec = vk.spec().layer("VK_LAYER_w").extensions(&["VK_EXT_debug_utils"]);
            let instance = spec.create().expect("vkCreateInstance");
            let messages = loader_tests::vk::Messages::default();
            let messenger = instance.messenger(&messages);
            let device = instance.device(instance.first(), &[]);
            let pool = device.pool();
            let name = vk::DebugUtilsObjectNameInfoEXT::default()
                .object_handle(pool)
                .object_name(c"pool");
            let result = call!(device, PFN_vkSetDebugUtilsObjectNameEXT(device.raw, &name));
            assert_eq!(result, vk::Result::SUCCESS);
            let told = vk::DebugUtilsMessengerCallbackDataEXT::default().message(c"through the wrapper");
            let (severity, kind) = (
                vk::DebugUtilsMessageSeverityFlagsEXT::INFO,
                vk::DebugUtilsMessageTypeFlagsEXT::GENERAL,
            );
            call!(
                instance,
                PFN_vkSubmitDebugUtilsMessageEXT(instance.raw, severity, kind, &told)
            );
            assert_eq!(messages.with("through the wrapper").len(), 1);
            device.destroy_pool(pool);
            drop(device);
            instance.destroy_messenger(messenger);
        });
        let named = outcome.ok().calls("driver", "vkSetDebugUtilsObjectNameEXT");
        assert!(named.len() == 1 && named[0].contains("pool"), "{named:?}");
    });
}

/// LAY-253: a layer can change the order of physical devices.
#[test]
fn lay_253_a_layer_may_reorder_physical_devices() {
    case(|scene| {
        scene.driver("driver").device("one").device("two").device("three");
        Layer::explicit("a")
            .folder(EXPLICIT)
            .conf("devices", "reverse")
            .put(scene);
        let outcome = scene.run(|vk| {
            let plain = vk.instance().device_names();
            let instance = vk.spec().layer("VK_LAYER_a").create().expect("vkCreateInstance");
            let mut names = instance.device_names();
            let first = instance.devices().expect("devices");
            assert_eq!(
                first,
                instance.devices().expect("devices"),
                "one stable handle per device"
            );
            names.reverse();
            assert_eq!(names, plain);
        });
        outcome.ok();
    });
}

/// LAY-253: a layer can remove physical devices from the list.
#[test]
fn lay_253_a_layer_may_drop_physical_devices() {
    case(|scene| {
        scene.driver("driver").device("one").device("two");
        Layer::explicit("a")
            .folder(EXPLICIT)
            .conf("devices", "drop-first")
            .put(scene);
        let outcome = scene.run(|vk| {
            let plain = vk.instance().device_names();
            let instance = vk.spec().layer("VK_LAYER_a").create().expect("vkCreateInstance");
            assert_eq!(instance.device_count(), Ok(1));
            assert_eq!(instance.device_names(), plain[1..]);
            let (result, some) = instance.some_devices(0);
            assert_eq!((result, some.len()), (vk::Result::INCOMPLETE, 0));
        });
        outcome.ok();
    });
}

/// LAY-253, DRV-134: with filters, the loader queries the whole list of devices again if the list grew after the query for the number of
/// devices. An empty list can grow too.
#[test]
fn drv_134_a_layer_that_counts_before_there_are_devices() {
    case(|scene| {
        scene.driver("driver").device("one").device("two");
        Layer::explicit("a").folder(EXPLICIT).conf("devices", "late").put(scene);
        scene.env("VK_LOADER_DEVICE_ID_FILTER", "0:0xffffffff");
        let outcome = scene.run(|vk| {
            let instance = vk.spec().layer("VK_LAYER_a").create().expect("vkCreateInstance");
            assert_eq!(instance.device_count(), Ok(2));
        });
        outcome.ok();
    });
}

/// LAY-253, DRV-134: with filters, if a layer reports four billion devices, the loader does not allocate memory for all of them.
#[cfg(unix)]
#[test]
fn drv_134_a_layer_that_counts_too_many_devices() {
    case(|scene| {
        scene.driver("driver").device("one").device("two");
        Layer::explicit("a")
            .folder(EXPLICIT)
            .conf("devices", "overstate")
            .put(scene);
        scene.env("VK_LOADER_DEVICE_ID_FILTER", "0:0xffffffff");
        let outcome = scene.run(|vk| {
            // Limits the address space to 8 GiB, less than an array of four billion handles needs.
            let mut room = libc::rlimit {
                rlim_cur: 0,
                rlim_max: 0,
            };
            // SAFETY: the call only reduces a limit of this process.
            unsafe {
                assert_eq!(libc::getrlimit(libc::RLIMIT_AS, &mut room), 0);
                // The address space of a 32-bit process is smaller than this limit.
                room.rlim_cur = room
                    .rlim_cur
                    .min(libc::rlim_t::try_from(1_u64 << 33).unwrap_or(libc::rlim_t::MAX));
                assert_eq!(libc::setrlimit(libc::RLIMIT_AS, &room), 0);
            }
            let spec = vk.spec().api("1.1").layer("VK_LAYER_a");
            let instance = spec.create().expect("vkCreateInstance");
            assert_eq!(instance.devices().map(|devices| devices.len()), Ok(2));
            assert_eq!(instance.groups().map(|groups| groups.len()), Ok(2));
        });
        outcome.ok();
    });
}

/// DRV-120, DRV-134: with filters, if a layer always returns VK_INCOMPLETE with the groups, the loader uses the list of the eighth attempt.
#[test]
fn drv_134_a_layer_whose_list_of_groups_is_never_complete() {
    case(|scene| {
        scene.driver("driver").device("one").device("two");
        Layer::explicit("a")
            .folder(EXPLICIT)
            .conf("devices", "incomplete")
            .put(scene);
        scene.env("VK_LOADER_DEVICE_ID_FILTER", "0:0xffffffff");
        let outcome = scene.run(|vk| {
            let spec = vk.spec().api("1.1").layer("VK_LAYER_a");
            let instance = spec.create().expect("vkCreateInstance");
            assert_eq!(instance.groups().map(|groups| groups.len()), Ok(2));
        });
        // The query for the number and the query for the groups make eight attempts each.
        let calls = outcome.ok().calls("driver", "vkEnumeratePhysicalDeviceGroups");
        assert_eq!(calls.iter().filter(|call| **call == "fill").count(), 16);
    });
}

#[cfg(not(unix))]
loader_tests::left_out!(drv_134_a_layer_that_counts_too_many_devices);

/// LAY-253: groups contain the handles of the device list.
#[test]
fn lay_253_devices_of_groups_are_the_ones_of_the_list() {
    case(|scene| {
        scene.driver("driver").device("one").device("two");
        Layer::explicit("a").folder(EXPLICIT).conf("wrap", "").put(scene);
        let outcome = scene.run(|vk| {
            let instance = vk
                .spec()
                .api("1.1")
                .layer("VK_LAYER_a")
                .create()
                .expect("vkCreateInstance");
            // The test queries the groups first, so this query creates the wrappers.
            let groups = instance.groups().expect("groups");
            let devices = instance.devices().expect("devices");
            assert_eq!(groups.len(), 2);
            assert!(
                groups.iter().flatten().all(|device| devices.contains(device)),
                "{groups:?} {devices:?}"
            );
        });
        outcome.ok();
    });
}

/// LAY-250, LAY-254: all objects of a device have the same first word. All objects of an instance have the same first word too. The words
/// of other devices and instances are different.
#[test]
fn lay_250_dispatch_words_are_the_same_above_and_unique_for_each_object() {
    case(|scene| {
        place(scene, &[Layer::explicit("a").conf("probe", "")]);
        let outcome = scene.run(|vk| {
            let (one, two) = (
                vk.spec()
                    .api("1.1")
                    .layer("VK_LAYER_a")
                    .create()
                    .expect("vkCreateInstance"),
                vk.spec().layer("VK_LAYER_a").create().expect("vkCreateInstance"),
            );
            let word = |handle: u64| {
                // SAFETY: a valid dispatchable handle starts with a pointer.
                unsafe { *(handle as *const usize) }
            };
            let (first, second) = (word(one.raw.as_raw()), word(two.raw.as_raw()));
            assert_ne!(first, second);
            let device = one.device(one.first(), &[]);
            let key = word(device.raw.as_raw());
            let queue = device.queue(0, 0);
            let pool = device.pool();
            let buffers = device.command_buffers(pool, 1).expect("vkAllocateCommandBuffers");
            assert_eq!(word(queue.as_raw()), key);
            let mut protected = vk::Queue::null();
            let info = vk::DeviceQueueInfo2::default();
            call!(device, PFN_vkGetDeviceQueue2(device.raw, &info, &mut protected));
            assert_eq!(word(protected.as_raw()), key);
            assert_eq!(word(buffers[0].as_raw()), key);
            let other = one.device(one.first(), &[]);
            assert_ne!(word(other.raw.as_raw()), key);
            device.free_command_buffers(pool, &buffers);
            device.destroy_pool(pool);
        });
        assert_eq!(outcome.ok().calls("VK_LAYER_a", "probe").len(), 2);
    });
}

/// Calls `commands` of a device through a layer that wraps the device, and that passes on its wrapper in calls of these commands. Each call
/// must end the process. The message must contain `text` and the name of the command.
fn hand_on_a_wrapper(scene: &mut Scene, commands: &'static [&'static str], text: &'static str) {
    const EXTENSIONS: [&str; 4] = [
        "VK_KHR_swapchain",
        "VK_KHR_display_swapchain",
        "VK_EXT_full_screen_exclusive",
        "VK_EXT_debug_marker",
    ];
    let driver = scene.usual_driver("driver");
    for name in &EXTENSIONS[1..] {
        driver.line("device.extension", name);
    }
    let layer = Layer::explicit("a").folder(EXPLICIT);
    let layer = commands.iter().fold(layer, |layer, name| layer.conf("hand-on", name));
    layer.put(scene);
    let outcome = scene.run(|vk| {
        let spec = vk.spec().api("1.1").layer("VK_LAYER_a");
        let spec = spec.extensions(&[
            "VK_KHR_surface",
            "VK_KHR_get_surface_capabilities2",
            "VK_EXT_debug_utils",
        ]);
        let instance = spec.create().expect("vkCreateInstance");
        let device = instance.device(instance.first(), &EXTENSIONS);
        // Memory of zeros for the second parameter. In `vkSetDebugUtilsObjectNameEXT` and similar commands, this parameter is a structure,
        // which the trampoline reads before it checks the device.
        let empty = [0_u64; 16];
        for &name in commands {
            let address = device.address(name);
            assert_ne!(address, 0, "{name}");
            let ending = isolated(|| {
                // SAFETY: the address belongs to a command of the device. The loader reads only the second parameter, which is readable
                // memory, before it checks the handle and aborts.
                let function: extern "system" fn(vk::Device, *const u64, usize, usize, usize) =
                    unsafe { std::mem::transmute(address) };
                function(device.raw, empty.as_ptr(), 0, 0, 0);
            });
            assert!(ending.aborted(), "{name}: {ending:?}");
            for part in [name, text, &format!("[VUID-{name}-device-parameter]")] {
                assert!(ending.stderr.contains(part), "no `{part}` for {name}: {ending:?}");
            }
        }
    });
    outcome.ok();
}

const WRAPPED: &str = "device handle. This is likely the result of a layer wrapping device handles and failing to unwrap them in all functions.";

/// APP-186: swapchain creation aborts the process if a layer passes its own wrapper of the device to the next function.
#[test]
fn app_186_a_device_that_a_layer_did_not_unwrap_for_swapchains() {
    case(|scene| hand_on_a_wrapper(scene, &["vkCreateSwapchainKHR", "vkCreateSharedSwapchainsKHR"], WRAPPED));
}

/// APP-186: if a layer passes its own wrapper of the device, every other command in which the loader looks up the device also aborts the
/// process.
#[test]
fn app_186_a_device_that_a_layer_did_not_unwrap_elsewhere() {
    let commands: &'static [&'static str] = &[
        "vkGetDeviceGroupSurfacePresentModesKHR",
        "vkGetDeviceGroupSurfacePresentModes2EXT",
        "vkSetDebugUtilsObjectNameEXT",
        "vkSetDebugUtilsObjectTagEXT",
        "vkDebugMarkerSetObjectNameEXT",
        "vkDebugMarkerSetObjectTagEXT",
    ];
    case(|scene| hand_on_a_wrapper(scene, commands, WRAPPED));
}
