//! Tests of variables that have a meaning only on other systems, or that have no meaning any more (APP-210 to APP-228).

use loader_tests::case;

/// APP-211: `VK_LOADER_SEARCH_ONLY_IN_BUNDLE`, which restricts the search to a bundle on Apple's systems, has no effect on this system.
#[test]
fn app_211_there_are_no_bundles_here() {
    case(|scene| {
        scene.driver("a").device("one");
        scene.driver("b").device("two").folder("xdg/data-home/vulkan/icd.d");
        for value in ["", "1"] {
            scene.env("VK_LOADER_SEARCH_ONLY_IN_BUNDLE", value);
            scene.run(|vk| assert_eq!(vk.instance().device_names(), ["one"])).ok();
        }
        scene.unset("VK_DRIVER_FILES");
        scene.run(|vk| assert_eq!(vk.instance().device_names(), ["two"])).ok();
    });
}

/// APP-212, APP-282: variables that loaders no longer read, and variables that only layers read, have no effect.
#[test]
fn app_212_variables_that_are_not_read() {
    case(|scene| {
        scene.driver("a").device("one");
        scene
            .env("VK_DEVICE_LAYERS", "VK_LAYER_nobody")
            .env("VK_LAYER_SETTINGS_PATH", "/nowhere");
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            drop(instance.device(instance.first(), &[]));
        });
        outcome.ok().not_logged("VK_LAYER_nobody").not_logged("/nowhere");
        assert!(outcome.log("ERROR").is_empty(), "{}", outcome.all());
    });
}
