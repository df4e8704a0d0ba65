//! What runs when the library enters and leaves the process.

/// Lets two functions of type `extern "C" fn()` run while the library is loaded and unloaded, from its own initialisation and
/// termination arrays. Nothing is registered anywhere else, so that the last `dlclose` really unloads the library and the next
/// load starts afresh (APP-9).
#[cfg(not(target_vendor = "apple"))]
#[macro_export]
macro_rules! at_load_and_unload {
    ($load:path, $unload:path) => {
        /// Called by each function that a program may call first. Here the system has seen to it.
        #[inline(always)]
        pub(crate) fn ensure_loaded() {}

        #[used]
        #[unsafe(link_section = ".init_array")]
        static ON_LOAD: extern "C" fn() = $load;

        #[used]
        #[unsafe(link_section = ".fini_array")]
        static ON_UNLOAD: extern "C" fn() = $unload;
    };
}

/// The same where the object file has an array for the first function only. The second is registered as one of this library, as the
/// C compiler of the system does it: it runs at the last `dlclose`, which it does not hinder.
#[cfg(target_vendor = "apple")]
#[macro_export]
macro_rules! at_load_and_unload {
    ($load:path, $unload:path) => {
        /// Called by each function that a program may call first. Here the system has seen to it.
        #[inline(always)]
        pub(crate) fn ensure_loaded() {}

        extern "C" fn load() {
            extern "C" fn unload(_: *mut core::ffi::c_void) {
                $unload();
            }
            $crate::at_unload!(unload);
            $load();
        }

        #[used]
        #[unsafe(link_section = "__DATA,__mod_init_func,mod_init_funcs")]
        static ON_LOAD: extern "C" fn() = load;
    };
}

/// Registers a function that runs when the library that this expands in leaves the process.
#[cfg(target_vendor = "apple")]
#[doc(hidden)]
#[macro_export]
macro_rules! at_unload {
    ($function:path) => {{
        unsafe extern "C" {
            // The linker gives each library one of its own.
            static __dso_handle: u8;
        }
        $crate::register_for_unload($function, (&raw const __dso_handle).cast_mut().cast());
    }};
}

/// Lets `function` run when the library behind `library` leaves the process.
#[cfg(target_vendor = "apple")]
#[doc(hidden)]
pub fn register_for_unload(function: extern "C" fn(*mut core::ffi::c_void), library: *mut core::ffi::c_void) {
    unsafe extern "C" {
        fn __cxa_atexit(
            function: extern "C" fn(*mut core::ffi::c_void),
            argument: *mut core::ffi::c_void,
            library: *mut core::ffi::c_void,
        ) -> core::ffi::c_int;
    }
    // SAFETY: the function ignores its argument, and is called while its library is there. Without memory it is not registered,
    // and what it would close stays open.
    unsafe { __cxa_atexit(function, core::ptr::null_mut(), library) };
}
