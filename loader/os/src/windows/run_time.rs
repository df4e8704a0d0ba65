//! Functions of the system that older versions lack, or that few processes need; they are looked up at run time.

use core::ffi::CStr;
use core::ptr::null_mut;
use windows_sys::Win32::Foundation::{FreeLibrary, HMODULE};
use windows_sys::Win32::System::LibraryLoader::{GetProcAddress, LOAD_LIBRARY_SEARCH_SYSTEM32, LoadLibraryExA};

/// A library of the system; released when dropped.
pub(super) struct Module(HMODULE);

// SAFETY: the system allows every thread to look up functions through the handle of a library.
unsafe impl Send for Module {}
// SAFETY: the system allows several threads to look up functions through one handle at the same time.
unsafe impl Sync for Module {}

impl Module {
    /// Opens a library in the system's own folder; searches nowhere else.
    pub(super) fn of_system(name: &CStr) -> Option<Self> {
        // SAFETY: the name is terminated, and the library belongs to the system.
        let module = unsafe { LoadLibraryExA(name.as_ptr().cast(), null_mut(), LOAD_LIBRARY_SEARCH_SYSTEM32) };
        // This value is created only for an open library, because dropping the value closes the library.
        (!module.is_null()).then(|| Self(module))
    }

    /// Returns a function of the library, which may be called while the library is open.
    ///
    /// # Safety
    /// `F` is the type of a function pointer, and the function of that name has this type.
    pub(super) unsafe fn function<F: Copy>(&self, name: &CStr) -> Option<F> {
        const { assert!(size_of::<F>() == size_of::<usize>()) };
        // SAFETY: the library is open, and the name is terminated.
        let found = unsafe { GetProcAddress(self.0, name.as_ptr().cast()) }?;
        // SAFETY: `F` and the type of `found` are function pointers, and the caller promises that the function has the type `F`.
        Some(unsafe { core::mem::transmute_copy(&found) })
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        // SAFETY: the library is open, and only this `drop` closes it.
        unsafe { FreeLibrary(self.0) };
    }
}
