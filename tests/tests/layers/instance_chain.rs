//! Tests of the chain of `vkCreateInstance`, and of the effects that layers can have in it (LAY-220 to LAY-263).

use loader_tests::ash::vk;
use loader_tests::{Outcome, Scene, case, shown_address};

use crate::kit::{Layer, chain, place, unloads};

/// Creates and destroys an instance with the layers in `names`.
fn instance_of(scene: &mut Scene, names: &'static [&'static str]) -> Outcome {
    let outcome = scene.run(|vk| {
        drop(
            names
                .iter()
                .fold(vk.spec(), |spec, name| spec.layer(name))
                .create()
                .expect("vkCreateInstance"),
        );
    });
    outcome.ok();
    outcome
}

/// LAY-230, LAY-221, APP-97: each layer calls the next layer.
#[test]
fn lay_230_each_layer_calls_the_one_below() {
    case(|scene| {
        place(
            scene,
            &[Layer::explicit("a"), Layer::explicit("b"), Layer::explicit("c")],
        );
        let outcome = instance_of(scene, &["VK_LAYER_c", "VK_LAYER_a", "VK_LAYER_b"]);
        assert_eq!(chain(&outcome), ["VK_LAYER_c", "VK_LAYER_a", "VK_LAYER_b"]);
        let library = scene.text_path("libraries/liblayer_a.so");
        outcome.logged(
            "INFO | LAYER",
            &format!("Insert instance layer \"VK_LAYER_a\" ({library})"),
        );
    });
}

/// DRV-109: a driver receives neither the number nor the names of the layers.
#[test]
fn drv_109_a_driver_gets_no_layers() {
    case(|scene| {
        place(scene, &[Layer::explicit("a")]);
        let outcome = instance_of(scene, &["VK_LAYER_a"]);
        let call = outcome.calls("driver", "vkCreateInstance")[0];
        assert!(call.contains(" layers=0 ext="), "{}", outcome.all());
    });
}

/// LAY-230: a message reports each inserted layer, beginning with the last layer in the chain.
#[test]
fn lay_230_insertions_are_told_from_the_lowest_layer_up() {
    case(|scene| {
        place(scene, &[Layer::explicit("a"), Layer::explicit("b")]);
        let outcome = instance_of(scene, &["VK_LAYER_a", "VK_LAYER_b"]);
        let told: Vec<String> = outcome
            .stderr
            .lines()
            .filter_map(|line| {
                let loading = line.split_once("Loading layer library ");
                let inserted = line.split_once("Insert instance layer \"");
                match (loading, inserted) {
                    (Some((_, path)), _) => Some(format!("load {}", path.rsplit_once('/')?.1)),
                    (_, Some((_, rest))) => Some(format!("insert {}", rest.split_once('"')?.0)),
                    _ => None,
                }
            })
            .collect();
        let expected = [
            "load liblayer_b.so",
            "insert VK_LAYER_b",
            "load liblayer_a.so",
            "insert VK_LAYER_a",
        ];
        assert_eq!(told, expected, "{}", outcome.all());
    });
}

/// LAY-230: the link for the physical-device look-up skips layers without that function.
#[test]
fn lay_230_a_layer_without_a_physical_device_look_up_is_passed_over_for_it() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::explicit("a").conf("lookups", ""),
                Layer::explicit("b").conf("negotiate-null", "gpdpa").conf("lookups", ""),
                Layer::explicit("c")
                    .conf("own-physical-command", "vkMockPhysical")
                    .conf("own-result", 40),
            ],
        );
        let outcome = scene.run(|vk| {
            let spec = vk.spec().layer("VK_LAYER_a").layer("VK_LAYER_b").layer("VK_LAYER_c");
            let instance = spec.create().expect("vkCreateInstance");
            assert_eq!(
                crate::unknown::number(&instance, "vkMockPhysical", instance.first(), 2),
                42
            );
        });
        let asked = outcome.ok().calls("VK_LAYER_a", "gpdpa");
        assert!(
            asked.iter().any(|name| name.starts_with("vkMockPhysical ")),
            "{}",
            outcome.all()
        );
        assert!(outcome.calls("VK_LAYER_b", "gpdpa").is_empty(), "{}", outcome.all());
    });
}

/// LAY-231, LAY-223, LAY-220: the loader's structures precede the application's structures in the chain of the create
/// info.
#[test]
fn lay_231_the_loader_s_nodes_come_in_front_of_the_application_s() {
    case(|scene| {
        place(scene, &[Layer::explicit("a"), Layer::explicit("b")]);
        let outcome = scene.run(|vk| {
            let own = vk::ValidationFeaturesEXT::default();
            let spec = vk.spec().layer("VK_LAYER_a").layer("VK_LAYER_b").next(&own);
            drop(spec.create().expect("vkCreateInstance"));
            assert!(own.p_next.is_null());
        });
        outcome.ok();
        for name in ["VK_LAYER_a", "VK_LAYER_b"] {
            let call = outcome.calls(name, "vkCreateInstance");
            assert!(
                call[0].contains("nodes=[features:0 device-callbacks data link app:1000247000]"),
                "{call:?}"
            );
        }
    });
}

/// LAY-233: layers receive the names of layers and extensions in the same form as the application passed them.
#[test]
fn lay_233_names_reach_layers_as_the_application_gave_them() {
    case(|scene| {
        let extension = r#"[{"name": "VK_EXT_of_layer", "spec_version": "1"}]"#;
        place(
            scene,
            &[
                Layer::implicit("i").member("instance_extensions", extension),
                Layer::explicit("a"),
            ],
        );
        scene.env("VK_LOADER_DISABLE_INST_EXT_FILTER", "1");
        let outcome = scene.run(|vk| {
            let spec = vk
                .spec()
                .layer("VK_LAYER_a")
                .layer("VK_LAYER_a")
                .extensions(&["VK_EXT_of_layer", "VK_KHR_surface"]);
            drop(spec.create().expect("vkCreateInstance"));
        });
        let call = outcome.ok().calls("VK_LAYER_i", "vkCreateInstance")[0];
        assert!(
            call.contains("layers=[VK_LAYER_a,VK_LAYER_a] extensions=[VK_EXT_of_layer,VK_KHR_surface]"),
            "{call}"
        );
    });
}

/// LAY-234, APP-94: the loader looks up `vkCreateInstance` in the first layer, and passes its own instance to the
/// look-up.
#[test]
fn lay_234_the_first_look_up_passes_the_loader_s_instance() {
    case(|scene| {
        place(scene, &[Layer::explicit("a").conf("lookups", "")]);
        let outcome = instance_of(scene, &["VK_LAYER_a"]);
        assert!(
            outcome
                .calls("VK_LAYER_a", "gipa")
                .contains(&"vkCreateInstance handle=set"),
            "{}",
            outcome.all()
        );
    });
}

/// LAY-234, BI-48: instance creation fails if the first layer does not return `vkCreateInstance`.
#[test]
fn bi_48_a_layer_without_create_instance_fails_the_call() {
    case(|scene| {
        place(scene, &[Layer::explicit("a").conf("answer-null", "vkCreateInstance")]);
        let outcome = scene.run(|vk| {
            let result = vk.spec().layer("VK_LAYER_a").create().err();
            assert_eq!(result, Some(vk::Result::ERROR_INITIALIZATION_FAILED));
        });
        let lines = outcome.ok().log("ERROR").len() + outcome.log("ERROR | LAYER").len();
        assert!(lines > 0, "{}", outcome.all());
    });
}

/// LAY-235: `*pInstance` is the loader's instance when the loader calls `vkCreateInstance` of the first layer.
#[test]
fn lay_235_layers_get_the_loader_s_instance_in_the_place_of_the_result() {
    case(|scene| {
        place(scene, &[Layer::explicit("a"), Layer::explicit("b")]);
        let outcome = instance_of(scene, &["VK_LAYER_a", "VK_LAYER_b"]);
        for name in ["VK_LAYER_a", "VK_LAYER_b"] {
            assert!(outcome.calls(name, "vkCreateInstance")[0].ends_with("instance=set"));
        }
    });
}

/// LAY-235, BI-47, DRV-115, APP-94: if a layer overwrites the instance before it calls the next function, the process
/// ends.
#[test]
fn bi_47_an_instance_overwritten_on_the_way_down_ends_the_process() {
    case(|scene| {
        place(scene, &[Layer::explicit("a").conf("clobber", "instance")]);
        let outcome = scene.run(|vk| drop(vk.spec().layer("VK_LAYER_a").create()));
        outcome.aborted(&format!(
            "terminator_CreateInstance: Instance pointer ({}",
            &shown_address(0)[..2]
        ));
        let text = format!(
            "has invalid MAGIC value {}. Instance value possibly corrupted by active layer (Policy #LLP_LAYER_21).",
            crate::kit::GARBAGE
        );
        outcome.logged_with("ERROR", &text);
    });
}

/// LAY-236: drivers receive no layer names, and only extensions that they list.
#[test]
fn lay_236_drivers_get_no_layers_and_only_their_own_extensions() {
    case(|scene| {
        let extension = r#"[{"name": "VK_EXT_of_layer", "spec_version": "1"}]"#;
        place(
            scene,
            &[Layer::explicit("a")
                .member("instance_extensions", extension)
                .conf("add-instance-extension", "VK_EXT_added")],
        );
        scene.env("VK_LOADER_DISABLE_INST_EXT_FILTER", "1");
        let outcome = scene.run(|vk| {
            let spec = vk
                .spec()
                .layer("VK_LAYER_a")
                .extensions(&["VK_EXT_of_layer", "VK_KHR_surface"]);
            drop(spec.create().expect("vkCreateInstance"));
        });
        let call = outcome.ok().calls("driver", "vkCreateInstance");
        assert!(call[0].contains("VK_KHR_surface"), "{call:?}");
        assert!(
            !call[0].contains("VK_EXT_of_layer") && !call[0].contains("VK_EXT_added"),
            "{call:?}"
        );
        assert!(!call[0].contains("VK_LAYER_a"), "{call:?}");
    });
}

/// LAY-236: the driver receives an instance extension that a layer adds to the create info.
#[test]
fn lay_236_an_extension_that_a_layer_asks_for_reaches_the_driver() {
    case(|scene| {
        place(
            scene,
            &[Layer::explicit("a").conf("add-instance-extension", "VK_KHR_surface")],
        );
        let outcome = instance_of(scene, &["VK_LAYER_a"]);
        let call = outcome.calls("driver", "vkCreateInstance");
        assert!(call[0].contains("VK_KHR_surface"), "{call:?}");
    });
}

/// LAY-237, LAY-252: the application receives the loader's instance, and a wrapping layer receives its own wrapper.
#[test]
fn lay_237_the_application_gets_the_loader_s_instance_and_layers_get_their_own() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::explicit("a").conf("wrap", ""),
                Layer::explicit("b").conf("intercept", "vkEnumeratePhysicalDevices"),
            ],
        );
        let outcome = instance_of(scene, &["VK_LAYER_a", "VK_LAYER_b"]);
        assert_eq!(
            outcome.calls("VK_LAYER_a", "wrap"),
            ["instance result=Some(0) same=true"]
        );
        assert_eq!(outcome.calls("VK_LAYER_a", "vkDestroyInstance").len(), 1);
    });
}

/// LAY-239, LAY-250: layers can call the loader's terminators during the creation of the instance.
#[test]
fn lay_239_terminators_work_while_the_instance_is_made() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::explicit("a").conf("probe", ""),
                Layer::explicit("b").conf("probe", ""),
            ],
        );
        let outcome = scene.run(|vk| {
            let spec = vk.spec().api("1.1").layer("VK_LAYER_a").layer("VK_LAYER_b");
            drop(spec.create().expect("vkCreateInstance"));
        });
        outcome.ok();
        for name in ["VK_LAYER_a", "VK_LAYER_b"] {
            assert_eq!(outcome.calls(name, "probe"), ["devices=1 properties2=true shared=true"]);
        }
    });
}

/// LAY-238, DRV-215: layers can look up the loader's terminators after the creation of the instance too.
#[test]
fn lay_238_layers_may_ask_for_terminators_later() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::explicit("a").conf("late-lookup", "").conf("wrap", ""),
                Layer::explicit("b")
                    .conf("late-lookup", "")
                    .conf("intercept", "vkEnumeratePhysicalDevices"),
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
            drop(instance.device(instance.first(), &[]));
        });
        outcome.ok();
    });
}

/// LAY-242, BI-46: the application receives the error of a layer that fails before it calls the next function.
#[test]
fn bi_46_a_layer_s_error_before_it_calls_down_is_returned() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::explicit("a"),
                Layer::explicit("b").conf("fail", "vkCreateInstance -9"),
            ],
        );
        let outcome = scene.run(|vk| {
            let result = vk.spec().layer("VK_LAYER_a").layer("VK_LAYER_b").create().err();
            assert_eq!(result, Some(vk::Result::ERROR_INCOMPATIBLE_DRIVER));
            drop(vk.instance());
        });
        outcome.ok();
        assert_eq!(unloads(&outcome).len(), 2);
    });
}

/// LAY-242, BI-46: if a layer fails after it called the next function, the loader destroys the instances of the
/// drivers.
#[test]
fn bi_46_a_layer_s_error_after_the_drivers_succeeded_undoes_them() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::explicit("a").conf("fail-after", "vkCreateInstance -3"),
                Layer::explicit("b"),
            ],
        );
        let outcome = scene.run(|vk| {
            let result = vk.spec().layer("VK_LAYER_a").layer("VK_LAYER_b").create().err();
            assert_eq!(result, Some(vk::Result::ERROR_INITIALIZATION_FAILED));
            vk.mark("failed");
        });
        outcome.ok();
        assert_eq!(
            outcome.calls("driver", "vkDestroyInstance").len(),
            1,
            "{}",
            outcome.all()
        );
    });
}

/// LAY-244: the destruction of an instance passes through the chain, and the libraries are closed afterwards.
#[test]
fn lay_244_destruction_goes_down_the_chain_before_libraries_leave() {
    case(|scene| {
        place(scene, &[Layer::explicit("a"), Layer::explicit("b")]);
        let outcome = scene.run(|vk| {
            let instance = vk
                .spec()
                .layer("VK_LAYER_a")
                .layer("VK_LAYER_b")
                .create()
                .expect("vkCreateInstance");
            vk.mark("destroy");
            instance.destroy();
            vk.mark("gone");
        });
        outcome.ok();
        let lines = outcome.between("destroy", "gone");
        let place = |text: &str| {
            lines
                .iter()
                .position(|line| line.starts_with(text))
                .unwrap_or_else(|| panic!("no {text} in {lines:?}"))
        };
        let order = [
            place("VK_LAYER_a vkDestroyInstance"),
            place("VK_LAYER_b vkDestroyInstance"),
            place("driver vkDestroyInstance"),
            place("VK_LAYER_a unloaded"),
        ];
        assert!(order.is_sorted(), "{lines:?}");
        assert!(place("VK_LAYER_b unloaded") > order[2], "{lines:?}");
    });
}
