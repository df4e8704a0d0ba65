//! Tests of the extensions and layers of a device (DRV-135, DRV-136, APP-130 to APP-133).

use loader_tests::ash::vk;
use loader_tests::{call, case};
use std::ptr;

/// DRV-135, APP-131, APP-130: the query for device extensions returns the driver's list. DRV-136: a short array receives a part of the
/// list.
#[test]
fn drv_135_the_extensions_of_a_device() {
    case(|scene| {
        scene.driver("a").device_with("one", |device| {
            device.extension("VK_KHR_swapchain").extension("VK_NEW_device_thing")
        });
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            let device = instance.first();
            assert_eq!(
                instance.device_extensions(device),
                Ok(vec!["VK_KHR_swapchain".into(), "VK_NEW_device_thing".into()])
            );
            vk.mark("list");
            let (result, list) = loader_tests::vk::fill_some(1, |count, out: *mut vk::ExtensionProperties| {
                call!(
                    instance,
                    PFN_vkEnumerateDeviceExtensionProperties(device, ptr::null(), count, out)
                )
            });
            assert_eq!((result, list.len()), (vk::Result::INCOMPLETE, 1));
            vk.mark("listed");
            let (null, out) = (ptr::null_mut(), ptr::null_mut());
            let result = call!(
                instance,
                PFN_vkEnumerateDeviceExtensionProperties(device, ptr::null(), null, out)
            );
            assert_eq!(result, vk::Result::INCOMPLETE);
            vk.add_lines("a", "fail vkEnumerateDeviceExtensionProperties -4");
            assert_eq!(
                instance.device_extensions(device).err(),
                Some(vk::Result::ERROR_DEVICE_LOST)
            );
        });
        let calls = outcome.ok().between("list", "listed");
        assert_eq!(calls.len(), 1, "the driver fills the caller's own array: {calls:?}");
    });
}

/// APP-133: the query for device layers returns the active layers without asking a driver. Here, no layer is active.
#[test]
fn app_133_device_layers_without_layers() {
    case(|scene| {
        scene.driver("a").device("one");
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            let mut count = 9;
            let device = instance.first();
            let result = call!(
                instance,
                PFN_vkEnumerateDeviceLayerProperties(device, &mut count, ptr::null_mut())
            );
            assert_eq!((result, count), (vk::Result::SUCCESS, 0));
        });
        outcome.ok();
    });
}
