//! Display adapters and their order, from the system's graphics infrastructure, DXGI (DRV-40, DRV-144, DRV-148).
//!
//! Objects of DXGI are COM objects, which begin with a pointer to a table of functions. Only the used indices of the tables have names
//! here.

use super::run_time::Module;
use crate::devices::AdapterId;
use crate::memory::Grow;
use alloc::vec::Vec;
use core::ffi::c_void;
use core::ptr::{NonNull, null_mut};
use std::sync::OnceLock;
use windows_sys::core::{GUID, HRESULT};

const FACTORY_1: GUID = GUID::from_u128(0x770a_ae78_f26f_4dba_a829_253c83d1b387);
const FACTORY_6: GUID = GUID::from_u128(0xc1b6_694f_ff09_44a9_b03c_77900a0a1d17);
const ADAPTER_1: GUID = GUID::from_u128(0x2903_8f61_3839_4626_91fd_086879011a05);

/// Indices of methods in the function tables of COM objects. Each table begins with the methods of the base interfaces.
const RELEASE: usize = 2;
const ENUM_ADAPTERS_1: usize = 12;
const ENUM_ADAPTER_BY_GPU_PREFERENCE: usize = 29;
const GET_DESC_1: usize = 10;

/// `DXGI_GPU_PREFERENCE_UNSPECIFIED`: no preference for a kind of adapter.
const UNSPECIFIED: i32 = 0;
/// Upper bound on the number of adapters; further adapters are ignored.
const MOST_ADAPTERS: u32 = 1024;

/// The open library `dxgi.dll`, after its first use. The library stays open, because opening it takes longer than a query, and each
/// instance makes several queries.
static LIBRARY: OnceLock<Option<Module>> = OnceLock::new();

type CreateFactory = unsafe extern "system" fn(*const GUID, *mut *mut c_void) -> HRESULT;
type Release = unsafe extern "system" fn(*mut c_void) -> u32;
type EnumAdapters1 = unsafe extern "system" fn(*mut c_void, u32, *mut *mut c_void) -> HRESULT;
type EnumByPreference = unsafe extern "system" fn(*mut c_void, u32, i32, *const GUID, *mut *mut c_void) -> HRESULT;
type GetDesc1 = unsafe extern "system" fn(*mut c_void, *mut Description) -> HRESULT;

/// Description of an adapter, `DXGI_ADAPTER_DESC1`.
#[repr(C)]
struct Description {
    description: [u16; 128],
    vendor: u32,
    device: u32,
    subsystem: u32,
    revision: u32,
    dedicated_video_memory: usize,
    dedicated_system_memory: usize,
    shared_system_memory: usize,
    luid: [u32; 2],
    flags: u32,
}

const _: () = assert!(size_of::<Description>() == if cfg!(target_pointer_width = "64") { 312 } else { 296 });

/// A reference to an object; released when dropped.
struct Object(NonNull<c_void>);

impl Object {
    /// Returns the object that a function stored in `made`, if the function succeeded.
    fn of(told: HRESULT, made: *mut c_void) -> Option<Self> {
        NonNull::new(made).filter(|_| told >= 0).map(Self)
    }

    /// Returns the function at an index of the object's table.
    ///
    /// # Safety
    /// The table has that index, and the function there has the type `F`.
    unsafe fn function<F: Copy>(&self, place: usize) -> F {
        const { assert!(size_of::<F>() == size_of::<usize>()) };
        // SAFETY: an object begins with a pointer to its table, and the caller promises that the table has this index.
        unsafe {
            let table = *self.0.as_ptr().cast::<*const *const c_void>();
            core::mem::transmute_copy(&*table.add(place))
        }
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        // SAFETY: all tables have this function at this index; the object is not used afterwards.
        unsafe { self.function::<Release>(RELEASE)(self.0.as_ptr()) };
    }
}

/// Creates a factory of adapters.
fn factory(kind: &GUID) -> Option<Object> {
    let library = LIBRARY.get_or_init(|| Module::of_system(c"dxgi.dll")).as_ref()?;
    // SAFETY: `CreateDXGIFactory1` has the type `CreateFactory`.
    let create: CreateFactory = unsafe { library.function(c"CreateDXGIFactory1") }?;
    let mut made = null_mut();
    // SAFETY: the identifier is valid, and the call writes the pointer only to `made`.
    let told = unsafe { create(kind, &mut made) };
    Object::of(told, made)
}

/// Passes the descriptions of adapters to `take`. `next` returns the adapter with a number; the first missing adapter ends the list.
fn each(next: impl Fn(u32) -> Option<Object>, mut take: impl FnMut(&Description)) {
    for adapter in (0..MOST_ADAPTERS).map_while(next) {
        let mut room = core::mem::MaybeUninit::<Description>::zeroed();
        // SAFETY: `next` returns adapters of version 1, whose table has this function at this index; the description is writable.
        let told = unsafe { adapter.function::<GetDesc1>(GET_DESC_1)(adapter.0.as_ptr(), room.as_mut_ptr()) };
        if told >= 0 {
            // SAFETY: the description consists of numbers, which were zero before the system wrote them.
            take(unsafe { room.assume_init_ref() });
        }
    }
}

/// Returns the vendors of all adapters; `None` if there is no factory.
pub(super) fn vendors() -> Option<Vec<u32>> {
    let factory = factory(&FACTORY_1)?;
    let next = |index| {
        let mut made = null_mut();
        // SAFETY: a factory of version 1 has this function at this index; the call writes the pointer only to `made`.
        let told = unsafe { factory.function::<EnumAdapters1>(ENUM_ADAPTERS_1)(factory.0.as_ptr(), index, &mut made) };
        Object::of(told, made)
    };
    let mut vendors = Vec::new();
    each(next, |adapter| {
        vendors.push_or_note(adapter.vendor);
    });
    Some(vendors)
}

/// Returns `true` if [`adapters`] can return an order.
pub fn has_adapter_order() -> bool {
    factory(&FACTORY_6).is_some()
}

/// Returns the adapters in the order of the system; `None` if the system reports no order (DRV-144, DRV-148).
pub fn adapters() -> Option<Vec<AdapterId>> {
    let factory = factory(&FACTORY_6)?;
    let next = |index| {
        let mut made = null_mut();
        // SAFETY: a factory of version 6 has this function at this index; the identifier is valid, and the call writes
        // the pointer only to `made`.
        let told = unsafe {
            factory.function::<EnumByPreference>(ENUM_ADAPTER_BY_GPU_PREFERENCE)(
                factory.0.as_ptr(),
                index,
                UNSPECIFIED,
                &ADAPTER_1,
                &mut made,
            )
        };
        Object::of(told, made)
    };
    let mut adapters = Vec::new();
    each(next, |adapter| {
        let [low, high] = adapter.luid.map(u64::from);
        adapters.push_or_note(AdapterId(high << 32 | low));
    });
    Some(adapters)
}
