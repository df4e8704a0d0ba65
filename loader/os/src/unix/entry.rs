//! Functions that run when the library is loaded into and unloaded from the process.

/// Makes two functions of type `extern "C" fn()` run when the library is loaded and unloaded, through its own initialisation and
/// termination arrays. The C library has no other exit handler of this library, so the last `dlclose` unloads the library, and a later load
/// starts again (APP-9).
#[cfg(not(target_vendor = "apple"))]
#[macro_export]
macro_rules! at_load_and_unload {
    ($load:path, $unload:path) => {
        /// Does nothing, because the system has already called `$load`. Called by every Vulkan command that a program can
        /// call first.
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

/// Makes two functions run when the library is loaded and unloaded. Object files of this system have an array only for the first function.
/// The second function is registered for this library in the same way as by the system's C compiler. The second function therefore runs at
/// the last `dlclose`, and does not prevent the unloading.
#[cfg(target_vendor = "apple")]
#[macro_export]
macro_rules! at_load_and_unload {
    ($load:path, $unload:path) => {
        /// Does nothing, because the system has already called `$load`. Called by every Vulkan command that a program can
        /// call first.
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

/// Registers a function that runs when the library that contains this expansion is unloaded.
#[cfg(target_vendor = "apple")]
#[doc(hidden)]
#[macro_export]
macro_rules! at_unload {
    ($function:path) => {{
        unsafe extern "C" {
            // The linker defines a separate `__dso_handle` for each library.
            static __dso_handle: u8;
        }
        $crate::register_for_unload($function, (&raw const __dso_handle).cast_mut().cast());
    }};
}

/// Makes `function` run when the library whose `__dso_handle` is at the address `library` is unloaded.
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
    // SAFETY: the function ignores its argument, and runs while its library is loaded. If memory runs out, the function is not registered,
    // and the objects that it would close stay open.
    unsafe { __cxa_atexit(function, core::ptr::null_mut(), library) };
}
