//! Tests of drivers that the settings file names.

use loader_tests::ash::vk;
use loader_tests::{Scene, case, json_path};

use crate::settings::write;

const BASE: &str = "xdg/config-home";

fn three_drivers(scene: &mut Scene) {
    scene.driver("found").device("found");
    scene.driver("first").device("first").unlisted();
    scene.driver("second").device("second").unlisted();
    scene.env("VK_LOADER_DISABLE_SELECT", "1");
}

fn members(scene: &Scene, exclusive: Option<bool>) -> String {
    let exclusive = exclusive.map_or(String::new(), |value| {
        format!(r#", "additional_drivers_use_exclusively": {value}"#)
    });
    let path = |name: &str| json_path(&scene.manifest(name).display().to_string());
    format!(
        r#""additional_drivers": [{{"path": "{}"}}, {{"path": "{}"}}]{exclusive}"#,
        path("first"),
        path("second")
    )
}

/// DRV-44, APP-261: additional drivers come before the found drivers in scan order, in the reverse order of the list. The devices of
/// additional drivers therefore come last.
#[test]
fn drv_044_additional_drivers_come_first_in_the_scan() {
    case(|scene| {
        three_drivers(scene);
        write(scene, BASE, &members(scene, Some(false)));
        scene
            .run(|vk| assert_eq!(vk.instance().device_names(), ["found", "first", "second"]))
            .ok();
        write(scene, BASE, &members(scene, None));
        scene
            .run(|vk| assert_eq!(vk.instance().device_names(), ["found", "first", "second"]))
            .ok();
    });
}

/// DRV-44: exclusive drivers of the settings file replace all found drivers.
#[test]
fn drv_044_exclusive_drivers_discard_the_others() {
    case(|scene| {
        three_drivers(scene);
        write(scene, BASE, &members(scene, Some(true)));
        let outcome = scene.run(|vk| assert_eq!(vk.instance().device_names(), ["first", "second"]));
        assert!(outcome.ok().calls("found", "load").is_empty(), "{}", outcome.all());
    });
}

/// DRV-28, APP-261: the driver filters apply to drivers of the settings file too.
#[test]
fn drv_028_settings_drivers_are_filtered() {
    case(|scene| {
        three_drivers(scene);
        write(scene, BASE, &members(scene, Some(true)));
        scene.env("VK_LOADER_DRIVERS_DISABLE", "first*");
        scene
            .run(|vk| assert_eq!(vk.instance().device_names(), ["second"]))
            .ok();
        scene.env("VK_LOADER_DRIVERS_DISABLE", "*");
        let outcome = scene.run(|vk| assert_eq!(vk.spec().create().err(), Some(vk::Result::ERROR_INCOMPATIBLE_DRIVER)));
        outcome
            .ok()
            .logged_with("ERROR | DRIVER", "vkCreateInstance: Found no drivers!");
    });
}

/// APP-261: if an element of `additional_drivers` is not a driver, the loader ignores the whole list.
#[test]
fn app_261_a_bad_element_voids_the_list() {
    case(|scene| {
        three_drivers(scene);
        let first = scene.manifest("first").display().to_string();
        for bad in ["3", "{}", r#"{"path": 3}"#] {
            let list = format!(r#""additional_drivers": [{{"path": "{first}"}}, {bad}], "stderr_log": ["error"]"#);
            write(scene, BASE, &list);
            scene
                .run(|vk| assert_eq!(vk.instance().device_names(), ["found"], "{bad}"))
                .ok();
            // The other members of the file still have an effect: the drivers are exclusive, so no driver remains.
            write(
                scene,
                BASE,
                &format!(r#"{list}, "additional_drivers_use_exclusively": true"#),
            );
            let outcome =
                scene.run(|vk| assert_eq!(vk.spec().create().err(), Some(vk::Result::ERROR_INCOMPATIBLE_DRIVER)));
            outcome.ok();
        }
    });
}

/// APP-261: a path that is not a manifest is skipped.
#[test]
fn app_261_paths_that_are_no_manifests_are_skipped() {
    case(|scene| {
        three_drivers(scene);
        let first = scene.manifest("first").display().to_string();
        write(
            scene,
            BASE,
            &format!(
                r#""additional_drivers": [{{"path": "/nowhere/x.txt"}}, {{"path": "/nowhere/y.json"}}, {{"path": "{first}"}}]"#
            ),
        );
        scene
            .run(|vk| assert_eq!(vk.instance().device_names(), ["found", "first"]))
            .ok();
    });
}

/// APP-261, DRV-44: the extension query uses drivers of the settings file too.
#[test]
fn drv_044_their_extensions_are_listed() {
    case(|scene| {
        scene.driver("found").device("found");
        scene
            .driver("more")
            .device("more")
            .extension("VK_KHR_display")
            .unlisted();
        let path = scene.manifest("more").display().to_string();
        write(scene, BASE, &format!(r#""additional_drivers": [{{"path": "{path}"}}]"#));
        scene
            .run(|vk| {
                assert!(
                    vk.extensions()
                        .expect("the query succeeds")
                        .contains(&"VK_KHR_display".into())
                )
            })
            .ok();
    });
}
