//! What runs when the library enters and leaves the process.

use std::sync::Once;

/// What is done at the first call into the library.
#[doc(hidden)]
pub struct FirstCall(Once);

impl FirstCall {
    /// No call yet.
    #[expect(clippy::new_without_default, reason = "for statics only")]
    pub const fn new() -> Self {
        Self(Once::new())
    }

    /// Runs `load` unless a thread did, and waits until it is done.
    pub fn ensure(&self, load: extern "C" fn()) {
        self.0.call_once(|| load());
    }
}

/// Lets two functions of type `extern "C" fn()` run: the first one at the first call of `ensure_loaded`, which the macro makes,
/// since almost nothing may be done while the system's loader holds its lock, and the second one when the library is unloaded.
#[macro_export]
macro_rules! at_load_and_unload {
    ($load:path, $unload:path) => {
        /// Called by each function that a program may call first.
        pub(crate) fn ensure_loaded() {
            static FIRST_CALL: $crate::FirstCall = $crate::FirstCall::new();
            FIRST_CALL.ensure($load);
        }

        /// What the system calls. The C runtime is ready here.
        extern "system" fn entered_or_left(
            _: *mut core::ffi::c_void,
            reason: u32,
            at_exit: *mut core::ffi::c_void,
        ) -> i32 {
            const DETACH: u32 = 0;
            // At the end of the process the system takes everything back, and other threads are gone wherever they were.
            if reason == DETACH && at_exit.is_null() {
                $unload();
            }
            1
        }

        // The linker's name for it, which is not exported. In 32 bits it tells the size of the parameters.
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
