//! Tests that make each single allocation fail, with layers in the chain (APP-174, APP-179a).

use loader_tests::ash::vk;
use loader_tests::vk::{Allocator, Messages};
use loader_tests::{Scene, Vk, case};

use crate::kit::{Layer, place};
use crate::settings::{MARKER, entry, listed, settings};

const OOM: vk::Result = vk::Result::ERROR_OUT_OF_HOST_MEMORY;

/// Creates an instance with the layers in `names`, and a device, again and again. Run `n` refuses allocation `n`. Stops at the first run
/// that makes fewer than `n` allocations.
fn use_up(vk: &Vk, names: &[&str]) {
    for number in 1..4000 {
        let allocator = Allocator::failing_at(number);
        let messages = Messages::default();
        let info = messages.create_info();
        let spec = names.iter().fold(vk.spec(), |spec, name| spec.layer(name));
        let created = spec
            .api("1.1")
            .extensions(&["VK_EXT_debug_utils"])
            .next(&info)
            .allocator(&allocator)
            .create();
        let result = created.and_then(|instance| {
            let result = instance.devices().and_then(|devices| {
                let device = instance.device_spec(devices[0]).allocator(&allocator).create();
                device.map(drop)
            });
            instance.destroy();
            result
        });
        assert_eq!(allocator.live(), 0, "allocation {number} left blocks behind");
        match result {
            Ok(()) if allocator.count() < number => return,
            Ok(()) => panic!("allocation {number} was refused, and the call succeeded"),
            Err(error) => assert_eq!(error, OOM, "allocation {number}"),
        }
    }
    panic!("no success in 4000 attempts");
}

fn drivers(scene: &mut Scene) {
    scene.limit(120).env("VK_LOADER_DEBUG", "");
    scene.usual_driver("a");
    scene.usual_driver("b");
}

fn quiet(layer: Layer) -> Layer {
    layer.without_journal()
}

/// APP-174, APP-179a: whichever single allocation fails, creating an instance and a device fails with out of memory, with one layer,
/// implicit or explicit.
#[test]
fn app_174_every_allocation_with_one_layer() {
    case(|scene| {
        drivers(scene);
        place(scene, &[quiet(Layer::implicit("a")), quiet(Layer::explicit("b"))]);
        scene.run(|vk| use_up(vk, &[])).ok();
        scene.env("DISABLE_a", "1");
        scene.run(|vk| use_up(vk, &["VK_LAYER_b"])).ok();
    });
}

/// APP-174, APP-179a: whichever single allocation fails, creating an instance and a device fails with out of memory, with several layers.
/// The application and a variable request the layers, and one layer is a meta-layer.
#[test]
fn app_174_every_allocation_with_several_layers() {
    case(|scene| {
        drivers(scene);
        place(
            scene,
            &[
                quiet(Layer::implicit("a")),
                quiet(Layer::explicit("b")),
                quiet(Layer::explicit("c")),
                quiet(Layer::meta("m", &["VK_LAYER_b", "VK_LAYER_c"])),
            ],
        );
        scene.run(|vk| use_up(vk, &["VK_LAYER_m"])).ok();
        scene.env("VK_INSTANCE_LAYERS", "VK_LAYER_c");
        scene.run(|vk| use_up(vk, &["VK_LAYER_b"])).ok();
    });
}

/// APP-174: whichever single allocation fails, creating an instance and a device fails with out of memory, with layers that a settings file
/// enables.
#[test]
fn app_174_every_allocation_with_layers_of_a_settings_file() {
    case(|scene| {
        drivers(scene);
        place(
            scene,
            &[quiet(Layer::implicit("a")), quiet(listed("s")), quiet(listed("t"))],
        );
        settings(scene, &[entry("s", "on"), MARKER.into(), entry("t", "on")]);
        scene.run(|vk| use_up(vk, &[])).ok();
    });
}
