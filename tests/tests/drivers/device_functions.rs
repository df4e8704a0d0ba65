//! Tests of device functions: submission, object names, and labels (DRV-190 to DRV-207, APP-190 to APP-200).

use std::ptr;

use loader_tests::ash::vk::{self, Handle};
use loader_tests::vk::{Commands, Device, opaque_address};
use loader_tests::{call, case};

const UTILS: &str = "VK_EXT_debug_utils";

/// Recorded commands and submissions reach the driver through exported functions and through the results of `vkGetDeviceProcAddr`.
#[test]
fn drv_201_recording_and_submission() {
    case(|scene| {
        scene.usual_driver("a");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.3", &[]);
            let device = instance.device(instance.first(), &[]);
            let queue = device.queue(0, 0);
            let pool = device.pool();
            let buffers = device.command_buffers(pool, 1).expect("vkAllocateCommandBuffers");
            let begin = vk::CommandBufferBeginInfo::default();
            assert_eq!(
                call!(device, PFN_vkBeginCommandBuffer(buffers[0], &begin)),
                vk::Result::SUCCESS
            );
            call!(device, PFN_vkCmdDraw(buffers[0], 1, 2, 3, 4));
            call!(vk, PFN_vkCmdDraw(buffers[0], 5, 6, 7, 8));
            assert_eq!(call!(device, PFN_vkEndCommandBuffer(buffers[0])), vk::Result::SUCCESS);
            let submits = [vk::SubmitInfo::default().command_buffers(&buffers)];
            for _ in 0..2 {
                let result = call!(vk, PFN_vkQueueSubmit(queue, 1, submits.as_ptr(), vk::Fence::null()));
                assert_eq!(result, vk::Result::SUCCESS);
            }
            let infos = [vk::CommandBufferSubmitInfo::default().command_buffer(buffers[0])];
            let submits = [vk::SubmitInfo2::default().command_buffer_infos(&infos)];
            let result = call!(vk, PFN_vkQueueSubmit2(queue, 1, submits.as_ptr(), vk::Fence::null()));
            assert_eq!(result, vk::Result::SUCCESS);
            assert_eq!(call!(vk, PFN_vkQueueWaitIdle(queue)), vk::Result::SUCCESS);
            assert_eq!(call!(vk, PFN_vkDeviceWaitIdle(device.raw)), vk::Result::SUCCESS);
            device.free_command_buffers(pool, &buffers);
            device.destroy_pool(pool);
        });
        let outcome = outcome.ok();
        let buffer = "command_buffer(gpu-a)";
        assert_eq!(
            outcome.calls("a", "vkCmdDraw"),
            [format!("{buffer} 1 2 3 4"), format!("{buffer} 5 6 7 8")]
        );
        assert_eq!(outcome.calls("a", "vkQueueSubmit").len(), 2);
        assert_eq!(
            outcome.calls("a", "vkQueueSubmit2"),
            [format!("queue(gpu-a) [{buffer}]")]
        );
    });
}

/// APP-43, DRV-201, DRV-76: without layers, the look-up returns the driver's pointer. The loader does not change this pointer, and does not
/// read memory at its address.
#[test]
fn app_043_device_pointers_are_the_drivers_own() {
    case(|scene| {
        scene
            .usual_driver("a")
            .line("opaque", "vkCmdDraw")
            .line("opaque", "vkQueueSubmit")
            .line("opaque", "vkCmdSetLineWidth");
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            let device = instance.device(instance.first(), &[]);
            for name in ["vkCmdDraw", "vkQueueSubmit", "vkCmdSetLineWidth"] {
                assert_eq!(device.address(name), opaque_address(name), "{name}");
                assert_ne!(device.trampoline(name), opaque_address(name), "{name}");
            }
            assert_eq!(device.address("vkCmdDrawMeshTasksEXT"), 0);
        });
        outcome.ok();
    });
}

/// Names an object through the function from `vkGetDeviceProcAddr`, and tags the object through the loader's trampoline.
fn name_and_tag(device: &Device<'_>, object_type: vk::ObjectType, object_handle: u64) {
    let p_object_name = c"named".as_ptr();
    let info = vk::DebugUtilsObjectNameInfoEXT {
        object_type,
        object_handle,
        p_object_name,
        ..Default::default()
    };
    assert_eq!(
        call!(device, PFN_vkSetDebugUtilsObjectNameEXT(device.raw, &info)),
        vk::Result::SUCCESS
    );
    assert_eq!(
        info.object_handle, object_handle,
        "the caller's structure is left alone"
    );
    let info = vk::DebugUtilsObjectTagInfoEXT {
        object_type,
        object_handle,
        tag_name: 9,
        ..Default::default()
    };
    assert_eq!(
        call!(device.instance, PFN_vkSetDebugUtilsObjectTagEXT(device.raw, &info)),
        vk::Result::SUCCESS
    );
}

/// APP-198, DRV-130, DRV-206: handles in names and tags are translated for the driver.
#[test]
fn app_198_names_of_objects() {
    case(|scene| {
        scene.usual_driver("a");
        scene.usual_driver("b");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &[UTILS, "VK_KHR_surface", "VK_EXT_headless_surface"]);
            let physical = instance.named("gpu-a");
            let surface = instance.headless_surface();
            let device = instance.device(physical, &["VK_KHR_swapchain"]);
            name_and_tag(&device, vk::ObjectType::INSTANCE, instance.raw.as_raw());
            name_and_tag(&device, vk::ObjectType::PHYSICAL_DEVICE, physical.as_raw());
            name_and_tag(&device, vk::ObjectType::SURFACE_KHR, surface.as_raw());
            name_and_tag(&device, vk::ObjectType::DEVICE, device.raw.as_raw());
            name_and_tag(&device, vk::ObjectType::QUEUE, device.queue(0, 0).as_raw());
            name_and_tag(&device, vk::ObjectType::UNKNOWN, 0x1234);
            name_and_tag(&device, vk::ObjectType::BUFFER, 0x5678);
            drop(device);
            instance.destroy_surface(surface);
        });
        let outcome = outcome.ok();
        let expected = [
            "type=1 instance",
            "type=2 physical_device(gpu-a)",
            "type=1000000000 surface:",
            "type=3 device(gpu-a)",
            "type=4 queue(gpu-a)",
            "type=0 0x1234",
            "type=9 0x5678",
        ];
        for (call, end) in [
            ("vkSetDebugUtilsObjectNameEXT", "named"),
            ("vkSetDebugUtilsObjectTagEXT", "tag=9"),
        ] {
            let lines = outcome.calls("a", call);
            assert_eq!(lines.len(), expected.len(), "{}", outcome.all());
            for (line, expected) in lines.iter().zip(expected) {
                assert!(
                    line.starts_with(expected) && line.ends_with(end),
                    "{line}, not {expected}\n{}",
                    outcome.all()
                );
            }
        }
    });
}

/// APP-198: a NULL handle reaches the driver as NULL.
#[test]
fn app_198_null_handles_stay_null() {
    case(|scene| {
        scene.usual_driver("a");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &[UTILS]);
            let device = instance.device(instance.first(), &[]);
            name_and_tag(&device, vk::ObjectType::INSTANCE, 0);
            name_and_tag(&device, vk::ObjectType::PHYSICAL_DEVICE, 0);
        });
        let names = outcome.ok().calls("a", "vkSetDebugUtilsObjectNameEXT");
        assert_eq!(names, ["type=1 0x0 named", "type=2 0x0 named"]);
    });
}

/// APP-199, DRV-205, APP-44a: if the driver lacks the commands for names, tags and labels, the loader's own functions succeed.
#[test]
fn app_199_names_and_labels_on_a_driver_without_them() {
    case(|scene| {
        scene.driver("a").device("one");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &[UTILS]);
            let physical = instance.first();
            let device = instance.device(physical, &[]);
            for object_handle in [physical.as_raw(), 0] {
                let info = vk::DebugUtilsObjectNameInfoEXT {
                    object_type: vk::ObjectType::PHYSICAL_DEVICE,
                    object_handle,
                    ..Default::default()
                };
                if object_handle != 0 {
                    assert_eq!(
                        call!(device, PFN_vkSetDebugUtilsObjectNameEXT(device.raw, &info)),
                        vk::Result::SUCCESS
                    );
                    assert_eq!(
                        call!(instance, PFN_vkSetDebugUtilsObjectNameEXT(device.raw, &info)),
                        vk::Result::SUCCESS
                    );
                }
            }
            let tag = vk::DebugUtilsObjectTagInfoEXT {
                object_type: vk::ObjectType::INSTANCE,
                object_handle: instance.raw.as_raw(),
                ..Default::default()
            };
            let result = call!(device, PFN_vkSetDebugUtilsObjectTagEXT(device.raw, &tag));
            assert_eq!(result, vk::Result::SUCCESS);
            let label = vk::DebugUtilsLabelEXT::default();
            let queue = device.queue(0, 0);
            call!(device, PFN_vkQueueBeginDebugUtilsLabelEXT(queue, &label));
            call!(instance, PFN_vkQueueInsertDebugUtilsLabelEXT(queue, &label));
            call!(device, PFN_vkQueueEndDebugUtilsLabelEXT(queue));
            let pool = device.pool();
            let buffers = device.command_buffers(pool, 1).expect("vkAllocateCommandBuffers");
            call!(device, PFN_vkCmdBeginDebugUtilsLabelEXT(buffers[0], &label));
            call!(instance, PFN_vkCmdInsertDebugUtilsLabelEXT(buffers[0], &label));
            call!(device, PFN_vkCmdEndDebugUtilsLabelEXT(buffers[0]));
            device.free_command_buffers(pool, &buffers);
            device.destroy_pool(pool);
        });
        outcome.ok();
    });
}

/// DRV-204, DRV-207: labels reach a driver that has the label commands.
#[test]
fn drv_207_labels_reach_the_driver() {
    case(|scene| {
        scene.usual_driver("a");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &[UTILS]);
            let device = instance.device(instance.first(), &[]);
            let label = vk::DebugUtilsLabelEXT::default();
            let queue = device.queue(0, 0);
            call!(device, PFN_vkQueueBeginDebugUtilsLabelEXT(queue, &label));
            call!(instance, PFN_vkQueueEndDebugUtilsLabelEXT(queue));
        });
        let outcome = outcome.ok();
        assert_eq!(outcome.calls("a", "vkQueueBeginDebugUtilsLabelEXT"), ["queue(gpu-a)"]);
        assert_eq!(outcome.calls("a", "vkQueueEndDebugUtilsLabelEXT"), ["queue(gpu-a)"]);
    });
}

/// APP-44, DRV-205: the debug-marker commands exist only on devices with the extension, and translate handles.
#[test]
fn app_044_debug_marker() {
    const MARKER: &str = "VK_EXT_debug_marker";
    case(|scene| {
        scene.usual_driver("a").line("device.extension", MARKER);
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &["VK_EXT_debug_report"]);
            let physical = instance.first();
            let device = instance.device(physical, &[]);
            for name in [
                "vkDebugMarkerSetObjectNameEXT",
                "vkDebugMarkerSetObjectTagEXT",
                "vkCmdDebugMarkerBeginEXT",
                "vkCmdDebugMarkerEndEXT",
                "vkCmdDebugMarkerInsertEXT",
            ] {
                assert_eq!(device.address(name), 0, "{name}");
                assert_ne!(device.trampoline(name), 0, "{name}");
            }
            drop(device);
            let device = instance.device(physical, &[MARKER]);
            assert_eq!(
                device.address("vkDebugMarkerSetObjectNameEXT"),
                device.trampoline("vkDebugMarkerSetObjectNameEXT")
            );
            let info = vk::DebugMarkerObjectNameInfoEXT {
                object_type: vk::DebugReportObjectTypeEXT::PHYSICAL_DEVICE,
                object: physical.as_raw(),
                p_object_name: c"named".as_ptr(),
                ..Default::default()
            };
            assert_eq!(
                call!(device, PFN_vkDebugMarkerSetObjectNameEXT(device.raw, &info)),
                vk::Result::SUCCESS
            );
            let info = vk::DebugMarkerObjectTagInfoEXT {
                object_type: vk::DebugReportObjectTypeEXT::INSTANCE,
                object: instance.raw.as_raw(),
                ..Default::default()
            };
            assert_eq!(
                call!(device, PFN_vkDebugMarkerSetObjectTagEXT(device.raw, &info)),
                vk::Result::SUCCESS
            );
        });
        let outcome = outcome.ok();
        assert_eq!(
            outcome.calls("a", "vkDebugMarkerSetObjectNameEXT"),
            ["type=2 physical_device(gpu-a)"]
        );
        assert_eq!(outcome.calls("a", "vkDebugMarkerSetObjectTagEXT"), ["type=1 instance"]);
    });
}

/// APP-50: naming an object with a debug-marker command aborts the process on a device without the extension.
#[test]
fn app_050_debug_marker_without_the_extension_ends_the_process() {
    case(|scene| {
        scene.usual_driver("a");
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            let device = instance.device(instance.first(), &[]);
            let info = vk::DebugMarkerObjectNameInfoEXT::default();
            let _ = call!(instance, PFN_vkDebugMarkerSetObjectNameEXT(device.raw, &info));
        });
        outcome.aborted("vkDebugMarkerSetObjectNameEXT");
    });
}

/// APP-185: a NULL non-dispatchable handle is not an error.
#[test]
fn app_185_null_non_dispatchable_handles_pass() {
    case(|scene| {
        scene.usual_driver("a");
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            let device = instance.device(instance.first(), &[]);
            call!(vk, PFN_vkDestroyBuffer(device.raw, vk::Buffer::null(), ptr::null()));
            call!(device, PFN_vkDestroyBuffer(device.raw, vk::Buffer::null(), ptr::null()));
        });
        outcome.ok();
    });
}
