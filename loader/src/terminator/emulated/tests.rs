//! Tests of drivers that lack the newer queries, as applications see them.

use crate::alloc::HostAllocator;
use crate::debug::testing::{FAMILIES, Program, driver, heard, link};
use crate::generated::trampoline as vk;
use crate::generated::types::*;
use crate::handle::App;
use core::alloc::{GlobalAlloc, Layout};
use core::cell::Cell;
use core::ffi::CStr;
use core::mem::zeroed;
use core::ptr::null_mut;
use os::memory::CHeap;

const INFO: u32 = 16;
const WARNING: u32 = 256;
const ERROR: u32 = 4096;
const PROPERTIES2: &CStr = c"VK_KHR_get_physical_device_properties2";
const EXTERNAL_MEMORY: &CStr = c"VK_KHR_external_memory_capabilities";

/// Returns a program with a messenger, and the device of driver 0.
fn listening(minor: u32, extensions: &[&CStr]) -> (Program, VkPhysicalDevice<App>) {
    let program = Program::new(minor, extensions, HostAllocator::system());
    let device = program.physical_device();
    program.listen().expect("a messenger");
    heard();
    (program, device)
}

/// Returns a structure of an unknown type, for a chain.
fn unknown() -> VkBaseOutStructure {
    VkBaseOutStructure {
        sType: VkStructureType(0x7FFF_FFF0),
        pNext: null_mut(),
    }
}

/// Returns the messages of an emulated call: the announcement, then a warning for each parameter in `ignored`.
fn expected(command: &str, older: Option<&str>, ignored: &[&str]) -> Vec<(u32, String)> {
    let using = older.map_or(String::new(), |older| format!(" using {older}"));
    let announcement = format!("{command}: Emulating call in ICD \"direct driver #0\"{using}");
    let warnings = ignored.iter().map(|parameter| {
        let text = "Emulation found unrecognized structure type in";
        (
            WARNING,
            format!("{command}: {text} {parameter}pNext - this struct will be ignored"),
        )
    });
    core::iter::once((INFO, announcement)).chain(warnings).collect()
}

#[test]
fn drv_159_features2_fills_what_it_can_and_warns_of_the_rest() {
    let (_program, device) = listening(1, &[]);
    let mut stranger = unknown();
    // SAFETY: all members are numbers or pointers, for which zero is valid.
    let mut multiview: VkPhysicalDeviceMultiviewFeatures = unsafe { zeroed() };
    multiview.sType = VkPhysicalDeviceMultiviewFeatures::STRUCTURE_TYPE;
    multiview.pNext = link(&mut stranger);
    (
        multiview.multiview,
        multiview.multiviewGeometryShader,
        multiview.multiviewTessellationShader,
    ) = (1, 1, 1);
    // SAFETY: all members are numbers or pointers, for which zero is valid.
    let mut features: VkPhysicalDeviceFeatures2 = unsafe { zeroed() };
    features.pNext = link(&mut multiview);
    // SAFETY: the device is live and the chain valid.
    unsafe { vk::vkGetPhysicalDeviceFeatures2(device, &mut features) };
    assert_eq!(features.features.logicOp, VK_TRUE);
    let members = (
        multiview.multiview,
        multiview.multiviewGeometryShader,
        multiview.multiviewTessellationShader,
    );
    assert_eq!(members, (VK_FALSE, VK_FALSE, VK_FALSE));
    assert_eq!(multiview.pNext, link(&mut stranger), "the chain stays as it was");
    let command = "vkGetPhysicalDeviceFeatures2";
    assert_eq!(
        heard(),
        expected(command, Some("vkGetPhysicalDeviceFeatures"), &["pFeatures->"])
    );
}

#[test]
fn drv_159_the_application_decides_which_of_the_drivers_functions_is_used() {
    let cases: [(u32, &[&CStr], &[&str]); 4] = [
        (1, &[], &["vkGetPhysicalDeviceFeatures2"]),
        (1, &[PROPERTIES2], &["vkGetPhysicalDeviceFeatures2"]),
        (0, &[PROPERTIES2], &["vkGetPhysicalDeviceFeatures2KHR"]),
        // Here, only the loader enables the extension on the driver, which does not make the driver's function available (DRV-110).
        (0, &[], &[]),
    ];
    driver(0, |driver| driver.newer = true);
    for (minor, extensions, calls) in cases {
        let (program, device) = listening(minor, extensions);
        driver(0, |driver| driver.calls.clear());
        // SAFETY: all members are numbers or pointers, for which zero is valid.
        let mut features: VkPhysicalDeviceFeatures2 = unsafe { zeroed() };
        // SAFETY: the device is live and the structure valid.
        unsafe { vk::vkGetPhysicalDeviceFeatures2(device, &mut features) };
        assert_eq!(
            driver(0, |driver| driver.calls.clone()),
            calls,
            "1.{minor} {extensions:?}"
        );
        assert_eq!(heard().len(), usize::from(calls.is_empty()));
        drop(program);
    }
}

#[test]
fn drv_159_properties2_zeroes_identifiers_only_where_they_may_be_asked_for() {
    let command = "vkGetPhysicalDeviceProperties2";
    let older = Some("vkGetPhysicalDeviceProperties");
    for identified in [true, false] {
        let extensions: &[&CStr] = if identified { &[EXTERNAL_MEMORY] } else { &[] };
        let (_program, device) = listening(1, extensions);
        // SAFETY: all members are numbers or pointers, for which zero is valid.
        let (mut ids, mut properties): (VkPhysicalDeviceIDProperties, VkPhysicalDeviceProperties2) =
            unsafe { (zeroed(), zeroed()) };
        ids.sType = VkPhysicalDeviceIDProperties::STRUCTURE_TYPE;
        ids.deviceUUID.fill(9);
        ids.driverUUID.fill(9);
        ids.deviceLUIDValid = VK_TRUE;
        properties.pNext = link(&mut ids);
        // SAFETY: the device is live and the chain valid.
        unsafe { vk::vkGetPhysicalDeviceProperties2(device, &mut properties) };
        assert_eq!(properties.properties.apiVersion, discovery::version::ApiVersion::V1_0.0);
        if identified {
            assert_eq!(
                (ids.deviceUUID, ids.driverUUID, ids.deviceLUIDValid),
                ([0; 16], [0; 16], VK_FALSE)
            );
            let messages = heard();
            assert_eq!(messages[0], expected(command, older, &[])[0]);
            assert!(
                messages[1].0 == WARNING && messages[1].1.contains("unique IDs"),
                "{messages:?}"
            );
        } else {
            assert_eq!(
                (ids.deviceUUID, ids.driverUUID, ids.deviceLUIDValid),
                ([9; 16], [9; 16], VK_TRUE)
            );
            assert_eq!(heard(), expected(command, older, &["pProperties->"]));
        }
    }
}

#[test]
fn drv_159_single_structures() {
    let (_program, device) = listening(1, &[]);
    let mut stranger = unknown();
    // SAFETY: all members are numbers or pointers, for which zero is valid.
    let (mut format, mut memory): (VkFormatProperties2, VkPhysicalDeviceMemoryProperties2) =
        unsafe { (zeroed(), zeroed()) };
    format.pNext = link(&mut stranger);
    memory.pNext = link(&mut stranger);
    // SAFETY: the device is live and the chains valid.
    unsafe {
        vk::vkGetPhysicalDeviceFormatProperties2(device, VkFormat(1), &mut format);
        vk::vkGetPhysicalDeviceMemoryProperties2(device, &mut memory);
    }
    assert_eq!(
        (
            format.formatProperties.bufferFeatures.0,
            memory.memoryProperties.memoryHeapCount
        ),
        (7, 4)
    );
    let formats = "vkGetPhysicalDeviceFormatProperties";
    let mut messages = expected(&format!("{formats}2"), Some(formats), &["pFormatProperties->"]);
    let memories = "vkGetPhysicalDeviceMemoryProperties";
    messages.extend(expected(
        &format!("{memories}2"),
        Some(memories),
        &["pMemoryProperties->"],
    ));
    assert_eq!(heard(), messages);
}

#[test]
fn drv_159_image_formats_with_a_chain_are_not_supported() {
    let (_program, device) = listening(1, &[]);
    let mut stranger = unknown();
    // SAFETY: all members are numbers or pointers, for which zero is valid.
    let (mut info, mut properties): (VkPhysicalDeviceImageFormatInfo2, VkImageFormatProperties2) =
        unsafe { (zeroed(), zeroed()) };
    // SAFETY: the device is live and the chains valid.
    let ask = |info: &VkPhysicalDeviceImageFormatInfo2, properties: &mut VkImageFormatProperties2| unsafe {
        vk::vkGetPhysicalDeviceImageFormatProperties2(device, info, properties)
    };
    assert_eq!(ask(&info, &mut properties), VkResult::VK_SUCCESS);
    assert_eq!(properties.imageFormatProperties.maxMipLevels, 5);
    properties.pNext = link(&mut stranger);
    assert_eq!(ask(&info, &mut properties), VkResult::VK_ERROR_FORMAT_NOT_SUPPORTED);
    properties.pNext = null_mut();
    info.pNext = link(&mut stranger);
    assert_eq!(ask(&info, &mut properties), VkResult::VK_ERROR_FORMAT_NOT_SUPPORTED);
    assert!(heard().iter().all(|(severity, _)| *severity == INFO));
}

#[test]
fn drv_169_queue_families_never_exceed_the_callers_room() {
    let (_program, device) = listening(1, &[]);
    let mut stranger = unknown();
    for (room, written) in [(0, FAMILIES), (1, 1), (FAMILIES, FAMILIES), (8, FAMILIES)] {
        // SAFETY: all members are numbers or pointers, for which zero is valid.
        let mut families: [VkQueueFamilyProperties2; 8] = unsafe { zeroed() };
        families[0].pNext = link(&mut stranger);
        let mut count = room;
        // SAFETY: the device is live and the array has as many elements as the count says.
        unsafe { vk::vkGetPhysicalDeviceQueueFamilyProperties2(device, &mut count, families.as_mut_ptr()) };
        assert_eq!(count, written, "room for {room}");
        let counts = families.map(|family| family.queueFamilyProperties.queueCount);
        for (index, count) in (0..).zip(counts) {
            assert_eq!(
                count,
                if index < room.min(FAMILIES) { 10 + index } else { 0 },
                "room for {room}"
            );
        }
        assert_eq!(families[0].pNext, link(&mut stranger));
        let command = "vkGetPhysicalDeviceQueueFamilyProperties";
        let ignored: &[&str] = if room > 0 { &["pQueueFamilyProperties[0]."] } else { &[] };
        assert_eq!(heard(), expected(&format!("{command}2"), Some(command), ignored));
    }
    let mut count = 5;
    // SAFETY: the device is live, and a NULL array is allowed.
    unsafe { vk::vkGetPhysicalDeviceQueueFamilyProperties2(device, &mut count, null_mut()) };
    assert_eq!(count, FAMILIES);
}

#[test]
fn drv_159_sparse_formats() {
    let (_program, device) = listening(1, &[]);
    let mut stranger = unknown();
    // SAFETY: all members are numbers or pointers, for which zero is valid.
    let mut info: VkPhysicalDeviceSparseImageFormatInfo2 = unsafe { zeroed() };
    info.pNext = link(&mut stranger);
    let mut count = 2;
    // SAFETY: the device is live, and a NULL array is allowed.
    unsafe { vk::vkGetPhysicalDeviceSparseImageFormatProperties2(device, &info, &mut count, null_mut()) };
    assert_eq!(count, 0);
    let command = "vkGetPhysicalDeviceSparseImageFormatProperties";
    assert_eq!(
        heard(),
        expected(&format!("{command}2"), Some(command), &["pFormatInfo->"])
    );
}

#[test]
fn drv_159_nothing_can_be_shared() {
    let (_program, device) = listening(1, &[]);
    let mut stranger = unknown();
    // SAFETY: all members are numbers or pointers, for which zero is valid.
    let mut buffer: VkPhysicalDeviceExternalBufferInfo = unsafe { zeroed() };
    buffer.pNext = link(&mut stranger);
    // SAFETY: all members are numbers or pointers, for which zero is valid.
    let (semaphore, fence) = unsafe { (zeroed(), zeroed()) };
    let mut buffers = VkExternalBufferProperties {
        sType: VkExternalBufferProperties::STRUCTURE_TYPE,
        pNext: link(&mut stranger),
        externalMemoryProperties: VkExternalMemoryProperties {
            externalMemoryFeatures: VkExternalMemoryFeatureFlags(1),
            exportFromImportedHandleTypes: VkExternalMemoryHandleTypeFlags(1),
            compatibleHandleTypes: VkExternalMemoryHandleTypeFlags(1),
        },
    };
    let mut semaphores = VkExternalSemaphoreProperties {
        sType: VkExternalSemaphoreProperties::STRUCTURE_TYPE,
        pNext: null_mut(),
        exportFromImportedHandleTypes: VkExternalSemaphoreHandleTypeFlags(1),
        compatibleHandleTypes: VkExternalSemaphoreHandleTypeFlags(1),
        externalSemaphoreFeatures: VkExternalSemaphoreFeatureFlags(1),
    };
    let mut fences = VkExternalFenceProperties {
        sType: VkExternalFenceProperties::STRUCTURE_TYPE,
        pNext: null_mut(),
        exportFromImportedHandleTypes: VkExternalFenceHandleTypeFlags(1),
        compatibleHandleTypes: VkExternalFenceHandleTypeFlags(1),
        externalFenceFeatures: VkExternalFenceFeatureFlags(1),
    };
    // SAFETY: the device is live and the chains valid.
    unsafe {
        vk::vkGetPhysicalDeviceExternalBufferProperties(device, &buffer, &mut buffers);
        vk::vkGetPhysicalDeviceExternalSemaphoreProperties(device, &semaphore, &mut semaphores);
        vk::vkGetPhysicalDeviceExternalFenceProperties(device, &fence, &mut fences);
    }
    let memory = buffers.externalMemoryProperties;
    let shared = [
        memory.externalMemoryFeatures.0 | memory.exportFromImportedHandleTypes.0 | memory.compatibleHandleTypes.0,
        semaphores.externalSemaphoreFeatures.0,
        semaphores.exportFromImportedHandleTypes.0 | semaphores.compatibleHandleTypes.0,
        fences.externalFenceFeatures.0 | fences.exportFromImportedHandleTypes.0 | fences.compatibleHandleTypes.0,
    ];
    assert_eq!(shared, [0; 4]);
    let ignored = ["pExternalBufferInfo->", "pExternalBufferProperties->"];
    let mut messages = expected("vkGetPhysicalDeviceExternalBufferProperties", None, &ignored);
    messages.extend(expected("vkGetPhysicalDeviceExternalSemaphoreProperties", None, &[]));
    messages.extend(expected("vkGetPhysicalDeviceExternalFenceProperties", None, &[]));
    assert_eq!(heard(), messages);
}

#[test]
fn drv_161_external_image_formats_exist_only_without_a_handle() {
    let (_program, device) = listening(0, &[]);
    // SAFETY: all members are numbers or pointers, for which zero is valid.
    let mut properties: VkExternalImageFormatPropertiesNV = unsafe { zeroed() };
    properties.externalMemoryFeatures.0 = 3;
    for (handle_type, result, levels) in [
        (1, VkResult::VK_ERROR_FORMAT_NOT_SUPPORTED, 0),
        (0, VkResult::VK_SUCCESS, 5),
    ] {
        // SAFETY: the device is live and the structure valid.
        let answer = unsafe {
            vk::vkGetPhysicalDeviceExternalImageFormatPropertiesNV(
                device,
                VkFormat(0),
                VkImageType(0),
                VkImageTiling(0),
                VkImageUsageFlags(0),
                VkImageCreateFlags(0),
                VkExternalMemoryHandleTypeFlagsNV(handle_type),
                &mut properties,
            )
        };
        assert_eq!(
            (answer, properties.imageFormatProperties.maxMipLevels),
            (result, levels)
        );
    }
    assert_eq!(properties.externalMemoryFeatures.0, 0);
}

#[test]
fn drv_161_tools_are_asked_of_devices_that_know_vulkan_1_3() {
    for newer in [false, true] {
        driver(0, |driver| driver.newer = newer);
        let (_program, device) = listening(0, &[]);
        driver(0, |driver| driver.calls.clear());
        let mut count = 7;
        // SAFETY: the device is live, and a NULL array is allowed.
        let result = unsafe { vk::vkGetPhysicalDeviceToolProperties(device, &mut count, null_mut()) };
        let calls = driver(0, |driver| driver.calls.clone());
        if newer {
            assert_eq!(
                (result, calls),
                (VkResult::VK_INCOMPLETE, vec!["vkGetPhysicalDeviceToolProperties"])
            );
        } else {
            assert_eq!((result, count, calls.len()), (VkResult::VK_SUCCESS, 0, 0));
        }
        count = 7;
        // SAFETY: the device is live, and a NULL array is allowed.
        let result = unsafe { vk::vkGetPhysicalDeviceToolPropertiesEXT(device, &mut count, null_mut()) };
        assert_eq!(
            (result, count),
            (VkResult::VK_SUCCESS, 0),
            "the driver lists the extension but has no function"
        );
        assert!(heard().iter().all(|(severity, _)| *severity < ERROR));
    }
}

unsafe extern "system" fn allocate(
    _: *mut c_void,
    size: usize,
    _: usize,
    scope: VkSystemAllocationScope,
) -> *mut c_void {
    if scope == VkSystemAllocationScope::VK_SYSTEM_ALLOCATION_SCOPE_COMMAND && REFUSE.get() {
        return null_mut();
    }
    // SAFETY: all callers ask for a size above zero.
    unsafe { CHeap.alloc(Layout::from_size_align(size, 1).unwrap()) }.cast()
}

unsafe extern "system" fn free(_: *mut c_void, block: *mut c_void) {
    // SAFETY: the block came from `allocate` here, and the C library knows its size.
    unsafe { CHeap.dealloc(block.cast(), Layout::new::<u8>()) };
}

thread_local! {
    /// `true` while temporary memory is refused.
    static REFUSE: Cell<bool> = const { Cell::new(false) };
}

#[test]
fn drv_161_without_temporary_memory_there_are_no_queue_families() {
    let callbacks = VkAllocationCallbacks {
        pUserData: null_mut(),
        pfnAllocation: Some(allocate),
        pfnReallocation: None,
        pfnFree: Some(free),
        pfnInternalAllocation: None,
        pfnInternalFree: None,
    };
    // SAFETY: the callbacks are valid and live until the end of the test.
    let allocator =
        unsafe { HostAllocator::new(&callbacks, VkSystemAllocationScope::VK_SYSTEM_ALLOCATION_SCOPE_INSTANCE) };
    let program = Program::new(1, &[], allocator);
    let device = program.physical_device();
    program.listen().expect("a messenger");
    heard();
    REFUSE.set(true);
    // SAFETY: all members are numbers or pointers, for which zero is valid.
    let mut families: [VkQueueFamilyProperties2; 3] = unsafe { zeroed() };
    let mut count = 3;
    // SAFETY: the device is live and the array has as many elements as the count says.
    unsafe { vk::vkGetPhysicalDeviceQueueFamilyProperties2(device, &mut count, families.as_mut_ptr()) };
    REFUSE.set(false);
    let messages = heard();
    assert_eq!((count, messages[1].0), (0, ERROR), "{messages:?}");
}
