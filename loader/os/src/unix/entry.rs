//! What runs when the library enters and leaves the process.

/// Lets two functions of type `extern "C" fn()` run while the library is loaded and unloaded, from its own initialisation and
/// termination arrays. Nothing is registered anywhere else, so that the last `dlclose` really unloads the library and the next
/// load starts afresh (APP-9).
#[macro_export]
macro_rules! at_load_and_unload {
    ($load:path, $unload:path) => {
        /// Called by each function that a program may call first. Here the system has seen to it.
        #[inline(always)]
        pub(crate) fn ensure_loaded() {}

        #[used]
        #[cfg_attr(target_os = "linux", unsafe(link_section = ".init_array"))]
        static ON_LOAD: extern "C" fn() = $load;

        #[used]
        #[cfg_attr(target_os = "linux", unsafe(link_section = ".fini_array"))]
        static ON_UNLOAD: extern "C" fn() = $unload;
    };
}
