//! Functions that run when the library is first called and when it is unloaded.

use std::sync::Once;

/// Initialisation at the first call into the library.
#[doc(hidden)]
pub struct FirstCall(Once);

impl FirstCall {
    /// Returns the state before the first call.
    #[expect(clippy::new_without_default, reason = "for statics only")]
    pub const fn new() -> Self {
        Self(Once::new())
    }

    /// Runs `load` unless a thread has already run it. Waits until `load` has ended.
    pub fn ensure(&self, load: extern "C" fn()) {
        self.0.call_once(|| load());
    }
}

/// Makes two functions of type `extern "C" fn()` run. The macro defines `ensure_loaded`, whose first call runs the first function. The
/// first function does not run when the system loads the library, because almost nothing is allowed while the system's loader holds its
/// lock. The second function runs when the library is unloaded.
#[macro_export]
macro_rules! at_load_and_unload {
    ($load:path, $unload:path) => {
        /// Runs `$load`, once. Called by every Vulkan command that a program can call first.
        pub(crate) fn ensure_loaded() {
            static FIRST_CALL: $crate::FirstCall = $crate::FirstCall::new();
            FIRST_CALL.ensure($load);
        }

        /// Entry point that the system calls after the C runtime is ready.
        extern "system" fn entered_or_left(
            _: *mut core::ffi::c_void,
            reason: u32,
            at_exit: *mut core::ffi::c_void,
        ) -> i32 {
            const DETACH: u32 = 0;
            // At the end of the process, this library frees nothing: the system frees everything, and other threads have stopped at
            // arbitrary points.
            if reason == DETACH && at_exit.is_null() {
                $unload();
            }
            1
        }

        // Name that the linker expects for the entry point, which is not exported. On x86, the name contains the size of the parameters.
        #[cfg(not(target_arch = "x86"))]
        $crate::dll_main!("DllMain");
        #[cfg(target_arch = "x86")]
        $crate::dll_main!("_DllMain@12");
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! dll_main {
    ($name:literal) => {
        core::arch::global_asm!(
            concat!(".globl ", $name),
            concat!(".set ", $name, ", {function}"),
            function = sym entered_or_left,
        );
    };
}
