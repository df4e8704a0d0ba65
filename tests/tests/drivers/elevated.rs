//! Tests of processes with elevated privileges (DRV-29 to DRV-31, APP-211, APP-285): an unprivileged user starts a set-user-ID program.

use loader_tests::ash::vk;
use loader_tests::{Scene, Vk, case};

const NONE: &str = "No valid vk_loader_settings.json file found, no loader settings will be active";

/// Returns the device names of an instance that has only a direct driver.
fn direct(vk: &Vk, api: &str) -> Vec<String> {
    let infos = [vk::DirectDriverLoadingInfoLUNARG {
        pfn_get_instance_proc_addr: vk.direct_driver("direct"),
        ..Default::default()
    }];
    let list = vk::DirectDriverLoadingListLUNARG::default()
        .mode(vk::DirectDriverLoadingModeLUNARG::EXCLUSIVE)
        .drivers(&infos);
    let spec = vk
        .spec()
        .api(api)
        .extensions(&["VK_LUNARG_direct_driver_loading"])
        .next(&list);
    spec.create().expect("vkCreateInstance").device_names()
}

/// Adds a direct driver with two devices. Sorting puts the device `fast` first.
fn with_direct(scene: &mut Scene) {
    scene
        .driver("direct")
        .unlisted()
        .device_with("slow", |device| device.kind(4).ids(1, 2))
        .device_with("fast", |device| device.ids(1, 3));
    // Mesa's device-select layer is in a system folder, and would change the order.
    scene.elevated().env("NODEVICE_SELECT", "1");
}

/// DRV-29, DRV-5: in an elevated process, a variable that could name a driver has no effect, and is not in the log.
#[test]
fn drv_029_variables_that_name_drivers_are_ignored() {
    case(|scene| {
        scene.driver("a").extension("VK_KHR_display").device("one").unlisted();
        let manifest = scene.text_path("drivers/a.json");
        for variable in ["VK_DRIVER_FILES", "VK_ICD_FILENAMES", "VK_ADD_DRIVER_FILES"] {
            for other in ["VK_DRIVER_FILES", "VK_ICD_FILENAMES", "VK_ADD_DRIVER_FILES"] {
                scene.unset(other);
            }
            scene.env(variable, &manifest).elevated();
            let outcome = scene.run(|vk| assert!(vk.extensions().is_ok()));
            assert!(
                outcome.ok().calls("a", "load").is_empty(),
                "{variable}\n{}",
                outcome.all()
            );
            outcome.not_logged(&manifest);
        }
    });
}

/// DRV-29: an elevated process searches only the build-time and fallback directories, for drivers, layers and settings.
#[test]
fn drv_029_home_and_the_xdg_variables_are_ignored() {
    case(|scene| {
        scene
            .driver("a")
            .extension("VK_KHR_display")
            .folder("xdg/data-home/vulkan/icd.d");
        scene.driver("b").folder("home/.local/share/vulkan/icd.d");
        let settings = r#"{"file_format_version": "1.0.0", "settings": {"stderr_log": ["error"]}}"#;
        scene.file(
            "xdg/config-home/vulkan/loader_settings.d/vk_loader_settings.json",
            settings,
        );
        scene.unset("VK_DRIVER_FILES").elevated();
        let root = scene.text_path("");
        let outcome = scene.run(|vk| assert!(vk.extensions().is_ok()));
        outcome.ok().not_logged(&root).logged("INFO", NONE);
        for folder in ["/etc/xdg", "/etc", "/usr/local/share", "/usr/share"] {
            outcome.logged("DRIVER", &format!("      {folder}/vulkan/icd.d"));
        }
        assert!(
            outcome.calls("a", "load").is_empty() && outcome.calls("b", "load").is_empty(),
            "{}",
            outcome.all()
        );
    });
}

/// DRV-24, DRV-29: an elevated process ignores the driver filters.
#[test]
fn drv_024_the_driver_filters_are_ignored() {
    case(|scene| {
        scene
            .unset("VK_DRIVER_FILES")
            .env("VK_LOADER_DRIVERS_DISABLE", "*")
            .elevated();
        let outcome = scene.run(|vk| assert!(vk.extensions().is_ok()));
        outcome.ok().not_logged("VK_LOADER_DRIVERS_DISABLE");
    });
}

/// DRV-31, DRV-30: in an elevated process, direct drivers work, and variables that only order devices have an effect. DRV-132: the ID
/// filters have no effect.
#[test]
fn drv_031_direct_drivers_and_the_order_of_devices() {
    case(|scene| {
        with_direct(scene);
        scene
            .env("VK_LOADER_DEVICE_ID_FILTER", "99")
            .env("VK_LOADER_VENDOR_ID_FILTER", "99");
        scene.run(|vk| assert_eq!(direct(vk, "1.1"), ["fast", "slow"])).ok();
        scene.env("VK_LOADER_DEVICE_SELECT", "1:2");
        scene.run(|vk| assert_eq!(direct(vk, "1.1"), ["slow", "fast"])).ok();
        scene
            .unset("VK_LOADER_DEVICE_SELECT")
            .env("VK_LOADER_DISABLE_SELECT", "1");
        scene.run(|vk| assert_eq!(direct(vk, "1.1"), ["slow", "fast"])).ok();
    });
}

/// DRV-30: `VK_LOADER_DEBUG` enables the log of an elevated process.
#[test]
fn drv_030_logging_can_be_asked_for() {
    case(|scene| {
        scene.elevated().env("VK_LOADER_DEBUG", "info");
        scene
            .run(|vk| assert_eq!(vk.version().0, 1))
            .ok()
            .logged_with("INFO", "Vulkan Loader Version");
        scene
            .env("VK_LOADER_DEBUG", "")
            .env("VK_LOADER_DISABLE_DYNAMIC_LIBRARY_UNLOADING", "1");
        assert_eq!(scene.run(|vk| assert_eq!(vk.version().0, 1)).ok().stderr, "");
    });
}

/// APP-211: the same scene without privileges has other results, so the tests above show the effect of privileges.
#[test]
fn app_211_without_privileges_the_filters_count() {
    case(|scene| {
        scene
            .driver("direct")
            .unlisted()
            .device_with("slow", |device| device.kind(4).ids(1, 2))
            .device_with("fast", |device| device.ids(1, 3));
        scene.env("VK_LOADER_DEVICE_ID_FILTER", "3");
        scene.run(|vk| assert_eq!(direct(vk, "1.1"), ["fast"])).ok();
    });
}
