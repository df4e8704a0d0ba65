//! The machine for which an object file is built, read from its header.
//!
//! The GNU C library reports a wrong word size in its error text. Other C libraries report the same text as for any file that is not a
//! library, or no text. With these C libraries, the loader reads the header of a file that failed to open.

use super::File;
use core::ffi::CStr;
use elf::{Fault, Form, Header, START_BYTES};

/// Processor of this process; zero if the processor is not listed here. Files are then compared only by word size and byte order.
const OWN_MACHINE: u16 = if cfg!(target_arch = "x86") {
    3
} else if cfg!(target_arch = "arm") {
    40
} else if cfg!(target_arch = "x86_64") {
    62
} else if cfg!(target_arch = "aarch64") {
    183
} else if cfg!(any(target_arch = "riscv32", target_arch = "riscv64")) {
    243
} else if cfg!(target_arch = "loongarch64") {
    258
} else {
    0
};

/// Returns `true` if the ELF file at `path` is for another processor or word size than this process.
pub(super) fn is_foreign(path: &CStr) -> bool {
    let mut head = [0; START_BYTES];
    let read = File::open(path).and_then(|file| file.read(&mut head));
    read == Ok(START_BYTES) && tells_foreign(&head)
}

fn tells_foreign(head: &[u8; START_BYTES]) -> bool {
    match Header::read(head) {
        Ok(header) => header.form != Form::OWN || (OWN_MACHINE != 0 && header.machine != OWN_MACHINE),
        Err(fault) => fault != Fault::Mark,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::with_terminated;
    use crate::testing::Scratch;

    #[test]
    fn drv_58_a_library_for_another_machine_is_known_by_its_head() {
        let own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let own: [u8; START_BYTES] = own[..START_BYTES].try_into().unwrap();
        assert!(!tells_foreign(&own), "this program is for this machine");
        // The word size, the byte order, and the number of the processor.
        for place in [4, 5, 18] {
            let mut other = own;
            other[place] ^= 3;
            assert!(tells_foreign(&other), "{place}");
            // A file that is not an ELF file is not foreign.
            other[0] = b'#';
            assert!(!tells_foreign(&other), "{place}");
        }
    }

    #[test]
    fn drv_58_what_cannot_be_read_is_for_no_other_machine() {
        let scratch = Scratch::create();
        let mut head = [0; START_BYTES];
        head[..4].copy_from_slice(b"\x7fELF");
        for (path, expected) in [
            (scratch.file("whole", &head), true),
            (scratch.file("short", &head[..START_BYTES - 1]), false),
            (scratch.folder("folder"), false),
            (scratch.path("none"), false),
        ] {
            let found = with_terminated(&path, |path| Ok(is_foreign(path)));
            assert_eq!(found, Ok(expected), "{}", path.escape_ascii());
        }
    }
}
