//! Tests the checks of handles (APP-180 to APP-187).

use loader_tests::ash::vk::{self, Handle};
use loader_tests::vk::{Commands, isolated};
use loader_tests::{Vk, call, case};

use crate::names::{Command, GLOBAL, all};

type Any = unsafe extern "system" fn(u64, u64, u64, u64, u64, u64, u64, u64, u64, u64) -> u64;

/// Calls the function with `handle` as the first argument and zero for all others, in a forked copy of the process. Returns the last
/// message of the copy.
fn abort_text(address: usize, handle: u64) -> String {
    let ending = isolated(|| {
        // SAFETY: the address belongs to a trampoline. The handle check must come before any use of the other arguments.
        let function: Any = unsafe { std::mem::transmute(address) };
        // SAFETY: the function has this type, and a fault only ends a copy of the process.
        unsafe { function(handle, 0, 0, 0, 0, 0, 0, 0, 0, 0) };
    });
    let how = if ending.aborted() { "aborted" } else { "not aborted" };
    format!("{how}, signal {}: {}", ending.signal, ending.stderr)
}

/// Returns `true` for commands that accept NULL, or that have no handle to check.
fn exempt(command: &Command) -> bool {
    let names = [
        "vkDestroyInstance",
        "vkDestroyDevice",
        "vkGetDeviceProcAddr",
        "vkGetInstanceProcAddr",
    ];
    names.contains(&command.name) || GLOBAL.contains(&command.name) || !command.is_here()
}

/// Returns the names that the message of a command may contain. The message of an alias can contain the core command's name (APP-30).
fn may_report(command: &Command) -> Vec<String> {
    let shares = [
        "VK_KHR_get_physical_device_properties2",
        "VK_KHR_device_group_creation",
        "VK_KHR_external_memory_capabilities",
        "VK_KHR_external_semaphore_capabilities",
        "VK_KHR_external_fence_capabilities",
    ];
    let mut names = vec![command.name.to_string()];
    if command.extensions.iter().any(|extension| shares.contains(extension)) {
        names.extend(command.name.strip_suffix("KHR").map(String::from));
    }
    names
}

/// Checks every command of a level through the instance's lookup.
fn check_all(vk: &Vk, levels: &[&str], handle: u64) {
    let extensions: Vec<String> = vk.extensions().expect("the query succeeds");
    let extensions: Vec<&str> = extensions.iter().map(String::as_str).collect();
    let extensions: Vec<&str> = extensions
        .into_iter()
        .filter(|name| !name.starts_with("VK_LUNARG"))
        .collect();
    let instance = vk.instance_with("1.1", &extensions);
    let mut wrong = Vec::new();
    let mut checked = 0;
    for command in all()
        .iter()
        .filter(|command| levels.contains(&command.level) && !exempt(command))
    {
        let address = instance.address(command.name);
        if address == 0 {
            continue;
        }
        checked += 1;
        let text = abort_text(address, handle);
        let first = command.first;
        let fits = |name: &String| text.contains(&format!("{name}: Invalid {first} [VUID-{name}-{first}-parameter]"));
        if !text.starts_with("aborted") || !may_report(command).iter().any(fits) {
            wrong.push(format!("{}: {text}", command.name));
        }
    }
    vk.say("checked", checked);
    assert!(
        wrong.is_empty(),
        "{} of {checked} differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

fn rich_driver(scene: &mut loader_tests::Scene) {
    scene.usual_driver("a").extensions(&[
        "VK_KHR_get_display_properties2",
        "VK_KHR_device_group_creation",
        "VK_KHR_external_memory_capabilities",
        "VK_KHR_external_semaphore_capabilities",
        "VK_KHR_external_fence_capabilities",
        "VK_EXT_direct_mode_display",
        "VK_EXT_acquire_drm_display",
        "VK_EXT_display_surface_counter",
    ]);
    scene.env("VK_LOADER_DEBUG", "").limit(120);
}

/// APP-180 to APP-184, APP-140: NULL in place of an instance or a physical device aborts the process.
#[test]
fn app_184_null_instances_and_physical_devices() {
    case(|scene| {
        rich_driver(scene);
        let outcome = scene.run(|vk| check_all(vk, &["instance", "physical_device"], 0));
        assert!(outcome.ok().said("checked")[0].parse::<u32>().expect("a number") > 90);
    });
}

/// APP-182, APP-183, APP-140: a readable object that is not an instance or a physical device aborts the process.
#[test]
fn app_183_foreign_instances_and_physical_devices() {
    case(|scene| {
        rich_driver(scene);
        let outcome = scene.run(|vk| {
            let object = vec![0x5a5a_u64; 64];
            check_all(vk, &["instance", "physical_device"], object.as_ptr() as u64);
        });
        outcome.ok();
    });
}

/// APP-180 to APP-184: NULL in place of a device, queue or command buffer aborts the process.
#[test]
fn app_184_null_devices_queues_and_command_buffers() {
    case(|scene| {
        rich_driver(scene);
        let outcome = scene.run(|vk| check_all(vk, &["device"], 0));
        assert!(outcome.ok().said("checked")[0].parse::<u32>().expect("a number") > 500);
    });
}

/// APP-182, APP-183: an object whose first word is NULL aborts the process. An object whose table lacks the loader's magic number does too.
#[test]
fn app_183_foreign_devices_queues_and_command_buffers() {
    case(|scene| {
        rich_driver(scene);
        let outcome = scene.run(|vk| {
            let empty = vec![0_u64; 64];
            check_all(vk, &["device"], empty.as_ptr() as u64);
        });
        outcome.ok();
        let outcome = scene.run(|vk| {
            let table = vec![0x1234_u64; 64];
            let object = [table.as_ptr() as u64; 4];
            check_all(vk, &["device"], object.as_ptr() as u64);
        });
        outcome.ok();
    });
}

/// APP-182: if there are several devices, each of them is valid, and not only the newest device. Other objects are invalid.
#[test]
fn app_182_every_device_of_several_is_valid() {
    case(|scene| {
        scene.driver("a").device("one");
        scene.env("VK_LOADER_DEBUG", "").limit(120);
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            let physical = instance.named("one");
            let wait = |device: vk::Device| call!(vk, PFN_vkDeviceWaitIdle(device));
            let refuses_others = || {
                let address = instance.address("vkDeviceWaitIdle");
                let table = [0x1234_u64; 64];
                for foreign in [[0_u64; 4], [table.as_ptr() as u64; 4]] {
                    let text = abort_text(address, foreign.as_ptr() as u64);
                    assert!(
                        text.starts_with("aborted") && text.contains("vkDeviceWaitIdle: Invalid device"),
                        "{text}"
                    );
                }
            };
            let older = instance.device(physical, &[]);
            let newer = instance.device(physical, &[]);
            assert_eq!(
                (wait(older.raw), wait(newer.raw)),
                (vk::Result::SUCCESS, vk::Result::SUCCESS)
            );
            refuses_others();
            drop(newer);
            assert_eq!(wait(older.raw), vk::Result::SUCCESS);
            let newest = instance.device(physical, &[]);
            drop(older);
            assert_eq!(wait(newest.raw), vk::Result::SUCCESS);
            drop(newest);
            refuses_others();
        });
        assert_eq!(outcome.ok().calls("a", "vkDeviceWaitIdle").len(), 4);
    });
}

/// APP-180, APP-233: the exported functions check handles too, and print the message about an invalid handle even without
/// `VK_LOADER_DEBUG`.
#[test]
fn app_180_exported_functions_check_too() {
    case(|scene| {
        scene.unset("VK_LOADER_DEBUG");
        let outcome = scene.run(|vk| {
            let mut features = vk::PhysicalDeviceFeatures::default();
            call!(
                vk,
                PFN_vkGetPhysicalDeviceFeatures(vk::PhysicalDevice::null(), &mut features)
            );
        });
        let text = "vkGetPhysicalDeviceFeatures: Invalid physicalDevice [VUID-vkGetPhysicalDeviceFeatures-physicalDevice-parameter]";
        outcome.aborted(text);
        // APP-181, APP-232: the message is a line of level ERROR.
        outcome.logged("ERROR", text);
    });
}

/// APP-180: messengers do not receive the message about an invalid handle.
#[test]
fn app_180_messengers_are_not_told() {
    case(|scene| {
        scene.usual_driver("a");
        let outcome = scene.run(|vk| {
            let messages = loader_tests::vk::Messages::with_hook(|message| {
                if message.text.contains("Invalid physicalDevice") {
                    eprintln!("a messenger was told");
                }
            });
            let instance = vk.instance_with("1.1", &["VK_EXT_debug_utils"]);
            instance.messenger(&messages);
            let mut features = vk::PhysicalDeviceFeatures::default();
            call!(
                vk,
                PFN_vkGetPhysicalDeviceFeatures(vk::PhysicalDevice::null(), &mut features)
            );
        });
        outcome
            .aborted("Invalid physicalDevice")
            .not_logged("a messenger was told");
    });
}

/// APP-110, APP-182: destroying an object that is not an instance aborts the process.
#[test]
fn app_110_destroying_a_foreign_instance_aborts() {
    case(|scene| {
        scene.driver("a").device("one");
        let outcome = scene.run(|vk| {
            let object = [7_u64; 8];
            call!(
                vk,
                PFN_vkDestroyInstance(vk::Instance::from_raw(object.as_ptr() as u64), std::ptr::null())
            );
        });
        outcome.aborted("vkDestroyInstance: Invalid instance [VUID-vkDestroyInstance-instance-parameter]");
    });
}

/// APP-183: an instance in place of a physical device aborts the process. A physical device in place of an instance aborts the process too.
#[test]
fn app_183_handles_of_another_kind() {
    case(|scene| {
        scene.usual_driver("a");
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            let device = instance.device(instance.first(), &[]);
            let rows = [
                ("vkGetPhysicalDeviceFeatures", instance.raw.as_raw()),
                ("vkGetPhysicalDeviceFeatures", device.raw.as_raw()),
                ("vkEnumeratePhysicalDevices", device.raw.as_raw()),
            ];
            for (name, handle) in rows {
                let text = abort_text(instance.address(name), handle);
                assert!(
                    text.starts_with("aborted") && text.contains(&format!("{name}: Invalid ")),
                    "{text}"
                );
            }
        });
        outcome.ok();
    });
}
