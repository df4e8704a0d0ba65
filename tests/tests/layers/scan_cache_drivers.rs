//! Tests of the scan cache for driver manifests, if a settings file names drivers (DRV-7, APP-243).

use std::fs;

use loader_tests::case;

use loader_tests::settle;

/// APP-243, APP-261, DRV-7: if the settings file changes, drivers of the old settings disappear, although no manifest and no folder
/// changed.
#[test]
fn app_243_drivers_of_settings_that_change_are_seen() {
    case(|scene| {
        scene.unset("VK_LOADER_DEBUG");
        scene.driver("a").device("one").extension("VK_KHR_surface");
        scene.driver("b").device("two").extension("VK_KHR_display").unlisted();
        let manifest = scene.manifest("b").display().to_string();
        let outcome = scene.run(|vk| {
            let offered = || {
                let listed = vk.extensions().expect("extensions");
                ["VK_KHR_surface", "VK_KHR_display"].map(|name| listed.contains(&name.into()))
            };
            let path = vk.path("xdg/data-home/vulkan/loader_settings.d/vk_loader_settings.json");
            fs::create_dir_all(path.parent().expect("a folder")).expect("folders can be made");
            settle();
            for exclusively in [false, true] {
                assert_eq!([offered(), offered()], [[true, false]; 2]);
                let drivers = format!(
                    r#""additional_drivers": [{{"path": "{manifest}"}}], "additional_drivers_use_exclusively": {exclusively}"#
                );
                let text = format!(r#"{{"file_format_version": "1.0.0", "settings": {{{drivers}}}}}"#);
                fs::write(&path, text).expect("files can be written");
                settle();
                assert_eq!([offered(), offered()], [[!exclusively, true]; 2], "{exclusively}");
                fs::remove_file(&path).expect("files can be removed");
            }
        });
        outcome.ok();
    });
}
