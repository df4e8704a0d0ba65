//! Tests of commands that the loader does not know (LAY-300 to LAY-314).

use loader_tests::ash::vk;
use loader_tests::ash::vk::Handle;
use loader_tests::case;
use loader_tests::vk::{Commands, Device, Instance};

use crate::kit::{Layer, place};

/// The signature of the mock layer's own commands, with any dispatchable handle and a number.
type Own = unsafe extern "system" fn(handle: u64, argument: u32) -> u32;

/// Calls an own command of a mock layer at this address.
#[track_caller]
fn call_own(address: usize, handle: u64, argument: u32) -> u32 {
    assert_ne!(address, 0, "the command was not found");
    // SAFETY: the mock layer's own commands have this signature, and the loader passes all arguments on.
    unsafe { std::mem::transmute::<usize, Own>(address)(handle, argument) }
}

/// Looks up a command of a physical device through the instance, and calls the command.
#[track_caller]
pub(crate) fn number(instance: &Instance<'_>, name: &str, device: vk::PhysicalDevice, argument: u32) -> u32 {
    call_own(instance.vk.get(instance.raw, name), device.as_raw(), argument)
}

/// Looks up a command through the device, and calls the command on the device.
#[track_caller]
pub(crate) fn device_number(device: &Device<'_>, name: &str, argument: u32) -> u32 {
    call_own(device.address(name), device.raw.as_raw(), argument)
}

/// LAY-301, LAY-302, LAY-303: an unknown physical-device command of a layer receives the layer's handle.
#[test]
fn lay_301_a_layer_s_physical_device_command_is_reached_with_the_layer_s_handle() {
    case(|scene| {
        place(
            scene,
            &[Layer::explicit("a")
                .conf("own-physical-command", "vkMockPhysical")
                .conf("own-result", 100)
                .conf("wrap", "")],
        );
        let outcome = scene.run(|vk| {
            let instance = vk.spec().layer("VK_LAYER_a").create().expect("vkCreateInstance");
            assert_eq!(number(&instance, "vkMockPhysical", instance.first(), 11), 111);
            let again = vk.get(instance.raw, "vkMockPhysical");
            assert_eq!(
                vk.get(instance.raw, "vkMockPhysical"),
                again,
                "the same trampoline each time"
            );
        });
        assert_eq!(outcome.ok().calls("VK_LAYER_a", "own"), ["wrapper argument=11"]);
    });
}

/// LAY-302: the layer closest to the application answers an unknown physical-device command.
#[test]
fn lay_302_the_application_most_layer_answers() {
    case(|scene| {
        let layer = |short: &str, result: u32| {
            Layer::explicit(short)
                .conf("own-physical-command", "vkMockPhysical")
                .conf("own-result", result)
        };
        place(scene, &[Layer::explicit("top"), layer("a", 10), layer("b", 20)]);
        let outcome = scene.run(|vk| {
            let spec = vk.spec().layer("VK_LAYER_top").layer("VK_LAYER_a").layer("VK_LAYER_b");
            let instance = spec.create().expect("vkCreateInstance");
            assert_eq!(number(&instance, "vkMockPhysical", instance.first(), 1), 11);
        });
        outcome.ok();
    });
}

/// LAY-301: an unknown physical-device command of a driver works through wrapping layers.
#[test]
fn lay_301_a_driver_s_physical_device_command_passes_through_wrapping_layers() {
    case(|scene| {
        scene.usual_driver("driver").unknown_physical("vkMockPhysical");
        Layer::explicit("a")
            .folder(crate::kit::EXPLICIT)
            .conf("wrap", "")
            .conf("intercept", "vkMockPhysical")
            .put(scene);
        let outcome = scene.run(|vk| {
            let instance = vk.spec().layer("VK_LAYER_a").create().expect("vkCreateInstance");
            assert!(number(&instance, "vkMockPhysical", instance.first(), 5) >= 1000);
        });
        assert_eq!(
            outcome.ok().calls("VK_LAYER_a", "vkMockPhysical").len(),
            1,
            "{}",
            outcome.all()
        );
        assert_eq!(outcome.calls("driver", "unknown").len(), 1, "{}", outcome.all());
    });
}

/// LAY-302: an unknown physical-device command that the device's driver lacks aborts the process.
#[test]
fn lay_302_a_driver_without_the_command_ends_the_process() {
    case(|scene| {
        scene.driver("with").unknown_physical("vkMockPhysical").device("has");
        scene.driver("without").device("lacks");
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            let command = vk.get(instance.raw, "vkMockPhysical");
            assert!(call_own(command, instance.named("has").as_raw(), 1) >= 1000);
            call_own(command, instance.named("lacks").as_raw(), 1);
        });
        outcome.crashed().logged_with(
            "ERROR",
            "Function vkMockPhysical not supported for this physical device",
        );
    });
}

/// LAY-300, LAY-301: the look-up returns NULL for a name that no layer and no driver knows.
#[test]
fn lay_300_what_no_layer_and_no_driver_implements_is_null() {
    case(|scene| {
        place(scene, &[Layer::explicit("a")]);
        let outcome = scene.run(|vk| {
            let instance = vk.spec().layer("VK_LAYER_a").create().expect("vkCreateInstance");
            assert_eq!(vk.get(instance.raw, "vkNobody"), 0);
            assert_eq!(vk.get(instance.raw, ""), 0);
        });
        outcome.ok();
    });
}

/// LAY-310, LAY-312, LAY-313: `vkGetInstanceProcAddr` finds a device command that a layer's instance look-up returns.
#[test]
fn lay_310_a_layer_s_device_command_is_found_through_its_instance_look_up() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::explicit("top").conf("wrap", ""),
                Layer::explicit("a")
                    .conf("own-device-command", "vkMockDevice")
                    .conf("own-result", 7),
            ],
        );
        let outcome = scene.run(|vk| {
            let instance = vk
                .spec()
                .layer("VK_LAYER_top")
                .layer("VK_LAYER_a")
                .create()
                .expect("vkCreateInstance");
            let early = instance.device(instance.first(), &[]);
            let command = vk.get(instance.raw, "vkMockDevice");
            assert_eq!(
                call_own(command, early.raw.as_raw(), 1),
                8,
                "asked for after the device was made"
            );
            let late = instance.device(instance.first(), &[]);
            assert_eq!(
                call_own(command, late.raw.as_raw(), 2),
                9,
                "asked for before the device was made"
            );
            assert_eq!(
                vk.get(instance.raw, "vkMockDevice"),
                command,
                "the same trampoline each time"
            );
            assert_eq!(device_number(&late, "vkMockDevice", 3), 10);
        });
        outcome.ok();
    });
}

/// LAY-310, LAY-105: `vkGetInstanceProcAddr` finds a device command that a layer's manifest lists.
#[test]
fn lay_310_an_entry_point_of_a_manifest_makes_a_device_command_known() {
    case(|scene| {
        let extension =
            r#"[{"name": "VK_EXT_mock", "spec_version": "1", "entrypoints": ["vkMockDevice", 5, "vkMockLate"]}]"#;
        place(
            scene,
            &[Layer::explicit("a")
                .member("device_extensions", extension)
                .conf("own-device-command", "vkMock*")
                .conf("own-device-only", "")
                .conf("own-result", 30)],
        );
        let outcome = scene.run(|vk| {
            let instance = vk.spec().layer("VK_LAYER_a").create().expect("vkCreateInstance");
            let device = instance.device(instance.first(), &["VK_EXT_mock"]);
            assert_eq!(
                call_own(vk.get(instance.raw, "vkMockDevice"), device.raw.as_raw(), 4),
                34
            );
            assert_eq!(
                vk.get(instance.raw, "vkMockLate"),
                0,
                "the list ends at what is no string"
            );
        });
        outcome.ok();
    });
}

/// LAY-290, LAY-313: an unknown device command returns an error if no layer or driver in the device's chain has the command.
#[test]
fn lay_313_a_slot_that_the_chain_does_not_fill_answers_with_an_error() {
    case(|scene| {
        let extension = r#"[{"name": "VK_EXT_mock", "spec_version": "1", "entrypoints": ["vkMockDevice"]}]"#;
        place(scene, &[Layer::explicit("a").member("device_extensions", extension)]);
        let outcome = scene.run(|vk| {
            let instance = vk.spec().layer("VK_LAYER_a").create().expect("vkCreateInstance");
            let device = instance.device(instance.first(), &[]);
            let command = vk.get(instance.raw, "vkMockDevice");
            let result = call_own(command, device.raw.as_raw(), 4) as i32;
            assert_eq!(result, vk::Result::ERROR_EXTENSION_NOT_PRESENT.as_raw());
        });
        let lines = outcome.ok().log("ERROR").len();
        assert!(lines > 0, "{}", outcome.all());
    });
}

/// LAY-301, BI-50: an instance has space for 250 unknown physical-device commands.
#[test]
fn lay_301_there_are_250_physical_device_names_per_instance() {
    case(|scene| {
        place(
            scene,
            &[Layer::explicit("a")
                .conf("own-physical-command", "vkMock*")
                .conf("own-result", 1)],
        );
        let outcome = scene.run(|vk| {
            for _ in 0..2 {
                let instance = vk.spec().layer("VK_LAYER_a").create().expect("vkCreateInstance");
                for index in 0..250 {
                    assert_ne!(vk.get(instance.raw, &format!("vkMock{index}")), 0, "{index}");
                }
                assert_eq!(vk.get(instance.raw, "vkMock250"), 0);
                assert_eq!(number(&instance, "vkMock249", instance.first(), 1), 2);
                assert_ne!(vk.get(instance.raw, "vkMock0"), 0);
            }
        });
        outcome.ok();
    });
}

/// LAY-311, BI-50: an instance has space for 250 unknown device commands.
#[test]
fn lay_311_there_are_250_device_names_per_instance() {
    case(|scene| {
        place(
            scene,
            &[Layer::explicit("a")
                .conf("own-device-command", "vkMock*")
                .conf("own-result", 1)],
        );
        let outcome = scene.run(|vk| {
            let instance = vk.spec().layer("VK_LAYER_a").create().expect("vkCreateInstance");
            for index in 0..250 {
                assert_ne!(vk.get(instance.raw, &format!("vkMock{index}")), 0, "{index}");
            }
            assert_eq!(vk.get(instance.raw, "vkMock250"), 0);
            let device = instance.device(instance.first(), &[]);
            assert_eq!(call_own(vk.get(instance.raw, "vkMock249"), device.raw.as_raw(), 1), 2);
        });
        assert!(!outcome.ok().log("ERROR").is_empty(), "{}", outcome.all());
    });
}

/// LAY-314: a look-up by a layer does not reach the layers again.
#[test]
fn lay_314_layers_are_not_asked_again_from_below() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::explicit("a").conf("lookups", ""),
                Layer::explicit("b").conf("lookups", ""),
            ],
        );
        let outcome = scene.run(|vk| {
            let instance = vk
                .spec()
                .layer("VK_LAYER_a")
                .layer("VK_LAYER_b")
                .create()
                .expect("vkCreateInstance");
            vk.mark("ask");
            assert_eq!(vk.get(instance.raw, "vkNobody"), 0);
            vk.mark("asked");
        });
        outcome.ok();
        let lines = outcome.between("ask", "asked");
        for layer in [
            "VK_LAYER_a gipa vkNobody",
            "VK_LAYER_b gipa vkNobody",
            "VK_LAYER_a gpdpa vkNobody",
        ] {
            let count = lines.iter().filter(|line| line.starts_with(layer)).count();
            assert!(count <= 1, "{layer}: {lines:?}");
        }
    });
}

/// The look-up function of a layer's library. Tests call this function in the same way as the layer's own code.
type LookUp =
    unsafe extern "system" fn(instance: vk::Instance, name: *const std::ffi::c_char) -> vk::PFN_vkVoidFunction;

/// LAY-241, LAY-313: if a layer looks up a device command of the next layer, the pointer works on devices created before and after the
/// look-up. The pointer works even if no other code looks up the command.
#[test]
fn lay_241_a_device_command_that_a_layer_asks_for_late_works_on_earlier_devices() {
    case(|scene| {
        scene.usual_driver("driver").unknown_device("vkMockDevice");
        Layer::explicit("a").folder(crate::kit::EXPLICIT).put(scene);
        let outcome = scene.run(|vk| {
            let instance = vk.spec().layer("VK_LAYER_a").create().expect("vkCreateInstance");
            let early = instance.device(instance.first(), &[]);
            let ask: LookUp = vk.exported("libraries/liblayer_a.so", c"vkGetInstanceProcAddr");
            // SAFETY: the layer knows the instance. The handle of the instance is the same for every layer. The name is a C string.
            let command = unsafe { ask(instance.raw, c"vkMockDevice".as_ptr()) }.map_or(0, |command| command as usize);
            assert!(call_own(command, early.raw.as_raw(), 1) >= 1000);
            let late = instance.device(instance.first(), &[]);
            assert!(call_own(command, late.raw.as_raw(), 2) >= 1000);
        });
        assert_eq!(outcome.ok().calls("driver", "unknown").len(), 2, "{}", outcome.all());
    });
}
