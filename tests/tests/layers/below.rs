//! What a layer finds below it: the end of the instance chain, the loader's nodes, its callbacks (section 11).

use loader_tests::ash::vk;
use loader_tests::{Outcome, Scene, case};

use crate::kit::{EXPLICIT, Layer, place};

/// What the two look-ups below layer `a` answer for these names, as `null own physical-null physical`.
fn answers(scene: &mut Scene, api: &'static str, extensions: &'static [&'static str], names: &[&str]) -> Outcome {
    let layer = names
        .iter()
        .fold(Layer::explicit("a"), |layer, name| layer.conf("ask", name));
    layer.folder(EXPLICIT).put(scene);
    let outcome = scene.run(|vk| {
        let spec = vk.spec().api(api).layer("VK_LAYER_a").extensions(extensions);
        drop(spec.create().expect("vkCreateInstance"));
    });
    outcome.ok();
    outcome
}

/// Fails unless the look-ups answered `name` so.
#[track_caller]
fn answered(outcome: &Outcome, name: &str, [null, own, physical_null, physical]: [bool; 4]) {
    let expected = format!("{name} null={null} own={own} physical-null={physical_null} physical={physical}");
    let asked = outcome.calls("VK_LAYER_a", "ask");
    assert!(asked.contains(&expected.as_str()), "no `{expected}` in {asked:#?}");
}

/// LAY-240
#[test]
fn lay_240_global_commands_are_answered_without_an_instance() {
    case(|scene| {
        scene.usual_driver("driver");
        let names = [
            "vkGetInstanceProcAddr",
            "vk_layerGetPhysicalDeviceProcAddr",
            "vkCreateInstance",
            "vkEnumerateInstanceLayerProperties",
            "vkEnumerateInstanceExtensionProperties",
            "vkEnumerateInstanceVersion",
            "vkCreateDevice",
        ];
        let outcome = answers(scene, "1.0", &[], &names);
        for name in names {
            let asked = outcome.calls("VK_LAYER_a", "ask");
            let begin = format!("{name} null=true own=true ");
            assert!(asked.iter().any(|line| line.starts_with(&begin)), "{asked:#?}");
        }
    });
}

/// LAY-240, LAY-241
#[test]
fn lay_241_everything_else_needs_the_instance() {
    case(|scene| {
        scene
            .usual_driver("driver")
            .unknown_physical("vkMockPhysical")
            .unknown_device("vkMockDevice");
        let names = [
            "vkEnumeratePhysicalDevices",
            "vkGetPhysicalDeviceFeatures",
            "vkMockPhysical",
            "vkMockDevice",
            "vkCmdDraw",
            "vkNobody",
        ];
        let outcome = answers(scene, "1.0", &[], &names);
        for name in [
            "vkEnumeratePhysicalDevices",
            "vkGetPhysicalDeviceFeatures",
            "vkMockPhysical",
        ] {
            answered(&outcome, name, [false, true, false, true]);
        }
        answered(&outcome, "vkMockDevice", [false, true, false, false]);
        for name in ["vkCmdDraw", "vkNobody"] {
            answered(&outcome, name, [false, false, false, false]);
        }
        outcome.logged_with("DEBUG", "vkNobody");
    });
}

/// LAY-240, LAY-241
#[test]
fn lay_240_commands_of_instance_extensions_are_there_when_enabled() {
    const NAMES: [&str; 2] = ["vkCreateHeadlessSurfaceEXT", "vkGetPhysicalDeviceSurfaceSupportKHR"];
    /// Names, tags and labels: device commands that the loader must see because of its own objects.
    const DEBUG: [&str; 8] = [
        "vkSetDebugUtilsObjectNameEXT",
        "vkSetDebugUtilsObjectTagEXT",
        "vkQueueBeginDebugUtilsLabelEXT",
        "vkQueueEndDebugUtilsLabelEXT",
        "vkQueueInsertDebugUtilsLabelEXT",
        "vkCmdBeginDebugUtilsLabelEXT",
        "vkCmdEndDebugUtilsLabelEXT",
        "vkCmdInsertDebugUtilsLabelEXT",
    ];
    case(|scene| {
        scene.usual_driver("driver");
        let all: Vec<&str> = NAMES.into_iter().chain(DEBUG).collect();
        let without = answers(scene, "1.0", &[], &all);
        for name in &all {
            answered(&without, name, [false; 4]);
        }
        let enabled = &["VK_KHR_surface", "VK_EXT_headless_surface", "VK_EXT_debug_utils"];
        let with = answers(scene, "1.0", enabled, &all);
        for name in NAMES {
            answered(&with, name, [false, true, false, true]);
        }
        for name in DEBUG {
            answered(&with, name, [false, true, false, false]);
        }
    });
}

/// LAY-240, LAY-314: what a layer asks the end of the chain is not asked of the layers again.
#[test]
fn lay_240_the_end_of_the_chain_never_calls_back_into_it() {
    case(|scene| {
        let layers = [
            Layer::explicit("top").conf("lookups", ""),
            Layer::explicit("a").conf("ask", "vkNobody"),
        ];
        place(scene, &layers);
        let outcome = scene.run(|vk| {
            let spec = vk.spec().layer("VK_LAYER_top").layer("VK_LAYER_a");
            drop(spec.create().expect("vkCreateInstance"));
        });
        answered(outcome.ok(), "vkNobody", [false; 4]);
        for function in ["gipa", "gpdpa"] {
            let asked = outcome.calls("VK_LAYER_top", function);
            assert!(!asked.iter().any(|line| line.starts_with("vkNobody ")), "{asked:?}");
        }
    });
}

/// LAY-232: one node for all layers, which each of them may still read and write after the call below returned.
#[test]
fn lay_232_nodes_and_links_live_until_the_outermost_call_returns() {
    case(|scene| {
        let keeping = |short: &str| Layer::explicit(short).conf("keep-nodes", "");
        place(scene, &[keeping("a"), keeping("b"), keeping("c")]);
        let outcome = scene.run(|vk| {
            let spec = vk.spec().layer("VK_LAYER_a").layer("VK_LAYER_b").layer("VK_LAYER_c");
            let instance = spec.create().expect("vkCreateInstance");
            drop(instance.device(instance.first(), &[]));
        });
        outcome.ok();
        for kind in ["instance", "device"] {
            let begin = format!("{kind} same=true used-up=true node=0x");
            let kept = ["VK_LAYER_a", "VK_LAYER_b", "VK_LAYER_c"].map(|name| {
                let lines = outcome.calls(name, "kept");
                let line = lines.iter().find(|line| line.starts_with(&begin));
                (*line.unwrap_or_else(|| panic!("{lines:?}"))).to_string()
            });
            assert!(kept.iter().all(|line| *line == kept[0]), "not one node: {kept:?}");
        }
    });
}

/// LAY-231, LAY-284: the nodes that reach the end of the chains, as the driver sees them: the link node is there only for
/// layers, also when none of them joined.
#[test]
fn lay_231_without_layers_there_is_no_link_node() {
    case(|scene| {
        let alone = Layer::explicit("alone")
            .conf("negotiate-null", "gdpa")
            .hide("vkGetDeviceProcAddr");
        place(scene, &[alone]);
        let outcome = scene.run(|vk| {
            for layer in [None, Some("VK_LAYER_alone")] {
                let spec = layer.iter().fold(vk.spec(), |spec, name| spec.layer(name));
                let instance = spec.create().expect("vkCreateInstance");
                drop(instance.device(instance.first(), &[]));
            }
        });
        outcome.ok();
        for (command, expected) in [
            (
                "vkCreateInstance",
                ["pnext=[47:3 47:2 47:1]", "pnext=[47:3 47:2 47:1 47:0]"],
            ),
            ("vkCreateDevice", ["pnext=[48:1]", "pnext=[48:1 48:0]"]),
        ] {
            let calls = outcome.calls("driver", command);
            assert_eq!(calls.len(), 2, "{calls:?}");
            for (call, nodes) in calls.iter().zip(expected) {
                assert!(call.contains(nodes), "no {nodes} in {call}");
            }
        }
    });
}

/// LAY-251
#[test]
fn lay_251_an_unknown_parent_gives_no_dispatch_pointer() {
    case(|scene| {
        place(scene, &[Layer::explicit("a").conf("stray-parent", "")]);
        let outcome = scene.run(|vk| {
            let instance = vk.spec().layer("VK_LAYER_a").create().expect("vkCreateInstance");
            drop(instance.device(instance.first(), &[]));
        });
        let stray = outcome.ok().calls("VK_LAYER_a", "stray");
        let code = vk::Result::ERROR_INITIALIZATION_FAILED.as_raw();
        assert_eq!(
            stray,
            ["instance", "device"].map(|kind| format!("{kind} result={code} same=true"))
        );
    });
}

/// LAY-235, BI-47
#[test]
fn bi_47_an_instance_made_null_on_the_way_down_ends_the_process() {
    case(|scene| {
        place(scene, &[Layer::explicit("a").conf("clobber", "instance-null")]);
        let outcome = scene.run(|vk| drop(vk.spec().layer("VK_LAYER_a").create()));
        outcome
            .aborted("terminator_CreateInstance: Instance pointer (")
            .logged_with("ERROR", "possibly corrupted by active layer (Policy #LLP_LAYER_21).");
    });
}

/// LAY-286, BI-47
#[test]
fn bi_47_a_device_made_null_on_the_way_down_ends_the_process() {
    case(|scene| {
        place(scene, &[Layer::explicit("a").conf("clobber", "device-null")]);
        let outcome = scene.run(|vk| {
            let instance = vk.spec().layer("VK_LAYER_a").create().expect("vkCreateInstance");
            drop(instance.device_spec(instance.first()).create());
        });
        outcome
            .aborted("terminator_CreateDevice: Device pointer (")
            .logged_with("ERROR", "possibly corrupted by active layer (Policy #LLP_LAYER_22).");
    });
}
