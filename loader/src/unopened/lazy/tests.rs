//! Tests of the machine code of the functions of a driver that is not open yet.

use super::open::{FAILED, Opened};
use super::table::TABLE;
use super::testing::{end, sleeper_of};
use super::{Device, Sleeper};
use crate::alloc::{HostAllocator, HostBox, ReservedNode};
use crate::generated::dispatch::DriverTable;
use crate::generated::dispatch::driver::{FAILS, LATE};
use crate::generated::types::*;
use crate::handle::{Driver, InstanceHandle, PhysicalDeviceHandle};
use crate::lookup::{Function, Level, ROWS, Row};
use crate::table::Slots as _;
use core::ffi::{c_char, c_void};
use core::ptr::{null, null_mut};

/// Returns the instance of a driver that is not open, whose record has one device and no rows.
fn sleeper() -> HostBox<Sleeper> {
    sleeper_of(&[])
}

#[test]
fn drv_283_commands_of_a_driver_that_cannot_be_opened_fail() {
    let made = sleeper();
    let device = made.devices[0].handle();
    let create = LATE.vkCreateDevice.expect("a function");
    let supports = LATE.vkGetPhysicalDeviceXcbPresentationSupportKHR.expect("a function");
    let find = LATE.vkGetDeviceProcAddr.expect("a function");
    // SAFETY: the driver does not exist, so no function uses its arguments.
    unsafe {
        assert_eq!(create(device, null(), null(), null_mut()), FAILED);
        assert_eq!(supports(device, 7, null_mut(), 9), 0);
        assert!(find(VkDevice(null_mut()), c"vkCmdDraw".as_ptr()).is_none());
    }
    assert!(made.has_failed());
    end(made);
}

/// Commands that write nothing for the program, and commands that only return a value, which is zero for a lost device. In addition,
/// three commands that write structures whose layout the loader does not know.
const WITHOUT_ANSWER: [&str; 18] = [
    "vkDebugReportMessageEXT",
    "vkDestroyDebugReportCallbackEXT",
    "vkDestroyDebugUtilsMessengerEXT",
    "vkDestroySurfaceKHR",
    "vkGetDeviceProcAddr",
    "vkGetPhysicalDeviceDescriptorSizeEXT",
    "vkGetPhysicalDeviceDirectFBPresentationSupportEXT",
    "vkGetPhysicalDeviceExternalTensorPropertiesARM",
    "vkGetPhysicalDeviceMultisamplePropertiesEXT",
    "vkGetPhysicalDeviceQueueFamilyDataGraphProcessingEnginePropertiesARM",
    "vkGetPhysicalDeviceScreenPresentationSupportQNX",
    "vkGetPhysicalDeviceUbmPresentationSupportSEC",
    "vkGetPhysicalDeviceWaylandPresentationSupportKHR",
    "vkGetPhysicalDeviceWin32PresentationSupportKHR",
    "vkGetPhysicalDeviceXcbPresentationSupportKHR",
    "vkGetPhysicalDeviceXlibPresentationSupportKHR",
    "vkSubmitDebugUtilsMessageEXT",
    "vkDestroyInstance",
];

/// Calls the command in a slot with the stand-in for the instance or a device. All other arguments are zero.
fn call(made: &Sleeper, slot: usize, row: &Row) -> usize {
    type Nine = unsafe extern "system" fn(*mut c_void, usize, usize, usize, usize, usize, usize, usize, usize) -> usize;
    let owner = match row.level {
        Level::Instance => made.handle().raw(),
        _ => made.devices[0].handle().raw(),
    };
    let function = LATE.get(slot).expect("a function");
    // SAFETY: the driver does not exist, so the function uses only its first argument.
    unsafe { core::mem::transmute::<Function, Nine>(function)(owner, 0, 0, 0, 0, 0, 0, 0, 0) }
}

#[test]
fn drv_283_each_command_without_an_answer_opens_the_driver() {
    let name_of = |row: &Row| row.name().to_str().expect("a name");
    let mut opening = 0;
    for (slot, number) in DriverTable::rows().iter().enumerate() {
        let row = &ROWS[usize::from(*number)];
        let (own, late) = (TABLE.get(slot), LATE.get(slot));
        if own.map(|own| own as usize) != late.map(|late| late as usize) {
            continue;
        }
        assert!(
            FAILS[slot] || WITHOUT_ANSWER.contains(&name_of(row)),
            "{}: what does a lost device answer?",
            name_of(row)
        );
        if row.level == Level::Device {
            continue;
        }
        let made = sleeper();
        let result = call(&made, slot, row);
        assert!(made.has_failed(), "{}", name_of(row));
        assert_eq!(
            result as u32,
            if FAILS[slot] { FAILED.0.cast_unsigned() } else { 0 },
            "{}",
            name_of(row)
        );
        end(made);
        opening += 1;
    }
    assert!(opening > 60, "{opening}");
}

/// Returns the bytes of a structure after a query of a device that the record does not describe. Before the query, all bytes after the
/// structure's head are `UNSET`.
fn asked<T>(query: impl FnOnce(PhysicalDeviceHandle<Driver>, *mut T)) -> Vec<u8> {
    let made = sleeper();
    let mut structure = core::mem::MaybeUninit::<T>::uninit();
    // SAFETY: the structure is larger than its head, and its chain is null.
    unsafe {
        structure.as_mut_ptr().write_bytes(UNSET, 1);
        structure.as_mut_ptr().cast::<[*const c_void; 2]>().write([null(); 2]);
    }
    query(made.devices[0].handle(), structure.as_mut_ptr());
    assert!(made.has_failed());
    end(made);
    // SAFETY: `write_bytes` has initialized all bytes of the structure.
    unsafe { core::slice::from_raw_parts(structure.as_ptr().cast(), size_of::<T>()).to_vec() }
}

const UNSET: u8 = 0xAA;

#[test]
fn drv_283_structures_of_a_lost_device_are_zero() {
    let is_clear = |bytes: Vec<u8>| bytes.iter().all(|byte| *byte == 0);
    macro_rules! check {
        ($($name:ident($($before:expr),*) $type:ty;)*) => {$({
            let function = TABLE.$name.expect("a function");
            // SAFETY: the driver does not exist, so the function only writes the structure.
            let bytes = asked(|device, out: *mut $type| unsafe { function(device, $($before,)* out) });
            assert!(is_clear(bytes), stringify!($name));
        })*};
    }
    check! {
        vkGetPhysicalDeviceProperties() VkPhysicalDeviceProperties;
        vkGetPhysicalDeviceProperties2() VkPhysicalDeviceProperties2;
        vkGetPhysicalDeviceProperties2KHR() VkPhysicalDeviceProperties2;
        vkGetPhysicalDeviceFeatures() VkPhysicalDeviceFeatures;
        vkGetPhysicalDeviceFeatures2() VkPhysicalDeviceFeatures2;
        vkGetPhysicalDeviceMemoryProperties() VkPhysicalDeviceMemoryProperties;
        vkGetPhysicalDeviceMemoryProperties2() VkPhysicalDeviceMemoryProperties2;
        vkGetPhysicalDeviceFormatProperties(VkFormat(37)) VkFormatProperties;
        vkGetPhysicalDeviceFormatProperties2(VkFormat(37)) VkFormatProperties2;
        vkGetPhysicalDeviceExternalBufferProperties(null()) VkExternalBufferProperties;
        vkGetPhysicalDeviceExternalFencePropertiesKHR(null()) VkExternalFenceProperties;
        vkGetPhysicalDeviceExternalSemaphoreProperties(null()) VkExternalSemaphoreProperties;
    }
}

#[test]
fn drv_283_numbers_of_a_lost_device_are_zero() {
    let made = sleeper();
    let device = made.devices[0].handle();
    macro_rules! count {
        ($name:ident($($before:expr),*) $($after:expr),*) => {{
            let mut count = 77;
            let function = TABLE.$name.expect("a function");
            // SAFETY: the driver does not exist, so the function only writes the number.
            unsafe { function(device, $($before,)* &mut count, $($after),*) };
            assert_eq!(count, 0, stringify!($name));
        }};
    }
    count!(vkGetPhysicalDeviceQueueFamilyProperties() null_mut());
    count!(vkGetPhysicalDeviceQueueFamilyProperties2() null_mut());
    count!(vkGetPhysicalDeviceQueueFamilyPerformanceQueryPassesKHR(null()));
    count!(vkGetPhysicalDeviceSparseImageFormatProperties(
        VkFormat(1), VkImageType(2), VkSampleCountFlagBits(1), VkImageUsageFlags(4), VkImageTiling(1)) null_mut());
    count!(vkGetPhysicalDeviceSparseImageFormatProperties2(null()) null_mut());
    count!(vkGetPhysicalDeviceSparseImageFormatProperties2KHR(null()) null_mut());
    end(made);
}

const REAL: usize = 0x1230;

unsafe extern "system" fn eight(
    device: PhysicalDeviceHandle<Driver>,
    format: VkFormat,
    kind: VkImageType,
    samples: VkSampleCountFlagBits,
    usage: VkImageUsageFlags,
    tiling: VkImageTiling,
    count: *mut u32,
    properties: *mut VkSparseImageFormatProperties,
) {
    assert_eq!(device.raw() as usize, REAL);
    assert_eq!((format.0, kind.0, samples.0, usage.0, tiling.0), (1, 2, 3, 4, 5));
    assert_eq!(properties as usize, 0x777);
    // SAFETY: the caller passes a writable number.
    unsafe { *count = 6 };
}

unsafe extern "system" fn none(_: InstanceHandle<Driver>, _: *const c_char) -> PFN_vkVoidFunction {
    None
}

#[test]
fn drv_283_all_arguments_reach_the_driver_with_its_own_handle() {
    let made = sleeper();
    // SAFETY: each slot of the table is an optional function, for which zero is valid.
    let mut table: DriverTable = unsafe { core::mem::zeroed() };
    table.vkGetPhysicalDeviceSparseImageFormatProperties = Some(eight);
    let opened = HostBox::try_new(Opened::of(table, none), HostAllocator::system());
    made.publish(opened.unwrap_or_else(|_| panic!("memory")));
    let device = &made.devices[0];
    let ask = LATE.vkGetPhysicalDeviceSparseImageFormatProperties.expect("a function");
    let mut count = 0;
    let mut call = || {
        // SAFETY: the function accepts any numbers, and the count is writable.
        unsafe {
            ask(
                device.handle(),
                VkFormat(1),
                VkImageType(2),
                VkSampleCountFlagBits(3),
                VkImageUsageFlags(4),
                VkImageTiling(5),
                &mut count,
                0x777 as *mut _,
            );
        }
        count
    };
    assert_eq!(call(), 0, "the driver lacks the device");
    device.found(PhysicalDeviceHandle::from_raw(REAL as *mut _));
    assert_eq!(call(), 6);
    end(made);
}

#[test]
fn drv_283_two_threads_get_one_stand_in_for_a_new_device() {
    let made = sleeper();
    let real = PhysicalDeviceHandle::from_raw(REAL as *mut _);
    let first = made.stand_in(real).expect("memory");
    // Imitates another thread that has not seen the first stand-in, and therefore adds a second stand-in for the same device.
    let device = Device::new(&*made, record::DRIVER, null_mut());
    device.found(real);
    made.others
        .add(ReservedNode::new(HostAllocator::system()).expect("memory"), device);
    assert_eq!(made.stand_in(real).expect("memory").raw(), first.raw());
    end(made);
}
