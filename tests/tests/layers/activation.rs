//! Tests of the layers that are active for an application, their order, and the messages about them (LAY-130 to LAY-134, LAY-140 to
//! LAY-157).

use std::ffi::{CStr, c_char};

use loader_tests::ash::vk;
use loader_tests::{call, case};

use crate::kit::{Layer, chain, place};

/// LAY-140, LAY-145, APP-226, APP-91: the application's layers come last, in the application's order.
#[test]
fn lay_140_the_application_s_layers_come_last_in_their_order() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::implicit("i"),
                Layer::explicit("a"),
                Layer::explicit("b"),
                Layer::explicit("c"),
                Layer::explicit("d"),
            ],
        );
        scene
            .env("VK_INSTANCE_LAYERS", "VK_LAYER_c")
            .env("VK_LOADER_LAYERS_ENABLE", "VK_LAYER_d");
        let outcome = scene.run(|vk| {
            let spec = vk
                .spec()
                .layer("VK_LAYER_b")
                .layer("VK_LAYER_a")
                .layer("VK_LAYER_b")
                .layer("VK_LAYER_c");
            drop(spec.create().expect("vkCreateInstance"));
        });
        assert_eq!(
            chain(outcome.ok()),
            ["VK_LAYER_i", "VK_LAYER_c", "VK_LAYER_d", "VK_LAYER_b", "VK_LAYER_a"]
        );
    });
}

/// LAY-145: the application can enable an implicit layer that its variables disable.
#[test]
fn lay_145_the_application_enables_an_implicit_layer_that_is_off() {
    case(|scene| {
        place(
            scene,
            &[Layer::implicit("off"), Layer::implicit("on"), Layer::explicit("a")],
        );
        scene.env("DISABLE_off", "1");
        let outcome = scene.run(|vk| {
            let spec = vk.spec().layer("VK_LAYER_a").layer("VK_LAYER_off").layer("VK_LAYER_on");
            drop(spec.create().expect("vkCreateInstance"));
        });
        assert_eq!(chain(outcome.ok()), ["VK_LAYER_on", "VK_LAYER_a", "VK_LAYER_off"]);
    });
}

/// LAY-144: for an unknown layer, instance creation fails before the search for drivers.
#[test]
fn lay_144_an_unknown_layer_fails_the_call_before_drivers_are_looked_for() {
    case(|scene| {
        place(scene, &[Layer::explicit("a")]);
        let outcome = scene.run(|vk| {
            let result = vk.spec().layer("VK_LAYER_a").layer("VK_LAYER_none").create().err();
            assert_eq!(result, Some(vk::Result::ERROR_LAYER_NOT_PRESENT));
        });
        assert!(
            !outcome.ok().log("ERROR").is_empty() || !outcome.log("ERROR | LAYER").is_empty(),
            "{}",
            outcome.all()
        );
        assert!(outcome.calls("driver", "load").is_empty(), "{}", outcome.all());
    });
}

/// LAY-144: a layer name must match in every character.
#[test]
fn lay_144_layer_names_match_exactly() {
    case(|scene| {
        place(scene, &[Layer::explicit("a")]);
        scene
            .run(|vk| {
                let result = vk.spec().layer("vk_layer_A").create().err();
                assert_eq!(result, Some(vk::Result::ERROR_LAYER_NOT_PRESENT));
            })
            .ok();
    });
}

/// Creates an instance with a list of layer names that may be invalid.
fn with_names(vk: &loader_tests::Vk, count: u32, names: *const *const c_char) -> vk::Result {
    let mut instance = vk::Instance::null();
    let info = vk::InstanceCreateInfo {
        enabled_layer_count: count,
        pp_enabled_layer_names: names,
        ..Default::default()
    };
    call!(vk, PFN_vkCreateInstance(&info, std::ptr::null(), &mut instance))
}

/// LAY-144, BI-43: instance creation fails if the array of layers or a name is NULL.
#[test]
fn bi_43_a_null_array_or_name_of_layers_is_refused() {
    case(|scene| {
        place(scene, &[]);
        scene
            .run(|vk| {
                assert_eq!(with_names(vk, 1, std::ptr::null()), vk::Result::ERROR_LAYER_NOT_PRESENT);
                assert_eq!(
                    with_names(vk, 1, &std::ptr::null()),
                    vk::Result::ERROR_LAYER_NOT_PRESENT
                );
            })
            .ok();
    });
}

/// LAY-144, BI-44: instance creation fails if a layer name has no terminator.
#[test]
fn bi_44_a_layer_name_without_an_end_is_refused() {
    case(|scene| {
        place(scene, &[]);
        scene
            .run(|vk| {
                let endless = [b'x' as c_char; 4096];
                assert_eq!(
                    with_names(vk, 1, &endless.as_ptr()),
                    vk::Result::ERROR_LAYER_NOT_PRESENT
                );
            })
            .ok();
    });
}

/// LAY-144: instance creation fails if a layer name is not UTF-8.
#[test]
fn lay_144_a_layer_name_that_is_no_utf_8_is_refused() {
    case(|scene| {
        place(scene, &[Layer::explicit("a")]);
        scene
            .run(|vk| {
                let name: &CStr = c"VK_LAYER_\xff\xfe";
                assert_eq!(with_names(vk, 1, &name.as_ptr()), vk::Result::ERROR_LAYER_NOT_PRESENT);
            })
            .ok();
    });
}

/// BI-45: instance creation fails if the array of extensions is NULL.
#[test]
fn bi_45_a_null_array_of_extensions_is_refused() {
    case(|scene| {
        place(scene, &[]);
        scene
            .run(|vk| {
                let mut instance = vk::Instance::null();
                let info = vk::InstanceCreateInfo {
                    enabled_extension_count: 1,
                    ..Default::default()
                };
                let result = call!(vk, PFN_vkCreateInstance(&info, std::ptr::null(), &mut instance));
                assert_eq!(result, vk::Result::ERROR_EXTENSION_NOT_PRESENT);
            })
            .ok();
    });
}

/// LAY-131: a layer is active for every version that the application requests.
#[test]
fn lay_131_the_application_s_version_never_keeps_a_layer_out() {
    case(|scene| {
        place(
            scene,
            &[Layer::implicit("old").api("1.0.3"), Layer::implicit("new").api("1.4.0")],
        );
        let outcome = scene.run(|vk| drop(vk.spec().api("1.2").create().expect("vkCreateInstance")));
        assert_eq!(chain(outcome.ok()), ["VK_LAYER_old", "VK_LAYER_new"]);
        assert!(
            outcome.calls("VK_LAYER_old", "vkCreateInstance")[0].starts_with("api=4202496 "),
            "{}",
            outcome.all()
        );
    });
}

/// LAY-132: a layer with an older version than the application causes a warning.
#[test]
fn lay_132_a_layer_older_than_the_application_is_warned_of() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::explicit("old").api("1.1.500"),
                Layer::explicit("same").api("1.2.0"),
            ],
        );
        let outcome = scene.run(|vk| {
            let spec = vk.spec().api("1.2.9").layer("VK_LAYER_old").layer("VK_LAYER_same");
            drop(spec.create().expect("vkCreateInstance"));
        });
        outcome.ok().logged(
            "WARNING | LAYER",
            "Layer VK_LAYER_old uses API version 1.1 which is older than the application specified API version of 1.2. May \
             cause issues.",
        );
        outcome.not_logged("Layer VK_LAYER_same uses API version");
    });
}

/// LAY-132, LAY-133: the loader treats an application without a version as an application of 1.0.
#[test]
fn lay_133_without_a_version_the_application_counts_as_1_0() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::explicit("zero").api("0.9.0"),
                Layer::explicit("one").api("1.0.0"),
            ],
        );
        let outcome = scene.run(|vk| {
            let spec = vk.spec().no_application().layer("VK_LAYER_zero").layer("VK_LAYER_one");
            drop(spec.create().expect("vkCreateInstance"));
        });
        outcome.ok().logged_with(
            "WARNING | LAYER",
            "Layer VK_LAYER_zero uses API version 0.9 which is older",
        );
        outcome.not_logged("Layer VK_LAYER_one uses API version");
    });
}

/// LAY-133: a layer can raise the version that the driver receives.
#[test]
fn lay_133_a_layer_may_raise_the_version_for_the_driver() {
    case(|scene| {
        let version = vk::make_api_version(0, 1, 2, 0);
        place(scene, &[Layer::explicit("a").conf("api-version", version)]);
        let outcome = scene.run(|vk| {
            drop(
                vk.spec()
                    .api("1.1")
                    .layer("VK_LAYER_a")
                    .create()
                    .expect("vkCreateInstance"),
            );
        });
        let call = outcome.ok().calls("driver", "vkCreateInstance");
        assert!(call[0].contains("api=1.2.0"), "{call:?}");
    });
}

/// DRV-94, DRV-159: if a layer changes the application's version, the loader uses the new version after this layer in the chain.
#[test]
fn drv_094_the_version_of_a_layer_is_adopted() {
    let new = "vkGetPhysicalDeviceFeatures2";
    let old = "vkGetPhysicalDeviceFeatures";
    case(|scene| {
        let to = |minor| vk::make_api_version(0, 1, minor, 0);
        let raises = Layer::explicit("raises").conf("api-version", to(1));
        let lowers = Layer::explicit("lowers").conf("api-version", to(0));
        place(scene, &[raises, lowers]);
        for (layer, api, expected) in [("VK_LAYER_raises", "1.0", new), ("VK_LAYER_lowers", "1.1", old)] {
            let outcome = scene.run(|vk| {
                let spec = vk.spec().api(api).layer(layer);
                let instance = spec.create().expect("vkCreateInstance");
                let physical = instance.first();
                vk.mark("asked");
                let mut features = vk::PhysicalDeviceFeatures2::default();
                call!(vk, PFN_vkGetPhysicalDeviceFeatures2(physical, &mut features));
                vk.mark("answered");
            });
            let lines = outcome.ok().between("asked", "answered");
            assert!(
                lines.len() == 1 && lines[0].starts_with(&format!("driver {expected} ")),
                "{lines:?}\n{}",
                outcome.all()
            );
        }
    });
}

/// LAY-147, BI-55: the layer names in a device's create info are ignored, with a warning.
#[test]
fn lay_147_layer_names_of_a_device_are_ignored_with_a_warning() {
    case(|scene| {
        place(scene, &[Layer::explicit("a"), Layer::explicit("b")]);
        let warning = "loader_create_device_chain: Using deprecated and ignored 'ppEnabledLayerNames' member of \
                       'VkDeviceCreateInfo' when creating a Vulkan device.";
        let outcome = scene.run(|vk| {
            let instance = vk.spec().layer("VK_LAYER_a").create().expect("vkCreateInstance");
            drop(
                instance
                    .device_spec(instance.first())
                    .layer("VK_LAYER_b")
                    .create()
                    .expect("vkCreateDevice"),
            );
        });
        outcome.ok().logged("WARNING", warning);
        assert_eq!(crate::kit::device_chain(&outcome), ["VK_LAYER_a"]);
    });
}

/// LAY-147: a device with the same layer names as its instance causes no warning.
#[test]
fn lay_147_the_instance_s_own_layers_are_not_warned_of() {
    case(|scene| {
        place(scene, &[Layer::explicit("a")]);
        let outcome = scene.run(|vk| {
            let instance = vk.spec().layer("VK_LAYER_a").create().expect("vkCreateInstance");
            drop(
                instance
                    .device_spec(instance.first())
                    .layer("VK_LAYER_a")
                    .create()
                    .expect("vkCreateDevice"),
            );
        });
        outcome.ok().not_logged("Using deprecated and ignored");
    });
}

/// LAY-142: an unknown name in `VK_INSTANCE_LAYERS` causes an error line, and instance creation succeeds.
#[test]
fn lay_142_an_unknown_name_in_instance_layers_is_an_error_in_the_log_only() {
    case(|scene| {
        place(scene, &[Layer::explicit("a")]);
        scene.env("VK_INSTANCE_LAYERS", "VK_LAYER_none:VK_LAYER_a");
        let outcome = scene.run(|vk| drop(vk.instance()));
        assert_eq!(chain(outcome.ok()), ["VK_LAYER_a"]);
        outcome.logged(
            "ERROR | LAYER",
            "Layer \"VK_LAYER_none\" was not found but was requested by env var VK_INSTANCE_LAYERS!",
        );
    });
}

/// BI-50: an instance works with forty layers.
#[test]
fn bi_50_forty_layers_work() {
    case(|scene| {
        let layers: Vec<_> = (0..40).map(|index| Layer::explicit(&format!("n{index:02}"))).collect();
        place(scene, &layers);
        scene.limit(40);
        let outcome = scene.run(|vk| {
            let names: Vec<String> = (0..40).map(|index| format!("VK_LAYER_n{index:02}")).collect();
            let spec = names.iter().fold(vk.spec(), |spec, name| spec.layer(name));
            let instance = spec.create().expect("vkCreateInstance");
            drop(instance.device(instance.first(), &[]));
        });
        assert_eq!(chain(outcome.ok()).len(), 40);
        assert_eq!(crate::kit::device_chain(&outcome).len(), 40);
    });
}
