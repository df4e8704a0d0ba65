//! A constant table of many functions.

/// Defines a table of functions that stores their distances from the table, so that loading the library has no pointers to adjust. The
/// distance of an exported function is constant only if the linker binds the library's symbols inside the library. The build script sets a
/// flag if the linker does.
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

            /// Returns the function with a number.
            ///
            /// # Safety
            /// A function with this number exists.
            #[inline(always)]
            pub(crate) unsafe fn at(number: usize) -> $crate::lookup::Function {
                let table = &raw const vkl_functions;
                // SAFETY: the caller promises that the table has an entry with this number. Each entry is the distance in bytes from the
                // table to a function.
                unsafe {
                    let distance = *table.add(number);
                    core::mem::transmute::<*const u8, $crate::lookup::Function>(table.cast::<u8>().offset(distance as isize))
                }
            }
        }
    };
}

/// Defines a table of functions that stores pointers instead of distances.
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

            // SAFETY: the pointers are addresses of functions, which all threads may share.
            unsafe impl Sync for Pointer {}

            static FUNCTIONS: &[Pointer] = &[$(Pointer($function as *const ())),*];

            /// Returns the function with a number.
            ///
            /// # Safety
            /// A function with this number exists.
            #[inline(always)]
            pub(crate) unsafe fn at(number: usize) -> $crate::lookup::Function {
                // SAFETY: the caller promises that the number has an entry, and each entry is the address of a function.
                unsafe { core::mem::transmute::<*const (), $crate::lookup::Function>(FUNCTIONS.get_unchecked(number).0) }
            }
        }
    };
}

pub(crate) use functions;
