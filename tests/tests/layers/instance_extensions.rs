//! Tests of instance extensions that layers have, request or refuse (APP-28, LAY-240 to LAY-243).

use loader_tests::ash::vk;
use loader_tests::case;
use loader_tests::vk::{Commands, Messages};

use crate::kit::{Layer, place};

/// LAY-242, APP-98: the log names the Khronos policy if a layer returns VK_ERROR_EXTENSION_NOT_PRESENT.
#[test]
fn lay_242_an_extension_error_of_a_layer_is_named_with_its_policy() {
    case(|scene| {
        place(scene, &[Layer::explicit("a").conf("fail", "vkCreateInstance -7")]);
        let outcome = scene.run(|vk| {
            let result = vk.spec().layer("VK_LAYER_a").create().err();
            assert_eq!(result, Some(vk::Result::ERROR_EXTENSION_NOT_PRESENT));
        });
        outcome.ok().logged_with("WARNING", "(Policy #LLP_LAYER_17)");
    });
}

/// LAY-243: the application can enable extensions of active layers.
#[test]
fn lay_243_extensions_of_active_layers_may_be_asked_for() {
    case(|scene| {
        // The loader knows this extension, and only the layer offers it.
        let extension = r#"[{"name": "VK_EXT_validation_features", "spec_version": "1"}]"#;
        place(scene, &[Layer::explicit("a").member("instance_extensions", extension)]);
        let outcome = scene.run(|vk| {
            let names = ["VK_EXT_validation_features"];
            let refused = vk.spec().extensions(&names).create().err();
            assert_eq!(refused, Some(vk::Result::ERROR_EXTENSION_NOT_PRESENT));
            drop(
                vk.spec()
                    .layer("VK_LAYER_a")
                    .extensions(&names)
                    .create()
                    .expect("vkCreateInstance"),
            );
        });
        outcome.ok();
    });
}

/// LAY-243: the application can enable an extension that the loader does not know only if the extension filter is
/// disabled.
#[test]
fn lay_243_unknown_extensions_of_layers_need_the_filter_off() {
    case(|scene| {
        let extension = r#"[{"name": "VK_EXT_of_layer", "spec_version": "1"}]"#;
        place(scene, &[Layer::explicit("a").member("instance_extensions", extension)]);
        let refused = scene.run(|vk| {
            let result = vk
                .spec()
                .layer("VK_LAYER_a")
                .extensions(&["VK_EXT_of_layer"])
                .create()
                .err();
            assert_eq!(result, Some(vk::Result::ERROR_EXTENSION_NOT_PRESENT));
        });
        refused.ok();
        scene.env("VK_LOADER_DISABLE_INST_EXT_FILTER", "1");
        let outcome = scene.run(|vk| {
            drop(
                vk.spec()
                    .layer("VK_LAYER_a")
                    .extensions(&["VK_EXT_of_layer"])
                    .create()
                    .expect("vkCreateInstance"),
            );
        });
        outcome.ok();
    });
}

/// LAY-240: at the end of the layer chain, the look-up returns NULL for commands of extensions that are not enabled.
#[test]
fn lay_240_commands_of_extensions_that_are_not_enabled_are_not_there() {
    case(|scene| {
        place(scene, &[Layer::explicit("a").conf("wrap", "")]);
        let outcome = scene.run(|vk| {
            let instance = vk.spec().layer("VK_LAYER_a").create().expect("vkCreateInstance");
            assert_eq!(vk.get(instance.raw, "vkCreateHeadlessSurfaceEXT"), 0);
            drop(instance);
            let spec = vk
                .spec()
                .layer("VK_LAYER_a")
                .extensions(&["VK_KHR_surface", "VK_EXT_headless_surface"]);
            let instance = spec.create().expect("vkCreateInstance");
            let surface = instance.headless_surface();
            assert!(instance.surface_support(instance.first(), surface).expect("support"));
            instance.destroy_surface(surface);
        });
        outcome.ok();
    });
}

/// APP-28, LAY-236: an extension that only a layer requests is enabled, so its commands are found and work.
#[test]
fn app_028_an_extension_that_only_a_layer_asks_for_has_its_commands() {
    case(|scene| {
        let asking = ["VK_KHR_surface", "VK_EXT_headless_surface", "VK_EXT_debug_utils"]
            .iter()
            .fold(Layer::explicit("a"), |layer, name| {
                layer.conf("add-instance-extension", name)
            });
        place(scene, &[asking]);
        let outcome = scene.run(|vk| {
            let plain = vk.instance();
            assert_eq!(plain.address("vkCreateHeadlessSurfaceEXT"), 0);
            let instance = vk.spec().layer("VK_LAYER_a").create().expect("vkCreateInstance");
            let surface = instance.headless_surface();
            assert_eq!(instance.surface_support(instance.first(), surface), Ok(true));
            instance.destroy_surface(surface);
            let messages = Messages::default();
            instance.destroy_messenger(instance.messenger(&messages));
        });
        for command in ["vkCreateHeadlessSurfaceEXT", "vkCreateDebugUtilsMessengerEXT"] {
            assert!(!outcome.ok().calls("driver", command).is_empty(), "{}", outcome.all());
        }
    });
}
