//! Tests of layers in processes with elevated privileges: an unprivileged user starts a set-user-ID program (LAY-12, LAY-67).
//!
//! In these processes, the loader searches only system folders. Two of Mesa's layers represent the layers of a system: the implicit
//! `VK_LAYER_MESA_device_select`, which `NODEVICE_SELECT` disables, and the explicit `VK_LAYER_MESA_overlay`.

use loader_tests::ash::vk;
use loader_tests::vk::Instance;
use loader_tests::{Scene, Vk, case};

#[cfg(target_os = "linux")]
use crate::apart::Apart;
use crate::kit::{EXPLICIT, IMPLICIT, Layer, list};
use crate::meta::active;

const DEVICE_SELECT: &str = "VK_LAYER_MESA_device_select";
const OVERLAY: &str = "VK_LAYER_MESA_overlay";

/// Creates an instance on a direct driver, because an elevated process ignores variables that name a driver.
fn instance(vk: &Vk, then: impl FnOnce(&Instance<'_>)) {
    let infos = [vk::DirectDriverLoadingInfoLUNARG {
        pfn_get_instance_proc_addr: vk.direct_driver("direct"),
        ..Default::default()
    }];
    let drivers = vk::DirectDriverLoadingListLUNARG::default()
        .mode(vk::DirectDriverLoadingModeLUNARG::EXCLUSIVE)
        .drivers(&infos);
    let spec = vk
        .spec()
        .api("1.1")
        .extensions(&["VK_LUNARG_direct_driver_loading"])
        .next(&drivers);
    then(&spec.create().expect("vkCreateInstance"));
}

/// Adds a direct driver, and makes the children run with elevated privileges.
fn elevated(scene: &mut Scene) {
    scene.driver("direct").unlisted().device("gpu");
    scene.elevated();
}

/// Puts layers, including an override layer, into every folder that a user can write to. An elevated process must not find these layers.
fn everywhere(scene: &mut Scene) {
    Layer::implicit("i").folder(IMPLICIT).put(scene);
    Layer::explicit("e").folder(EXPLICIT).put(scene);
    Layer::overriding(&["VK_LAYER_e"])
        .member("override_paths", list(&[&scene.text_path("override")]))
        .member("blacklisted_layers", list(&[DEVICE_SELECT]))
        .folder("home/.local/share/vulkan/implicit_layer.d")
        .put(scene);
    Layer::implicit("h")
        .folder("home/.config/vulkan/implicit_layer.d")
        .put(scene);
    Layer::implicit("d")
        .folder("xdg/data-dirs/vulkan/implicit_layer.d")
        .put(scene);
    Layer::implicit("c")
        .folder("xdg/config-dirs/vulkan/implicit_layer.d")
        .put(scene);
    for variable in [
        "VK_LAYER_PATH",
        "VK_ADD_LAYER_PATH",
        "VK_IMPLICIT_LAYER_PATH",
        "VK_ADD_IMPLICIT_LAYER_PATH",
    ] {
        let folder = format!("by/{variable}");
        Layer::implicit(variable).folder(&folder).put(scene);
        let folder = scene.path(&folder);
        scene.env(variable, folder);
    }
    let settings = format!(
        r#"{{"file_format_version": "1.0.0", "settings": {{"layers": [
            {{"name": "VK_LAYER_e", "path": "{}", "control": "on"}}]}}}}"#,
        scene.text_path(&format!("{EXPLICIT}/e.json"))
    );
    scene.file(
        "xdg/data-home/vulkan/loader_settings.d/vk_loader_settings.json",
        settings,
    );
}

/// LAY-12, LAY-60, LAY-181: an elevated process finds no layer in folders that a user can write to. A process without privileges finds all
/// these layers.
#[test]
fn lay_12_only_system_folders_are_searched_for_layers() {
    case(|scene| {
        everywhere(scene);
        elevated(scene);
        let root = scene.text_path("");
        let outcome = scene.run(|vk| {
            let layers = vk.layers().expect("layers");
            assert!(layers.contains(&DEVICE_SELECT.into()), "{layers:?}");
            let of_scene = |name: &&String| name.starts_with("VK_LAYER_VK_") || name.len() == "VK_LAYER_e".len();
            assert_eq!(layers.iter().find(of_scene), None, "{layers:?}");
            assert!(!layers.contains(&"VK_LAYER_LUNARG_override".into()), "{layers:?}");
            instance(vk, |_| ());
        });
        outcome.ok();
        let lines: Vec<&str> = outcome.stderr.lines().filter(|line| line.contains("layer.d")).collect();
        assert!(!lines.iter().any(|line| line.contains(&root)), "{}", outcome.all());
        for kind in ["implicit", "explicit"] {
            for folder in ["/etc/xdg", "/etc", "/usr/local/share", "/usr/share"] {
                outcome.logged("LAYER", &format!("      {folder}/vulkan/{kind}_layer.d"));
            }
        }
    });
}

/// LAY-181: an override manifest in a system folder has an effect, with the paths that it names.
#[test]
#[cfg(target_os = "linux")]
fn lay_181_an_override_manifest_of_the_system_is_honoured() {
    case(|scene| {
        Layer::explicit("o").folder("override").put(scene);
        Layer::overriding(&["VK_LAYER_o"])
            .member("override_paths", list(&[&scene.text_path("override")]))
            .folder("system")
            .put(scene);
        elevated(scene);
        let Some(apart) = Apart::enter(scene) else { return };
        apart.put(scene.path("system"), "/usr/share/vulkan/implicit_layer.d");
        let outcome = scene.run(|vk| {
            let layers = vk.layers().expect("layers");
            assert_eq!(layers, ["VK_LAYER_LUNARG_override", "VK_LAYER_o"]);
            instance(vk, |instance| {
                assert_eq!(active(instance), ["VK_LAYER_o", "VK_LAYER_LUNARG_override"]);
            });
        });
        outcome.ok();
    });
}

/// LAY-12: without privileges, the process finds the layers in folders that a user can write to.
#[test]
fn lay_12_without_privileges_the_same_folders_count() {
    case(|scene| {
        everywhere(scene);
        scene.file("xdg/data-home/vulkan/loader_settings.d/vk_loader_settings.json", "");
        scene.driver("direct").unlisted().device("gpu");
        for (without, expected) in [
            (
                &[][..],
                &["VK_LAYER_VK_IMPLICIT_LAYER_PATH", "VK_LAYER_VK_LAYER_PATH"][..],
            ),
            (
                &["VK_LAYER_PATH", "VK_IMPLICIT_LAYER_PATH"],
                &[
                    "VK_LAYER_VK_ADD_IMPLICIT_LAYER_PATH",
                    "VK_LAYER_c",
                    "VK_LAYER_i",
                    "VK_LAYER_d",
                ],
            ),
        ] {
            for variable in without {
                scene.unset(variable);
            }
            let outcome = scene.run(|vk| {
                let layers = vk.layers().expect("layers");
                assert_eq!(layers[..expected.len()], *expected, "{layers:?}");
            });
            outcome.ok();
        }
    });
}

/// LAY-67: an elevated process uses the variables that a manifest names, and `VK_INSTANCE_LAYERS` (LAY-141).
#[test]
fn lay_67_variables_that_name_no_file_count() {
    case(|scene| {
        elevated(scene);
        let outcome = scene.run(|vk| instance(vk, |instance| assert_eq!(active(instance), [DEVICE_SELECT])));
        outcome.ok();
        scene.env("NODEVICE_SELECT", "1").env("VK_INSTANCE_LAYERS", OVERLAY);
        let outcome = scene.run(|vk| instance(vk, |instance| assert_eq!(active(instance), [OVERLAY])));
        outcome.ok().logged(
            "WARNING | LAYER",
            &format!("env var 'VK_INSTANCE_LAYERS' defined and adding layers \"{OVERLAY}\""),
        );
    });
}

/// LAY-67: an elevated process ignores the layer filters.
#[test]
fn lay_67_the_layer_filters_are_ignored() {
    case(|scene| {
        elevated(scene);
        scene
            .env("VK_LOADER_LAYERS_DISABLE", "~all~")
            .env("VK_LOADER_LAYERS_ENABLE", OVERLAY)
            .env("VK_LOADER_LAYERS_ALLOW", "*");
        let outcome = scene.run(|vk| {
            assert!(vk.layers().expect("layers").contains(&OVERLAY.into()));
            instance(vk, |instance| assert_eq!(active(instance), [DEVICE_SELECT]));
        });
        outcome.ok().not_logged("VK_LOADER_LAYERS_");
    });
}
