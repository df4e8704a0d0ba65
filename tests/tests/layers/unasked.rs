//! Tests that the loader does not search for explicit layers if there is no log, and neither the application nor a file or variable
//! requests an explicit layer. All other functions of layers work.

use std::ffi::CStr;

use loader_tests::ash::vk;
use loader_tests::vk::{Allocator, Instance, Messages, two_call};
use loader_tests::{Scene, call, case};

use crate::enumeration::{extensions, of_device};
use crate::kit::{EXPLICIT, IMPLICIT, Layer, list, place};
use crate::meta::active;
use crate::scan_cache::reads_of;
use crate::settings::{MARKER, entry, listed, settings};
use loader_tests::settle;

const OOM: vk::Result = vk::Result::ERROR_OUT_OF_HOST_MEMORY;

/// Prepares a scene that contains `layers` and whose children have no log.
fn quiet(scene: &mut Scene, layers: &[Layer]) {
    scene.unset("VK_LOADER_DEBUG");
    place(scene, layers);
}

/// LAY-140, LAY-24: the loader reads manifests of explicit layers only for an instance that can request such a layer.
#[test]
fn lay_140_explicit_manifests_are_read_where_something_may_ask() {
    const MANIFESTS: usize = 20;
    case(|scene| {
        quiet(scene, &[]);
        for number in 0..MANIFESTS {
            Layer::explicit(&format!("e{number}")).folder(EXPLICIT).put(scene);
        }
        let outcome = scene.run(|vk| {
            // The loader does not rely on the times of files that changed less than two seconds ago. Without this wait, the number of reads
            // depends on the machine.
            settle();
            let plain = || reads_of(|| drop(vk.instance()));
            plain();
            let unasked = plain();
            assert_eq!(plain(), unasked);
            let every_manifest = unasked + MANIFESTS as u64;
            for variable in ["VK_INSTANCE_LAYERS", "VK_LOADER_LAYERS_ENABLE"] {
                vk.set_env(variable, Some("VK_LAYER_none"));
                assert_eq!(plain(), every_manifest, "{variable}");
                vk.set_env(variable, Some(""));
                assert_eq!(plain(), unasked, "{variable}");
                vk.set_env(variable, None);
            }
            let refused = || assert!(vk.spec().layer("VK_LAYER_none").create().is_err());
            assert!(reads_of(refused) >= MANIFESTS as u64);
            let messages = Messages::default();
            let info = messages.create_info();
            let heard = || {
                let spec = vk.spec().extensions(&["VK_EXT_debug_utils"]).next(&info);
                drop(spec.create().expect("vkCreateInstance"));
            };
            assert!(reads_of(heard) >= every_manifest);
            let told = |text: &str| messages.all().iter().any(|message| message.text.contains(text));
            assert!(told("Searching for explicit layer manifest files") && told("e7.json"));
        });
        outcome.ok();
    });
}

/// LAY-140 to LAY-143: each way to request an explicit layer activates the layer.
#[test]
fn lay_140_everything_that_asks_gets_an_explicit_layer() {
    case(|scene| {
        quiet(
            scene,
            &[Layer::explicit("a"), Layer::explicit("b"), Layer::implicit("i")],
        );
        let outcome = scene.run(|vk| {
            let plain = || active(&vk.instance());
            // If an earlier query searched only for implicit layers, a query for all layers must not use its result.
            settle();
            for _ in 0..2 {
                assert_eq!(plain(), ["VK_LAYER_i"]);
                let named = vk.spec().layer("VK_LAYER_a").create().expect("vkCreateInstance");
                assert_eq!(active(&named), ["VK_LAYER_i", "VK_LAYER_a"]);
                vk.set_env("VK_INSTANCE_LAYERS", Some("VK_LAYER_b"));
                assert_eq!(plain(), ["VK_LAYER_i", "VK_LAYER_b"]);
                vk.set_env("VK_INSTANCE_LAYERS", None);
                vk.set_env("VK_LOADER_LAYERS_ENABLE", Some("*_a"));
                assert_eq!(plain(), ["VK_LAYER_i", "VK_LAYER_a"]);
                vk.set_env("VK_LOADER_LAYERS_ENABLE", None);
                vk.set_env("VK_LOADER_LAYERS_DISABLE", Some("~implicit~"));
                vk.set_env("VK_LOADER_LAYERS_ALLOW", Some("*"));
                assert_eq!(plain(), ["VK_LAYER_i"]);
                vk.set_env("VK_LOADER_LAYERS_ALLOW", None);
                assert!(plain().is_empty());
                vk.set_env("VK_LOADER_LAYERS_DISABLE", None);
                assert!(vk.extensions().is_ok());
            }
        });
        outcome.ok();
    });
}

/// LAY-161, LAY-168, LAY-175, LAY-177: meta-layers and the override layer find their explicit components, although the application requests
/// no layer.
#[test]
fn lay_168_components_of_implicit_meta_layers_are_looked_for() {
    case(|scene| {
        let special = list(&[&scene.text_path("special")]);
        quiet(
            scene,
            &[
                Layer::implicit_meta("m", &["VK_LAYER_a"]),
                Layer::implicit_meta("lacking", &["VK_LAYER_none"]),
                Layer::overriding(&["VK_LAYER_s"]).member("override_paths", special),
                Layer::implicit("black"),
                Layer::explicit("s").folder("special"),
                Layer::explicit("a"),
            ],
        );
        let outcome = scene.run(|vk| {
            let chosen = active(&vk.instance());
            assert_eq!(chosen, ["VK_LAYER_s", "VK_LAYER_LUNARG_override", "VK_LAYER_black"]);
            vk.set_env("DISABLE_override", Some("1"));
            assert_eq!(active(&vk.instance()), ["VK_LAYER_a", "VK_LAYER_m", "VK_LAYER_black"]);
        });
        outcome.ok();
    });
}

/// LAY-177: an override layer with only a blacklist does not change the search for explicit layers.
#[test]
fn lay_177_a_blacklist_works_by_itself() {
    case(|scene| {
        let blacklist = list(&["VK_LAYER_black"]);
        quiet(
            scene,
            &[
                Layer::overriding(&[]).member("blacklisted_layers", blacklist),
                Layer::implicit("black"),
                Layer::explicit("a"),
            ],
        );
        let outcome = scene.run(|vk| assert_eq!(active(&vk.instance()), ["VK_LAYER_LUNARG_override"]));
        outcome.ok();
    });
}

/// LAY-152, LAY-322: if the settings file has the entry `MARKER`, a meta-layer of the file can use a component that the search finds.
#[test]
fn lay_152_components_of_listed_meta_layers_are_looked_for() {
    case(|scene| {
        let meta = Layer::implicit_meta("m", &["VK_LAYER_a"]).folder("listed");
        let added = extensions(&["VK_EXT_of_a"]);
        let component = Layer::explicit("a").member("instance_extensions", added);
        quiet(scene, &[meta, component, Layer::explicit("b"), listed("l")]);
        let treated = |name: &str| entry(name, "auto").replace('}', ", \"treat_as_implicit_manifest\": true}");
        settings(scene, &[treated("m"), MARKER.into(), entry("l", "on")]);
        let outcome = scene.run(|vk| {
            assert!(vk.extensions().expect("extensions").contains(&"VK_EXT_of_a".into()));
            let expected = ["VK_LAYER_a", "VK_LAYER_m", "VK_LAYER_l"];
            assert_eq!(active(&vk.instance()), expected);
        });
        outcome.ok();
    });
}

/// Returns the device extensions of a layer.
fn of(instance: &Instance<'_>, name: &CStr) -> Vec<String> {
    of_device(instance, Some(name)).expect("extensions")
}

/// LAY-324, APP-132: the query for a layer's device extensions finds the layer by its name, even if the instance creation did not search
/// for explicit layers.
#[test]
fn lay_324_layers_that_were_not_asked_for_are_known_by_name() {
    case(|scene| {
        let extending = |layer: Layer, name: &str| layer.member("device_extensions", extensions(&[name]));
        let twin = extending(Layer::explicit("twin"), "VK_EXT_twin").named("VK_LAYER_i");
        quiet(
            scene,
            &[
                Layer::implicit("i"),
                extending(Layer::implicit("j"), "VK_EXT_j"),
                extending(Layer::explicit("a"), "VK_EXT_a"),
                extending(Layer::explicit("late"), "VK_EXT_late").folder("later"),
                twin,
            ],
        );
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            assert_eq!(of(&instance, c"VK_LAYER_j"), ["VK_EXT_j"]);
            assert_eq!(of(&instance, c"VK_LAYER_a"), ["VK_EXT_a"]);
            assert!(of(&instance, c"VK_LAYER_none").is_empty());
            assert!(
                of(&instance, c"VK_LAYER_i").is_empty(),
                "the explicit one is a duplicate"
            );
            // The instance's answers remain the same until the instance is destroyed, although the search path changes.
            vk.set_env("VK_LAYER_PATH", vk.path("later").to_str());
            assert_eq!(of(&instance, c"VK_LAYER_a"), ["VK_EXT_a"]);
            assert!(of(&instance, c"VK_LAYER_late").is_empty());
            assert_eq!(of(&vk.instance(), c"VK_LAYER_late"), ["VK_EXT_late"]);
            assert_eq!(active(&instance), ["VK_LAYER_i", "VK_LAYER_j"]);
        });
        outcome.ok();
    });
}

/// APP-174, LAY-324: a query for device extensions reports out of memory, whichever single allocation fails.
#[test]
fn app_174_asking_for_a_layer_that_was_not_looked_for() {
    case(|scene| {
        let layer = |short: &str| Layer::explicit(short).member("device_extensions", extensions(&["VK_EXT_a"]));
        scene.unset("VK_LOADER_DEBUG").limit(30);
        place(
            scene,
            &[layer("a").folder(EXPLICIT), Layer::implicit("i").folder(IMPLICIT)],
        );
        let outcome = scene.run(|vk| {
            let refusals = (1..10).filter(|&number| {
                let allocator = Allocator::default();
                let instance = vk.spec().allocator(&allocator).create().expect("vkCreateInstance");
                let device = instance.first();
                let ask = || {
                    let query = |count: &mut u32, out| {
                        let name = c"VK_LAYER_a".as_ptr();
                        call!(
                            instance,
                            PFN_vkEnumerateDeviceExtensionProperties(device, name, count, out)
                        )
                    };
                    two_call::<vk::ExtensionProperties>(query).map(|list| list.len())
                };
                allocator.fail_at(Some(number));
                let first = ask();
                assert_eq!(ask(), Ok(1));
                first.inspect_err(|&error| assert_eq!(error, OOM)).is_err()
            });
            assert_eq!(refusals.collect::<Vec<usize>>(), [1, 2, 3]);
        });
        outcome.ok();
    });
}
