//! Hides the display adapters from the library under test (DRV-40, DRV-144).
//!
//! Wine knows adapters only if it has a display, and a machine's own adapters would change the order of a scene's devices. When the library
//! looks up the function that creates a DXGI factory, this module therefore returns a replacement. The library's own code handles the
//! result.

use std::ffi::{CStr, c_char, c_void};
use std::ptr::null_mut;

use windows_sys::Win32::Foundation::{E_NOINTERFACE, FARPROC, HMODULE, S_OK};
use windows_sys::Win32::System::LibraryLoader::GetProcAddress;
use windows_sys::core::{GUID, HRESULT};

/// Value of `DXGI_ERROR_NOT_FOUND`.
const NOT_FOUND: HRESULT = 0x887a_0002_u32.cast_signed();
/// Interface ID of the DXGI factory that lists adapters. A factory that can order adapters has a different ID.
const FACTORY_1: GUID = GUID::from_u128(0x770a_ae78_f26f_4dba_a829_253c83d1b387);

/// Number of functions of a factory with the interface `FACTORY_1`.
const PLACES: usize = 14;
/// Index of the function that returns an adapter. This function has three parameters.
const ENUM_ADAPTERS_1: usize = 12;

/// Type of all entries in the function table of the imitated factory. The methods have different parameters, but this factory needs no
/// arguments, so one type serves all entries.
type Function = unsafe extern "system" fn(*mut c_void, u32, *mut *mut c_void) -> HRESULT;

/// Object that begins with a pointer to its functions. The library reads this pointer.
#[repr(C)]
struct Factory(&'static [Function; PLACES]);

static FACTORY: Factory = Factory(&{
    let mut functions: [Function; PLACES] = [nothing; PLACES];
    functions[ENUM_ADAPTERS_1] = no_adapter;
    functions
});

unsafe extern "system" fn nothing(_: *mut c_void, _: u32, _: *mut *mut c_void) -> HRESULT {
    S_OK
}

unsafe extern "system" fn no_adapter(_: *mut c_void, _: u32, _: *mut *mut c_void) -> HRESULT {
    NOT_FOUND
}

/// Replacement for `CreateDXGIFactory1`.
unsafe extern "system" fn create(kind: *const GUID, out: *mut *mut c_void) -> HRESULT {
    let number = |guid: &GUID| (guid.data1, guid.data2, guid.data3, guid.data4);
    // SAFETY: the caller passes a valid identifier, and a writable place for a pointer.
    unsafe {
        let is_known = number(&*kind) == number(&FACTORY_1);
        *out = if is_known {
            (&raw const FACTORY).cast_mut().cast()
        } else {
            null_mut()
        };
        if is_known { S_OK } else { E_NOINTERFACE }
    }
}

/// Replacement for the library's `GetProcAddress`.
pub(super) unsafe extern "system" fn look_up(module: HMODULE, name: *const c_char) -> FARPROC {
    // SAFETY: the library passes valid arguments. A number below 65536 can replace the name.
    let found = unsafe { GetProcAddress(module, name.cast()) };
    // SAFETY: the name is not a number, so it is a terminated string.
    if found.is_none() || name.addr() < 1 << 16 || unsafe { CStr::from_ptr(name) } != c"CreateDXGIFactory1" {
        return found;
    }
    let create: unsafe extern "system" fn(*const GUID, *mut *mut c_void) -> HRESULT = create;
    // SAFETY: the function has the type that its caller expects for this name.
    Some(unsafe {
        std::mem::transmute::<
            unsafe extern "system" fn(*const GUID, *mut *mut c_void) -> HRESULT,
            unsafe extern "system" fn() -> isize,
        >(create)
    })
}
