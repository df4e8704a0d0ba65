//! Tests of messengers and names that the loader passes to two drivers.

use super::testing::{DRIVERS, Program, driver, heard, instance_of_driver, physical_device_of_driver};
use crate::alloc::HostAllocator;
use crate::generated::trampoline as vk;
use crate::generated::types::*;
use crate::handle::ReportCallbackHandle;
use core::alloc::{GlobalAlloc, Layout};
use core::cell::Cell;
use core::ptr::{null, null_mut};
use os::memory::CHeap;

fn program() -> Program {
    Program::new(0, &[], HostAllocator::system())
}

fn live() -> [usize; DRIVERS] {
    [0, 1].map(|index| driver(index, |driver| driver.live.len()))
}

#[test]
fn app_190_every_driver_gets_a_messenger_and_a_failure_undoes_them() {
    let program = program();
    let first = program.listen().expect("both drivers agree");
    assert_eq!(live(), [1, 1]);
    // Driver 1 comes first in every iteration over the drivers (DRV-10), so it has created an object when driver 0 fails.
    driver(0, |driver| driver.result = VkResult::VK_ERROR_DEVICE_LOST);
    assert_eq!(program.listen().err(), Some(VkResult::VK_ERROR_DEVICE_LOST));
    assert_eq!((live(), driver(1, |driver| driver.made)), ([1, 1], 2));
    driver(0, |driver| driver.result = VkResult::VK_SUCCESS);
    let second = program.listen().expect("it works again");
    assert_eq!(live(), [2, 2]);
    program.stop(first);
    assert_eq!(live(), [1, 1]);
    assert_eq!(
        driver(0, |driver| driver.live.clone()),
        [2],
        "the other messenger is untouched"
    );
    program.stop(second);
    program.stop(crate::handle::MessengerHandle::NULL);
    assert_eq!(live(), [0, 0]);
}

#[test]
fn app_190_a_driver_without_messengers_is_left_alone() {
    driver(0, |driver| driver.no_messengers = true);
    let program = program();
    let messenger = program.listen().expect("the loader has messengers itself");
    assert_eq!(live(), [0, 1]);
    program.stop(messenger);
    assert_eq!(live(), [0, 0]);
}

#[test]
fn app_191_slots_are_reused_and_grow() {
    let program = program();
    let mut all: Vec<_> = (0..40).map(|_| program.listen().expect("a messenger")).collect();
    assert_eq!(live(), [40, 40]);
    for index in [33, 5, 0] {
        program.stop(all.remove(index));
    }
    assert_eq!(
        driver(0, |driver| [1, 6, 34].map(|made| driver.live.contains(&made))),
        [false; 3]
    );
    all.push(program.listen().expect("a messenger"));
    assert_eq!(live(), [38, 38]);
    all.into_iter().for_each(|messenger| program.stop(messenger));
    assert_eq!(live(), [0, 0]);
}

#[test]
fn drv_188_forgotten_messengers_are_destroyed_before_the_drivers_instance() {
    let program = program();
    program.listen().expect("a messenger");
    let info = VkDebugReportCallbackCreateInfoEXT {
        sType: VkDebugReportCallbackCreateInfoEXT::STRUCTURE_TYPE,
        pNext: null(),
        flags: VkDebugReportFlagsEXT(31),
        pfnCallback: None,
        pUserData: null_mut(),
    };
    let mut callback = ReportCallbackHandle::NULL;
    // SAFETY: `program` keeps the instance live, and `info` is a valid structure.
    let result = unsafe { vk::vkCreateDebugReportCallbackEXT(program.0, &info, null(), &mut callback) };
    assert_eq!((result, live()), (VkResult::VK_SUCCESS, [2, 2]));
    drop(program);
    assert_eq!(live(), [0, 0]);
    let expected = ["vkDestroyDebugUtilsMessengerEXT", "vkDestroyInstance"];
    assert_eq!(driver(0, |driver| driver.calls.clone()), expected);
}

#[test]
fn app_192_utils_messages_stay_in_the_loader_and_report_messages_do_not() {
    let program = program();
    let messenger = program.listen().expect("a messenger");
    heard();
    let mut data = crate::messenger::loader_data(c"hello", &crate::messenger::instance_object(program.0));
    data.objectCount = 0;
    // SAFETY: `program` keeps the instance live, and `data` is a valid structure without objects.
    unsafe {
        let severity = VkDebugUtilsMessageSeverityFlagBitsEXT(256);
        vk::vkSubmitDebugUtilsMessageEXT(program.0, severity, VkDebugUtilsMessageTypeFlagsEXT(1), &data);
    }
    assert_eq!(heard(), [(256, "hello".to_owned())]);
    assert!(
        driver(0, |driver| driver.calls.is_empty()),
        "no driver gets the message"
    );
    // SAFETY: `program` keeps the instance live, and the strings are literals.
    unsafe {
        let object = VkDebugReportObjectTypeEXT(0);
        let (prefix, text) = (c"prefix".as_ptr(), c"report".as_ptr());
        vk::vkDebugReportMessageEXT(program.0, VkDebugReportFlagsEXT(8), object, 0, 0, 0, prefix, text);
    }
    assert_eq!(heard(), [(4096, "report".to_owned())]);
    for index in 0..DRIVERS {
        assert_eq!(
            driver(index, |driver| driver.calls.clone()),
            ["vkDebugReportMessageEXT"]
        );
    }
    program.stop(messenger);
}

thread_local! {
    /// Number of allocations that still succeed, and number of live blocks.
    static BUDGET: Cell<(usize, isize)> = const { Cell::new((usize::MAX, 0)) };
}

fn spend(blocks: isize) -> bool {
    let (left, live) = BUDGET.get();
    if left == 0 {
        return false;
    }
    BUDGET.set((left - 1, live + blocks));
    true
}

/// Returns the layout of a block that may become larger in place.
fn layout(size: usize) -> Layout {
    Layout::from_size_align(size, 1).unwrap()
}

unsafe extern "system" fn allocate(_: *mut c_void, size: usize, _: usize, _: VkSystemAllocationScope) -> *mut c_void {
    if !spend(1) {
        return null_mut();
    }
    // SAFETY: all callers ask for a size above zero.
    unsafe { CHeap.alloc(layout(size)) }.cast()
}

unsafe extern "system" fn reallocate(
    _: *mut c_void,
    block: *mut c_void,
    size: usize,
    _: usize,
    _: VkSystemAllocationScope,
) -> *mut c_void {
    if !spend(0) {
        return null_mut();
    }
    // SAFETY: the block came from `allocate` here, and the heap reads only the alignment of the layout.
    unsafe { CHeap.realloc(block.cast(), layout(1), size) }.cast()
}

unsafe extern "system" fn free(_: *mut c_void, block: *mut c_void) {
    if !block.is_null() {
        let (left, live) = BUDGET.get();
        BUDGET.set((left, live - 1));
        // SAFETY: the block came from `allocate` here, and the C library knows its size.
        unsafe { CHeap.dealloc(block.cast(), layout(1)) };
    }
}

#[test]
fn app_179_any_refused_allocation_leaves_no_trace() {
    let callbacks = VkAllocationCallbacks {
        pUserData: null_mut(),
        pfnAllocation: Some(allocate),
        pfnReallocation: Some(reallocate),
        pfnFree: Some(free),
        pfnInternalAllocation: None,
        pfnInternalFree: None,
    };
    // SAFETY: the callbacks are valid and live until the end of the test.
    let allocator =
        unsafe { HostAllocator::new(&callbacks, VkSystemAllocationScope::VK_SYSTEM_ALLOCATION_SCOPE_INSTANCE) };
    let program = Program::new(0, &[], allocator);
    let mut made = Vec::new();
    // The first messenger creates all tables, and the 33rd messenger makes the tables grow. Each of these two steps needs four blocks.
    for _ in 0..33 {
        let before = (live(), BUDGET.get().1);
        let mut failures = 0;
        loop {
            BUDGET.set((failures, BUDGET.get().1));
            match program.listen() {
                Ok(messenger) => break made.push(messenger),
                Err(error) => assert_eq!(error, VkResult::VK_ERROR_OUT_OF_HOST_MEMORY),
            }
            assert_eq!(
                live(),
                before.0,
                "the objects in the drivers are destroyed after a failure"
            );
            failures += 1;
        }
        let expected = if made.len() == 1 || made.len() == 33 { 4 } else { 1 };
        assert!(
            failures <= expected && failures > 0,
            "{failures} allocations for messenger {}",
            made.len()
        );
    }
    BUDGET.set((usize::MAX, BUDGET.get().1));
    made.into_iter().for_each(|messenger| program.stop(messenger));
    assert_eq!(live(), [0, 0]);
    drop(program);
    assert_eq!(BUDGET.get().1, 0, "every block is freed");
}

#[test]
fn app_198_names_reach_the_driver_with_its_own_handles() {
    let program = program();
    let physical_device = program.physical_device();
    let info = VkDeviceCreateInfo {
        sType: VkDeviceCreateInfo::STRUCTURE_TYPE,
        pNext: null(),
        flags: VkDeviceCreateFlags(0),
        queueCreateInfoCount: 0,
        pQueueCreateInfos: null(),
        enabledLayerCount: 0,
        ppEnabledLayerNames: null(),
        enabledExtensionCount: 0,
        ppEnabledExtensionNames: null(),
        pEnabledFeatures: null(),
    };
    let mut device = VkDevice(null_mut());
    // SAFETY: `program` keeps the instance of the physical device live, and `info` is valid and enables nothing.
    let result = unsafe { vk::vkCreateDevice(physical_device, &info, null(), &mut device) };
    assert_eq!(result, VkResult::VK_SUCCESS);
    let name = |kind: VkObjectType, handle: u64| {
        let info = VkDebugUtilsObjectNameInfoEXT {
            sType: VkDebugUtilsObjectNameInfoEXT::STRUCTURE_TYPE,
            pNext: null(),
            objectType: kind,
            objectHandle: handle,
            pObjectName: c"name".as_ptr(),
        };
        // SAFETY: the device is destroyed only at the end of the test, and `info` is a valid structure.
        let result = unsafe { vk::vkSetDebugUtilsObjectNameEXT(device, &info) };
        assert_eq!((result, info.objectHandle), (VkResult::VK_SUCCESS, handle));
        driver(0, |driver| driver.named.pop())
    };
    let instance = program.0.raw() as usize as u64;
    let physical = physical_device.raw() as usize as u64;
    assert_eq!(
        name(VkObjectType::VK_OBJECT_TYPE_INSTANCE, instance),
        Some(instance_of_driver(0))
    );
    assert_eq!(
        name(VkObjectType::VK_OBJECT_TYPE_PHYSICAL_DEVICE, physical),
        Some(physical_device_of_driver(0))
    );
    for kind in [
        VkObjectType::VK_OBJECT_TYPE_UNKNOWN,
        VkObjectType::VK_OBJECT_TYPE_BUFFER,
    ] {
        assert_eq!(
            name(kind, instance),
            Some(instance),
            "handles of other kinds do not change"
        );
    }
    assert_eq!(name(VkObjectType::VK_OBJECT_TYPE_INSTANCE, 0), Some(0));
    // The fake driver has no tags: the command does nothing and succeeds (APP-199).
    let tag = VkDebugUtilsObjectTagInfoEXT {
        sType: VkDebugUtilsObjectTagInfoEXT::STRUCTURE_TYPE,
        pNext: null(),
        objectType: VkObjectType::VK_OBJECT_TYPE_INSTANCE,
        objectHandle: instance,
        tagName: 0,
        tagSize: 0,
        pTag: null(),
    };
    // SAFETY: the device is destroyed only at the end of the test, and `tag` is a valid structure.
    let result = unsafe { vk::vkSetDebugUtilsObjectTagEXT(device, &tag) };
    assert_eq!(result, VkResult::VK_SUCCESS);
    // SAFETY: the device is live, and nothing uses it after this call.
    unsafe { vk::vkDestroyDevice(device, null()) };
}

#[test]
fn app_194_loader_messages_name_the_instance() {
    let program = program();
    let messenger = program.listen().expect("a messenger");
    heard();
    let mut count = 0;
    // SAFETY: `program` keeps the instance live. Vulkan does not allow a NULL count, but the loader checks for one and reports the error.
    unsafe { vk::vkEnumeratePhysicalDevices(program.0, null_mut(), null_mut()) };
    let messages = heard();
    assert!(
        messages
            .iter()
            .any(|(severity, text)| *severity == 4096 && text.contains("VUID-")),
        "{messages:?}"
    );
    program.stop(messenger);
    // SAFETY: `program` keeps the instance live, and the call writes only to `count`.
    let result = unsafe { vk::vkEnumeratePhysicalDevices(program.0, &mut count, null_mut()) };
    assert_eq!((result, heard().len()), (VkResult::VK_SUCCESS, 0));
}
