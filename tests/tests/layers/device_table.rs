//! Tests of the functions in a device's table, and of the answers of the look-up at the end of its chain (LAY-254, LAY-290, APP-49).

use loader_tests::ash::vk;
use loader_tests::case;
use loader_tests::vk::Commands;

use crate::kit::{Layer, place};

/// LAY-290, LAY-254: a call of a device command first reaches the topmost layer.
#[test]
fn lay_290_commands_of_the_device_go_through_the_topmost_layer() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::explicit("a")
                    .conf("intercept", "vkCreateCommandPool")
                    .conf("intercept", "vkGetDeviceQueue"),
                Layer::explicit("b").conf("intercept", "vkCreateCommandPool"),
            ],
        );
        let outcome = scene.run(|vk| {
            let instance = vk
                .spec()
                .layer("VK_LAYER_a")
                .layer("VK_LAYER_b")
                .create()
                .expect("vkCreateInstance");
            let device = instance.device(instance.first(), &[]);
            vk.mark("call");
            let pool = device.pool();
            vk.mark("called");
            device.destroy_pool(pool);
            device.queue(0, 0);
            for name in [
                "vkGetDeviceProcAddr",
                "vkGetDeviceQueue",
                "vkAllocateCommandBuffers",
                "vkDestroyDevice",
            ] {
                assert_eq!(device.address(name), vk.address(name), "{name} is the loader's");
            }
        });
        outcome.ok();
        let lines = outcome.between("call", "called");
        assert_eq!(
            lines[..2],
            ["VK_LAYER_a vkCreateCommandPool", "VK_LAYER_b vkCreateCommandPool"]
        );
        assert_eq!(outcome.calls("VK_LAYER_a", "vkGetDeviceQueue").len(), 1);
    });
}

/// LAY-290: the look-up of a device returns NULL for an extension command that the chain does not know.
#[test]
fn lay_290_an_extension_command_that_the_chain_does_not_answer_is_null() {
    case(|scene| {
        place(
            scene,
            &[Layer::explicit("a").conf("answer-null", "vkCmdDrawIndirectCountKHR")],
        );
        let outcome = scene.run(|vk| {
            let instance = vk.spec().layer("VK_LAYER_a").create().expect("vkCreateInstance");
            let device = instance.device(instance.first(), &[]);
            assert_eq!(device.address("vkCmdDrawIndirectCountKHR"), 0);
            assert_ne!(vk.get(instance.raw, "vkCmdDrawIndirectCountKHR"), 0);
        });
        outcome.ok();
    });
}

/// LAY-290: some device commands belong to instance extensions. The loader looks them up through the instance look-up of each layer.
#[test]
fn lay_290_commands_of_instance_extensions_come_from_the_instances_lookup() {
    case(|scene| {
        place(scene, &[Layer::explicit("a").conf("lookups", ""), Layer::explicit("b")]);
        let outcome = scene.run(|vk| {
            let instance = vk
                .spec()
                .layer("VK_LAYER_a")
                .layer("VK_LAYER_b")
                .extensions(&["VK_EXT_debug_utils"])
                .create()
                .expect("vkCreateInstance");
            let physical = instance.first();
            vk.mark("call");
            drop(instance.device(physical, &[]));
            vk.mark("called");
        });
        outcome.ok();
        let asked = outcome.between("call", "called");
        for command in ["vkSetDebugUtilsObjectNameEXT", "vkCmdBeginDebugUtilsLabelEXT"] {
            let of = |lookup: &str| format!("VK_LAYER_a {lookup} {command} handle=set");
            assert!(asked.contains(&of("gipa").as_str()), "{command}: {asked:?}");
            assert!(!asked.contains(&of("gdpa").as_str()), "{command}: {asked:?}");
        }
    });
}

/// LAY-290: if a layer's look-up returns NULL for a device command, a call of the loader's trampoline for this command aborts the process.
#[test]
fn lay_290_calling_the_trampoline_of_such_a_command_ends_the_process() {
    case(|scene| {
        place(
            scene,
            &[Layer::explicit("a").conf("answer-null", "vkTrimCommandPoolKHR")],
        );
        let outcome = scene.run(|vk| {
            let instance = vk.spec().layer("VK_LAYER_a").create().expect("vkCreateInstance");
            let device = instance.device(instance.first(), &[]);
            type Trim = unsafe extern "system" fn(vk::Device, vk::CommandPool, u32);
            let address = vk.get(instance.raw, "vkTrimCommandPoolKHR");
            assert_ne!(address, 0);
            // SAFETY: the command has this type. The call ends the forked process, and the test expects this end.
            unsafe { std::mem::transmute::<usize, Trim>(address)(device.raw, vk::CommandPool::null(), 0) };
            vk.mark("returned");
        });
        outcome.crashed();
        assert!(!outcome.journal().contains(&"== returned"), "{}", outcome.all());
    });
}

/// APP-49: at the end of the layer chain, a look-up of `vkGetDeviceProcAddr` returns the loader's function, and not the driver's function.
/// A layer that uses the returned function therefore still reaches the loader's terminators, which convert the loader's surfaces to the
/// driver's surfaces.
#[test]
fn app_049_the_look_up_at_the_end_answers_itself() {
    case(|scene| {
        let names = [
            "vkGetDeviceProcAddr",
            "vkCreateSwapchainKHR",
            "vkCmdDraw",
            "vkDestroyDevice",
        ];
        let ask = |layer: Layer| {
            names
                .iter()
                .rev()
                .fold(layer, |layer, name| layer.conf("ask-device", name))
        };
        place(scene, &[ask(Layer::explicit("a")), ask(Layer::explicit("b"))]);
        let outcome = scene.run(|vk| {
            let spec = vk.spec().layer("VK_LAYER_a").layer("VK_LAYER_b");
            let instance = spec.extensions(&["VK_KHR_surface"]).create().expect("vkCreateInstance");
            drop(instance.device(instance.first(), &["VK_KHR_swapchain"]));
        });
        outcome.ok();
        // Each layer receives the look-up function of the next layer or driver. Asked for its own name, this function returns itself.
        for layer in ["VK_LAYER_a", "VK_LAYER_b"] {
            let expected = names.map(|name| format!("{name} found=true itself=true equal=true"));
            assert_eq!(outcome.calls(layer, "ask-device"), expected, "{layer}");
        }
    });
}
