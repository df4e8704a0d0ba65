//! Identity of code: the programs that can load it.

use crate::open;
use ::elf::{Class, Fault, Header, START_BYTES};
use object::elf;
use std::fmt;
use std::path::Path;

/// Processor and word size of code.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    is_64: bool,
    machine: u16,
}

impl Identity {
    /// Returns the identity of this program, which is usually also the identity of the examined loader.
    pub fn of_this_process() -> Self {
        Self::of(Path::new("/proc/self/exe")).unwrap_or(Self {
            is_64: cfg!(target_pointer_width = "64"),
            machine: elf::EM_X86_64,
        })
    }

    /// Returns `true` for 32-bit x86 code.
    pub fn is_x86_32(self) -> bool {
        (self.is_64, self.machine) == (false, elf::EM_386)
    }

    /// Returns `true` if a system may have programs of both identities: 32-bit and 64-bit code of x86, or of Arm.
    pub fn is_of_family(self, other: Self) -> bool {
        self.with_class(other.class()) == other
    }

    /// Returns the identity of programs of a word size, on a system that has programs of this identity.
    pub fn with_class(self, class: Class) -> Self {
        let is_64 = class == Class::Bits64;
        let machine = match (self.machine, is_64) {
            (elf::EM_386 | elf::EM_X86_64, true) => elf::EM_X86_64,
            (elf::EM_386 | elf::EM_X86_64, false) => elf::EM_386,
            (elf::EM_ARM | elf::EM_AARCH64, true) => elf::EM_AARCH64,
            (elf::EM_ARM | elf::EM_AARCH64, false) => elf::EM_ARM,
            (other, _) => other,
        };
        Self { is_64, machine }
    }

    /// Returns the word size.
    pub fn class(self) -> Class {
        if self.is_64 { Class::Bits64 } else { Class::Bits32 }
    }

    /// Returns the name of the architecture in Debian; `None` for an architecture that is rare.
    pub fn debian_architecture(self) -> Option<&'static str> {
        match (self.is_64, self.machine) {
            (true, elf::EM_X86_64) => Some("amd64"),
            (false, elf::EM_386) => Some("i386"),
            (true, elf::EM_AARCH64) => Some("arm64"),
            (false, elf::EM_ARM) => Some("armhf"),
            _ => None,
        }
    }

    /// Returns `true` if the dynamic linker for programs of this identity may search a folder of the system. A folder for one architecture of
    /// Debian has its name.
    pub fn searches(self, folder: &str) -> bool {
        let own = match (self.is_64, self.machine) {
            (true, elf::EM_X86_64) => "/x86_64-linux-gnu",
            (false, elf::EM_386) => "/i386-linux-gnu",
            (true, elf::EM_AARCH64) => "/aarch64-linux-gnu",
            _ => "",
        };
        !folder.ends_with("-linux-gnu") || !own.is_empty() && folder.ends_with(own)
    }

    /// Returns the identity of the code in a file; `None` if the file is not an ELF file.
    pub fn of(path: &Path) -> Option<Self> {
        let mut start = [0; START_BYTES];
        let mut file = open(path)?;
        std::io::Read::read_exact(&mut file, &mut start).ok()?;
        match Header::read(&start) {
            Ok(header) => Some(Self {
                is_64: header.form.class == Class::Bits64,
                machine: header.machine,
            }),
            // No processor runs such a file.
            Err(Fault::Class | Fault::Order) => Some(Self {
                is_64: false,
                machine: elf::EM_NONE,
            }),
            Err(Fault::Short | Fault::Mark) => None,
        }
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let machine = match self.machine {
            elf::EM_X86_64 => "x86-64",
            elf::EM_386 => "x86",
            elf::EM_AARCH64 => return out.write_str("64-bit Arm"),
            elf::EM_ARM => return out.write_str("32-bit Arm"),
            elf::EM_RISCV => "RISC-V",
            elf::EM_LOONGARCH => "LoongArch",
            other => return write!(out, "machine {other}, {} bit", if self.is_64 { 64 } else { 32 }),
        };
        write!(out, "{machine}, {} bit", if self.is_64 { 64 } else { 32 })
    }
}
