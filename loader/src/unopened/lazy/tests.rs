//! Tests of the machine code of a closed driver's functions.

use super::open::{FAILED, Opened};
use super::request::Request;
use super::testing::Quiet;
use super::{Sleeper, destroy};
use crate::alloc::{HostAllocator, HostBox};
use crate::generated::dispatch::DriverTable;
use crate::generated::dispatch::driver::LATE;
use crate::generated::types::*;
use crate::handle::{Driver, InstanceHandle, PhysicalDeviceHandle};
use crate::unopened::recorded::Closed;
use core::ffi::c_char;
use core::ptr::{null, null_mut};
use rust_alloc::sync::Arc;

/// Returns the instance of a closed driver, whose record has one device and no rows.
fn sleeper() -> HostBox<Sleeper> {
    let sum = record::checksum(&[0, 0, 0, 0, 1, 0, 0, 0]).to_le_bytes();
    let head = [&b"VKLRECRD"[..], &record::FORM.to_le_bytes(), &[0; 4], &sum].concat();
    let bytes = [&head[..], &[0, 0, 0, 0, 1, 0, 0, 0]].concat();
    let info = VkInstanceCreateInfo {
        sType: VkInstanceCreateInfo::STRUCTURE_TYPE,
        // SAFETY: the structure consists of numbers and pointers, for which zero is valid.
        ..unsafe { core::mem::zeroed() }
    };
    let system = HostAllocator::system();
    // SAFETY: the create info is valid.
    let request = unsafe { Request::copy(&info, system) }.expect("memory");
    let made = Sleeper::new(&Arc::new(Closed::of_any(bytes)), (&Quiet, system), request);
    made.unwrap_or_else(|error| panic!("{error:?}"))
}

/// Destroys the instance.
fn end(made: HostBox<Sleeper>) {
    let (made, _) = made.into_raw();
    // SAFETY: nothing else refers to the instance, and null callbacks are allowed.
    unsafe { destroy(InstanceHandle::from_raw(made.cast()), null()) };
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
    // SAFETY: null is a valid value of each slot.
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
