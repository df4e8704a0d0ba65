//! Tests of the present-mode query of `VK_EXT_full_screen_exclusive` on a device. The extension belongs to Windows. The look-up of an
//! instance therefore finds the command only on Windows (APP-29). The look-up of a device asks the driver on every system.

use std::ptr;

use loader_tests::ash::vk;
use loader_tests::vk::{Commands, Device};
use loader_tests::{Scene, call, case};

const WSI: [&str; 3] = [
    "VK_KHR_surface",
    "VK_EXT_headless_surface",
    "VK_KHR_get_surface_capabilities2",
];
const FULL_SCREEN: &str = "VK_EXT_full_screen_exclusive";
const OF_GROUP: &str = "vkGetDeviceGroupSurfacePresentModes2EXT";

fn driver(scene: &mut Scene, name: &str) {
    scene.usual_driver(name).line("device.extension", FULL_SCREEN);
}

fn stranger() -> vk::BaseInStructure<'static> {
    vk::BaseInStructure {
        s_type: vk::StructureType::from_raw(777_000),
        ..Default::default()
    }
}

fn group_modes(device: &Device<'_>, surface: vk::SurfaceKHR) -> (vk::Result, u32) {
    let strange = stranger();
    let mut modes = vk::DeviceGroupPresentModeFlagsKHR::empty();
    let info = vk::PhysicalDeviceSurfaceInfo2KHR {
        p_next: ptr::from_ref(&strange).cast(),
        surface,
        ..Default::default()
    };
    let result = call!(
        device,
        PFN_vkGetDeviceGroupSurfacePresentModes2EXT(device.raw, &info, &mut modes)
    );
    assert_eq!(info.surface, surface, "the caller's structure is left alone");
    (result, modes.as_raw())
}

/// DRV-181, DRV-185: the driver receives a copy of the surface info, with its own surface and the caller's chain. If the driver creates no
/// surface, the loader returns the driver's error.
#[test]
fn drv_181_group_present_modes_of_a_surface_info() {
    case(|scene| {
        driver(scene, "a");
        driver(scene, "lacks");
        driver(scene, "refuses");
        let outcome = scene.run(|vk| {
            vk.add_lines("lacks", &format!("missing {OF_GROUP}"));
            vk.add_lines("refuses", "fail vkCreateHeadlessSurfaceEXT -1000000001");
            let instance = vk.instance_with("1.1", &WSI);
            let surface = instance.headless_surface();
            for (name, expected) in [
                ("gpu-a", (vk::Result::SUCCESS, 2)),
                ("gpu-lacks", (vk::Result::SUCCESS, 0)),
                ("gpu-refuses", (vk::Result::ERROR_NATIVE_WINDOW_IN_USE_KHR, 0)),
            ] {
                let device = instance.device(instance.named(name), &[FULL_SCREEN]);
                assert_eq!(group_modes(&device, surface), expected, "{name}");
            }
            let device = instance.device(instance.named("gpu-a"), &[]);
            assert_eq!(device.address(OF_GROUP), 0);
            instance.destroy_surface(surface);
        });
        let outcome = outcome.ok();
        outcome.logged_with("ERROR", OF_GROUP);
        let calls = outcome.calls("a", OF_GROUP);
        assert!(
            calls[0] == "pnext=[777000]" && calls[1].starts_with("surface="),
            "{}",
            outcome.all()
        );
        assert!(outcome.calls("refuses", OF_GROUP).is_empty(), "{}", outcome.all());
    });
}
