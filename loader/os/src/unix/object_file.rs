//! What the head of an object file says of the machine it is for.
//!
//! The C library of GNU says by itself that a library has another word size. Elsewhere the words for that are those for any
//! other file that is no library, or say nothing of it; there the file is asked, once it did not open.

use super::File;
use core::ffi::CStr;

/// Bytes of the head of an ELF file up to the number of the processor, and with it.
const HEAD: usize = 20;
/// Where the head has the word size, the order of bytes, and the number of the processor.
const CLASS: usize = 4;
const ORDER: usize = 5;
const MACHINE: usize = 18;

/// The word size of this process, as the head writes it.
const OWN_CLASS: u8 = if cfg!(target_pointer_width = "64") { 2 } else { 1 };
/// Its order of bytes.
const OWN_ORDER: u8 = if cfg!(target_endian = "little") { 1 } else { 2 };
/// Its processor; zero for one that has no row here, where word size and order of bytes decide.
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

/// Whether an ELF file lies at `path` that is made for another processor or word size than this process is.
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
            // What is no ELF file is for no machine.
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
