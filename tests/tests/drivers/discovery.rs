//! How drivers are found (section 1).

use loader_tests::case;

/// DRV-143, DRV-10
#[test]
fn drv_143_devices_come_in_reverse_scan_order() {
    case(|scene| {
        scene.driver("a").device("one").device("two");
        scene.driver("b").device("three");
        scene.env("VK_LOADER_DISABLE_SELECT", "1");
        scene
            .run(|vk| assert_eq!(vk.instance().device_names(), ["three", "one", "two"]))
            .ok()
            .logged("DRIVER", "Searching for driver manifest files");
    });
}
