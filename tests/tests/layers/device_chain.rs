//! Tests of the chain of `vkCreateDevice`, and of devices that layers create for themselves (LAY-280 to LAY-294).

use std::ptr;

use loader_tests::ash::vk;
use loader_tests::vk::Commands;
use loader_tests::{Outcome, Scene, call, case, shown_address};

use crate::kit::{Layer, chain, device_chain, place};

/// Creates an instance with the layers in `names`, and a device.
fn device_of(scene: &mut Scene, names: &'static [&'static str]) -> Outcome {
    let outcome = scene.run(|vk| {
        let instance = names
            .iter()
            .fold(vk.spec(), |spec, name| spec.layer(name))
            .create()
            .expect("vkCreateInstance");
        drop(instance.device(instance.first(), &[]));
    });
    outcome.ok();
    outcome
}

/// LAY-280, LAY-283, LAY-263, LAY-5: the device chain contains the layers of the instance.
#[test]
fn lay_280_the_layers_of_the_instance_are_in_the_device_chain() {
    case(|scene| {
        place(scene, &[Layer::explicit("a"), Layer::explicit("b")]);
        let outcome = device_of(scene, &["VK_LAYER_b", "VK_LAYER_a"]);
        assert_eq!(device_chain(&outcome), ["VK_LAYER_b", "VK_LAYER_a"]);
        let library = scene.text_path("libraries/liblayer_a.so");
        outcome.logged(
            "INFO | LAYER",
            &format!("Inserted device layer \"VK_LAYER_a\" ({library})"),
        );
        assert_eq!(outcome.calls("VK_LAYER_a", "vkDestroyDevice").len(), 1);
    });
}

/// LAY-281, LAY-282, BI-49: a layer without a device look-up is not in the device chain.
#[test]
fn lay_281_a_layer_without_a_device_look_up_is_left_out_of_the_device_chain() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::explicit("a")
                    .conf("negotiate-null", "gdpa")
                    .hide("vkGetDeviceProcAddr"),
                Layer::explicit("b"),
            ],
        );
        let outcome = device_of(scene, &["VK_LAYER_a", "VK_LAYER_b"]);
        assert_eq!(chain(&outcome), ["VK_LAYER_a", "VK_LAYER_b"]);
        assert_eq!(device_chain(&outcome), ["VK_LAYER_b"]);
        let library = scene.text_path("libraries/liblayer_a.so");
        outcome.logged(
            "INFO | LAYER",
            &format!("Failed to find vkGetDeviceProcAddr in layer \"{library}\""),
        );
    });
}

/// LAY-284, LAY-222: the loader's structures precede the application's structures in the chain of the create info.
#[test]
fn lay_284_the_loader_s_nodes_come_in_front_of_the_application_s() {
    case(|scene| {
        place(scene, &[Layer::explicit("a"), Layer::explicit("b")]);
        let outcome = scene.run(|vk| {
            let instance = vk
                .spec()
                .layer("VK_LAYER_a")
                .layer("VK_LAYER_b")
                .create()
                .expect("vkCreateInstance");
            let own = vk::PhysicalDeviceVulkan11Features::default();
            drop(
                instance
                    .device_spec(instance.first())
                    .next(&own)
                    .create()
                    .expect("vkCreateDevice"),
            );
        });
        outcome.ok();
        for name in ["VK_LAYER_a", "VK_LAYER_b"] {
            let call = outcome.calls(name, "vkCreateDevice");
            assert!(call[0].contains("nodes=[data link app:49] device=set"), "{call:?}");
        }
    });
}

/// LAY-285: device creation fails if the first layer does not return `vkCreateDevice`.
#[test]
fn lay_285_a_layer_without_create_device_fails_the_call() {
    case(|scene| {
        place(scene, &[Layer::explicit("a").conf("answer-null", "vkCreateDevice")]);
        let outcome = scene.run(|vk| {
            let instance = vk.spec().layer("VK_LAYER_a").create().expect("vkCreateInstance");
            let result = instance.device_spec(instance.first()).create().err();
            assert_eq!(result, Some(vk::Result::ERROR_INITIALIZATION_FAILED));
        });
        outcome.ok();
    });
}

/// LAY-286, BI-47: a layer that overwrites the device handle before it calls the next function aborts the process.
#[test]
fn bi_47_a_device_overwritten_on_the_way_down_ends_the_process() {
    case(|scene| {
        place(scene, &[Layer::explicit("a").conf("clobber", "device")]);
        let outcome = scene.run(|vk| {
            let instance = vk.spec().layer("VK_LAYER_a").create().expect("vkCreateInstance");
            drop(instance.device_spec(instance.first()).create());
        });
        let text = format!(
            "has invalid MAGIC value {}. The expected value is 0x10ADED040410ADED. Device value possibly corrupted by active \
             layer (Policy #LLP_LAYER_22).",
            crate::kit::GARBAGE
        );
        outcome
            .aborted(&format!(
                "terminator_CreateDevice: Device pointer ({}",
                &shown_address(0)[..2]
            ))
            .logged_with("ERROR", &text);
    });
}

/// LAY-287: layers and drivers receive their own handles of a group's devices, and the application's list remains unchanged.
#[test]
fn lay_287_the_devices_of_a_group_are_unwrapped_and_the_application_s_list_stays() {
    case(|scene| {
        place(scene, &[Layer::explicit("a"), Layer::explicit("w").conf("wrap", "")]);
        let outcome = scene.run(|vk| {
            let spec = vk.spec().api("1.1").layer("VK_LAYER_a").layer("VK_LAYER_w");
            let instance = spec.create().expect("vkCreateInstance");
            let devices = [instance.first()];
            let group = vk::DeviceGroupDeviceCreateInfo::default().physical_devices(&devices);
            drop(
                instance
                    .device_spec(devices[0])
                    .next(&group)
                    .create()
                    .expect("vkCreateDevice"),
            );
            assert_eq!(group.p_physical_devices, devices.as_ptr());
            assert_eq!(devices, [instance.first()]);
        });
        // The driver ends the process if it receives a physical device that it did not create.
        assert_eq!(outcome.ok().calls("VK_LAYER_a", "device-group"), ["devices=1"]);
        assert_eq!(outcome.calls("VK_LAYER_w", "device-group"), ["devices=1"]);
    });
}

/// LAY-288, LAY-289: the driver does not receive device extensions that only layers have.
#[test]
fn lay_288_extensions_of_layers_do_not_reach_the_driver() {
    case(|scene| {
        let extension = r#"[{"name": "VK_EXT_of_layer", "spec_version": "1"}]"#;
        place(scene, &[Layer::explicit("a").member("device_extensions", extension)]);
        let outcome = scene.run(|vk| {
            let instance = vk.spec().layer("VK_LAYER_a").create().expect("vkCreateInstance");
            drop(instance.device(instance.first(), &["VK_EXT_of_layer", "VK_KHR_swapchain"]));
        });
        outcome.ok().logged_with(
            "DEBUG | DRIVER",
            "vkCreateDevice extension VK_EXT_of_layer not available",
        );
        let call = outcome.ok().calls("driver", "vkCreateDevice")[0];
        assert!(
            call.contains("VK_KHR_swapchain") && !call.contains("VK_EXT_of_layer"),
            "{call}"
        );
        assert!(outcome.calls("VK_LAYER_a", "vkCreateDevice")[0].contains("[VK_EXT_of_layer,VK_KHR_swapchain]"));
    });
}

/// LAY-289: the loader refuses a device extension that no driver and no layer has.
#[test]
fn lay_289_an_extension_that_no_driver_and_no_layer_has_is_refused() {
    case(|scene| {
        place(
            scene,
            &[Layer::explicit("a").member("device_extensions", r#"[{"name": "VK_EXT_of_layer"}]"#)],
        );
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            let result = instance
                .device_spec(instance.first())
                .extensions(&["VK_EXT_of_layer"])
                .create()
                .err();
            assert_eq!(result, Some(vk::Result::ERROR_EXTENSION_NOT_PRESENT));
        });
        outcome.ok();
    });
}

/// LAY-289, LAY-324, APP-130: the application can enable each device extension that the layer chain reports.
#[test]
fn lay_289_an_extension_that_the_chain_reports_may_be_asked_for() {
    case(|scene| {
        place(
            scene,
            &[Layer::explicit("a")
                .conf("device-extension", "VK_EXT_reported 3")
                .conf("advertise", "")],
        );
        let outcome = scene.run(|vk| {
            let instance = vk.spec().layer("VK_LAYER_a").create().expect("vkCreateInstance");
            let names = instance.device_extensions(instance.first()).expect("extensions");
            assert!(names.contains(&"VK_EXT_reported".into()), "{names:?}");
            drop(instance.device(instance.first(), &["VK_EXT_reported"]));
        });
        outcome.ok();
    });
}

/// LAY-288: the driver receives a device extension that a layer adds to the create info.
#[test]
fn lay_288_an_extension_that_a_layer_asks_for_reaches_the_driver() {
    case(|scene| {
        place(
            scene,
            &[Layer::explicit("a").conf("add-device-extension", "VK_KHR_swapchain")],
        );
        let outcome = device_of(scene, &["VK_LAYER_a"]);
        assert!(
            outcome.calls("driver", "vkCreateDevice")[0].contains("VK_KHR_swapchain"),
            "{}",
            outcome.all()
        );
    });
}

/// LAY-291: at the end of the layer chain, the look-up returns NULL for terminators of extensions that are not enabled.
#[test]
fn lay_291_terminators_of_disabled_extensions_are_not_answered() {
    case(|scene| {
        place(scene, &[Layer::explicit("a")]);
        let outcome = scene.run(|vk| {
            let instance = vk
                .spec()
                .layer("VK_LAYER_a")
                .extensions(&["VK_KHR_surface"])
                .create()
                .expect("vkCreateInstance");
            let without = instance.device(instance.first(), &[]);
            assert_eq!(without.address("vkCreateSwapchainKHR"), 0);
            let with = instance.device(instance.first(), &["VK_KHR_swapchain"]);
            assert_ne!(with.address("vkCreateSwapchainKHR"), 0);
        });
        outcome.ok();
    });
}

/// LAY-292, LAY-293, APP-150: a layer can create devices that use only the next layers.
#[test]
fn lay_292_a_layer_makes_devices_on_the_layers_below_it() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::explicit("a"),
                Layer::explicit("b").conf("extra-devices", 2),
                Layer::explicit("c"),
            ],
        );
        let outcome = device_of(scene, &["VK_LAYER_a", "VK_LAYER_b", "VK_LAYER_c"]);
        let made = "VK_LAYER_a VK_LAYER_b VK_LAYER_c VK_LAYER_c VK_LAYER_c";
        assert_eq!(device_chain(&outcome).join(" "), made);
        assert_eq!(
            outcome.calls("VK_LAYER_b", "extra-device"),
            [
                "result=0 gdpa=true queue=true",
                "result=0 gdpa=true queue=true",
                "destroy=true",
                "destroy=true"
            ]
        );
        assert_eq!(outcome.calls("driver", "vkCreateDevice").len(), 3);
        assert_eq!(outcome.calls("driver", "vkDestroyDevice").len(), 3);
    });
}

/// LAY-292, LAY-293, APP-150: the last layer can create devices too.
#[test]
fn lay_292_the_lowest_layer_may_make_devices_too() {
    case(|scene| {
        place(
            scene,
            &[Layer::explicit("a"), Layer::explicit("b").conf("extra-devices", 1)],
        );
        let outcome = device_of(scene, &["VK_LAYER_a", "VK_LAYER_b"]);
        assert_eq!(device_chain(&outcome), ["VK_LAYER_a", "VK_LAYER_b"]);
        assert_eq!(outcome.calls("driver", "vkCreateDevice").len(), 2);
    });
}

/// LAY-292, APP-150: a layer can create a device during the creation of its instance.
#[test]
fn lay_292_a_layer_makes_a_device_while_its_instance_is_made() {
    case(|scene| {
        place(
            scene,
            &[Layer::explicit("a").conf("instance-devices", 1), Layer::explicit("b")],
        );
        let outcome = scene.run(|vk| {
            drop(
                vk.spec()
                    .layer("VK_LAYER_a")
                    .layer("VK_LAYER_b")
                    .create()
                    .expect("vkCreateInstance"),
            );
        });
        assert_eq!(device_chain(outcome.ok()), ["VK_LAYER_b"]);
        assert_eq!(
            outcome.calls("VK_LAYER_a", "extra-device"),
            ["result=0 gdpa=true queue=true", "destroy=true"]
        );
    });
}

/// LAY-292: devices that a layer creates for itself work among layers that wrap handles.
#[test]
fn lay_292_extra_devices_work_between_wrapping_layers() {
    case(|scene| {
        let wrapping = |short: &str| Layer::explicit(short).conf("wrap", "").conf("extra-devices", 1);
        place(scene, &[wrapping("a"), wrapping("b")]);
        let outcome = device_of(scene, &["VK_LAYER_a", "VK_LAYER_b"]);
        // The driver has four devices: the application's device, an extra device of layer a, and an extra device of layer b for each of
        // these two devices.
        assert_eq!(outcome.calls("driver", "vkCreateDevice").len(), 4, "{}", outcome.all());
        assert_eq!(outcome.calls("driver", "vkDestroyDevice").len(), 4, "{}", outcome.all());
    });
}

/// LAY-293: destroying a NULL device does nothing, and reaches no layer.
#[test]
fn lay_293_destroying_no_device_does_nothing() {
    case(|scene| {
        place(scene, &[Layer::explicit("a")]);
        let outcome = scene.run(|vk| {
            let instance = vk.spec().layer("VK_LAYER_a").create().expect("vkCreateInstance");
            call!(instance, PFN_vkDestroyDevice(vk::Device::null(), ptr::null()));
        });
        assert!(outcome.ok().calls("VK_LAYER_a", "vkDestroyDevice").is_empty());
    });
}

/// LAY-294: a failed device creation leaves no object or memory.
#[test]
fn lay_294_a_failed_device_leaves_nothing_behind() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::explicit("a").conf("fail", "vkCreateDevice -4"),
                Layer::explicit("b"),
            ],
        );
        let outcome = scene.run(|vk| {
            let instance = vk
                .spec()
                .layer("VK_LAYER_a")
                .layer("VK_LAYER_b")
                .create()
                .expect("vkCreateInstance");
            for _ in 0..3 {
                let result = instance.device_spec(instance.first()).create().err();
                assert_eq!(result, Some(vk::Result::ERROR_DEVICE_LOST));
            }
        });
        outcome.ok();
    });
}

/// LAY-294: a driver's error reaches the application through the layers.
#[test]
fn lay_294_a_driver_s_error_comes_up_through_the_chain() {
    case(|scene| {
        scene
            .driver("driver")
            .device("gpu")
            .fail("vkCreateDevice", vk::Result::ERROR_TOO_MANY_OBJECTS.as_raw());
        Layer::explicit("a").folder(crate::kit::EXPLICIT).put(scene);
        let outcome = scene.run(|vk| {
            let instance = vk.spec().layer("VK_LAYER_a").create().expect("vkCreateInstance");
            let result = instance.device_spec(instance.first()).create().err();
            assert_eq!(result, Some(vk::Result::ERROR_TOO_MANY_OBJECTS));
        });
        outcome.ok();
    });
}
