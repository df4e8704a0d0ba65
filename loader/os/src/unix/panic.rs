//! End of the process after a panic in the loader.

use core::fmt::{self, Write};
use core::panic::PanicInfo;

/// Upper bound on the length of a report, in bytes.
const CAPACITY: usize = 512;

/// Text of one line about a panic, built without allocating.
struct Report {
    buffer: [u8; CAPACITY],
    length: usize,
}

impl Report {
    fn new(place: &dyn fmt::Display, message: &dyn fmt::Display) -> Self {
        let mut report = Self {
            buffer: [b'\n'; CAPACITY],
            length: 0,
        };
        // Text beyond the capacity is dropped.
        let _ = write!(report, "libvulkan: panicked at {place}: {message}");
        report
    }

    /// Returns the line with a newline at its end.
    fn bytes(&self) -> &[u8] {
        &self.buffer[..=self.length]
    }
}

impl Write for Report {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        // One byte stays free for the newline.
        let room = &mut self.buffer[self.length..CAPACITY - 1];
        let taken = text.len().min(room.len());
        room[..taken].copy_from_slice(&text.as_bytes()[..taken]);
        self.length += taken;
        if taken == text.len() { Ok(()) } else { Err(fmt::Error) }
    }
}

/// Called by the panic handler: reports the source position and the reason on standard error, and ends the process, because an unwind must
/// never reach a C caller.
pub fn report_panic(info: &PanicInfo<'_>) -> ! {
    match info.location() {
        Some(place) => super::write_to_standard_error(Report::new(place, &info.message()).bytes()),
        None => super::write_to_standard_error(Report::new(&"an unknown place", &info.message()).bytes()),
    }
    super::abort()
}

/// Supplies the items that a library without the standard library lacks: a panic handler, and names for unwinding. The panic handler and
/// the functions of these names end the process. The prebuilt crates `core` and `alloc` support unwinding and refer to these names, which
/// the macro defines only inside that library.
#[macro_export]
macro_rules! panics_end_the_process {
    () => {
        #[panic_handler]
        fn panicked(info: &core::panic::PanicInfo<'_>) -> ! {
            $crate::report_panic(info)
        }

        extern "C" fn no_unwinding() -> ! {
            $crate::abort()
        }

        #[cfg(target_vendor = "apple")]
        $crate::stand_in!(
            no_unwinding,
            ".private_extern ",
            "_rust_eh_personality",
            "__Unwind_Resume"
        );
        #[cfg(not(target_vendor = "apple"))]
        $crate::stand_in!(no_unwinding, ".hidden ", "rust_eh_personality", "_Unwind_Resume");
        // On 32-bit Arm, the entries of the unwind tables refer to the two names in this call.
        #[cfg(target_arch = "arm")]
        $crate::stand_in!(
            no_unwinding,
            ".hidden ",
            "__aeabi_unwind_cpp_pr0",
            "__aeabi_unwind_cpp_pr1"
        );
    };
}

/// Defines further names of a function. `$hidden` is the assembler directive that keeps these names inside the library.
#[doc(hidden)]
#[macro_export]
macro_rules! stand_in {
    ($function:ident, $hidden:literal, $($name:literal),+) => {
        core::arch::global_asm!(
            $(
                concat!($hidden, $name),
                concat!(".globl ", $name),
                concat!(".set ", $name, ", {function}"),
            )+
            function = sym $function,
        );
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_one_line_of_bounded_length() {
        let report = Report::new(&"x.rs:1:2", &"reason");
        assert_eq!(report.bytes(), b"libvulkan: panicked at x.rs:1:2: reason\n");
        let report = Report::new(&"x.rs:1:2", &"ä".repeat(1000));
        assert_eq!(report.bytes().len(), CAPACITY);
        assert!(report.bytes().ends_with(b"\n"));
    }
}
