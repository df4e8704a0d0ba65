//! Functions that open the driver and pass a call on with the driver's own handle.

use super::open::FAILED;
use super::{Device, Sleeper};
use crate::alloc::{HostAllocator, HostText, HostVec};
use crate::dispatch_table::UNKNOWN_SLOTS;
use crate::generated::dispatch::DriverTable;
use crate::generated::types::{PFN_vkVoidFunction, VkDevice, VkResult};
use crate::handle::{Driver, InstanceHandle, PhysicalDeviceHandle};
use crate::lookup::Function;
use crate::table::{Entry, Slot, Slots as _};
use core::ffi::CStr;
use core::mem::{offset_of, transmute};
use core::ptr;
use os::Mutex;

/// A function of a driver's table whose call opens the driver.
pub(crate) trait Late<const SLOT: usize> {
    /// The function.
    const STUB: Self;
}

/// First parameter of a command, by which the driver is found.
pub(super) trait Owner: Copy {
    /// Returns the driver's function of a slot, and its own handle; opens the driver.
    ///
    /// # Errors
    /// The errors of [`Sleeper::wake`]; `VK_ERROR_INITIALIZATION_FAILED` also if the driver lacks the function or the device.
    fn awake(self, slot: usize) -> Result<(Function, Self), VkResult>;
}

impl Owner for InstanceHandle<Driver> {
    #[inline(never)]
    fn awake(self, slot: usize) -> Result<(Function, Self), VkResult> {
        // SAFETY: the loader calls a function of this table with a handle of this module.
        let opened = unsafe { Sleeper::of(self) }.wake(DriverTable::name(slot))?;
        Ok((opened.table.get(slot).ok_or(FAILED)?, opened.handle))
    }
}

impl Owner for PhysicalDeviceHandle<Driver> {
    #[inline(never)]
    fn awake(self, slot: usize) -> Result<(Function, Self), VkResult> {
        // SAFETY: the loader calls a function of this table with a handle of this module.
        let device = unsafe { Device::of(self) };
        let opened = device.sleeper().wake(DriverTable::name(slot))?;
        Ok((opened.table.get(slot).ok_or(FAILED)?, device.real().ok_or(FAILED)?))
    }
}

/// No driver is known by its device, and `vkGetDeviceProcAddr` is the only command: [`super::device_look_up`] replaces it.
impl Owner for VkDevice {
    fn awake(self, _: usize) -> Result<(Function, Self), VkResult> {
        Err(FAILED)
    }
}

/// Result of a command whose driver cannot be opened.
pub(super) trait Failure {
    /// Returns what the command returns for an error.
    fn of(result: VkResult) -> Self;
}

impl Failure for () {
    fn of(_: VkResult) -> Self {}
}

impl Failure for VkResult {
    fn of(result: VkResult) -> Self {
        result
    }
}

impl Failure for u32 {
    fn of(_: VkResult) -> Self {
        0
    }
}

impl Failure for u64 {
    fn of(_: VkResult) -> Self {
        0
    }
}

impl Failure for PFN_vkVoidFunction {
    fn of(_: VkResult) -> Self {
        None
    }
}

/// Defines the functions for commands with a number of parameters.
macro_rules! late {
    ($($name:ident: $($type:ident $parameter:ident),*;)*) => {$(
        /// Opens the driver, and passes the call on.
        ///
        /// # Safety
        /// The parameters are as the command of the slot demands, and these are its types.
        pub(super) unsafe extern "system" fn $name<O: Owner, $($type,)* R: Failure, const SLOT: usize>(
            owner: O, $($parameter: $type),*
        ) -> R {
            match owner.awake(SLOT) {
                // SAFETY: the function has the slot's type, and the caller promises the parameters.
                Ok((function, owner)) => unsafe {
                    transmute::<Function, unsafe extern "system" fn(O, $($type),*) -> R>(function)(owner $(, $parameter)*)
                },
                Err(result) => R::of(result),
            }
        }

        impl<O: Owner, $($type,)* R: Failure, const SLOT: usize> Late<SLOT> for unsafe extern "system" fn(O, $($type),*) -> R {
            const STUB: Self = $name::<O, $($type,)* R, SLOT>;
        }
    )*};
}

late! {
    late2: A a;
    late3: A a, B b;
    late4: A a, B b, C c;
    late5: A a, B b, C c, D d;
    late6: A a, B b, C c, D d, E e;
    late7: A a, B b, C c, D d, E e, F f;
    late8: A a, B b, C c, D d, E e, F f, G g;
    late9: A a, B b, C c, D d, E e, F f, G g, H h;
}

/// Functions to which the thunks of a device jump.
pub(super) type Slots = [Entry<Slot>; UNKNOWN_SLOTS];

/// Physical-device functions of a driver that the registry does not know.
pub(super) struct Unknown {
    names: HostVec<HostText>,
    allocator: HostAllocator,
    slots: Slots,
}

impl Unknown {
    /// Returns an empty collection.
    pub(super) const fn new(allocator: HostAllocator) -> Self {
        Self {
            names: HostVec::new(allocator),
            allocator,
            slots: [const { Entry::new(Some(lost_function as Function)) }; UNKNOWN_SLOTS],
        }
    }

    /// Returns the thunk that leads to a driver's function.
    pub(super) fn thunk(&mut self, name: &CStr, function: Function) -> PFN_vkVoidFunction {
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
        self.slots.get(place)?.set(Some(function));
        // SAFETY: the code begins at the symbol, and has `THUNK` bytes for each slot.
        unsafe { crate::table::from_word((&raw const vkl_late_thunks).byte_add(place * THUNK).cast_mut().cast()) }
    }
}

/// Returns the functions of an instance, whose address does not change.
pub(super) fn functions(unknown: &Mutex<Unknown>) -> *mut Slots {
    ptr::from_ref(&unknown.lock().slots).cast_mut()
}

/// Function of a device that the driver does not have any more. Its result is an error for commands that return one.
unsafe extern "system" fn lost_function() {
    // SAFETY: the register of the result belongs to the callee.
    unsafe { core::arch::asm!("", out("rax") _) };
}

static LOST: Slots = [const { Entry::new(Some(lost_function as Function)) }; UNKNOWN_SLOTS];

/// Returns the functions of a device that the driver does not have.
pub(super) fn lost() -> *mut Slots {
    ptr::from_ref(&LOST).cast_mut()
}

/// Bytes of a thunk.
const THUNK: usize = 32;

unsafe extern "C" {
    static vkl_late_thunks: u8;
}

// Replaces the handle of a device by the driver's, and jumps to the function of the thunk's number.
core::arch::global_asm!(
    ".text",
    ".globl vkl_late_thunks",
    ".hidden vkl_late_thunks",
    ".p2align 6, 0xCC",
    "vkl_late_thunks:",
    ".set vkl_late_offset, 0",
    ".rept {count}",
    ".balign {size}, 0xCC",
    "endbr64",
    "mov rax, [rdi + {functions}]",
    "mov rdi, [rdi + {real}]",
    "jmp [rax + vkl_late_offset]",
    ".set vkl_late_offset, vkl_late_offset + 8",
    ".endr",
    ".balign {size}, 0xCC",
    count = const UNKNOWN_SLOTS,
    size = const THUNK,
    functions = const offset_of!(Device, functions),
    real = const offset_of!(Device, real),
);
