//! Many functions in a constant.

/// A table of functions: their distances from it, so that opening the library has no pointers to adjust. Exported functions
/// are as near as others only where the build script binds the library's symbols inside it, and says so.
#[cfg(all(
    vkl_binds_own_symbols,
    any(
        target_arch = "x86_64",
        target_arch = "x86",
        target_arch = "aarch64",
        target_arch = "arm"
    )
))]
macro_rules! functions {
    ($($function:path,)*) => {
        pub(crate) mod functions {
            use super::*;

            macro_rules! distance {
                ($of:path) => {
                    ".long {} - vkl_functions"
                };
            }

            core::arch::global_asm!(
                ".pushsection .rodata.vkl_functions, \"a\"",
                ".p2align 2",
                ".globl vkl_functions",
                ".hidden vkl_functions",
                "vkl_functions:",
                $(distance!($function),)*
                ".popsection",
                $(sym $function,)*
            );

            unsafe extern "C" {
                static vkl_functions: i32;
            }

            /// The function with a number.
            ///
            /// # Safety
            /// There is a function with this number.
            #[inline(always)]
            pub(crate) unsafe fn at(number: usize) -> $crate::lookup::Function {
                let table = &raw const vkl_functions;
                // SAFETY: every number has a distance, and a function lies there.
                unsafe {
                    let distance = *table.add(number);
                    core::mem::transmute::<*const u8, $crate::lookup::Function>(table.cast::<u8>().offset(distance as isize))
                }
            }
        }
    };
}

/// The same as pointers.
#[cfg(not(all(
    vkl_binds_own_symbols,
    any(
        target_arch = "x86_64",
        target_arch = "x86",
        target_arch = "aarch64",
        target_arch = "arm"
    )
)))]
macro_rules! functions {
    ($($function:path,)*) => {
        pub(crate) mod functions {
            use super::*;

            struct Pointer(*const ());

            // SAFETY: functions belong to no thread.
            unsafe impl Sync for Pointer {}

            static FUNCTIONS: &[Pointer] = &[$(Pointer($function as *const ())),*];

            /// The function with a number.
            ///
            /// # Safety
            /// There is a function with this number.
            #[inline(always)]
            pub(crate) unsafe fn at(number: usize) -> $crate::lookup::Function {
                // SAFETY: by this function's contract, and each of these is a function's address.
                unsafe { core::mem::transmute::<*const (), $crate::lookup::Function>(FUNCTIONS.get_unchecked(number).0) }
            }
        }
    };
}

pub(crate) use functions;
