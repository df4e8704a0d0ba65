//! Functions of the system that older versions of it lack, or that most processes never need, looked up when they are called.

use core::ffi::CStr;
use core::ptr::null_mut;
use windows_sys::Win32::Foundation::{FreeLibrary, HMODULE};
use windows_sys::Win32::System::LibraryLoader::{GetProcAddress, LOAD_LIBRARY_SEARCH_SYSTEM32, LoadLibraryExA};

/// A library of the system; given back when dropped.
pub(super) struct Module(HMODULE);

// SAFETY: a handle that any thread may use.
unsafe impl Send for Module {}
// SAFETY: as above.
unsafe impl Sync for Module {}

impl Module {
    /// Opens a library that lies in the system's own folder, and nowhere else.
    pub(super) fn of_system(name: &CStr) -> Option<Self> {
        // SAFETY: a terminated name; the library is the system's.
        let module = unsafe { LoadLibraryExA(name.as_ptr().cast(), null_mut(), LOAD_LIBRARY_SEARCH_SYSTEM32) };
        // Made only for an open library, because dropping it closes the library.
        (!module.is_null()).then(|| Self(module))
    }

    /// A function of the library. It may be called while the library is open.
    ///
    /// # Safety
    /// `F` is the type of a function pointer, and the function of that name has this type.
    pub(super) unsafe fn function<F: Copy>(&self, name: &CStr) -> Option<F> {
        const { assert!(size_of::<F>() == size_of::<usize>()) };
        // SAFETY: an open library, and a terminated name.
        let found = unsafe { GetProcAddress(self.0, name.as_ptr().cast()) }?;
        // SAFETY: a function pointer too, by this function's contract of that type.
        Some(unsafe { core::mem::transmute_copy(&found) })
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        // SAFETY: opened once, and closed once, here.
        unsafe { FreeLibrary(self.0) };
    }
}
