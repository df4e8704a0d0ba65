//! Functions that open the driver and pass a call on with the driver's own handle.

use super::open::FAILED;
use super::{Device, Sleeper};
use crate::alloc::{HostAllocator, HostText, HostVec};
use crate::dispatch_table::UNKNOWN_SLOTS;
use crate::generated::dispatch::driver::FAILS;
use crate::generated::dispatch::{DriverTable, InstanceTable};
use crate::generated::types::{PFN_vkVoidFunction, VkResult};
use crate::handle::{InstanceHandle, PhysicalDeviceHandle};
use crate::late::THUNK_HANDLE;
use crate::lookup::{Function, Level, ROWS};
use crate::table::{Entry, Slot, Slots as _};
use core::ffi::{CStr, c_void};
use core::mem::offset_of;
use core::ptr;
use os::Mutex;

/// Type of a function in a driver's table.
pub(crate) trait Late {
    /// `true` if the command returns a `VkResult`.
    const FAILS: bool;
}

/// Type that a command returns.
pub(crate) trait Returned {
    /// `true` for `VkResult`. A failed call of a command with another return type returns a value whose bytes are all zero.
    const FAILS: bool = false;
}

impl Returned for VkResult {
    const FAILS: bool = true;
}
impl Returned for () {}
impl Returned for u32 {}
impl Returned for u64 {}
impl Returned for PFN_vkVoidFunction {}

/// Implements [`Late`] for functions with the given parameters.
macro_rules! late {
    ($(($($type:ident)*))*) => {$(
        impl<$($type,)* R: Returned> Late for unsafe extern "system" fn($($type),*) -> R {
            const FAILS: bool = R::FAILS;
        }
    )*};
}

late! { (A B) (A B C) (A B C D) (A B C D E) (A B C D E F) (A B C D E F G) (A B C D E F G H) (A B C D E F G H I) }

/// Function of the driver that receives a forwarded call, and the first argument for this function.
#[repr(C)]
pub(super) struct Onward {
    function: Option<Function>,
    /// The driver's handle; without a function, the result of the command.
    first: *mut c_void,
}

/// Opens the driver for a call of the function in a slot of its table.
///
/// # Safety
/// `owner` is a handle of this module, of the kind that the command takes.
pub(super) unsafe extern "C" fn awake(owner: *mut c_void, slot: u32) -> Onward {
    let slot = slot as usize;
    // SAFETY: the caller promises a handle of this module, of the kind that the command takes.
    let result = match unsafe { own(owner, slot) } {
        Ok((function, first)) => {
            let function = Some(function);
            return Onward { function, first };
        }
        Err(result) if FAILS.get(slot) == Some(&true) => result.0.cast_unsigned(),
        Err(_) => 0,
    };
    Onward {
        function: None,
        first: ptr::without_provenance_mut(result as usize),
    }
}

/// Returns the driver's function in a slot, and the driver's own handle. Opens the driver.
///
/// # Errors
/// The errors of [`Sleeper::wake`]; `VK_ERROR_INITIALIZATION_FAILED` also if the driver lacks the function or the device.
///
/// # Safety
/// `owner` is a handle of this module, of the kind that the command takes.
unsafe fn own(owner: *mut c_void, slot: usize) -> Result<(Function, *mut c_void), VkResult> {
    let number = DriverTable::rows().get(slot).ok_or(FAILED)?;
    let row = ROWS.get(usize::from(*number)).ok_or(FAILED)?;
    match row.level {
        Level::Instance => {
            // SAFETY: the caller promises an instance of this module.
            let opened = unsafe { Sleeper::of(InstanceHandle::from_raw(owner)) }.wake(row.name())?;
            Ok((opened.table.get(slot).ok_or(FAILED)?, opened.handle.raw()))
        }
        Level::PhysicalDevice => {
            // SAFETY: the caller promises a device of this module.
            let device = unsafe { Device::of(PhysicalDeviceHandle::from_raw(owner)) };
            let opened = device.sleeper().wake(row.name())?;
            let real = device.real().ok_or(FAILED)?;
            Ok((opened.table.get(slot).ok_or(FAILED)?, real.raw()))
        }
        // `vkGetDeviceProcAddr` is the only device command in a driver's table, and `device_look_up` of [`super::ClosedDrivers`] replaces
        // it.
        Level::Device | Level::Global => Err(FAILED),
    }
}

/// Opens the driver, and calls its function `$name` with the given arguments.
macro_rules! pass_on {
    ($name:ident($($argument:expr),*)) => {
        (const { $crate::generated::dispatch::driver::LATE.$name.unwrap() })($($argument),*)
    };
}

pub(super) use pass_on;

/// Physical-device functions that the registry does not know, from one driver.
pub(super) struct Unknown {
    names: HostVec<HostText>,
    allocator: HostAllocator,
    /// Functions to which the thunks of a device jump.
    found: [Entry<Slot>; UNKNOWN_SLOTS],
    /// Functions to which the thunks of a lost device jump.
    lost: [Entry<Slot>; UNKNOWN_SLOTS],
}

impl Unknown {
    /// Returns an empty collection.
    pub(super) const fn new(allocator: HostAllocator) -> Self {
        Self {
            names: HostVec::new(allocator),
            allocator,
            found: [const { Entry::new(LOST) }; UNKNOWN_SLOTS],
            lost: [const { Entry::new(LOST) }; UNKNOWN_SLOTS],
        }
    }

    /// Returns the number of the thunk that jumps to a driver's function.
    pub(super) fn number(&mut self, name: &CStr, function: Function) -> Option<usize> {
        let place = match self.names.iter().position(|known| known.as_c_str() == name) {
            Some(place) => place,
            None => {
                if self.names.len() == UNKNOWN_SLOTS {
                    return None;
                }
                let text = HostText::try_new(name.to_bytes(), self.allocator).ok()?;
                self.names.try_push(text).ok()?;
                self.names.len() - 1
            }
        };
        self.found.get(place)?.set(Some(function));
        Some(place)
    }
}

// The thunks for programs serve drivers too: they load the function from the table in the first word, and the handle from the offset
// `THUNK_HANDLE`.
const _: () = assert!(offset_of!(Device, table) == 0 && offset_of!(Device, real) == THUNK_HANDLE);

/// Returns the first word of a device: the address of a table from which thunks load functions. The address is that of an instance
/// table of which only the slots for unknown functions exist.
pub(super) fn table(unknown: &Mutex<Unknown>, is_lost: bool) -> *mut c_void {
    let unknown = unknown.lock();
    let functions = if is_lost { &unknown.lost } else { &unknown.found };
    ptr::from_ref(functions)
        .wrapping_byte_sub(offset_of!(InstanceTable, unknown))
        .cast_mut()
        .cast()
}

/// Replaces a function for a device that the driver no longer has. Returns an error if the command returns a result.
unsafe extern "system" fn lost_function() -> VkResult {
    FAILED
}

// SAFETY: the types are pointers to functions without parameters. A caller that expects another result type finds the result in the
// register for results.
const LOST: Slot =
    Some(unsafe { core::mem::transmute::<unsafe extern "system" fn() -> VkResult, Function>(lost_function) });
