//! The machine for which an object file is built, read from its header.
//!
//! The GNU C library reports a wrong word size in its error text. Other C libraries report the same text as for any file that is not a
//! library, or no text. With these C libraries, the loader reads the header of a file that failed to open.

use super::File;
use core::ffi::CStr;

/// Length of an ELF header up to and including the number of the processor, in bytes.
const HEAD: usize = 20;
/// Offsets of the word size, the byte order, and the number of the processor.
const CLASS: usize = 4;
const ORDER: usize = 5;
const MACHINE: usize = 18;

/// Word size of this process, as the header encodes it.
const OWN_CLASS: u8 = if cfg!(target_pointer_width = "64") { 2 } else { 1 };
/// Byte order of this process.
const OWN_ORDER: u8 = if cfg!(target_endian = "little") { 1 } else { 2 };
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
    let mut head = [0; HEAD];
    let read = File::open(path).and_then(|file| file.read(&mut head));
    read == Ok(HEAD) && tells_foreign(&head)
}

fn tells_foreign(head: &[u8; HEAD]) -> bool {
    if !head.starts_with(b"\x7fELF") {
        return false;
    }
    let machine = u16::from_ne_bytes([head[MACHINE], head[MACHINE + 1]]);
    head[CLASS] != OWN_CLASS || head[ORDER] != OWN_ORDER || (OWN_MACHINE != 0 && machine != OWN_MACHINE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::with_terminated;
    use crate::testing::Scratch;

    #[test]
    fn drv_58_a_library_for_another_machine_is_known_by_its_head() {
        let own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let own: [u8; HEAD] = own[..HEAD].try_into().unwrap();
        assert!(!tells_foreign(&own), "this program is for this machine");
        for place in [CLASS, ORDER, MACHINE] {
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
        let mut head = [0; HEAD];
        head[..4].copy_from_slice(b"\x7fELF");
        for (path, expected) in [
            (scratch.file("whole", &head), true),
            (scratch.file("short", &head[..HEAD - 1]), false),
            (scratch.folder("folder"), false),
            (scratch.path("none"), false),
        ] {
            let found = with_terminated(&path, |path| Ok(is_foreign(path)));
            assert_eq!(found, Ok(expected), "{}", path.escape_ascii());
        }
    }
}
