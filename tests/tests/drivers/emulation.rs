//! Tests of physical-device functions that a driver lacks (DRV-159 to DRV-167).

use std::ptr;

use loader_tests::ash::vk;
use loader_tests::vk::{Allocator, Instance, text};
use loader_tests::{Outcome, Scene, call, case};

/// Runs an application of 1.1 with a driver of 1.0 that lacks the newer queries.
pub(crate) fn old_driver(
    scene: &mut Scene,
    extensions: &'static [&'static str],
    body: impl FnOnce(&Instance<'_>, vk::PhysicalDevice),
) -> Outcome {
    scene
        .driver("a")
        .api("1.0.0")
        .device_with("one", |device| device.uuids(3, 4));
    let outcome = scene.run(|vk| {
        let instance = vk.instance_with("1.1", extensions);
        let device = instance.first();
        vk.mark("start");
        body(&instance, device);
    });
    outcome.ok();
    outcome
}

fn emulated(scene: &Scene, outcome: &Outcome, command: &str, using: &str) {
    let library = scene.library("a").display().to_string();
    outcome.logged(
        "INFO",
        &format!("{command}: Emulating call in ICD \"{library}\" using {using}"),
    );
}

/// Returns a structure for chains whose type neither the loader nor a driver knows.
pub(crate) fn stranger() -> vk::BaseOutStructure<'static> {
    vk::BaseOutStructure {
        s_type: vk::StructureType::from_raw(777_000),
        ..Default::default()
    }
}

const IGNORED: &str = "Emulation found unrecognized structure type in";

/// DRV-159: the loader emulates vkGetPhysicalDeviceFeatures2.
#[test]
fn drv_159_features() {
    case(|scene| {
        let outcome = old_driver(scene, &[], |instance, device| {
            let mut strange = stranger();
            let mut multiview = vk::PhysicalDeviceMultiviewFeatures {
                p_next: ptr::from_mut(&mut strange).cast(),
                multiview: 7,
                multiview_geometry_shader: 7,
                multiview_tessellation_shader: 7,
                ..Default::default()
            };
            let mut features = vk::PhysicalDeviceFeatures2::default().push_next(&mut multiview);
            call!(instance, PFN_vkGetPhysicalDeviceFeatures2(device, &mut features));
            assert_eq!(features.features.robust_buffer_access, vk::TRUE);
            let found = (
                multiview.multiview,
                multiview.multiview_geometry_shader,
                multiview.multiview_tessellation_shader,
            );
            assert_eq!(found, (vk::FALSE, vk::FALSE, vk::FALSE));
            assert_eq!(multiview.p_next, ptr::from_mut(&mut strange).cast());
        });
        emulated(
            scene,
            &outcome,
            "vkGetPhysicalDeviceFeatures2",
            "vkGetPhysicalDeviceFeatures",
        );
        outcome.logged_with("WARNING", IGNORED);
        assert_eq!(
            outcome
                .log("WARNING")
                .iter()
                .filter(|line| line.contains(IGNORED))
                .count(),
            1
        );
    });
}

/// DRV-159: the loader emulates vkGetPhysicalDeviceProperties2, with device and driver UUIDs if `VK_KHR_external_memory_capabilities` is
/// enabled.
#[test]
fn drv_159_properties() {
    case(|scene| {
        scene
            .driver("ext")
            .api("1.0.0")
            .extension("VK_KHR_external_memory_capabilities");
        let outcome = old_driver(scene, &["VK_KHR_external_memory_capabilities"], |instance, device| {
            let mut id = vk::PhysicalDeviceIDProperties {
                device_uuid: [9; 16],
                driver_uuid: [9; 16],
                device_luid_valid: 9,
                ..Default::default()
            };
            let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut id);
            call!(instance, PFN_vkGetPhysicalDeviceProperties2(device, &mut properties));
            assert_eq!(text(&properties.properties.device_name), "one");
            assert_eq!(
                (id.device_uuid, id.driver_uuid, id.device_luid_valid),
                ([0; 16], [0; 16], vk::FALSE)
            );
        });
        emulated(
            scene,
            &outcome,
            "vkGetPhysicalDeviceProperties2",
            "vkGetPhysicalDeviceProperties",
        );
        outcome.logged_with("WARNING", "setting IDs to zero");
    });
}

/// DRV-159: the emulation does not write the structure with the UUIDs if no extension that defines it is enabled.
#[test]
fn drv_159_properties_without_the_extension_leave_ids_alone() {
    case(|scene| {
        let outcome = old_driver(scene, &[], |instance, device| {
            let mut id = vk::PhysicalDeviceIDProperties {
                device_uuid: [9; 16],
                driver_uuid: [9; 16],
                device_luid_valid: 9,
                ..Default::default()
            };
            let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut id);
            call!(instance, PFN_vkGetPhysicalDeviceProperties2(device, &mut properties));
            let found = (id.device_uuid, id.driver_uuid, id.device_luid_valid);
            assert_eq!(found, ([9; 16], [9; 16], 9));
        });
        outcome.logged_with("WARNING", IGNORED);
    });
}

/// DRV-159: the queries for memory and formats are emulated with their older versions.
#[test]
fn drv_159_memory_and_formats() {
    case(|scene| {
        let outcome = old_driver(scene, &[], |instance, device| {
            let mut memory = vk::PhysicalDeviceMemoryProperties2::default();
            call!(instance, PFN_vkGetPhysicalDeviceMemoryProperties2(device, &mut memory));
            assert_eq!(memory.memory_properties.memory_heaps[0].size, 1 << 30);
            let mut format = vk::FormatProperties2::default();
            call!(
                instance,
                PFN_vkGetPhysicalDeviceFormatProperties2(device, vk::Format::R8_UNORM, &mut format)
            );
            assert_eq!(
                format.format_properties.optimal_tiling_features,
                vk::FormatFeatureFlags::SAMPLED_IMAGE
            );
        });
        emulated(
            scene,
            &outcome,
            "vkGetPhysicalDeviceMemoryProperties2",
            "vkGetPhysicalDeviceMemoryProperties",
        );
        emulated(
            scene,
            &outcome,
            "vkGetPhysicalDeviceFormatProperties2",
            "vkGetPhysicalDeviceFormatProperties",
        );
    });
}

/// DRV-159: the loader emulates vkGetPhysicalDeviceImageFormatProperties2. A chain in the input or the output makes the format unsupported.
#[test]
fn drv_159_image_formats() {
    case(|scene| {
        let outcome = old_driver(scene, &[], |instance, device| {
            let mut strange = stranger();
            let info = vk::PhysicalDeviceImageFormatInfo2::default().format(vk::Format::R8_UNORM);
            let mut out = vk::ImageFormatProperties2::default();
            let result = call!(
                instance,
                PFN_vkGetPhysicalDeviceImageFormatProperties2(device, &info, &mut out)
            );
            assert_eq!(
                (result, out.image_format_properties.max_mip_levels),
                (vk::Result::SUCCESS, 11)
            );
            let chained = vk::PhysicalDeviceImageFormatInfo2 {
                p_next: ptr::from_ref(&strange).cast(),
                ..info
            };
            let result = call!(
                instance,
                PFN_vkGetPhysicalDeviceImageFormatProperties2(device, &chained, &mut out)
            );
            assert_eq!(result, vk::Result::ERROR_FORMAT_NOT_SUPPORTED);
            out.p_next = ptr::from_mut(&mut strange).cast();
            let result = call!(
                instance,
                PFN_vkGetPhysicalDeviceImageFormatProperties2(device, &info, &mut out)
            );
            assert_eq!(result, vk::Result::ERROR_FORMAT_NOT_SUPPORTED);
            instance
                .vk
                .add_lines("a", "fail vkGetPhysicalDeviceImageFormatProperties -11");
            out.p_next = ptr::null_mut();
            let result = call!(
                instance,
                PFN_vkGetPhysicalDeviceImageFormatProperties2(device, &info, &mut out)
            );
            assert_eq!(result, vk::Result::ERROR_FORMAT_NOT_SUPPORTED);
        });
        assert!(
            outcome
                .calls("a", "vkGetPhysicalDeviceImageFormatProperties")
                .contains(&"format=9"),
            "{}",
            outcome.all()
        );
        emulated(
            scene,
            &outcome,
            "vkGetPhysicalDeviceImageFormatProperties2",
            "vkGetPhysicalDeviceImageFormatProperties",
        );
    });
}

/// DRV-159: the loader emulates vkGetPhysicalDeviceQueueFamilyProperties2, and never writes after the end of the array.
#[test]
fn drv_159_queue_families() {
    case(|scene| {
        let outcome = old_driver(scene, &[], |instance, device| {
            let mut count = 77;
            call!(
                instance,
                PFN_vkGetPhysicalDeviceQueueFamilyProperties2(device, &mut count, ptr::null_mut())
            );
            assert_eq!(count, 2);
            // With an array of no elements, the call returns the count.
            for (room, expected) in [(0, 2), (1, 1), (2, 2), (5, 2)] {
                let mut families = vec![vk::QueueFamilyProperties2::default(); 6];
                let mut count = room;
                call!(
                    instance,
                    PFN_vkGetPhysicalDeviceQueueFamilyProperties2(device, &mut count, families.as_mut_ptr())
                );
                assert_eq!(count, expected, "room for {room}");
                let counts: Vec<u32> = families
                    .iter()
                    .map(|family| family.queue_family_properties.queue_count)
                    .collect();
                let all = [4, 1].into_iter().take(room as usize).chain([0; 6]).take(6);
                assert!(all.eq(counts), "room for {room}");
            }
            // DRV-169: a driver reports more elements than the array has space for.
            instance
                .vk
                .add_lines("a", "grow vkGetPhysicalDeviceQueueFamilyProperties 50");
            let mut families = vec![vk::QueueFamilyProperties2::default(); 2];
            let mut count = 2;
            call!(
                instance,
                PFN_vkGetPhysicalDeviceQueueFamilyProperties2(device, &mut count, families.as_mut_ptr())
            );
            assert_eq!(count, 2);
        });
        emulated(
            scene,
            &outcome,
            "vkGetPhysicalDeviceQueueFamilyProperties2",
            "vkGetPhysicalDeviceQueueFamilyProperties",
        );
    });
}

/// DRV-161: if memory for the emulation of vkGetPhysicalDeviceQueueFamilyProperties2 runs out, the query returns no queue family.
#[test]
fn drv_161_queue_families_without_memory() {
    case(|scene| {
        scene.driver("a").api("1.0.0").device("one");
        let outcome = scene.run(|vk| {
            let allocator = Allocator::default();
            let spec = vk.spec().api("1.1").allocator(&allocator);
            let instance = spec.create().expect("vkCreateInstance");
            let device = instance.first();
            for (refused, expected) in [(Some(1), 0), (None, 2)] {
                allocator.fail_at(refused);
                let mut families = [vk::QueueFamilyProperties2::default(); 2];
                let mut count = 2;
                call!(
                    instance,
                    PFN_vkGetPhysicalDeviceQueueFamilyProperties2(device, &mut count, families.as_mut_ptr())
                );
                assert_eq!(count, expected);
            }
            instance.destroy();
        });
        outcome
            .ok()
            .logged_with("ERROR", "Failed to allocate array for loader emulation");
    });
}

/// DRV-159: the loader emulates vkGetPhysicalDeviceSparseImageFormatProperties2, with the arguments from the info structure.
#[test]
fn drv_159_sparse_image_formats() {
    case(|scene| {
        let outcome = old_driver(scene, &[], |instance, device| {
            let info = vk::PhysicalDeviceSparseImageFormatInfo2::default()
                .format(vk::Format::R8_UNORM)
                .ty(vk::ImageType::TYPE_3D)
                .samples(vk::SampleCountFlags::TYPE_4)
                .usage(vk::ImageUsageFlags::STORAGE)
                .tiling(vk::ImageTiling::LINEAR);
            let mut count = 0;
            let null = ptr::null_mut();
            call!(
                instance,
                PFN_vkGetPhysicalDeviceSparseImageFormatProperties2(device, &info, &mut count, null)
            );
            assert_eq!(count, 2);
            let mut formats = [vk::SparseImageFormatProperties2::default(); 2];
            let out = formats.as_mut_ptr();
            call!(
                instance,
                PFN_vkGetPhysicalDeviceSparseImageFormatProperties2(device, &info, &mut count, out)
            );
            assert_eq!(
                formats.map(|format| format.properties.aspect_mask),
                [vk::ImageAspectFlags::COLOR, vk::ImageAspectFlags::DEPTH]
            );
        });
        let calls = outcome.calls("a", "vkGetPhysicalDeviceSparseImageFormatProperties");
        assert!(
            calls.contains(&"format=9 type=2 samples=4 usage=8 tiling=1"),
            "{}",
            outcome.all()
        );
    });
}

/// DRV-159, APP-136: the emulated external properties are empty.
#[test]
fn drv_159_external_properties() {
    case(|scene| {
        let outcome = old_driver(scene, &[], |instance, device| {
            let info = vk::PhysicalDeviceExternalBufferInfo::default();
            let mut out = vk::ExternalBufferProperties::default();
            out.external_memory_properties.external_memory_features = vk::ExternalMemoryFeatureFlags::from_raw(7);
            call!(
                instance,
                PFN_vkGetPhysicalDeviceExternalBufferProperties(device, &info, &mut out)
            );
            assert_eq!(out.external_memory_properties.external_memory_features.as_raw(), 0);
            let info = vk::PhysicalDeviceExternalSemaphoreInfo::default();
            let mut out = vk::ExternalSemaphoreProperties {
                external_semaphore_features: vk::ExternalSemaphoreFeatureFlags::from_raw(7),
                ..Default::default()
            };
            call!(
                instance,
                PFN_vkGetPhysicalDeviceExternalSemaphoreProperties(device, &info, &mut out)
            );
            assert_eq!(out.external_semaphore_features.as_raw(), 0);
            let info = vk::PhysicalDeviceExternalFenceInfo::default();
            let mut out = vk::ExternalFenceProperties {
                external_fence_features: vk::ExternalFenceFeatureFlags::from_raw(7),
                ..Default::default()
            };
            call!(
                instance,
                PFN_vkGetPhysicalDeviceExternalFenceProperties(device, &info, &mut out)
            );
            assert_eq!(out.external_fence_features.as_raw(), 0);
        });
        let library = scene.library("a").display().to_string();
        for name in ["Buffer", "Semaphore", "Fence"] {
            let text = format!("vkGetPhysicalDeviceExternal{name}Properties: Emulating call in ICD \"{library}\"");
            outcome.logged("INFO", &text);
        }
    });
}
