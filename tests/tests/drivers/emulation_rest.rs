//! Tests of physical-device functions that a driver lacks and that no older function can replace (DRV-159 to DRV-167).

use std::ptr;

use loader_tests::ash::vk;
use loader_tests::vk::fill_some;
use loader_tests::{call, case};

/// DRV-160: the extensions of the driver determine whether the loader calls its KHR commands.
#[test]
fn drv_160_external_properties_through_their_extensions() {
    case(|scene| {
        let extensions = [
            "VK_KHR_external_memory_capabilities",
            "VK_KHR_external_semaphore_capabilities",
            "VK_KHR_external_fence_capabilities",
        ];
        scene.driver("a").api("1.0.0").extensions(&extensions).device("one");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.0", &extensions);
            let device = instance.first();
            let mut out = vk::ExternalBufferProperties::default();
            let info = vk::PhysicalDeviceExternalBufferInfo::default();
            call!(
                instance,
                PFN_vkGetPhysicalDeviceExternalBufferProperties(device, &info, &mut out)
            );
            assert_eq!(out.external_memory_properties.external_memory_features.as_raw(), 2);
            let mut out = vk::ExternalSemaphoreProperties::default();
            let info = vk::PhysicalDeviceExternalSemaphoreInfo::default();
            call!(
                instance,
                PFN_vkGetPhysicalDeviceExternalSemaphoreProperties(device, &info, &mut out)
            );
            assert_eq!(out.external_semaphore_features.as_raw(), 1);
            let mut out = vk::ExternalFenceProperties::default();
            let info = vk::PhysicalDeviceExternalFenceInfo::default();
            call!(
                instance,
                PFN_vkGetPhysicalDeviceExternalFenceProperties(device, &info, &mut out)
            );
            assert_eq!(out.external_fence_features.as_raw(), 1);
        });
        outcome.ok().not_logged("Emulating call");
    });
}

/// DRV-161 table: if the driver lacks the core query for tools, the loader answers with an empty list.
#[test]
fn drv_161_tool_properties() {
    case(|scene| {
        scene.driver("new").device("new");
        scene
            .driver("lacks")
            .missing("vkGetPhysicalDeviceToolProperties")
            .device("lacks");
        scene.driver("old").device_with("old", |device| device.api("1.2.0"));
        let outcome = scene.run(|vk| {
            for api in ["1.0", "1.3"] {
                let instance = vk.instance_with(api, &[]);
                for (name, expected) in [("new", 1), ("lacks", 0), ("old", 0)] {
                    let device = instance.named(name);
                    let mut count = 9;
                    let null = ptr::null_mut();
                    let result = call!(
                        instance,
                        PFN_vkGetPhysicalDeviceToolProperties(device, &mut count, null)
                    );
                    assert_eq!((result, count), (vk::Result::SUCCESS, expected), "{name}");
                }
            }
        });
        outcome.ok();
        assert!(!outcome.log("ERROR").is_empty(), "{}", outcome.all());
    });
}

/// DRV-161 table: if the driver lacks the extension's query for tools, the loader answers with an empty list.
#[test]
fn drv_161_tool_properties_of_the_extension() {
    case(|scene| {
        scene
            .driver("with")
            .device_with("with", |device| device.extension("VK_EXT_tooling_info"));
        scene
            .driver("lacks")
            .missing("vkGetPhysicalDeviceToolPropertiesEXT")
            .device_with("lacks", |device| device.extension("VK_EXT_tooling_info"));
        scene.driver("without").device("without");
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            for (name, expected) in [("with", 1), ("lacks", 0), ("without", 0)] {
                let device = instance.named(name);
                let mut count = 9;
                let null = ptr::null_mut();
                let result = call!(
                    instance,
                    "vkGetPhysicalDeviceToolPropertiesEXT"
                        as PFN_vkGetPhysicalDeviceToolProperties(device, &mut count, null)
                );
                assert_eq!((result, count), (vk::Result::SUCCESS, expected), "{name}");
            }
        });
        outcome.ok();
    });
}

/// DRV-161 table: the loader answers the NV query for external image formats for a driver that lacks it.
#[test]
fn drv_161_external_image_formats_nv() {
    const EXTENSION: &str = "VK_NV_external_memory_capabilities";
    case(|scene| {
        scene
            .driver("a")
            .extension(EXTENSION)
            .device("one")
            .missing("vkGetPhysicalDeviceExternalImageFormatPropertiesNV");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.0", &[EXTENSION]);
            let device = instance.first();
            for (handle, expected) in [(0, vk::Result::SUCCESS), (1, vk::Result::ERROR_FORMAT_NOT_SUPPORTED)] {
                let mut out = vk::ExternalImageFormatPropertiesNV {
                    external_memory_features: vk::ExternalMemoryFeatureFlagsNV::from_raw(7),
                    export_from_imported_handle_types: vk::ExternalMemoryHandleTypeFlagsNV::from_raw(7),
                    compatible_handle_types: vk::ExternalMemoryHandleTypeFlagsNV::from_raw(7),
                    ..Default::default()
                };
                let handle = vk::ExternalMemoryHandleTypeFlagsNV::from_raw(handle);
                let result = call!(
                    instance,
                    PFN_vkGetPhysicalDeviceExternalImageFormatPropertiesNV(
                        device,
                        vk::Format::R8_UNORM,
                        vk::ImageType::TYPE_2D,
                        vk::ImageTiling::OPTIMAL,
                        vk::ImageUsageFlags::SAMPLED,
                        vk::ImageCreateFlags::empty(),
                        handle,
                        &mut out,
                    )
                );
                assert_eq!(result, expected);
                if expected == vk::Result::SUCCESS {
                    assert_eq!(
                        (
                            out.external_memory_features.as_raw(),
                            out.export_from_imported_handle_types.as_raw(),
                            out.compatible_handle_types.as_raw(),
                            out.image_format_properties.max_mip_levels
                        ),
                        (0, 0, 0, 11)
                    );
                }
            }
        });
        outcome.ok();
    });
}

/// DRV-161 table, APP-137: calling a known command that the loader does not emulate ends the process if the driver lacks the command.
#[test]
fn drv_161_other_missing_functions_abort() {
    case(|scene| {
        scene.driver("a").device("one");
        scene.env("VK_LOADER_DEBUG", "");
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            let mut count = 0;
            let null = ptr::null_mut();
            let _ = call!(
                instance,
                PFN_vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR(instance.first(), &mut count, null)
            );
        });
        outcome.aborted(
            "ICD associated with VkPhysicalDevice does not support GetPhysicalDeviceCooperativeMatrixPropertiesKHR",
        );
    });
}

/// DRV-161 table, APP-137: for a command that the driver lacks, the loader does not call the driver's function for the command's alias.
#[test]
fn drv_161_another_missing_function_aborts() {
    case(|scene| {
        scene.driver("a").device("one");
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            let mut count = 0;
            let null = ptr::null_mut();
            let _ = call!(
                instance,
                "vkGetPhysicalDeviceCalibrateableTimeDomainsEXT" as PFN_vkGetPhysicalDeviceCalibrateableTimeDomainsKHR(instance.first(), &mut count, null)
            );
        });
        outcome.aborted(
            "ICD associated with VkPhysicalDevice does not support GetPhysicalDeviceCalibrateableTimeDomainsEXT",
        );
    });
}

/// DRV-169: the core query for queue families passes the application's count to the driver, so an array of one element receives one
/// element.
#[test]
fn drv_169_core_queue_family_counts_pass_through() {
    case(|scene| {
        scene.driver("a").device("one");
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            let device = instance.first();
            let (_, families) = fill_some(1, |count, out: *mut vk::QueueFamilyProperties| {
                call!(
                    instance,
                    PFN_vkGetPhysicalDeviceQueueFamilyProperties(device, count, out)
                );
                vk::Result::SUCCESS
            });
            assert_eq!(families.len(), 1);
        });
        outcome.ok();
    });
}
