//! Tests of the functions that the loader provides to layers: the look-ups at the end of the chain, the loader's structures in create
//! infos, and its callbacks (LAY-220 to LAY-263).

use loader_tests::ash::vk;
use loader_tests::vk::CREATE_WINDOW_SURFACE;
use loader_tests::vk::Device;
use loader_tests::{Outcome, Scene, call, case};

use crate::kit::{EXPLICIT, Layer, place};
use crate::unknown::device_number;

/// Makes layer `a` call the next layer's two look-up functions for `names`, and returns the answers. Each answer has a word for each
/// look-up function, without and with the instance: `null` and `own` for `vkGetInstanceProcAddr`, `physical-null` and `physical` for the
/// physical-device look-up.
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

/// Checks that the look-ups returned this answer for `name`.
#[track_caller]
fn answered(outcome: &Outcome, name: &str, [null, own, physical_null, physical]: [bool; 4]) {
    let expected = format!("{name} null={null} own={own} physical-null={physical_null} physical={physical}");
    let asked = outcome.calls("VK_LAYER_a", "ask");
    assert!(asked.contains(&expected.as_str()), "no `{expected}` in {asked:#?}");
}

/// LAY-240, DRV-214: layers can look up global commands without an instance.
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

/// LAY-240: at the end of the chain, the loader itself answers global queries, and does not call pre-instance functions of layers.
#[test]
fn lay_240_the_global_queries_at_the_end_of_the_chain_are_the_loader_s() {
    case(|scene| {
        scene.usual_driver("driver");
        let changed = r#"{"vkEnumerateInstanceVersion": "mockEnumerateInstanceVersion"}"#;
        let layer = Layer::implicit("a")
            .member("pre_instance_functions", changed)
            .conf("pre-version", vk::make_api_version(0, 7, 8, 9))
            .conf("call-globals", "");
        place(scene, &[layer, Layer::explicit("b")]);
        let outcome = scene.run(|vk| {
            drop(vk.instance());
            let extensions = vk.extensions().expect("extensions").len();
            let layers = vk.layers().expect("layers").len();
            vk.say("lists", format_args!("layers={layers} extensions={extensions}"));
            drop(vk.instance());
        });
        let lists = outcome.ok().said("lists")[0];
        let globals = outcome.calls("VK_LAYER_a", "globals");
        assert_eq!(globals.len(), 2);
        let version = globals[1]
            .strip_prefix("[Some(0), Some(0), Some(0)] version=")
            .and_then(|rest| rest.strip_suffix(&format!(" {lists}")))
            .unwrap_or_else(|| panic!("{lists}: {globals:?}"));
        let version: u32 = version.parse().expect("a number");
        assert_eq!((vk::api_version_major(version), vk::api_version_minor(version)), (1, 4));
    });
}

/// LAY-240, LAY-241, DRV-214: without an instance, layers can look up only global commands.
#[test]
fn lay_241_everything_else_needs_the_instance() {
    case(|scene| {
        scene
            .usual_driver("driver")
            .unknown_physical("vkMockPhysical")
            .unknown_device("vkMockDevice")
            .missing("vkCmdDispatch");
        let names = [
            "vkEnumeratePhysicalDevices",
            "vkGetPhysicalDeviceFeatures",
            "vkMockPhysical",
            "vkMockDevice",
            "vkCmdDraw",
            "vkCmdDispatch",
            "vkLacking",
        ];
        let outcome = answers(scene, "1.0", &[], &names);
        for name in [
            "vkEnumeratePhysicalDevices",
            "vkGetPhysicalDeviceFeatures",
            "vkMockPhysical",
        ] {
            answered(&outcome, name, [false, true, false, true]);
        }
        for name in ["vkMockDevice", "vkCmdDraw"] {
            answered(&outcome, name, [false, true, false, false]);
        }
        for name in ["vkCmdDispatch", "vkLacking"] {
            answered(&outcome, name, [false; 4]);
            outcome.logged_with("DEBUG", name);
        }
    });
}

/// LAY-240, LAY-241: commands of instance extensions are found even if their extension is not enabled. The look-ups for commands with the
/// loader's own objects as parameters need an instance. Commands of platforms outside this build are not found.
#[test]
fn lay_240_commands_of_instance_extensions_are_always_there() {
    const NAMES: [&str; 6] = [
        "vkCreateHeadlessSurfaceEXT",
        CREATE_WINDOW_SURFACE,
        "vkGetPhysicalDeviceSurfaceSupportKHR",
        "vkGetPhysicalDeviceDisplayPropertiesKHR",
        "vkGetPhysicalDeviceFeatures2KHR",
        "vkCreateDebugUtilsMessengerEXT",
    ];
    const FOREIGN: [&str; 3] = [
        "vkCreateMacOSSurfaceMVK",
        "vkGetPhysicalDeviceScreenPresentationSupportQNX",
        if cfg!(windows) {
            "vkAcquireXlibDisplayEXT"
        } else {
            "vkAcquireWinrtDisplayNV"
        },
    ];
    /// Device commands for names, tags and labels. The loader must intercept them, because their arguments can be the loader's own objects.
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
        let all: Vec<&str> = NAMES.into_iter().chain(DEBUG).chain(FOREIGN).collect();
        let without = answers(scene, "1.0", &[], &all);
        for name in NAMES {
            answered(&without, name, [false, true, false, true]);
        }
        for name in DEBUG.into_iter().chain(FOREIGN) {
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
        for name in FOREIGN {
            answered(&with, name, [false; 4]);
        }
    });
}

/// LAY-240, LAY-314: at the end of the layer chain, the instance look-up returns functions for device commands, known and unknown. A call
/// of such a function reaches the driver of the device, whether the device was created before or after the look-up, and never the layer.
#[test]
fn lay_240_a_device_command_from_the_instance_s_end_reaches_the_driver_of_any_device() {
    const NAMES: [&str; 2] = ["vkDeviceWaitIdle", "vkMockDevice"];
    case(|scene| {
        scene.usual_driver("one").unknown_device("vkMockDevice");
        scene.usual_driver("two").unknown_device("vkMockDevice");
        let down = |short: &str| {
            NAMES.iter().fold(Layer::explicit(short), |layer, name| {
                layer.conf("intercept", name).conf("through-instance", name)
            })
        };
        let asking = NAMES.iter().fold(down("early"), |layer, name| layer.conf("ask", name));
        place(scene, &[asking, down("late")]);
        for layer in ["VK_LAYER_early", "VK_LAYER_late"] {
            let outcome = scene.run(|vk| {
                let instance = vk.spec().layer(layer).create().expect("vkCreateInstance");
                let older = instance.device(instance.named("gpu-one"), &[]);
                let use_both = |device: &Device<'_>| {
                    call!(device, PFN_vkDeviceWaitIdle(device.raw))
                        .result()
                        .expect("vkDeviceWaitIdle");
                    assert_ne!(device_number(device, "vkMockDevice", 3), 0);
                };
                use_both(&older);
                let newer = instance.device(instance.named("gpu-two"), &[]);
                use_both(&newer);
                use_both(&older);
            });
            for (name, times) in [(layer, 3), ("one", 2), ("two", 1)] {
                assert_eq!(
                    outcome.ok().calls(name, "vkDeviceWaitIdle").len(),
                    times,
                    "{}",
                    outcome.all()
                );
            }
            assert_eq!(outcome.calls(layer, "vkMockDevice").len(), 3, "{}", outcome.all());
            assert_eq!(outcome.calls("one", "unknown").len(), 2, "{}", outcome.all());
            assert_eq!(outcome.calls("two", "unknown").len(), 1, "{}", outcome.all());
        }
    });
}

/// LAY-240, DRV-224: the layer receives an error on a device whose driver lacks a command that another driver has.
#[test]
fn lay_240_a_device_that_lacks_a_command_from_the_instance_s_end_says_so() {
    case(|scene| {
        scene.usual_driver("has");
        scene.usual_driver("lacks").missing("vkQueueWaitIdle");
        let layer = Layer::explicit("a").conf("intercept", "vkQueueWaitIdle");
        place(scene, &[layer.conf("through-instance", "vkQueueWaitIdle")]);
        let outcome = scene.run(|vk| {
            let instance = vk.spec().layer("VK_LAYER_a").create().expect("vkCreateInstance");
            let lacking = vk::Result::ERROR_EXTENSION_NOT_PRESENT;
            for (name, expected) in [("gpu-has", vk::Result::SUCCESS), ("gpu-lacks", lacking)] {
                let device = instance.device(instance.named(name), &[]);
                let result = call!(device, PFN_vkQueueWaitIdle(device.queue(0, 0)));
                assert_eq!(result, expected, "{name}");
            }
        });
        outcome
            .ok()
            .logged_with("ERROR", "Bad destination in loader trampoline dispatch");
        assert_eq!(outcome.calls("has", "vkQueueWaitIdle").len(), 1, "{}", outcome.all());
    });
}

/// LAY-240, LAY-314: the look-up functions at the end of the chain do not call the look-up functions of layers.
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

/// LAY-232: in a creation call, all layers receive the same link structure in the create info. Each layer can still read and write it after
/// the next layer's function has returned.
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

/// LAY-231, LAY-284: the driver receives the loader's structures in its create infos. Without layers, the structure that links layers is
/// missing.
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

/// LAY-251: the callback that sets the dispatch pointer fails for an unknown instance or device.
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

/// LAY-235, BI-47, DRV-115: a layer that sets the instance to NULL before it calls the next function aborts the process.
#[test]
fn bi_47_an_instance_made_null_on_the_way_down_ends_the_process() {
    case(|scene| {
        place(scene, &[Layer::explicit("a").conf("clobber", "instance-null")]);
        let outcome = scene.run(|vk| drop(vk.spec().layer("VK_LAYER_a").create()));
        outcome
            .aborted("terminator_CreateInstance: Loader instance pointer null encountered.")
            .logged_with("ERROR", "Possibly set by active layer. (Policy #LLP_LAYER_21)");
    });
}

/// LAY-286, BI-47: a layer that sets the device to NULL before it calls the next function aborts the process.
#[test]
fn bi_47_a_device_made_null_on_the_way_down_ends_the_process() {
    case(|scene| {
        place(scene, &[Layer::explicit("a").conf("clobber", "device-null")]);
        let outcome = scene.run(|vk| {
            let instance = vk.spec().layer("VK_LAYER_a").create().expect("vkCreateInstance");
            drop(instance.device_spec(instance.first()).create());
        });
        outcome
            .aborted("terminator_CreateDevice: Loader device pointer null encountered.")
            .logged_with("ERROR", "Possibly set by active layer. (Policy #LLP_LAYER_22)");
    });
}
