//! Finds the code of a sanitizer in a program into which its runtime was linked.

use super::Frame;
use crate::regular;
use object::read::elf::{FileHeader, Sym};
use object::{Endianness, elf};
use std::ops::Range;
use std::path::Path;

/// Functions that start the runtime of a sanitizer, with its name. The first one that a program defines counts.
const STARTS: [(&[u8], &str); 4] = [
    (b"__asan_init", "AddressSanitizer"),
    (b"__hwasan_init", "HWAddressSanitizer"),
    (b"__tsan_init", "ThreadSanitizer"),
    (b"__ubsan_handle_add_overflow_abort", "UndefinedBehaviorSanitizer"),
];
/// Parts of the names of functions of these runtimes.
const PARTS: [&[u8]; 7] = [
    b"__asan",
    b"__hwasan",
    b"__interceptor_",
    b"__lsan",
    b"__sanitizer",
    b"__tsan",
    b"__ubsan",
];
/// Upper bound on the size in bytes of a program whose functions are read.
const LARGEST: u64 = 256 << 20;

/// The runtime of a sanitizer in a program.
pub(super) struct Runtime {
    pub(super) name: &'static str,
    /// Addresses of the functions of the runtime in the program's file.
    code: Vec<Range<u64>>,
}

impl Runtime {
    /// Returns the runtime that was linked into a program; `None` for other programs.
    pub(super) fn of(program: &Path) -> Option<Self> {
        let status = std::fs::metadata(program).ok()?;
        let data = regular::read(program).ok().filter(|_| status.len() <= LARGEST)?;
        let of = |table| match data.get(4) {
            Some(&elf::ELFCLASS64) => read::<elf::FileHeader64<Endianness>>(&data, table),
            Some(_) => read::<elf::FileHeader32<Endianness>>(&data, table),
            None => None,
        };
        of(elf::SHT_SYMTAB).or_else(|| of(elf::SHT_DYNSYM))
    }

    /// Returns `true` if one of `frames` is a function of the runtime in `program`.
    pub(super) fn is_in(&self, frames: &[Frame], program: &Path) -> bool {
        let is_of_program = |frame: &&Frame| frame.file.as_deref().is_some_and(|file| Path::new(file) == program);
        let mut own = frames.iter().filter(is_of_program);
        own.any(|frame| self.code.iter().any(|code| code.contains(&frame.offset)))
    }
}

fn read<H: FileHeader<Endian = Endianness>>(data: &[u8], table: u32) -> Option<Runtime> {
    let header = H::parse(data).ok()?;
    let endian = header.endian().ok()?;
    let table = header.sections(endian, data).ok()?.symbols(endian, data, table).ok()?;
    let mut starts = [false; STARTS.len()];
    let mut code = Vec::new();
    for symbol in table.iter().filter(|symbol| symbol.st_shndx(endian) != elf::SHN_UNDEF) {
        let name = symbol.name(endian, table.strings()).unwrap_or_default();
        for (is_there, (start, _)) in starts.iter_mut().zip(STARTS) {
            *is_there |= name == start;
        }
        if PARTS
            .iter()
            .any(|part| name.windows(part.len()).any(|own| own == *part))
        {
            let start: u64 = symbol.st_value(endian).into();
            let size: u64 = symbol.st_size(endian).into();
            code.push(start..start.saturating_add(size));
        }
    }
    let place = starts.iter().position(|is_there| *is_there)?;
    Some(Runtime {
        name: STARTS[place].1,
        code,
    })
}
