//! Tests of layers that call the loader while the loader calls them, on one thread and on several threads. `tests/README.md` describes the
//! long runs.

use std::thread;

use loader_tests::case;

use crate::kit::{Layer, chain, place};

/// Returns the number of rounds of each thread, and their time limit in seconds. The defaults are small. `LAYER_ROUNDS` requests a long
/// run. Its limit is higher, because the run can use a sanitizer.
fn rounds() -> (u32, u64) {
    let chosen = std::env::var("LAYER_ROUNDS").ok().and_then(|text| text.parse().ok());
    chosen.map_or((150, 60), |rounds| (rounds, 60 + 6 * u64::from(rounds)))
}

/// LAY-245: a layer can call the loader at any point, on any thread.
#[test]
fn lay_245_two_threads_create_and_destroy_instances_and_devices_with_four_layers() {
    let (rounds, limit) = rounds();
    case(move |scene| {
        let quiet = |layer: Layer| layer.without_journal();
        place(
            scene,
            &[
                quiet(
                    Layer::implicit("i")
                        .conf("reenter", "vkCreateInstance")
                        .conf("reenter", "vkCreateCommandPool"),
                ),
                quiet(Layer::explicit("w").conf("wrap", "")),
                quiet(Layer::explicit("d").conf("extra-devices", 1)),
                quiet(Layer::explicit("p").conf("probe", "").conf("reenter", "vkCreateDevice")),
            ],
        );
        scene
            .env("VK_LOADER_DEBUG", "none")
            .env("LAYER_ROUNDS", rounds.to_string());
        // A run under ThreadSanitizer needs the sanitizer's options, and finds the sanitizer's symbolizer through PATH.
        for name in ["TSAN_OPTIONS", "PATH"] {
            if let Some(value) = std::env::var_os(name) {
                scene.env(name, value);
            }
        }
        scene.limit(limit);
        let outcome = scene.run(|vk| {
            let round = || {
                let spec = vk.spec().layer("VK_LAYER_w").layer("VK_LAYER_d").layer("VK_LAYER_p");
                let instance = spec.create().expect("vkCreateInstance");
                let device = instance.device(instance.first(), &[]);
                let pool = device.pool();
                device.destroy_pool(pool);
            };
            thread::scope(|scope| {
                for _ in 0..2 {
                    scope.spawn(|| (0..rounds).for_each(|_| round()));
                }
            });
        });
        outcome.ok();
    });
}

/// LAY-245: layers can call exported functions of the loader during instance creation.
#[test]
fn lay_245_layers_may_call_the_loader_s_exports_while_an_instance_is_made() {
    case(|scene| {
        place(
            scene,
            &[Layer::explicit("a")
                .conf("reenter", "vkCreateInstance")
                .conf("reenter", "vkCreateDevice")],
        );
        let outcome = scene.run(|vk| {
            let instance = vk.spec().layer("VK_LAYER_a").create().expect("vkCreateInstance");
            drop(instance.device(instance.first(), &[]));
        });
        let calls = outcome.ok().calls("VK_LAYER_a", "reenter");
        assert_eq!(calls.len(), 2, "{}", outcome.all());
        assert!(calls.iter().all(|call| call.starts_with("good=true ")), "{calls:?}");
    });
}

/// LAY-245: a layer can create its own instance.
#[test]
fn lay_245_a_layer_may_make_an_instance_of_its_own() {
    case(|scene| {
        place(
            scene,
            &[Layer::implicit("a").conf("own-instance", ""), Layer::implicit("b")],
        );
        let outcome = scene.run(|vk| {
            assert_eq!(vk.instance().device_names(), ["gpu-driver"]);
        });
        assert_eq!(outcome.ok().calls("VK_LAYER_a", "own-instance"), ["result=0 devices=1"]);
        // The layer is also in the chain of the instance that it creates. In this chain, it creates no further instance.
        assert_eq!(
            chain(&outcome),
            ["VK_LAYER_a", "VK_LAYER_a", "VK_LAYER_b", "VK_LAYER_b"]
        );
        assert_eq!(outcome.calls("driver", "vkDestroyInstance").len(), 2);
    });
}
