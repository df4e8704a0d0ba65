//! Tests of mock drivers beside lavapipe, which must be installed.

use std::fs;

use loader_tests::vk::Commands;
use loader_tests::{Scene, case};

/// Returns the path of lavapipe's manifest.
pub(crate) fn lavapipe() -> String {
    let folder = "/usr/share/vulkan/icd.d";
    let files = fs::read_dir(folder).unwrap_or_else(|error| panic!("{folder}: {error}"));
    let names = files.filter_map(|file| Some(file.ok()?.path().display().to_string()));
    let found = names.into_iter().find(|name| name.contains("lvp_icd"));
    found.expect("lavapipe is installed (mesa-vulkan-drivers)")
}

/// Adds mock drivers before and after lavapipe.
fn mixed(scene: &mut Scene) {
    scene.usual_driver("a").unlisted();
    scene.driver("old").api("1.0.0").interface(2).device("old").unlisted();
    let files = format!(
        "{}:{}:{}",
        scene.manifest("a").display(),
        lavapipe(),
        scene.manifest("old").display()
    );
    scene
        .env("VK_DRIVER_FILES", files)
        .env("VK_LOADER_DISABLE_SELECT", "1")
        .env("VK_LOADER_DEBUG", "error")
        .limit(60);
}

/// DRV-143, DRV-127: all devices are listed, and each driver receives its own handles. A mock driver ends the process if it receives
/// a handle of another driver.
#[test]
fn drv_127_mock_drivers_beside_lavapipe() {
    case(|scene| {
        mixed(scene);
        let outcome = scene.run(|vk| {
            for api in ["1.0", "1.3"] {
                let instance = vk.instance_with(
                    api,
                    &["VK_KHR_surface", "VK_EXT_headless_surface", "VK_EXT_debug_utils"],
                );
                let names = instance.device_names();
                assert_eq!(
                    (names.len(), names[0].as_str(), names[2].as_str()),
                    (3, "old", "gpu-a"),
                    "{names:?}"
                );
                assert!(names[1].starts_with("llvmpipe"), "{names:?}");
                let surface = instance.headless_surface();
                for physical in instance.devices().expect("devices") {
                    assert!(instance.surface_support(physical, surface).is_ok());
                    let device = instance.device(physical, &[]);
                    assert_ne!(device.address("vkCmdDraw"), 0);
                    let pool = device.pool();
                    let buffers = device.command_buffers(pool, 1).expect("vkAllocateCommandBuffers");
                    device.free_command_buffers(pool, &buffers);
                    device.destroy_pool(pool);
                }
                instance.destroy_surface(surface);
                assert_eq!(instance.group_names().len(), 3);
            }
        });
        outcome.ok();
    });
}
