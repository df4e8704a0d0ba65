//! Tests of chains that an emulated query cannot answer, and of answers in which all members are empty (DRV-159 to DRV-167).

use std::ffi::c_void;
use std::ptr;

use loader_tests::ash::vk;
use loader_tests::vk::Instance;
use loader_tests::{call, case};

use crate::emulation::{old_driver, stranger};

/// Queries external buffers, semaphores and fences with `next` in every chain. Returns the members of the answers.
fn external(instance: &Instance<'_>, device: vk::PhysicalDevice, next: *mut c_void) -> [[u32; 3]; 3] {
    let info = vk::PhysicalDeviceExternalBufferInfo {
        p_next: next,
        ..Default::default()
    };
    let mut buffer = vk::ExternalBufferProperties {
        p_next: next,
        external_memory_properties: vk::ExternalMemoryProperties {
            external_memory_features: vk::ExternalMemoryFeatureFlags::from_raw(7),
            export_from_imported_handle_types: vk::ExternalMemoryHandleTypeFlags::from_raw(7),
            compatible_handle_types: vk::ExternalMemoryHandleTypeFlags::from_raw(7),
        },
        ..Default::default()
    };
    call!(
        instance,
        PFN_vkGetPhysicalDeviceExternalBufferProperties(device, &info, &mut buffer)
    );
    let info = vk::PhysicalDeviceExternalSemaphoreInfo {
        p_next: next,
        ..Default::default()
    };
    let mut semaphore = vk::ExternalSemaphoreProperties {
        p_next: next,
        export_from_imported_handle_types: vk::ExternalSemaphoreHandleTypeFlags::from_raw(7),
        compatible_handle_types: vk::ExternalSemaphoreHandleTypeFlags::from_raw(7),
        external_semaphore_features: vk::ExternalSemaphoreFeatureFlags::from_raw(7),
        ..Default::default()
    };
    call!(
        instance,
        PFN_vkGetPhysicalDeviceExternalSemaphoreProperties(device, &info, &mut semaphore)
    );
    let info = vk::PhysicalDeviceExternalFenceInfo {
        p_next: next,
        ..Default::default()
    };
    let mut fence = vk::ExternalFenceProperties {
        p_next: next,
        export_from_imported_handle_types: vk::ExternalFenceHandleTypeFlags::from_raw(7),
        compatible_handle_types: vk::ExternalFenceHandleTypeFlags::from_raw(7),
        external_fence_features: vk::ExternalFenceFeatureFlags::from_raw(7),
        ..Default::default()
    };
    call!(
        instance,
        PFN_vkGetPhysicalDeviceExternalFenceProperties(device, &info, &mut fence)
    );
    let memory = buffer.external_memory_properties;
    [
        [
            memory.external_memory_features.as_raw(),
            memory.export_from_imported_handle_types.as_raw(),
            memory.compatible_handle_types.as_raw(),
        ],
        [
            semaphore.external_semaphore_features.as_raw(),
            semaphore.export_from_imported_handle_types.as_raw(),
            semaphore.compatible_handle_types.as_raw(),
        ],
        [
            fence.external_fence_features.as_raw(),
            fence.export_from_imported_handle_types.as_raw(),
            fence.compatible_handle_types.as_raw(),
        ],
    ]
}

/// Queries features, properties, memory, a format, queue families and sparse formats with `next` in every chain.
fn others(instance: &Instance<'_>, device: vk::PhysicalDevice, next: *mut c_void) {
    let mut features = vk::PhysicalDeviceFeatures2 {
        p_next: next,
        ..Default::default()
    };
    call!(instance, PFN_vkGetPhysicalDeviceFeatures2(device, &mut features));
    let mut properties = vk::PhysicalDeviceProperties2 {
        p_next: next,
        ..Default::default()
    };
    call!(instance, PFN_vkGetPhysicalDeviceProperties2(device, &mut properties));
    let mut memory = vk::PhysicalDeviceMemoryProperties2 {
        p_next: next,
        ..Default::default()
    };
    call!(instance, PFN_vkGetPhysicalDeviceMemoryProperties2(device, &mut memory));
    let mut format = vk::FormatProperties2 {
        p_next: next,
        ..Default::default()
    };
    call!(
        instance,
        PFN_vkGetPhysicalDeviceFormatProperties2(device, vk::Format::R8_UNORM, &mut format)
    );
    let mut families = [vk::QueueFamilyProperties2 {
        p_next: next,
        ..Default::default()
    }; 2];
    let mut count = 2;
    let out = families.as_mut_ptr();
    call!(
        instance,
        PFN_vkGetPhysicalDeviceQueueFamilyProperties2(device, &mut count, out)
    );
    let info = vk::PhysicalDeviceSparseImageFormatInfo2 {
        p_next: next,
        ..Default::default()
    };
    let mut formats = [vk::SparseImageFormatProperties2 {
        p_next: next,
        ..Default::default()
    }; 2];
    let mut count = 2;
    let out = formats.as_mut_ptr();
    call!(
        instance,
        PFN_vkGetPhysicalDeviceSparseImageFormatProperties2(device, &info, &mut count, out)
    );
}

/// DRV-159, APP-136: in the loader's own answer, every member of external properties is empty.
#[test]
fn drv_159_all_members_of_external_properties_are_empty() {
    case(|scene| {
        old_driver(scene, &[], |instance, device| {
            assert_eq!(external(instance, device, ptr::null_mut()), [[0; 3]; 3]);
        });
    });
}

/// DRV-159: messages about unknown structures name the chain that contains them.
#[test]
fn drv_159_unknown_structures_in_every_chain() {
    case(|scene| {
        let outcome = old_driver(scene, &[], |instance, device| {
            let mut strange = stranger();
            let next = ptr::from_mut(&mut strange).cast();
            assert_eq!(external(instance, device, next), [[0; 3]; 3]);
            others(instance, device, next);
        });
        for (command, chain) in [
            ("ExternalBufferProperties", "pExternalBufferInfo->"),
            ("ExternalBufferProperties", "pExternalBufferProperties->"),
            ("ExternalSemaphoreProperties", "pExternalSemaphoreInfo->"),
            ("ExternalSemaphoreProperties", "pExternalSemaphoreProperties->"),
            ("ExternalFenceProperties", "pExternalFenceInfo->"),
            ("ExternalFenceProperties", "pExternalFenceProperties->"),
            ("Features2", "pFeatures->"),
            ("Properties2", "pProperties->"),
            ("MemoryProperties2", "pMemoryProperties->"),
            ("FormatProperties2", "pFormatProperties->"),
            ("QueueFamilyProperties2", "pQueueFamilyProperties[0]."),
            ("QueueFamilyProperties2", "pQueueFamilyProperties[1]."),
            ("SparseImageFormatProperties2", "pFormatInfo->"),
            ("SparseImageFormatProperties2", "pProperties[0]."),
            ("SparseImageFormatProperties2", "pProperties[1]."),
        ] {
            let text = format!(
                "vkGetPhysicalDevice{command}: Emulation found unrecognized structure type in {chain}pNext - this struct will be ignored"
            );
            outcome.logged("WARNING", &text);
        }
    });
}
